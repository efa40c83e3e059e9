//! Which objects touch, and what that does to them: the same on every machine that holds both.

mod effort;

use crate::message::{Touch, Toward};
use crate::object::{Class, Object, ShapeId, Solid};
use crate::space::is_wide;
use crate::state::{Block, State};
pub use effort::Certainty;
use effort::Effort;
use glam::DVec3;
use jostle_geom::{Counters, Pair, Pose};
use jostle_world::broad::{Broad, SlotPair, Structure};
use jostle_world::{Aabb, Workers};
use std::sync::Arc;

/// The forms of all objects. Every machine has the same table.
#[derive(Clone, Debug, Default)]
pub struct Shapes(Arc<Vec<Solid>>);

impl Shapes {
    /// A table.
    #[must_use]
    pub fn new(solids: Vec<Solid>) -> Shapes {
        Shapes(Arc::new(solids))
    }

    /// All forms, in their order.
    #[must_use]
    pub fn solids(&self) -> &[Solid] {
        &self.0
    }

    /// The form with this number; none if the table has no such form.
    #[must_use]
    pub fn get(&self, id: ShapeId) -> Option<&Solid> {
        self.0.get(id.0 as usize)
    }

    /// The block that an object occupies. One without a form is a point.
    #[must_use]
    pub fn block(&self, object: &Object) -> Block {
        match self.get(object.shape) {
            Some(solid) => solid.block(&object.state),
            None => Block { min: object.state.position, max: object.state.position },
        }
    }
}

impl Shapes {
    /// Is every machine to know of this object? See [`is_wide`].
    pub(crate) fn is_wide(&self, object: &Object, largest: i32) -> bool {
        self.get(object.shape).is_some_and(|solid| is_wide(solid.half, largest))
    }
}

/// What the detector knows about an object from one tick to the next.
#[derive(Clone, Copy, Debug)]
struct Known {
    object: Object,
    block: Block,
    /// Its place among the blocks.
    slot: u32,
    /// Are its triangles elsewhere than in the last tick?
    changed: bool,
}

/// Nobody, in a list of places.
const NOBODY: u32 = u32::MAX;

/// Two objects and their blocks.
pub(crate) type Couple<'a> = [(&'a Object, &'a Block); 2];

/// Finds the pairs that touch among the objects that a machine has for a tick.
#[derive(Clone)]
pub struct Detector {
    shapes: Shapes,
    /// Blocks that meet, of all objects.
    broad: Broad,
    /// In the order of ids; and a list to take turns with, to save allocations.
    known: Vec<Known>,
    spare: Vec<Known>,
    /// For every slot: who is in it, as a place among those.
    holders: Vec<u32>,
    free: Vec<u32>,
    pairs: Vec<SlotPair>,
    placed: Placed,
    /// Pairs of triangles that were decided in this tick, and in the last.
    decided: Vec<(SlotPair, bool)>,
    before: Vec<(SlotPair, bool)>,
    /// How much triangles may cost; none if they are always looked at to the end.
    effort: Option<Effort>,
    /// Pairs that it had to decide about in the last tick: where, and what their triangles took.
    took: Vec<([i32; 3], u32)>,
}

/// Poses of those that have triangles and come near others, made when they are needed.
#[derive(Clone, Default)]
struct Placed {
    /// For every object: where its pose is.
    at: Vec<u32>,
    poses: Vec<Option<Pose>>,
}

impl Placed {
    fn clear(&mut self, objects: usize) {
        self.at.clear();
        self.at.resize(objects, NOBODY);
        self.poses.clear();
    }

    /// The pose of the object in this place.
    fn pose(&mut self, place: u32, state: &State) -> Option<Pose> {
        let at = self.at.get_mut(place as usize)?;
        if *at == NOBODY {
            *at = self.poses.len() as u32;
            self.poses.push(state.pose().ok());
        }
        self.poses.get(*at as usize).copied().flatten()
    }
}

impl Detector {
    /// One that knows these forms.
    #[must_use]
    pub fn new(shapes: Shapes) -> Detector {
        Detector {
            shapes,
            broad: Broad::new(Structure::Auto),
            known: Vec::new(),
            spare: Vec::new(),
            holders: Vec::new(),
            free: Vec::new(),
            pairs: Vec::new(),
            placed: Placed::default(),
            decided: Vec::new(),
            before: Vec::new(),
            effort: None,
            took: Vec::new(),
        }
    }

    /// The same with about so many operations (box and triangle tests) for triangles in a tick:
    /// what cannot be found out with them is assumed to touch. Only for those who ask for
    /// [`Detector::findings`]: machines that must agree look at everything.
    #[must_use]
    pub fn within(self, operations: u64) -> Detector {
        Detector { effort: Some(Effort::new(operations)), ..self }
    }

