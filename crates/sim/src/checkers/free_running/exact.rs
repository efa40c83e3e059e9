//! C8: about two objects that one node holds it knows everything. In each of its ticks, those of
//! them that touch are contacts of the one that decides, however little it may look; and a contact
//! that it says began exactly in this tick is one.
//!
//! Objects are judged where they were compared: what runs into something immovable is set back
//! after that, perhaps into a third object, and that contact is the next tick's. So it is judged,
//! too, that nothing else moves an object after it was compared, and not farther than it came.

use super::Violations;
use crate::world::Start;
use jostle_geom::Pair;
use jostle_proto::{
    Certainty, Class, Edge, FreeRunningNode, Having, NodeId, Object, ObjectId, POSITION_UNIT,
    Record, Shapes, Tuning,
};
use std::collections::BTreeMap;

/// How far from something immovable an object is set down at most, in metres.
const SET_BACK: f64 = 0.01;

pub(super) struct Exact {
    shapes: Shapes,
    rate: u32,
    largest: i32,
    still: Vec<Object>,
    /// How many ticks of a node were judged.
    ticks: BTreeMap<NodeId, u64>,
}

impl Exact {
    pub(super) fn new(start: &Start, tuning: Tuning) -> Exact {
        let still = start.objects.iter().filter(|object| object.class == Class::Immovable);
        Exact {
            shapes: start.shapes.clone(),
            rate: tuning.timing.rate,
            largest: tuning.largest,
            still: still.copied().collect(),
            ticks: BTreeMap::new(),
        }
    }

    /// A node after something has happened to it.
    pub(super) fn saw(&mut self, node: &FreeRunningNode, violations: &mut Violations) {
        let before = self.ticks.insert(node.member().node, node.ticks());
        // Between ticks others may have come, at other moments.
        if before.is_none_or(|before| before + 1 != node.ticks()) {
            return;
        }
        let held = node.holds().filter(|(having, _)| *having == Having::Held).map(|it| it.1);
        let held: Vec<(&Record, &Object)> =
            held.filter_map(|record| Some((record, node.compared(record.object.id)?))).collect();
        for (record, then) in &held {
            self.judge_place(record, then, violations);
        }
        for (at, (one, then)) in held.iter().enumerate() {
            let others = held[at + 1..].iter().map(|(other, then)| (*then, Some(*other)));
            let still = self.still.iter().map(|object| (object, None));
            for (other, record) in others.chain(still) {
                let lead = match record {
                    Some(record) if self.rank(other) < self.rank(then) => record,
                    _ => one,
                };
                let named = if lead.object.id == other.id { then.id } else { other.id };
                self.judge(lead, then, other, named, violations);
            }
        }
    }

    /// An object is where it was compared, or was set back by no more than its last step from
    /// something immovable that it touches.
    fn judge_place(&self, record: &Record, then: &Object, violations: &mut Violations) {
        let (now, was) = (record.object.state.position, then.state.position);
        let still = |other: &&Object| record.contacts.contains_key(&other.id);
        let most = match self.still.iter().find(still) {
            Some(_) => (self.step(then) + SET_BACK) / POSITION_UNIT,
            None => 0.0,
        };
        // The ways back from several immovable objects count along each axis.
        if (0..3).any(|axis: usize| f64::from(now[axis].abs_diff(was[axis])) > most) {
            let id = record.object.id.0;
            violations.push(("C8", format!("{id} was compared at {was:?} and is at {now:?}")));
        }
    }

    /// How far an object came in the last tick, in metres.
    fn step(&self, object: &Object) -> f64 {
        let step = object.state.last_step(self.rate).map(f64::from);
        step.map(|along| along * along).iter().sum::<f64>().sqrt() * POSITION_UNIT
    }

    fn rank(&self, object: &Object) -> (bool, bool, ObjectId) {
        let moves = matches!(object.class, Class::Dynamic | Class::Avatar);
        (!moves, self.shapes.is_wide(object, self.largest), object.id)
    }

    fn judge(
        &self,
        lead: &Record,
        a: &Object,
        b: &Object,
        other: ObjectId,
        violations: &mut Violations,
    ) {
        let moves = matches!(lead.object.class, Class::Dynamic | Class::Avatar);
        let absent = [a, b].iter().any(|object| object.class == Class::Absent);
        let near = self.shapes.block(a).meets(&self.shapes.block(b));
        if !moves || absent || !near {
            return;
        }
        let known = lead.contacts.contains_key(&other);
        let claimed = known
            && lead.owed.iter().any(|event| {
                let names = event.a == other || event.b == other;
                let now = event.episode.tick == lead.tick && event.episode.token == lead.token;
                names && now && event.edge == Edge::Begin && event.certainty == Certainty::Exact
            });
        if known && !claimed {
            return;
        }
        let (a_id, b_id) = (a.id.0, b.id.0);
        let touch = self.touch(a, b, 0.0);
        // What ran into something immovable was set back to where they met.
        let still = [a, b].iter().any(|object| object.class == Class::Immovable);
        let met = touch || still && self.touch(a, b, self.step(a) + self.step(b) + SET_BACK);
        match (if known { met } else { touch }, known) {
            (true, false) => {
                let what = format!("{a_id} and {b_id} touch, and their holder does not say so");
                violations.push(("C8", what));
            }
            (false, true) => {
                let what = format!("{a_id} and {b_id} were said to touch exactly and do not");
                violations.push(("C8", what));
            }
            _ => {}
        }
    }

    /// Do they touch, exactly, or are they within a distance? Their blocks meet.
    fn touch(&self, a: &Object, b: &Object, distance: f64) -> bool {
        let model = |object: &Object| self.shapes.get(object.shape)?.model.as_deref();
        let (Some(model_a), Some(model_b)) = (model(a), model(b)) else { return true };
        let (Ok(pose_a), Ok(pose_b)) = (a.state.pose(), b.state.pose()) else { return true };
        Pair::new(model_a, &pose_a, model_b, &pose_b).within(distance)
    }
}
