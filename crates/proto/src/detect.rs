//! Which objects touch, and what that does to them: the same on every machine that holds both.

use crate::message::{Touch, Toward};
use crate::object::{Class, Object, ObjectId, ShapeId, Solid};
use crate::state::Block;
use jostle_world::{Ask, Body, BodyId, Policy, Settings, Shape, World};
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

/// Finds the pairs that touch among the objects that a machine has for a tick.
pub struct Detector {
    shapes: Shapes,
    /// Bodies with triangles; boxes are compared as they are.
    world: World,
    bodies: BTreeMap<ObjectId, (BodyId, ShapeId)>,
}

impl Detector {
    /// One that knows these forms.
    #[must_use]
    pub fn new(shapes: Shapes) -> Detector {
        let policy = Policy::Everything(Ask::Touch);
        let world = World::new(Settings { policy, ..Settings::default() });
        Detector { shapes, world, bodies: BTreeMap::new() }
    }

    /// The pairs among `objects` (sorted by id, each once) that touch, sorted. Two that this group
    /// does not move are not compared, and nothing with one that is absent.
    pub fn touches(&mut self, objects: &[Object]) -> Vec<Touch> {
        let present = objects.iter().filter(|object| object.class != Class::Absent);
        let mut boxes: Vec<(Block, &Object)> =
            present.map(|object| (self.shapes.block(object), object)).collect();
        self.follow(objects);
        boxes.sort_by_key(|(block, object)| (block.min[0], object.id));
        let mut found = Vec::new();
        for (at, (block, object)) in boxes.iter().enumerate() {
            for (other_block, other) in &boxes[at + 1..] {
                if other_block.min[0] > block.max[0] {
                    break;
                }
                if block.meets(other_block)
                    && (is_moved(object) || is_moved(other))
                    && self.touch(object, other)
                {
                    let pair = [(object, block), (other, other_block)];
                    found.push(meeting(pair.map(|(object, block)| (**object, block))));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// Two objects whose blocks meet: do they touch?
    fn touch(&self, a: &Object, b: &Object) -> bool {
        match (self.bodies.get(&a.id), self.bodies.get(&b.id)) {
            (Some(&(a, _)), Some(&(b, _))) => self.world.is_touching(a.min(b), a.max(b)),
            // A box without triangles.
            _ => true,
        }
    }

    /// Brings the world of triangles up to date.
    fn follow(&mut self, objects: &[Object]) {
        let present = objects.iter().filter(|object| object.class != Class::Absent);
        let wanted = present.filter_map(|object| {
            let model = self.shapes.get(object.shape)?.model.clone()?;
            Some((object, model, object.state.pose().ok()?))
        });
        let mut left = std::mem::take(&mut self.bodies);
        for (object, model, pose) in wanted {
            let known = left.remove(&object.id).filter(|&(_, shape)| shape == object.shape);
            let body = match known {
                Some((body, _)) if self.world.set_pose(body, pose).is_ok() => Some(body),
                _ => self.world.insert(Body::moving(Shape::mesh(model), pose)).ok(),
            };
            if let Some(body) = body {
                self.bodies.insert(object.id, (body, object.shape));
            }
        }
        for (body, _) in left.into_values() {
            // It was in there.
            let _ = self.world.remove(body);
        }
        if !self.bodies.is_empty() {
            self.world.step();
        }
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
    let toward = stops.then_some(Toward { axis: axis as u8, up });
    Touch { a: a.id, b: b.id, toward, kick_a, kick_b }
}