    /// The pairs among `objects` (sorted by id, each once) that touch, sorted. Two that this group
    /// does not move are not compared, and nothing with one that is absent.
    pub fn touches(&mut self, objects: &[Object]) -> Vec<Touch> {
        self.touches_of(objects.iter(), |_| true)
    }

    /// The same of the pairs whose blocks meet and that are `wanted`: the others are somebody
    /// else's, and are not looked at.
    pub(crate) fn touches_of<'a>(
        &mut self,
        objects: impl Iterator<Item = &'a Object>,
        wanted: impl Fn(Couple<'_>) -> bool,
    ) -> Vec<Touch> {
        self.findings_of(objects, wanted).into_iter().map(|(touch, _)| touch).collect()
    }

    /// The same as [`Detector::touches`], and how much is known about each.
    pub fn findings(&mut self, objects: &[Object]) -> Vec<(Touch, Certainty)> {
        self.findings_of(objects.iter(), |_| true)
    }

    /// The same of the pairs that are `wanted`.
    pub(crate) fn findings_of<'a>(
        &mut self,
        objects: impl Iterator<Item = &'a Object>,
        wanted: impl Fn(Couple<'_>) -> bool,
    ) -> Vec<(Touch, Certainty)> {
        self.follow(objects);
        self.broad.find_pairs(&Workers::ONE, &mut self.pairs);
        self.placed.clear(self.known.len());
        std::mem::swap(&mut self.decided, &mut self.before);
        self.decided.clear();
        self.before.sort_unstable_by_key(|(slots, _)| *slots);
        let mut near = std::mem::take(&mut self.pairs);
        near.retain(|slots| {
            let [a, b] = slots.map(|slot| &self.known[self.holders[slot as usize] as usize]);
            // The boxes of the broad phase are rounded up.
            let near = a.block.meets(&b.block) && (is_moved(&a.object) || is_moved(&b.object));
            near && wanted([(&a.object, &a.block), (&b.object, &b.block)])
        });
        if let Some(effort) = &self.effort {
            near.sort_unstable();
            near.sort_by_cached_key(|slots| effort.cost(*slots));
        }
        let mut found = Vec::new();
        self.took.clear();
        for &slots in &near {
            let (answer, took) = self.touch(slots);
            let couple = slots.map(|slot| &self.known[self.holders[slot as usize] as usize]);
            self.took.push((couple[0].block.reference_point(&couple[1].block), took));
            if let Some(certainty) = answer {
                let touch = meeting(couple.map(|known| (&known.object, &known.block)));
                found.push((touch, certainty));
            }
        }
        self.effort.iter_mut().for_each(Effort::end);
        self.pairs = near;
        found.sort_unstable_by_key(|(touch, _)| (touch.a, touch.b));
        found
    }

    /// How many pairs it had to decide about when it was last asked.
    #[must_use]
    pub fn pairs_tested(&self) -> u64 {
        self.took.len() as u64
    }

    /// The reference points of those pairs, and how many box and triangle tests each took.
    pub(crate) fn took(&self) -> &[([i32; 3], u32)] {
        &self.took
    }

    /// Two objects whose blocks meet: do they touch? And how many tests did that take?
    fn touch(&mut self, slots: SlotPair) -> (Option<Certainty>, u32) {
        let places = slots.map(|slot| self.holders[slot as usize]);
        let [a, b] = places.map(|place| &self.known[place as usize]);
        let Detector { shapes, placed, decided, before, effort, .. } = self;
        let model = |known: &Known| shapes.get(known.object.shape)?.model.as_deref();
        let (Some(model_a), Some(model_b)) = (model(a), model(b)) else {
            // A box without triangles.
            return (Some(Certainty::Exact), 0);
        };
        let same = !a.changed && !b.changed;
        let known = same.then(|| before.binary_search_by_key(&slots, |(slots, _)| *slots).ok());
        let (answer, took) = if let Some(at) = known.flatten() {
            (before[at].1.then_some(Certainty::Exact), 0)
        } else {
            let pose_a = placed.pose(places[0], &a.object.state);
            let pose_b = placed.pose(places[1], &b.object.state);
            let (Some(pose_a), Some(pose_b)) = (pose_a, pose_b) else {
                return (Some(Certainty::Exact), 0);
            };
            let pair = Pair::new(model_a, &pose_a, model_b, &pose_b);
            match effort {
                Some(effort) => effort.look(slots, &pair),
                None => {
                    let (touch, counters) = pair.touches_counted();
                    (touch.then_some(Certainty::Exact), tests(&counters))
                }
            }
        };
        if answer != Some(Certainty::Assumed) {
            decided.push((slots, answer.is_some()));
        }
        (answer, took)
    }

