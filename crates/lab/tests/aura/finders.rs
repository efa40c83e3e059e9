//! All methods, as the shared tests ask for them.

use jostle_lab::aura::{Finder, Found, Method};
use jostle_world::aura::Aura;

/// One finder of each kind, for frames in sequence.
pub(crate) fn all_finders() -> Vec<Finder> {
    Method::ALL.into_iter().map(Finder::new).collect()
}

pub(crate) fn name(finder: &Finder) -> &'static str {
    finder.method().name()
}

/// What a finder says of a frame that is not expected to be too much.
pub(crate) fn find(finder: &mut Finder, auras: &[Aura]) -> Found {
    finder.relations(auras, 1_000_000).unwrap_or_else(|error| panic!("{}: {error}", name(finder)))
}

pub(crate) fn sets(found: &Found) -> Vec<Vec<u32>> {
    found.relations.iter().map(<[u32]>::to_vec).collect()
}
