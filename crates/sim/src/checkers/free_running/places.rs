//! A6: once nothing fails any more, an object is held by the owner of its place, or by one whose
//! region ends no farther away than the hysteresis and what the object travels in one hand-over.

use super::Violations;
use super::sight::Sight;
use jostle_proto::{Having, Region, Tuning, View};

/// Seconds that a hand-over may take while nothing fails.
const HAND_OVER: f64 = 0.25;

/// `views` are the newest and the one some time before: objects need time to follow.
pub(super) fn judge(views: &[&View], sight: &Sight, tuning: &Tuning, violations: &mut Violations) {
    for (node, seen) in &sight.nodes {
        let shares = views.iter().filter_map(|view| view.tree.region(view.tree.share_of(*node)?));
        let regions: Vec<Region> = shares.collect();
        for (having, record) in seen.records.values() {
            if *having == Having::Escrow {
                continue;
            }
            if regions.is_empty() {
                violations.push(("A6", format!("{} holds and has no region", node.0)));
                return;
            }
            let state = &record.object.state;
            let outside = |region: &Region| {
                (0..3).any(|axis| {
                    // Sixteen units of position per unit of velocity and second.
                    let way = f64::from(state.velocity[axis]).abs() * 16.0 * HAND_OVER;
                    let room = i64::from(tuning.hysteresis) + way as i64;
                    let at = i64::from(state.position[axis]);
                    at < region.min[axis] - room || at > region.max[axis] + room
                })
            };
            if regions.iter().all(outside) {
                let id = record.object.id.0;
                violations.push(("A6", format!("{} holds object {id}, which is far away", node.0)));
            }
        }
    }
}
