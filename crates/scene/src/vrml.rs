//! VRML97 (ISO/IEC 14772-1), as text or compressed.
//!
//! The text becomes a syntax tree, one statement of the file at a time (`parser`), and the tree
//! becomes nodes of the scene (`build`); lists of numbers are moved, not copied.

mod build;
mod circles;
mod external;
mod instance;
mod lexer;
mod numbers;
mod opening;
mod parser;
mod prototype;
mod routes;
mod source;
mod syntax;
mod values;

use crate::error::LoadError;
use crate::read::{Fetch, Reading};
use crate::scene::Scene;
use crate::warning::Warnings;
use build::Builder;
use external::Outside;

/// Recognises VRML by its first bytes or, if these are ambiguous, by its name. Related formats that
/// are not supported count too: the reader's error names them.
pub(crate) fn is_vrml(name: &str, bytes: &[u8]) -> bool {
    opening::is_vrml(name, bytes)
}

pub(crate) fn read(
    name: &str,
    bytes: &[u8],
    reading: &mut Reading<'_>,
) -> Result<(Scene, Warnings), LoadError> {
    let Reading { fetch, progress, extensions, frame } = reading;
    let fetch = fetch.as_mut().map(|fetch| &mut **fetch as &mut Fetch<'_>);
    let outside = Outside::new(name, fetch, *extensions, *frame);
    let mut builder = Builder::new(outside);
    let progress = progress.as_mut().map(|progress| &mut **progress as &mut dyn FnMut(usize));
    let (roots, source) = builder.file(name, bytes, progress)?;
    builder.check_circles()?;
    roots.into_iter().for_each(|root| builder.scene.add_root(root));
    for document in &builder.outside.sources {
        source.within(document);
    }
    let warnings = source.take_warnings();
    Ok((builder.scene, warnings))
}
