//! C8: about two objects that one node holds it knows everything. After each of its ticks, those of
//! them that touch are contacts of the one that decides, however little it may look; and a contact
//! that it says began exactly in this tick is one.
//!
//! Contacts are found where objects have come to in a tick. One that ran into something immovable
//! is set back after that, and may then touch others that it did not touch, or no longer touch
//! those that it did. So of an object that is in contact with something immovable only that contact
//! is judged; with all others it is judged when that has ended.

use super::Said;
use crate::world::Start;
use jostle_geom::Pair;
use jostle_proto::{
    Certainty, Class, Edge, Having, LooseNode, NodeId, Object, ObjectId, POSITION_UNIT, Record,
    Shapes, Tuning,
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
    pub(super) fn saw(&mut self, node: &LooseNode, said: &mut Said) {
        let before = self.ticks.insert(node.member().node, node.ticks());
        // Between ticks others may have come, at other moments.
        if before.is_none_or(|before| before + 1 != node.ticks()) {
            return;
        }
        let held: Vec<&Record> =
            node.holds().filter(|(having, _)| *having == Having::Held).map(|it| it.1).collect();
        for (at, one) in held.iter().enumerate() {
            let others = held[at + 1..].iter().map(|other| (&other.object, Some(*other)));
            let still = self.still.iter().map(|object| (object, None));
            for (other, record) in others.chain(still) {
                let moving = [Some(*one), record];
                if moving.into_iter().flatten().any(|it| self.is_set_back(it, other.id)) {
                    continue;
                }
                let lead = match record {
                    Some(record) if self.rank(other) < self.rank(&one.object) => record,
                    _ => one,
                };
                let named = if lead.object.id == other.id { one.object.id } else { other.id };
                self.judge(lead, &one.object, other, named, said);
            }
        }
    }

    /// Can it have been set back in this tick by anything immovable but this?
    fn is_set_back(&self, record: &Record, but: ObjectId) -> bool {
        let mut still = self.still.iter().filter(|still| still.id != but);
        still.any(|still| record.contacts.contains_key(&still.id))
    }

    fn rank(&self, object: &Object) -> (bool, bool, ObjectId) {
        let moves = matches!(object.class, Class::Dynamic | Class::Avatar);
        (!moves, self.shapes.is_wide(object, self.largest), object.id)
    }

    fn judge(&self, lead: &Record, a: &Object, b: &Object, other: ObjectId, said: &mut Said) {
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
        let step = |object: &Object| {
            let step = object.state.last_step(self.rate).map(f64::from);
            step.map(|along| along * along).iter().sum::<f64>().sqrt() * POSITION_UNIT
        };
        let still = [a, b].iter().any(|object| object.class == Class::Immovable);
        let met = touch || still && self.touch(a, b, step(a) + step(b) + SET_BACK);
        match (if known { met } else { touch }, known) {
            (true, false) => {
                let what = format!("{a_id} and {b_id} touch, and their holder does not say so");
                said.push(("C8", what));
            }
            (false, true) => {
                let what = format!("{a_id} and {b_id} were said to touch exactly and do not");
                said.push(("C8", what));
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
