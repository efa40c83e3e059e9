//! Shapes that bodies share: written once, and shared again when they are read.

use super::LoadWorldError;
use super::read::Reader;
use super::record::{ShapeRecord, SharedRecord, Why};
use super::write::Writer;
use crate::world::World;
use jostle_geom::{Checksum, Model, Shape, ShapeKind};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which models there are, in the order of their first use.
pub(super) struct Table<'w> {
    shapes: Vec<&'w Shape>,
    /// By the place of the model in memory. Only asked, never gone through: the order shows
    /// nowhere.
    numbers: BTreeMap<*const Model, u64>,
}

impl<'w> Table<'w> {
    pub(super) fn of(world: &'w World) -> Table<'w> {
        let mut table = Table { shapes: Vec::new(), numbers: BTreeMap::new() };
        for (_, body) in world.bodies.iter() {
            let shape = &body.shape;
            if let Some(model) = shape.model() {
                table.numbers.entry(Arc::as_ptr(model)).or_insert_with(|| {
                    table.shapes.push(shape);
                    table.shapes.len() as u64 - 1
                });
            }
        }
        table
    }

    /// The number of the shape of a body of this world.
    pub(super) fn number(&self, shape: &Shape) -> u64 {
        let number = shape.model().and_then(|model| self.numbers.get(&Arc::as_ptr(model)));
        *number.expect("the table has the models of all bodies")
    }

    pub(super) fn write<Out: Extend<u8> + Default>(&self, to: &mut Writer<Out>) {
        to.count(self.shapes.len());
        for shape in &self.shapes {
            match shape.kind() {
                ShapeKind::Mesh(model) => to.value(&SharedRecord::Mesh(&model.to_bytes())),
                ShapeKind::Cuboid { size } => to.value(&SharedRecord::Cuboid { size }),
                ShapeKind::ConvexHull(model) => {
                    to.value(&SharedRecord::ConvexHull(&model.to_bytes()));
                }
                // Without a model, and so not in the table.
                ShapeKind::Sphere { .. }
                | ShapeKind::Capsule { .. }
                | ShapeKind::Cylinder { .. }
                | ShapeKind::Cone { .. } => {}
            }
        }
    }
}

pub(super) fn record(shape: &Shape, number: impl FnOnce(&Shape) -> u64) -> ShapeRecord {
    match shape.kind() {
        ShapeKind::Sphere { radius } => ShapeRecord::Sphere { radius },
        ShapeKind::Mesh(_) => ShapeRecord::Mesh(number(shape)),
        ShapeKind::Cuboid { .. } => ShapeRecord::Cuboid(number(shape)),
        ShapeKind::ConvexHull(_) => ShapeRecord::ConvexHull(number(shape)),
        ShapeKind::Capsule { radius, height } => ShapeRecord::Capsule { radius, height },
        ShapeKind::Cylinder { radius, height } => ShapeRecord::Cylinder { radius, height },
        ShapeKind::Cone { radius, height } => ShapeRecord::Cone { radius, height },
    }
}

/// A number for the hash: equal for shapes that are the same, shared or not.
pub(super) fn hash(shape: &Shape) -> u64 {
    let sum_of = |numbers: &[f64]| {
        let mut sum = Checksum::new();
        sum.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
        sum.value()
    };
    match shape.kind() {
        ShapeKind::Mesh(model) | ShapeKind::ConvexHull(model) => model.hash(),
        ShapeKind::Cuboid { size } => sum_of(&size.to_array()),
        ShapeKind::Sphere { radius } => radius.to_bits(),
        ShapeKind::Capsule { radius, height }
        | ShapeKind::Cylinder { radius, height }
        | ShapeKind::Cone { radius, height } => sum_of(&[radius, height]),
    }
}

/// The shapes of a file, in their order.
pub(super) fn read(from: &mut Reader<'_>) -> Result<Vec<Shape>, LoadWorldError> {
    from.list("a shared shape", |record, number| match record {
        SharedRecord::Mesh(bytes) => match Model::from_bytes(bytes) {
            Ok(model) => Ok(Shape::mesh(model)),
            Err(error) => Err(LoadWorldError::Model { number, error }),
        },
        SharedRecord::Cuboid { size } => {
            let refused = |why| LoadWorldError::Refused { what: "shape", number, why };
            Shape::cuboid(size).map_err(|_| refused("its size is out of range"))
        }
        SharedRecord::ConvexHull(bytes) => match Model::from_bytes(bytes) {
            Ok(model) => Shape::convex_mesh(model).map_err(|_| LoadWorldError::Refused {
                what: "shape",
                number,
                why: "it is no convex solid",
            }),
            Err(error) => Err(LoadWorldError::Model { number, error }),
        },
    })
}

/// The shape of a body.
pub(super) fn find(record: &ShapeRecord, shapes: &[Shape]) -> Result<Shape, Why> {
    let at = |number: u64| usize::try_from(number).ok().and_then(|number| shapes.get(number));
    match *record {
        ShapeRecord::Sphere { radius } => Shape::sphere(radius).map_err(|_| "its radius is none"),
        ShapeRecord::Mesh(number) => match at(number) {
            Some(shape) if matches!(shape.kind(), ShapeKind::Mesh(_)) => Ok(shape.clone()),
            _ => Err("its mesh is not there"),
        },
        ShapeRecord::Cuboid(number) => match at(number) {
            Some(shape) if matches!(shape.kind(), ShapeKind::Cuboid { .. }) => Ok(shape.clone()),
            _ => Err("its box is not there"),
        },
        ShapeRecord::ConvexHull(number) => match at(number) {
            Some(shape) if matches!(shape.kind(), ShapeKind::ConvexHull(_)) => Ok(shape.clone()),
            _ => Err("its convex hull is not there"),
        },
        ShapeRecord::Capsule { radius, height } => {
            Shape::capsule(radius, height).map_err(|_| "its size is out of range")
        }
        ShapeRecord::Cylinder { radius, height } => {
            Shape::cylinder(radius, height).map_err(|_| "its size is out of range")
        }
        ShapeRecord::Cone { radius, height } => {
            Shape::cone(radius, height).map_err(|_| "its size is out of range")
        }
    }
}
