//! Worlds to fight over.

use crate::dice::Dice;
use glam::DVec3;
use jostle_geom::{Mesh, Model, Quality, solids};
use jostle_proto::{
    Block, Class, Member, NodeId, Object, ObjectId, POSITION_UNIT, ShapeId, Shapes, Solid, State,
};
use std::sync::Arc;

/// Who has the world when it begins.
pub(crate) const FOUNDER: Member = Member { node: NodeId(0), life: 1 };

/// A world at its beginning.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) objects: Vec<Object>,
    pub(crate) shapes: Shapes,
    pub(crate) extent: Block,
    /// Those that are steered.
    pub(crate) avatars: Vec<ObjectId>,
}

fn metres(length: f64) -> i32 {
    (length / POSITION_UNIT) as i32
}

fn model_of(mesh: Mesh) -> Arc<Model> {
    Arc::new(Model::build(mesh, Quality::Fast))
}

/// A box with this half edge, or a ball of triangles that just fits into it.
fn solid(size: f64, matter: Matter) -> Solid {
    let ball = match matter {
        Matter::Boxes => None,
        Matter::Meshes => solids::sphere(size, size * 0.05).ok().map(model_of),
    };
    ball.map_or_else(|| Solid::cuboid([metres(size) + 2; 3]), Solid::mesh)
}

/// What objects are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matter {
    /// Boxes that are never turned: cheap, for long campaigns.
    Boxes,
    /// Triangles that turn, tested exactly.
    Meshes,
}

/// Where objects begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// Anywhere.
    #[default]
    Uniform,
    /// In a few heaps, so that some regions are full and others empty.
    Clustered,
    /// On the planes, edges and corners where regions meet that are cut evenly.
    Borders,
}

impl Layout {
    /// A place in a cube of this half edge.
    fn place(self, half: i32, dice: &mut Dice) -> [i32; 3] {
        let inside = i64::from(half) * 9 / 10;
        let anywhere = |dice: &mut Dice| [(); 3].map(|()| dice.between(-inside, inside) as i32);
        match self {
            Layout::Uniform => anywhere(dice),
            Layout::Clustered => {
                // Four heaps at places that do not depend on the object; their sides add up to
                // about a third of the cube's.
                let heap = dice.below(4) as i32;
                let middle = [heap % 2 * 2 - 1, heap / 2 * 2 - 1, 1 - heap % 3];
                let spread = inside / 6;
                let along = |at: i32, dice: &mut Dice| {
                    at * half / 2
                        + (dice.between(-spread, spread) / 2) as i32
                        + (dice.between(-spread, spread) / 2) as i32
                };
                middle.map(|at| along(at, dice))
            }
            Layout::Borders => {
                let free = anywhere(dice);
                let on_border = dice.below(8);
                let mut place = free;
                for (axis, along) in place.iter_mut().enumerate() {
                    if on_border & 1 << axis == 0 {
                        *along = dice.between(-1, 1) as i32 * (half / 2);
                    }
                }
                place
            }
        }
    }
}

/// Objects of mixed sizes in a cube with walls, dense enough to collide all the time; some of them
/// avatars, some very large.
pub(crate) fn draw(objects: u32, matter: Matter, layout: Layout, dice: &mut Dice) -> Start {
    let half = metres(4.0 + f64::from(objects).cbrt() * 0.9);
    let mut solids: Vec<Solid> =
        [0.1, 0.3, 0.6, 1.2, 3.0].iter().map(|&size| solid(size, matter)).collect();
    let walls = solids.len() as u32;
    let thick = metres(1.0);
    for axis in 0..3 {
        let mut size = [half + 2 * thick; 3];
        size[axis] = thick;
        let model = (matter == Matter::Meshes).then(|| {
            let edges = size.map(|half| 2.0 * f64::from(half) * POSITION_UNIT);
            solids::cuboid(DVec3::from_array(edges)).ok().map(model_of)
        });
        solids.push(model.flatten().map_or_else(|| Solid::cuboid(size), Solid::mesh));
    }
    let mut made = Vec::new();
    let mut avatars = Vec::new();
    for number in 0..objects {
        let id = ObjectId(u64::from(number) + 1);
        let class = match dice.below(10) {
            0 => Class::Avatar,
            1 => Class::Immovable,
            _ => Class::Dynamic,
        };
        if class == Class::Avatar {
            avatars.push(id);
        }
        // Few are large.
        let shape = ShapeId((dice.below(5).min(dice.below(5)).min(dice.below(5))) as u32);
        let position = layout.place(half, dice);
        let velocity = match class {
            Class::Immovable => [0; 3],
            _ => [(); 3].map(|()| dice.between(-2000, 2000) as i16),
        };
        let spin = match (class, matter) {
            (Class::Dynamic, Matter::Meshes) => [(); 3].map(|()| dice.between(-500, 500) as i16),
            _ => [0; 3],
        };
        let state = State { position, velocity, spin, ..State::default() };
        made.push(Object { id, class, shape, state });
    }
    for axis in 0..3 {
        for side in [-1, 1] {
            let id = ObjectId(u64::from(objects) + 1 + axis as u64 * 2 + u64::from(side > 0));
            let mut position = [0; 3];
            position[axis] = side * (half + thick);
            let shape = ShapeId(walls + axis as u32);
            let state = State { position, ..State::default() };
            made.push(Object { id, class: Class::Immovable, shape, state });
        }
    }
    let extent = Block { min: [-half; 3], max: [half; 3] };
    Start { objects: made, shapes: Shapes::new(solids), extent, avatars }
}
