//! A6: once nothing fails any more, an object is held by the owner of its place, or by one whose
//! region ends no farther away than the hysteresis and what the object travels in one hand-over.

use super::Said;
use super::sight::Sight;
use jostle_proto::{Having, Tuning, View};

/// Seconds that a hand-over may take while nothing fails.
const HAND_OVER: f64 = 0.25;

pub(super) fn judge(view: &View, sight: &Sight, tuning: &Tuning, said: &mut Said) {
    for (node, seen) in &sight.nodes {
        let region = view.tree.share_of(*node).and_then(|vertex| view.tree.region(vertex));
        for (having, record) in seen.records.values() {
            if *having == Having::Escrow {
                continue;
            }
            let Some(region) = region else {
                said.push(("A6", format!("{} holds and has no region", node.0)));
                return;
            };
            let state = &record.object.state;
            let outside = (0..3).any(|axis| {
                // Sixteen units of position per unit of velocity and second.
                let way = f64::from(state.velocity[axis]).abs() * 16.0 * HAND_OVER;
                let room = i64::from(tuning.hysteresis) + way as i64;
                let at = i64::from(state.position[axis]);
                at < region.min[axis] - room || at > region.max[axis] + room
            });
            if outside {
                let id = record.object.id.0;
                said.push(("A6", format!("{} holds object {id}, which is far away", node.0)));
            }
        }
    }
}
