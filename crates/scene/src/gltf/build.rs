//! The scene under construction, with its warnings.

use super::source::{Allowance, Source};
use crate::error::{LoadError, Place};
use crate::nodes::Kind;
use crate::scene::{NodeId, Scene};
use crate::warning::{Warning, Warnings};
use std::fmt::Display;
use std::sync::Arc;

/// What all parts of the reader fill.
pub(super) struct Build<'s, 'a> {
    pub(super) source: &'s Source<'a>,
    pub(super) scene: Scene,
    pub(super) allowance: Allowance,
    odd: Vec<Odd>,
}

/// Something odd: counted, with the path of the first.
struct Odd {
    what: &'static str,
    was_mended: bool,
    count: usize,
    first: String,
}

impl<'s, 'a> Build<'s, 'a> {
    pub(super) fn new(source: &'s Source<'a>) -> Build<'s, 'a> {
        let allowance = source.allowance();
        Build { source, scene: Scene::default(), allowance, odd: Vec::new() }
    }

    pub(super) fn add(
        &mut self,
        kind: impl Into<Kind>,
        name: Option<&str>,
    ) -> Result<NodeId, LoadError> {
        if self.scene.len() >= u32::MAX as usize {
            return Err(LoadError::TooMany { place: self.source.place, what: "nodes" });
        }
        Ok(self.scene.add_at(kind.into(), name.map(Arc::from), self.source.place))
    }

    /// Something that was left out.
    pub(super) fn ignored(&mut self, what: &'static str, path: impl Display) {
        self.note(what, false, path);
    }

    /// Something invalid that was read in the only way it can be meant.
    pub(super) fn mended(&mut self, what: &'static str, path: impl Display) {
        self.note(what, true, path);
    }

    fn note(&mut self, what: &'static str, was_mended: bool, path: impl Display) {
        match self.odd.iter_mut().find(|odd| odd.what == what) {
            Some(odd) => odd.count += 1,
            None => self.odd.push(Odd { what, was_mended, count: 1, first: path.to_string() }),
        }
    }

    pub(super) fn finish(self, warnings: &mut Warnings) -> Scene {
        let place: Place = self.source.place;
        for Odd { what, was_mended, count, first } in self.odd {
            let what = format!("{what} (first: {first})");
            warnings.push(if was_mended {
                Warning::Mended { what, count, first: place }
            } else {
                Warning::Ignored { what, count, first: place }
            });
        }
        self.scene
    }
}
