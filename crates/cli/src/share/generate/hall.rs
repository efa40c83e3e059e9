//! The hall of the demo: a nave between two arcades, plinths in the aisles, and a few thousand
//! bodies that fly about. No body starts inside another one, as far as there is room.

use super::pieces::{self, Piece};
use super::{units, walls};
use crate::error::CliError;
use crate::share::failed;
use crate::share::start::Forms;
use glam::{DQuat, DVec3};
use jostle_geom::{Mesh, Model, Quality, solids};
use jostle_net::serve::InitialWorld;
use jostle_proto::{
    Block, Class, Object, ObjectId, POSITION_UNIT, Rotation, ShapeId, Shapes, State, VELOCITY_UNIT,
};
use jostle_sim::Dice;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Cubic metres per body: with this about a hundred of 3000 touch another at a time.
const ROOM: f64 = 13.0;

/// In metres.
const HEIGHT: f64 = 12.0;

/// Length of the hall relative to its width: the golden section.
const LONG: f64 = 1.618;

/// The width of the smallest hall.
const WIDTH_MIN: f64 = 20.0;

/// Between two pillars of an arcade, at least.
const SPAN: f64 = 10.0;

/// Radius of a pillar at its foot and head.
const PILLAR: f64 = 0.9;

/// Height of the springing of the arches above the floor, and their thickness.
const SPRING: f64 = 4.5;
const THICK: f64 = 0.8;
const STONES: usize = 9;

/// Radii of flying bodies.
const SIZES: [f64; 3] = [0.22, 0.34, 0.5];

/// Half the height of people, and the height of their feet above the floor.
const PERSON: f64 = 0.85;
const ABOVE: f64 = 0.06;

/// More bodies would take too long to place.
pub(super) const COUNT_MAX: u64 = 20_000;

/// Positions that are tried for a body before it may start inside another one.
const TRIES: usize = 60;

struct Hall {
    /// From the middle of the floor: half of length and width, and the height.
    half: DVec3,
    forms: Forms,
    objects: Vec<Object>,
    /// Occupied blocks.
    blocks: Vec<Block>,
}

/// A hall with so many bodies.
pub(super) fn hall(count: u64, seed: u64) -> Result<InitialWorld, CliError> {
    if count > COUNT_MAX {
        return Err(failed(format!("--generate: {count} in a hall; expected at most {COUNT_MAX}")));
    }
    let floor = count as f64 * ROOM / HEIGHT;
    let width = (floor / LONG).sqrt().max(WIDTH_MIN);
    let half = DVec3::new(width * LONG / 2.0, HEIGHT, width / 2.0);
    let mut hall = Hall { half, forms: Forms::default(), objects: Vec::new(), blocks: Vec::new() };
    let mut dice = Dice::new(seed);
    let shapes = flying(&mut hall.forms, &mut dice)?;
    hall.enclose()?;
    hall.arcades()?;
    hall.plinths()?;
    hall.fill(count, &shapes, &mut dice);
    hall.finish()
}

/// All flying shapes in all sizes.
fn flying(forms: &mut Forms, dice: &mut Dice) -> Result<Vec<ShapeId>, CliError> {
    let mut shapes = Vec::new();
    for size in SIZES {
        for piece in Piece::ALL {
            shapes.push(forms.model(&model(piece.mesh(size, dice)?))?);
        }
    }
    Ok(shapes)
}

fn model(mesh: Mesh) -> Arc<Model> {
    Arc::new(Model::build(mesh, Quality::Default))
}

impl Hall {
    /// Walls, floor and ceiling.
    fn enclose(&mut self) -> Result<(), CliError> {
        let half = DVec3::new(self.half.x, HEIGHT / 2.0, self.half.z);
        let before = self.objects.len();
        walls(super::Kind::Solids, half, &mut self.forms, &mut self.objects)?;
        for object in self.objects.iter_mut().skip(before) {
            object.state.position[1] += units(DVec3::splat(HEIGHT / 2.0), POSITION_UNIT)[1];
        }
        let walls: Vec<Object> = self.objects[before..].to_vec();
        walls.iter().for_each(|wall| self.take(wall));
        Ok(())
    }

    /// Marks the block of an object as occupied.
    fn take(&mut self, object: &Object) {
        let block = self.forms.block(object);
        self.blocks.push(block);
    }

    /// Adds an immovable object.
    fn stand(&mut self, shape: ShapeId, place: DVec3, turned: DQuat) {
        let state = State {
            position: units(place, POSITION_UNIT),
            rotation: Rotation::from_quaternion(turned),
            ..State::default()
        };
        let id = ObjectId(self.objects.len() as u64 + 1);
        let object = Object { id, class: Class::Immovable, shape, state };
        self.take(&object);
        self.objects.push(object);
    }

    /// Two rows of pillars, with arches from one to the next.
    fn arcades(&mut self) -> Result<(), CliError> {
        let pillar = self.forms.model(&model(pieces::pillar(PILLAR, HEIGHT)?))?;
        let spans = (2.0 * self.half.x / SPAN).floor().max(2.0);
        let span = 2.0 * self.half.x / spans;
        let inner = (span / 2.0 - PILLAR).min(HEIGHT - SPRING - 1.0 - THICK);
        let radii = [inner, inner + THICK];
        let wedge = pieces::wedge(radii, THICK, 0.96 / STONES as f64)?;
        let stone = self.forms.model(&model(wedge))?;
        let middle = inner + THICK / 2.0;
        for z in [-self.half.z / 2.0, self.half.z / 2.0] {
            for number in 0..=spans as u32 {
                let x = f64::from(number) * span - self.half.x;
                if number > 0 && number < spans as u32 {
                    self.stand(pillar, DVec3::new(x, HEIGHT / 2.0, z), DQuat::IDENTITY);
                }
                if number == spans as u32 {
                    continue;
                }
                let foot = DVec3::new(x + span / 2.0, SPRING, z);
                for at in 0..STONES {
                    let turn = (at as f64 + 0.5) / STONES as f64 - 0.5;
                    let turned = DQuat::from_rotation_z(-turn * std::f64::consts::PI);
                    self.stand(stone, foot + turned * DVec3::Y * middle, turned);
                }
            }
        }
        Ok(())
    }

