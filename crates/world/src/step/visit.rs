//! All contacts of a world in its current state, one after the other and without a list of them.
//!
//! N bodies in one place have N²/2 contacts. A step keeps each of them, since the next step needs
//! them to report what ended; a report that is made once does not.

use super::narrow::{NarrowPhase, PairQuery, PairResult};
use super::pair_query;
use crate::contact::Contact;
use crate::dynamics::update_bounds;
use crate::interest::QueryKind;
use crate::world::World;
use jostle_geom::SearchLimits;

/// Pairs that are tested before their contacts are visited: enough to share among threads, and
/// their results take about a megabyte.
const CHUNK: usize = 1 << 14;

impl World {
    /// Tests all pairs in the current state and visits each contact that a first step would find:
    /// in the order of the pairs, then those of distance queries. Returns the number of pairs
    /// tested. Takes 8 bytes for each pair of overlapping boxes and nothing for a contact; it keeps
    /// no contact and does not change what the next step reports.
    pub fn visit_contacts(&mut self, visit: &mut dyn FnMut(&Contact)) -> usize {
        let World { settings, bodies, broad_phase, filters, .. } = self;
        let mut changed: Vec<u32> = bodies.changed_slots().collect();
        changed.sort_unstable();
        changed.dedup();
        changed.into_iter().for_each(|slot| update_bounds(bodies, filters, broad_phase, slot));
        filters.refresh_distance_pairs(bodies);
        let (bodies, filters, broad_phase) = (&*bodies, &*filters, &*broad_phase);
        let narrow = NarrowPhase { bodies, broad_phase, workers: &settings.workers };
        let query = |pair| pair_query(bodies, filters, pair);
        let mut tested = 0;
        for pairs in broad_phase.all_candidates(settings.structure, &settings.workers).chunks(CHUNK)
        {
            let pairs = pairs.iter().map(|pair| pair.map(|slot| bodies.id(slot)));
            let near = pairs.filter_map(query).filter(|query| query.kind != QueryKind::Distance);
            tested += visit_tested(&narrow, &near.collect::<Vec<_>>(), visit);
        }
        let apart: Vec<_> =
            filters.distance_pairs(bodies).iter().copied().filter_map(query).collect();
        tested + visit_tested(&narrow, &apart, visit)
    }
}

fn visit_tested(
    narrow: &NarrowPhase<'_>,
    queries: &[PairQuery],
    visit: &mut dyn FnMut(&Contact),
) -> usize {
    let results = narrow.run(queries, SearchLimits::default());
    for (&PairQuery { a, b, .. }, result) in queries.iter().zip(results) {
        let PairResult { data, certainty, .. } = result;
        data.into_iter().for_each(|data| visit(&Contact { a, b, data, certainty }));
    }
    queries.len()
}
