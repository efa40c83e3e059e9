//! Generated worlds: a hall with walls, and bodies that fly about in it.

mod hall;
mod pieces;

use super::failed;
use super::start::{Forms, finish};
use crate::error::CliError;
use glam::{DQuat, DVec3};
use jostle_geom::solids::BumpyTorus;
use jostle_geom::{Model, Quality, solids};
use jostle_net::serve::InitialWorld;
use jostle_proto::{
    Class, Object, ObjectId, POSITION_UNIT, Rotation, ShapeId, Solid, State, VELOCITY_UNIT,
};
use jostle_sim::Dice;
use std::sync::Arc;

/// Square metres of floor for each object, and the height of the hall in metres.
const ROOM: f64 = 9.0;
const HEIGHT: f64 = 12.0;

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Balls,
    Boxes,
    Solids,
    /// The hall of the demo.
    Demo,
}

/// A world from `KIND,N`.
pub(super) fn generate(what: &str, seed: u64) -> Result<InitialWorld, CliError> {
    let expected =
        || failed(format!("--generate {what}: expected balls,N, boxes,N, solids,N or demo,N"));
    let (kind, count) = what.split_once(',').ok_or_else(expected)?;
    let kind = match kind {
        "balls" => Kind::Balls,
        "boxes" => Kind::Boxes,
        "solids" => Kind::Solids,
        "demo" => Kind::Demo,
        _ => return Err(expected()),
    };
    let count: u64 = count.parse().map_err(|_| expected())?;
    if !(1..=1_000_000).contains(&count) {
        return Err(failed(format!("--generate: {count} objects; expected 1 to 1000000")));
    }
    if kind == Kind::Demo {
        return hall::hall(count, seed);
    }
    let mut forms = Forms::default();
    let shapes = shapes(kind, &mut forms)?;
    let half = DVec3::new(1.0, 0.0, 1.0) * ((count as f64 * ROOM).sqrt() / 2.0 + 4.0)
        + DVec3::Y * (HEIGHT / 2.0);
    let mut dice = Dice::new(seed);
    let part = |dice: &mut Dice| dice.between(-1000, 1000) as f64 / 1000.0;
    let three = |dice: &mut Dice| DVec3::new(part(dice), part(dice), part(dice));
    let mut objects = Vec::new();
    for number in 0..count {
        let shape = shapes[dice.below(shapes.len() as u64) as usize];
        let position = units(three(&mut dice) * (half - 1.0), POSITION_UNIT);
        let velocity = units(three(&mut dice) * DVec3::new(3.0, 1.5, 3.0), VELOCITY_UNIT);
        let (turned, spin) = match kind {
            Kind::Boxes => (DQuat::IDENTITY, [0; 3]),
            _ => {
                let turned = DQuat::from_scaled_axis(three(&mut dice) * 2.0);
                (turned, units(three(&mut dice), VELOCITY_UNIT).map(|along| along as i16))
            }
        };
        let state = State {
            position,
            rotation: Rotation::from_quaternion(turned),
            velocity: velocity.map(|along| along as i16),
            spin,
        };
        objects.push(Object { id: ObjectId(number + 1), class: Class::Dynamic, shape, state });
    }
    walls(kind, half, &mut forms, &mut objects)?;
    finish(forms, objects)
}

fn units(metres: DVec3, unit: f64) -> [i32; 3] {
    (metres / unit).round().to_array().map(|along| along as i32)
}

fn shapes(kind: Kind, forms: &mut Forms) -> Result<Vec<ShapeId>, CliError> {
    let sizes = [0.25, 0.4, 0.6];
    let cube = |size: f64| -> Result<Arc<Model>, CliError> {
        let mesh = solids::cuboid(DVec3::splat(1.6 * size)).map_err(failed)?;
        Ok(Arc::new(Model::build(mesh, Quality::Default)))
    };
    let ring = |size: f64| -> Result<Arc<Model>, CliError> {
        let torus = BumpyTorus::plain(0.7 * size, 0.3 * size, [24, 12]);
        let mesh = torus.mesh().map_err(failed)?;
        Ok(Arc::new(Model::build(mesh, Quality::Default)))
    };
    let mut shapes = Vec::new();
    for size in sizes {
        match kind {
            Kind::Balls => shapes.push(forms.ball(size)?),
            Kind::Boxes => {
                let half = units(DVec3::splat(size), POSITION_UNIT);
                shapes.push(forms.add(Solid::cuboid(half)));
            }
            Kind::Solids | Kind::Demo => {
                shapes.push(forms.ball(size)?);
                shapes.push(forms.model(&cube(size)?)?);
                shapes.push(forms.model(&ring(size)?)?);
            }
        }
    }
    Ok(shapes)
}

/// Six walls a metre thick. Those of one axis share a shape.
fn walls(
    kind: Kind,
    half: DVec3,
    forms: &mut Forms,
    objects: &mut Vec<Object>,
) -> Result<(), CliError> {
    for axis in 0..3 {
        let mut size = half + 1.0;
        size[axis] = 0.5;
        let shape = match kind {
            Kind::Boxes => forms.add(Solid::cuboid(units(size, POSITION_UNIT))),
            _ => {
                let mesh = solids::cuboid(size * 2.0).map_err(failed)?;
                forms.model(&Arc::new(Model::build(mesh, Quality::Default)))?
            }
        };
        for side in [-1.0, 1.0] {
            let mut place = DVec3::ZERO;
            place[axis] = side * (half[axis] + 0.5);
            let id = ObjectId(objects.len() as u64 + 1);
            let state = State { position: units(place, POSITION_UNIT), ..State::default() };
            objects.push(Object { id, class: Class::Immovable, shape, state });
        }
    }
    Ok(())
}