    /// Brings blocks up to date.
    fn follow<'a>(&mut self, objects: impl Iterator<Item = &'a Object>) {
        let before = std::mem::take(&mut self.known);
        let mut now = std::mem::take(&mut self.spare);
        now.clear();
        let mut old = before.iter().peekable();
        for object in objects.filter(|object| object.class != Class::Absent) {
            debug_assert!(now.last().is_none_or(|last| last.object.id < object.id));
            while let Some(gone) = old.next_if(|known| known.object.id < object.id) {
                self.forget(gone);
            }
            let known = old.next_if(|known| known.object.id == object.id);
            now.push(self.follow_one(object, known));
        }
        old.for_each(|gone| self.forget(gone));
        for (place, known) in now.iter().enumerate() {
            self.holders[known.slot as usize] = place as u32;
        }
        (self.known, self.spare) = (now, before);
    }

    fn forget(&mut self, gone: &Known) {
        self.broad.remove(gone.slot);
        self.free.push(gone.slot);
    }

    fn follow_one(&mut self, object: &Object, before: Option<&Known>) -> Known {
        let block = self.shapes.block(object);
        let corner = |of: [i32; 3]| DVec3::from_array(of.map(f64::from));
        let bounds = || Aabb::around_wide(corner(block.min), corner(block.max));
        let slot = match before {
            Some(known) => {
                // Those that this group moves are compared with all in every tick.
                if is_moved(object) || known.block != block {
                    self.broad.update(known.slot, bounds());
                }
                known.slot
            }
            None => {
                let slot = self.free.pop().unwrap_or_else(|| {
                    self.holders.push(NOBODY);
                    self.holders.len() as u32 - 1
                });
                self.broad.insert(slot, bounds());
                slot
            }
        };
        let place = |object: &Object| (object.shape, object.state.position, object.state.rotation);
        let changed = before.is_none_or(|known| place(&known.object) != place(object));
        Known { object: *object, block, slot, changed }
    }
}

/// What a comparison took; at least something.
fn tests(counters: &Counters) -> u32 {
    u32::try_from(counters.box_tests + counters.triangle_tests).unwrap_or(u32::MAX).max(1)
}

/// Does this group decide how it moves?
fn is_moved(object: &Object) -> bool {
    matches!(object.class, Class::Dynamic | Class::Avatar)
}

/// What a meeting does: along the axis on which they overlap least, the two exchange their
/// velocities if they approach each other; one that meets something immovable turns round. If one
/// of them is another group's, the group of the smaller id decides, and the other one waits for
/// its word.
fn meeting([(first, first_block), (second, second_block)]: Couple<'_>) -> Touch {
    let ((a, block_a), (b, block_b)) = if first.id < second.id {
        ((first, first_block), (second, second_block))
    } else {
        ((second, second_block), (first, first_block))
    };
    let overlap = |axis: usize| {
        let high = i64::from(block_a.max[axis].min(block_b.max[axis]));
        high - i64::from(block_a.min[axis].max(block_b.min[axis]))
    };
    let axis = [0, 1, 2].into_iter().min_by_key(|&axis| (overlap(axis), axis)).unwrap_or(0);
    let middle = |block: &Block| i64::from(block.min[axis]) + i64::from(block.max[axis]);
    let (v_a, v_b) = (a.state.velocity[axis], b.state.velocity[axis]);
    // From the one towards the other; one on top of the other counts as before it.
    let up = middle(block_a) <= middle(block_b);
    let approach = (i32::from(v_a) - i32::from(v_b)) * if up { 1 } else { -1 };
    let (mut kick_a, mut kick_b) = ([0; 3], [0; 3]);
    if approach > 0 && a.class != Class::Foreign {
        let change = |from: i16, to: i32| {
            (to - i32::from(from)).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16
        };
        let fixed = |object: &Object| object.class == Class::Immovable;
        if fixed(b) {
            kick_a[axis] = change(v_a, -i32::from(v_a));
        } else if fixed(a) {
            kick_b[axis] = change(v_b, -i32::from(v_b));
        } else {
            kick_a[axis] = change(v_a, i32::from(v_b));
            kick_b[axis] = change(v_b, i32::from(v_a));
        }
    }
    let stops = a.class == Class::Avatar || b.class == Class::Avatar;
    let toward = Toward { axis: axis as u8, up };
    Touch { a: a.id, b: b.id, toward, stops, kick_a, kick_b }
}
