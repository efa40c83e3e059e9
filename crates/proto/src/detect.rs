//! Which objects touch, and what that does to them: the same on every machine that holds both.

use crate::message::{Touch, Toward};
use crate::object::{Class, Object, ObjectId, ShapeId, Solid};
use crate::state::Block;
use glam::DVec3;
use jostle_world::broad::{Broad, SlotPair, Structure};
use jostle_world::{Aabb, Ask, Body, BodyId, Policy, Settings, Shape, Workers, World};
use std::collections::BTreeMap;
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

/// What the detector knows about an object from one tick to the next.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Its place among the blocks.
    slot: u32,
    block: Block,
    shape: ShapeId,
    /// In the world of triangles; a form without triangles is not in it.
    body: Option<BodyId>,
    /// Its place in this tick's list.
    at: usize,
}

/// Finds the pairs that touch among the objects that a machine has for a tick.
pub struct Detector {
    shapes: Shapes,
    /// Blocks that meet, of all objects.
    broad: Broad,
    /// Bodies with triangles; boxes are compared as they are.
    world: World,
    known: BTreeMap<ObjectId, Known>,
    /// How many slots there are, and which of them nobody uses.
    slots: u32,
    free: Vec<u32>,
    pairs: Vec<SlotPair>,
    /// Pairs that were compared exactly in the last tick.
    tested: u64,
}

impl Detector {
    /// One that knows these forms.
    #[must_use]
    pub fn new(shapes: Shapes) -> Detector {
        let policy = Policy::Everything(Ask::Touch);
        let world = World::new(Settings { policy, ..Settings::default() });
        Detector {
            shapes,
            broad: Broad::new(Structure::Auto),
            world,
            known: BTreeMap::new(),
            slots: 0,
            free: Vec::new(),
            pairs: Vec::new(),
            tested: 0,
        }
    }

    /// The pairs among `objects` (sorted by id, each once) that touch, sorted. Two that this group
    /// does not move are not compared, and nothing with one that is absent.
    pub fn touches(&mut self, objects: &[Object]) -> Vec<Touch> {
        self.follow(objects);
        self.broad.find_pairs(&Workers::ONE, &mut self.pairs);
        let mut at = vec![None; self.slots as usize];
        for known in self.known.values() {
            at[known.slot as usize] = Some(known);
        }
        let mut found = Vec::new();
        self.tested = 0;
        for slots in &self.pairs {
            let [Some(a), Some(b)] = slots.map(|slot| at[slot as usize]) else { continue };
            let pair = [a, b].map(|known| (objects[known.at], &known.block));
            // The boxes of the broad phase are rounded up.
            if a.block.meets(&b.block) && pair.iter().any(|(object, _)| is_moved(object)) {
                self.tested += 1;
                if self.touch(a.body, b.body) {
                    found.push(meeting(pair));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// How many pairs it compared exactly when it was last asked.
    #[must_use]
    pub fn pairs_tested(&self) -> u64 {
        self.tested
    }

    /// Two objects whose blocks meet: do they touch?
    fn touch(&self, a: Option<BodyId>, b: Option<BodyId>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => self.world.is_touching(a.min(b), a.max(b)),
            // A box without triangles.
            _ => true,
        }
    }

    /// Brings blocks and triangles up to date.
    fn follow(&mut self, objects: &[Object]) {
        let mut left = std::mem::take(&mut self.known);
        let present = objects.iter().enumerate();
        for (at, object) in present.filter(|(_, object)| object.class != Class::Absent) {
            let before = left.remove(&object.id);
            let known = self.follow_one(object, at, before);
            self.known.insert(object.id, known);
        }
        for known in left.into_values() {
            self.broad.remove(known.slot);
            self.free.push(known.slot);
            if let Some(body) = known.body {
                // It was in there.
                let _ = self.world.remove(body);
            }
        }
        if self.known.values().any(|known| known.body.is_some()) {
            self.world.step();
        }
    }

    fn follow_one(&mut self, object: &Object, at: usize, before: Option<Known>) -> Known {
        let block = self.shapes.block(object);
        let corner = |of: [i32; 3]| DVec3::from_array(of.map(f64::from));
        let bounds = Aabb::around_wide(corner(block.min), corner(block.max));
        let slot = match before {
            Some(known) => {
                // Those that this group moves are compared with all in every tick.
                if is_moved(object) || known.block != block {
                    self.broad.update(known.slot, bounds);
                }
                known.slot
            }
            None => {
                let slot = self.free.pop().unwrap_or(self.slots);
                self.slots = self.slots.max(slot + 1);
                self.broad.insert(slot, bounds);
                slot
            }
        };
        let same = before.filter(|known| known.shape == object.shape);
        let model = self.shapes.get(object.shape).and_then(|solid| solid.model.clone());
        let wanted = model.and_then(|model| Some((model, object.state.pose().ok()?)));
        let body = match (wanted, same.and_then(|known| known.body)) {
            (Some((_, pose)), Some(body)) if self.world.set_pose(body, pose).is_ok() => Some(body),
            (Some((model, pose)), _) => {
                self.world.insert(Body::moving(Shape::mesh(model), pose)).ok()
            }
            (None, _) => None,
        };
        if let Some(old) = before.and_then(|known| known.body).filter(|old| body != Some(*old)) {
            let _ = self.world.remove(old);
        }
        Known { slot, block, shape: object.shape, body, at }
    }
}

/// Does this group decide how it moves?
fn is_moved(object: &Object) -> bool {
    matches!(object.class, Class::Dynamic | Class::Avatar)
}

/// What a meeting does: along the axis on which they overlap least, the two exchange their
/// velocities if they approach each other; one that meets something immovable turns round. If one
/// of them is another group's, the group of the smaller id decides, and the other one waits for
/// its word.
fn meeting([(first, first_block), (second, second_block)]: [(Object, &Block); 2]) -> Touch {
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
        if fixed(&b) {
            kick_a[axis] = change(v_a, -i32::from(v_a));
        } else if fixed(&a) {
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
