//! Which objects touch, and what that does to them: the same on every machine that holds both.

mod contact;
mod effort;

use crate::message::Touch;
use crate::normal::{narrow, wide};
use crate::object::{Class, Object, ObjectId, ShapeId};
use crate::solid::Solid;
use crate::space::is_wide;
use crate::state::{Block, State};
use contact::{Blocks, Hit, Meeting};
pub use effort::Certainty;
use effort::Effort;
use glam::DVec3;
use jostle_geom::{Aabb, Counters, Pose};
use jostle_world::Workers;
use jostle_world::broad::{Broad, SlotPair, Structure};
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
    #[must_use]
    pub fn is_wide(&self, object: &Object, largest: i32) -> bool {
        self.get(object.shape).is_some_and(|solid| is_wide(solid.reach(), largest))
    }

    /// The block of all that an object went through in the last tick, its rotation as it is now.
    /// The owner of any part of it must know the object.
    #[must_use]
    pub fn swept_block(&self, object: &Object, rate: u32) -> Block {
        swept(self.block(object), object, rate)
    }
}

fn swept(block: Block, object: &Object, rate: u32) -> Block {
    let back = last_step(object, rate).map(|along| -along);
    block.join(block.shifted(back))
}

/// How far an object came in the last tick, if this group moves it.
fn last_step(object: &Object, rate: u32) -> [i32; 3] {
    if is_moved(object) { object.state.last_step(rate) } else { [0; 3] }
}

/// What the detector knows about an object from one tick to the next.
#[derive(Clone, Copy, Debug)]
struct Known {
    object: Object,
    /// Where it is, and what it went through in the last tick.
    block: Block,
    swept: Block,
    /// Its place among the blocks.
    slot: u32,
    /// Is it elsewhere than in the last tick, or came it there in another way?
    changed: bool,
}

/// No entry, in a list of places.
const NOBODY: u32 = u32::MAX;

/// Two objects and their swept blocks.
pub(crate) type Couple<'a> = [(&'a Object, &'a Block); 2];