    /// Four plinths of two steps with a ball on top.
    fn plinths(&mut self) -> Result<(), CliError> {
        let steps = [DVec3::new(3.2, 0.5, 3.2), DVec3::new(2.0, 0.5, 2.0)];
        let mut shapes = Vec::new();
        for size in steps {
            shapes.push(self.forms.model(&model(solids::cuboid(size).map_err(failed)?))?);
        }
        let ball = self.forms.model(&model(solids::sphere(0.9, 0.03).map_err(failed)?))?;
        for (x, z) in [(-0.6, -0.76), (0.6, -0.76), (-0.6, 0.76), (0.6, 0.76)] {
            let foot = DVec3::new(x * self.half.x, 0.0, z * self.half.z);
            self.stand(shapes[0], foot + DVec3::Y * 0.25, DQuat::IDENTITY);
            self.stand(shapes[1], foot + DVec3::Y * 0.75, DQuat::IDENTITY);
            self.stand(ball, foot + DVec3::Y * 1.88, DQuat::IDENTITY);
        }
        Ok(())
    }

    /// Adds flying bodies.
    fn fill(&mut self, count: u64, shapes: &[ShapeId], dice: &mut Dice) {
        let part = |dice: &mut Dice| dice.between(-1000, 1000) as f64 / 1000.0;
        let three = |dice: &mut Dice| DVec3::new(part(dice), part(dice), part(dice));
        for _ in 0..count {
            let shape = shapes[dice.below(shapes.len() as u64) as usize];
            let turned = Rotation::from_quaternion(DQuat::from_scaled_axis(three(dice) * 3.0));
            let speed = three(dice) * DVec3::new(2.6, 1.2, 2.6);
            let state = State {
                position: [0; 3],
                rotation: turned,
                // Never at rest along an axis, or it would stay in a plane forever.
                velocity: units(speed, VELOCITY_UNIT)
                    .map(|along| if along == 0 { 16 } else { along as i16 }),
                spin: units(three(dice) * 1.5, VELOCITY_UNIT).map(|along| along as i16),
            };
            let id = ObjectId(self.objects.len() as u64 + 1);
            let mut object = Object { id, class: Class::Dynamic, shape, state };
            for _ in 0..TRIES {
                let place = three(dice) * DVec3::new(self.half.x, HEIGHT / 2.0, self.half.z);
                let place = place + DVec3::Y * HEIGHT / 2.0;
                object.state.position = units(place, POSITION_UNIT);
                let block = self.forms.block(&object);
                if !self.blocks.iter().any(|other| other.meets(&block)) {
                    break;
                }
            }
            self.take(&object);
            self.objects.push(object);
        }
    }

    /// People enter between the arcades.
    fn finish(mut self) -> Result<InitialWorld, CliError> {
        let avatar = self.forms.model(&model(pieces::person(PERSON)?))?;
        let corner = DVec3::new(self.half.x, 0.0, self.half.z);
        let extent = Block {
            min: units(-corner, POSITION_UNIT),
            max: units(corner + DVec3::Y * HEIGHT, POSITION_UNIT),
        };
        let inside = DVec3::new(self.half.x - 3.0, 0.0, self.half.z / 2.0 - PILLAR - 1.0);
        let feet = DVec3::Y * (PERSON + ABOVE);
        let places = Block {
            min: units(feet - inside, POSITION_UNIT),
            max: units(feet + inside, POSITION_UNIT),
        };
        let shapes = Shapes::new(self.forms.into_solids());
        Ok(InitialWorld {
            objects: self.objects,
            shapes,
            extent,
            avatar,
            places,
            names: BTreeMap::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_proto::{Detector, digest};

    #[test]
    fn a_seed_decides_about_everything() {
        let of = |seed| hall(300, seed).expect("a hall");
        let all = |start: &InitialWorld| digest(start.objects.iter());
        assert_eq!(all(&of(1)), all(&of(1)));
        assert_ne!(all(&of(1)), all(&of(2)));
    }

    #[test]
    fn nothing_begins_inside_anything_and_people_have_room() {
        let start = hall(500, 1).expect("a hall");
        let touches = Detector::new(start.shapes.clone(), 30).touches(&start.objects);
        assert_eq!(touches, []);
        let moving = start.objects.iter().filter(|object| object.class == Class::Dynamic);
        assert_eq!(moving.count(), 500);
        // The spawn area is free of objects.
        let solid = start.shapes.get(start.avatar).expect("people have a form");
        let mut people = start.places;
        for axis in 0..3 {
            people.min[axis] -= solid.half()[axis];
            people.max[axis] += solid.half()[axis];
        }
        for still in start.objects.iter().filter(|object| object.class == Class::Immovable) {
            assert!(!start.shapes.block(still).meets(&people), "{still:?}");
        }
    }
}
