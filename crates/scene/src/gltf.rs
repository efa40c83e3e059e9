//! glTF 2.0, as JSON or binary.

use crate::error::LoadError;
use crate::read::Reading;
use crate::scene::Scene;
use crate::warning::Warnings;

/// Is it, by its first bytes or, if these do not tell, by its name?
pub(crate) fn is_gltf(_name: &str, _bytes: &[u8]) -> bool {
    false
}

pub(crate) fn read(
    _name: &str,
    _bytes: &[u8],
    _reading: &mut Reading<'_>,
) -> Result<(Scene, Warnings), LoadError> {
    Err(LoadError::NotReadable { what: "no reader yet".to_string() })
}
