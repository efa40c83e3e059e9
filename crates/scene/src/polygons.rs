//! OBJ, STL and PLY as scenes.

use crate::Format;
use crate::error::LoadError;
use crate::read::Frame;
use crate::scene::Scene;
use crate::warning::Warnings;

pub(crate) fn read(
    _name: &str,
    _bytes: &[u8],
    _format: Format,
    _frame: &Frame,
) -> Result<(Scene, Warnings), LoadError> {
    Err(LoadError::NotReadable { what: "no reader yet".to_string() })
}
