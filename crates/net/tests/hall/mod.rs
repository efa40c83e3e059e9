//! A world for tests of whole processes: balls of triangles that fly about between six walls.

use jostle_geom::{Model, Quality, solids};
use jostle_net::serve::InitialWorld;
use jostle_proto::{Block, Class, Object, ObjectId, ShapeId, Shapes, Solid, State};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(crate) const METRE: i32 = 4096;

/// A ball for each state, numbered from 1, in a cube of half this width, and then the walls. The
/// balls are round within `tolerance`.
pub(crate) fn hall(
    half: i32,
    tolerance: f64,
    balls: impl IntoIterator<Item = State>,
) -> InitialWorld {
    let ball = solids::sphere(0.3, tolerance).expect("a ball");
    let mut solids = vec![Solid::mesh(Arc::new(Model::build(ball, Quality::Default)))];
    let ball = |(number, state)| {
        let (id, class) = (ObjectId(number), Class::Dynamic);
        Object { id, class, shape: ShapeId(0), state }
    };
    let mut objects: Vec<Object> = (1..).zip(balls).map(ball).collect();
    for axis in 0..3 {
        let mut size = [half + 2 * METRE; 3];
        size[axis] = METRE / 2;
        solids.push(Solid::cuboid(size));
        for side in [-1, 1] {
            let mut position = [0; 3];
            position[axis] = side * (half + METRE / 2);
            let id = ObjectId(objects.len() as u64 + 1);
            let state = State { position, ..State::default() };
            let shape = ShapeId(axis as u32 + 1);
            objects.push(Object { id, class: Class::Immovable, shape, state });
        }
    }
    let (shapes, extent) = (Shapes::new(solids), Block { min: [-half; 3], max: [half; 3] });
    let names = BTreeMap::new();
    InitialWorld { objects, shapes, extent, avatar: ShapeId(0), places: extent, names }
}

/// Speeds along the axes that differ from ball to ball.
pub(crate) fn velocity(number: u64) -> [i16; 3] {
    [313, 711, 519].map(|step| ((number * step) % 1000) as i16 - 500)
}