/// Finds the pairs that touch among the objects that a machine has for a tick.
#[derive(Clone)]
pub struct Detector {
    shapes: Shapes,
    /// Ticks per second.
    rate: u32,
    /// Swept blocks that meet, of all objects.
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
    decided: Vec<(SlotPair, Option<Hit>)>,
    before: Vec<(SlotPair, Option<Hit>)>,
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
    /// One that knows these forms, for a world of so many ticks per second.
    #[must_use]
    pub fn new(shapes: Shapes, rate: u32) -> Detector {
        Detector {
            shapes,
            rate,
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

    /// The pairs among `objects` (sorted by id, each once) that touch, sorted. What went through
    /// something immovable since the last tick has touched it. Two that this group does not move
    /// are not compared, and nothing with one that is absent.
    pub fn touches(&mut self, objects: &[Object]) -> Vec<Touch> {
        self.touches_of(objects.iter(), |_| true)
    }

    /// The same of the pairs whose blocks meet and that are `wanted`: the others belong to other
    /// members and are not tested.
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
            // The boxes of the broad phase are rounded up. What moves is compared where it is.
            let near = match is_fixed(&a.object) || is_fixed(&b.object) {
                true => a.swept.meets(&b.swept),
                false => a.block.meets(&b.block),
            };
            near && (is_moved(&a.object) || is_moved(&b.object))
                && wanted([(&a.object, &a.swept), (&b.object, &b.swept)])
        });
        if let Some(effort) = &self.effort {
            near.sort_unstable();
            near.sort_by_cached_key(|slots| effort.cost(*slots));
        }
        let mut found = Vec::new();
        self.took.clear();
        for &slots in &near {
            let (answer, took) = self.touch(slots);
            let [a, b] = slots.map(|slot| &self.known[self.holders[slot as usize] as usize]);
            self.took.push((a.swept.reference_point(&b.swept), took));
            if let Some((certainty, hit)) = answer {
                let (a, b) = if a.object.id < b.object.id { (a, b) } else { (b, a) };
                found.push((response(&a.object, &b.object, &hit), certainty));
            }
        }
        self.effort.iter_mut().for_each(Effort::end);
        self.pairs = near;
        found.sort_unstable_by_key(|(touch, _)| (touch.a, touch.b));
        found
    }

    /// An object as it was compared when the detector was last asked.
    pub(crate) fn compared(&self, id: ObjectId) -> Option<&Object> {
        let at = self.known.binary_search_by_key(&id, |known| known.object.id).ok()?;
        self.known.get(at).map(|known| &known.object)
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

    /// Two objects whose blocks meet: do they touch, and how? And how many tests did that take?
    fn touch(&mut self, slots: SlotPair) -> (Option<(Certainty, Hit)>, u32) {
        let mut places = slots.map(|slot| self.holders[slot as usize]);
        // The comparison expects them in the order of ids.
        places.sort_unstable();
        let [a, b] = places.map(|place| &self.known[place as usize]);
        let Detector { shapes, placed, decided, before, effort, .. } = self;
        // What both move is compared where it is.
        let steps = match is_fixed(&a.object) || is_fixed(&b.object) {
            true => [a, b].map(|known| last_step(&known.object, self.rate)),
            false => [[0; 3]; 2],
        };
        let blocks = Blocks { blocks: [a.block, b.block], steps };
        let solid = |known: &Known| shapes.get(known.object.shape);
        let model = |known: &Known| solid(known)?.model.as_deref();
        let (Some(model_a), Some(model_b)) = (model(a), model(b)) else {
            // A box without triangles.
            return (blocks.hit().map(|hit| (Certainty::Exact, hit)), 0);
        };
        let same = !a.changed && !b.changed;
        let known = same.then(|| before.binary_search_by_key(&slots, |(slots, _)| *slots).ok());
        if let Some(at) = known.flatten() {
            decided.push(before[at]);
            return (before[at].1.map(|hit| (Certainty::Exact, hit)), 0);
        }
        let poses = [(places[0], a), (places[1], b)]
            .map(|(place, known)| placed.pose(place, &known.object.state));
        let [Some(pose_a), Some(pose_b)] = poses else {
            return (Some((Certainty::Exact, blocks.least_overlap())), 0);
        };
        let closed = [a, b].map(|known| solid(known).is_some_and(Solid::is_closed));
        let avatar = [a, b].map(|known| known.object.class == Class::Avatar);
        let meeting = Meeting {
            models: [model_a, model_b],
            poses: [pose_a, pose_b],
            steps,
            closed: closed == [true; 2],
            leaves: avatar[0] && closed[1] || avatar[1] && closed[0],
        };
        let pair = meeting.pair();
        let (touch, took) = match effort {
            Some(effort) => effort.look(slots, &pair),
            None => {
                let (touch, counters) = pair.touches_counted();
                (touch.then_some(Certainty::Exact), tests(&counters))
            }
        };
        if touch == Some(Certainty::Assumed) {
            let near = a.block.meets(&b.block);
            return (near.then(|| (Certainty::Assumed, blocks.least_overlap())), took);
        }
        let hit = meeting.hit(touch.is_some());
        decided.push((slots, hit));
        (hit.map(|hit| (Certainty::Exact, hit)), took)
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
        let swept = swept(block, object, self.rate);
        let corner = |of: [i32; 3]| DVec3::from_array(of.map(f64::from));
        let bounds = || Aabb::around_f64(corner(swept.min), corner(swept.max));
        let slot = match before {
            Some(known) => {
                // Those that this group moves are compared with all in every tick.
                if is_moved(object) || known.swept != swept {
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
        let place = |object: &Object| {
            let State { position, rotation, velocity, .. } = object.state;
            (object.class, object.shape, position, rotation, velocity)
        };
        let changed = before.is_none_or(|known| place(&known.object) != place(object));
        Known { object: *object, block, swept, slot, changed }
    }
}

/// What a comparison took; at least something.
fn tests(counters: &Counters) -> u32 {
    u32::try_from(counters.box_tests + counters.triangle_tests).unwrap_or(u32::MAX).max(1)
}

fn is_fixed(object: &Object) -> bool {
    object.class == Class::Immovable
}

/// Does this group decide how it moves?
fn is_moved(object: &Object) -> bool {
    matches!(object.class, Class::Dynamic | Class::Avatar)
}

/// What a contact does: along its normal the two exchange their velocities if they approach each
/// other; one that meets something immovable turns round. If one of them is another group's, the
/// group of the smaller id decides, and the other one waits for its word.
fn response(a: &Object, b: &Object, hit: &Hit) -> Touch {
    let velocity = |object: &Object| if is_fixed(object) { [0; 3] } else { object.state.velocity };
    let unit = hit.normal.unit();
    let approach = (wide(velocity(a)) - wide(velocity(b))).dot(unit);
    let (mut kick_a, mut kick_b) = ([0; 3], [0; 3]);
    if approach > 0.0 && a.class.elsewhere().is_none() {
        let change = unit * approach;
        if is_fixed(b) {
            kick_a = narrow(change * -2.0);
        } else if is_fixed(a) {
            kick_b = narrow(change * 2.0);
        } else {
            (kick_a, kick_b) = (narrow(-change), narrow(change));
        }
    }
    let stops = a.class == Class::Avatar || b.class == Class::Avatar;
    let Hit { normal, shift } = *hit;
    Touch { a: a.id, b: b.id, normal, stops, kick_a, kick_b, shift }
}
