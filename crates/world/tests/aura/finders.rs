//! The finder of worlds, as the shared tests ask for it.

use jostle_world::aura::{Aura, Finder, Found, RelationLimit};

/// For frames in sequence.
pub(crate) fn all_finders() -> Vec<Finder> {
    vec![Finder::default()]
}

pub(crate) fn name(_: &Finder) -> &'static str {
    "ordered columns"
}

/// What a finder says of a frame that is not expected to be too much.
pub(crate) fn find(finder: &mut Finder, auras: &[Aura]) -> Found {
    finder
        .relations(auras, RelationLimit::FailAbove(1_000_000))
        .unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn sets(found: &Found) -> Vec<Vec<u32>> {
    found.relations.iter().map(<[u32]>::to_vec).collect()
}
