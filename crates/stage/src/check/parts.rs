//! The parts that findings are about, by number: numbers compare like names and take less.

use crate::stage::Stage;
use jostle_scene::NodeId;
use jostle_world::BodyId;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The objects of a stage in the order of their names, then of their paths. A part is the number of
/// an object there.
pub(super) struct Parts {
    names: Vec<Arc<str>>,
    by_body: HashMap<BodyId, u32>,
}

/// Two bodies between which something holds, in the order of their parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touching {
    pub(super) parts: [u32; 2],
    pub(super) bodies: [BodyId; 2],
}

impl Touching {
    /// By parts, then in the order of the world.
    pub(super) fn order(&self) -> ([u32; 2], [BodyId; 2]) {
        let [a, b] = self.bodies;
        (self.parts, [a.min(b), a.max(b)])
    }
}

impl Parts {
    pub(super) fn of(stage: &Stage) -> Parts {
        let mut known: Vec<(Arc<str>, &[NodeId], BodyId)> =
            stage.world().ids().map(|id| (stage.shared_name(id), stage.unit(id), id)).collect();
        known.sort_unstable();
        let mut names: Vec<Arc<str>> = Vec::new();
        let mut by_body = HashMap::new();
        for objects in known.chunk_by(|one, other| (&one.0, one.1) == (&other.0, other.1)) {
            let part = names.len() as u32;
            names.extend(objects.first().map(|(name, ..)| Arc::clone(name)));
            by_body.extend(objects.iter().map(|&(.., id)| (id, part)));
        }
        Parts { names, by_body }
    }

    /// The name of each part.
    pub(super) fn names(&self) -> &[Arc<str>] {
        &self.names
    }

    pub(super) fn touching(&self, [a, b]: [BodyId; 2]) -> Option<Touching> {
        let (of_a, of_b) = (*self.by_body.get(&a)?, *self.by_body.get(&b)?);
        let in_order = of_a <= of_b;
        Some(Touching {
            parts: if in_order { [of_a, of_b] } else { [of_b, of_a] },
            bodies: if in_order { [a, b] } else { [b, a] },
        })
    }

    /// Pairs of names as pairs of parts; those without a part are left out.
    pub(super) fn pairs(&self, names: &BTreeSet<[String; 2]>) -> HashSet<[u32; 2]> {
        let numbered = self.names.iter().zip(0..);
        let by_name: HashMap<&str, u32> = numbered.map(|(name, at)| (&**name, at)).collect();
        let part = |name: &String| by_name.get(name.as_str()).copied();
        names.iter().filter_map(|[a, b]| Some([part(a)?, part(b)?])).collect()
    }
}
