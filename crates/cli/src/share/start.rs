//! A scene as the initial state of a shared world.

use super::failed;
use crate::error::CliError;
use crate::scene::args::SceneArgs;
use crate::scene::{open, print_problems};
use glam::{DVec3, Vec3};
use jostle_geom::{Model, Quality, ShapeKind, solids};
use jostle_net::serve::InitialWorld;
use jostle_proto::{
    Block, Class, Object, ObjectId, POSITION_UNIT, Rotation, ShapeId, Shapes, Solid, State,
    VELOCITY_UNIT,
};
use jostle_stage::{HierarchyFiles, Stage, StageOptions};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The radius of an avatar, in metres.
const AVATAR: f64 = 0.4;

/// Deviation of triangulated spheres, at most, in metres.
const ROUND: f64 = 0.02;

/// The initial world of a scene: bodies with a velocity move and are pushed, all others never move.
pub(super) fn scene(path: &Path, allow_outside: bool) -> Result<InitialWorld, CliError> {
    let args = SceneArgs { allow_outside, ..SceneArgs::plain(path) };
    let opened = open(&args)?;
    let stage = Stage::new(opened.scene, StageOptions::default(), &mut HierarchyFiles::default())
        .map_err(|source| CliError::stage(path, source))?;
    print_problems(&args, stage.problems());
    let world = stage.world();
    let mut forms = Forms::default();
    let mut objects = Vec::new();
    let mut names = BTreeMap::new();
    for (number, id) in world.ids().enumerate() {
        let (pose, velocity) = (world.pose(id)?, world.velocity(id)?);
        let shape = forms.of(&world.shape(id)?.kind())?;
        let moves = velocity.linear != DVec3::ZERO || velocity.angular != DVec3::ZERO;
        let state = State {
            position: position(pose.translation())?,
            rotation: Rotation::from_quaternion(pose.rotation()),
            velocity: speed(velocity.linear)?,
            spin: speed(velocity.angular)?,
        };
        let class = if moves { Class::Dynamic } else { Class::Immovable };
        let named = stage.name(id);
        let id = ObjectId(number as u64 + 1);
        names.insert(id, named);
        objects.push(Object { id, class, shape, state });
    }
    Ok(InitialWorld { names, ..finish(forms, objects)? })
}

/// An initial world with these objects; avatars enter above its middle.
pub(super) fn finish(mut forms: Forms, objects: Vec<Object>) -> Result<InitialWorld, CliError> {
    let avatar = forms.ball(AVATAR)?;
    let shapes = Shapes::new(forms.solids);
    let moving = objects.iter().filter(|object| object.class != Class::Immovable);
    let places = moving.map(|object| object.state.position);
    let extent = places.map(|place| Block { min: place, max: place }).reduce(Block::join);
    // Without moving objects: where its objects are.
    let all = || objects.iter().map(|object| shapes.block(object)).reduce(Block::join);
    let extent = extent.or_else(all).unwrap_or(Block { min: [-40960; 3], max: [40960; 3] });
    Ok(InitialWorld { objects, shapes, extent, avatar, places: extent, names: BTreeMap::new() })
}

/// The shapes of a world, each model once.
#[derive(Default)]
pub(super) struct Forms {
    solids: Vec<Solid>,
    known: BTreeMap<*const Model, ShapeId>,
    /// Spheres and boxes, by the bits of their sizes.
    round: BTreeMap<Vec<u64>, ShapeId>,
}

impl Forms {
    pub(super) fn add(&mut self, solid: Solid) -> ShapeId {
        self.solids.push(solid);
        ShapeId(self.solids.len() as u32 - 1)
    }

    /// The shape of a body, if it is known.
    pub(super) fn known(&self, kind: &ShapeKind<'_>) -> Option<ShapeId> {
        match kind {
            ShapeKind::Mesh(model) => self.known.get(&Arc::as_ptr(model)),
            _ => self.round.get(&numbers(kind)),
        }
        .copied()
    }

    /// The shape of a body, added if it is new.
    pub(super) fn of(&mut self, kind: &ShapeKind<'_>) -> Result<ShapeId, CliError> {
        if let Some(shape) = self.known(kind) {
            return Ok(shape);
        }
        let mesh = match *kind {
            ShapeKind::Mesh(model) => return self.model(model),
            // A point is shown as the smallest sphere.
            ShapeKind::Sphere { radius } => {
                let radius = radius.max(POSITION_UNIT);
                solids::sphere(radius, ROUND.min(radius / 10.0))
            }
            ShapeKind::Cuboid { size } => solids::cuboid(size),
        };
        let model = Arc::new(Model::build(mesh.map_err(failed)?, Quality::Default));
        let shape = self.model(&model)?;
        self.round.insert(numbers(kind), shape);
        Ok(shape)
    }

    /// All shapes, in order.
    pub(super) fn solids(&self) -> &[Solid] {
        &self.solids
    }

    pub(super) fn model(&mut self, model: &Arc<Model>) -> Result<ShapeId, CliError> {
        if let Some(shape) = self.known.get(&Arc::as_ptr(model)) {
            return Ok(*shape);
        }
        let far = |far: f64, vertex: &Vec3| far.max(vertex.as_dvec3().length());
        let radius = model.mesh().vertices().iter().fold(0.0, far);
        if radius / POSITION_UNIT > f64::from(i32::MAX) / 4.0 {
            return Err(failed(format!(
                "a part reaches {radius} m from its origin; worlds take parts of up to 131 km"
            )));
        }
        let shape = self.add(Solid::mesh(model.clone()));
        self.known.insert(Arc::as_ptr(model), shape);
        Ok(shape)
    }

    /// The block that an object with one of these shapes occupies.
    pub(super) fn block(&self, object: &Object) -> Block {
        let place = object.state.position;
        let solid = self.solids.get(object.shape.0 as usize);
        solid.map_or(Block { min: place, max: place }, |solid| solid.block(&object.state))
    }

    /// All shapes, in order.
    pub(super) fn into_solids(self) -> Vec<Solid> {
        self.solids
    }

    pub(super) fn ball(&mut self, radius: f64) -> Result<ShapeId, CliError> {
        let mesh = solids::sphere(radius, radius / 20.0).map_err(failed)?;
        self.model(&Arc::new(Model::build(mesh, Quality::Default)))
    }
}

/// The key of a sphere or box.
fn numbers(kind: &ShapeKind<'_>) -> Vec<u64> {
    match *kind {
        ShapeKind::Mesh(_) => Vec::new(),
        ShapeKind::Sphere { radius } => vec![radius.to_bits()],
        ShapeKind::Cuboid { size } => size.to_array().map(f64::to_bits).to_vec(),
    }
}

/// A velocity in whole units, as pages receive it; clamped to 127 per second.
pub(super) fn clipped(per_second: DVec3) -> [i16; 3] {
    // `as` saturates, and converts NaN to 0.
    (per_second / VELOCITY_UNIT).round().to_array().map(|along| along as i16)
}

pub(super) fn position(metres: DVec3) -> Result<[i32; 3], CliError> {
    let units = (metres / POSITION_UNIT).round();
    if !units.is_finite() || units.abs().max_element() > f64::from(i32::MAX) / 2.0 {
        return Err(failed(format!("a part is at {metres}; worlds reach 262 km")));
    }
    Ok(units.to_array().map(|along| along as i32))
}

fn speed(per_second: DVec3) -> Result<[i16; 3], CliError> {
    let units = (per_second / VELOCITY_UNIT).round();
    if !units.is_finite() || units.abs().max_element() > f64::from(i16::MAX) {
        return Err(failed(format!("a part moves at {per_second} per second; the most is 127")));
    }
    Ok(units.to_array().map(|along| along as i16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_proto::{ClientInput, Commit, Detector, Input, Objects, Tick, advance, apply};

    const RATE: u32 = 30;

    /// A ball that flies at a thin wall, as in a scene file.
    const FILE: &str = "#VRML V2.0 utf8
DEF BALL Transform {
  translation 0 0 -3
  velocityVector 0 0 4
  collisionResponse CollisionResponse { responseType 0 }
  children Shape { geometry Sphere { radius 0.3 } }
}
DEF WALL Transform {
  children Shape { geometry Box { size 40 40 0.2 } }
}
";

    fn started() -> InitialWorld {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("wall.wrl");
        std::fs::write(&path, FILE).expect("a file");
        scene(&path, false).expect("a world")
    }

    /// Runs the world for so many ticks; returns an object's position along z after each, in
    /// metres.
    fn follow(start: &InitialWorld, id: ObjectId, ticks: u64, input: Option<Input>) -> Vec<f64> {
        let mut detector = Detector::new(start.shapes.clone(), RATE);
        let mut objects: Objects = start.objects.iter().copied().collect();
        let tick = |tick: u64| {
            advance(&mut objects, Tick(tick), RATE);
            let touches = detector.touches(objects.as_slice());
            let inputs = input.iter().copied().collect();
            let commit = Commit { tick: Tick(tick + 1), touches, inputs, ..Commit::default() };
            apply(&mut objects, &commit, |_| true);
            let object = objects.get(&id).expect("it stays in the world");
            f64::from(object.state.position[2]) * POSITION_UNIT
        };
        (0..ticks).map(tick).collect()
    }

    fn named(start: &InitialWorld, name: &str) -> ObjectId {
        let found = start.names.iter().find(|(_, known)| known.contains(name));
        *found.expect("a name").0
    }

    #[test]
    fn a_ball_bounces_off_a_thin_wall_of_a_served_scene() {
        let start = started();
        let wall = start.objects.iter().find(|object| object.class == Class::Immovable);
        let block = start.shapes.block(wall.expect("a wall"));
        assert_eq!(block.max, [81920, 81920, 410]);
        let way = follow(&start, named(&start, "BALL"), 60, None);
        assert!(way.iter().all(|z| *z < -0.39), "{way:?}");
        assert!(*way.last().expect("ticks") < -4.0, "it comes back: {way:?}");
    }

    #[test]
    fn an_avatar_of_a_served_scene_does_not_walk_through_a_wall() {
        let mut start = started();
        let id = ObjectId(1 << 40);
        let state = State { position: [0, 0, -2 * 4096], ..State::default() };
        let avatar = Object { id, class: Class::Avatar, shape: start.avatar, state };
        start.objects.push(avatar);
        let velocity = [0, 0, 10 * 256];
        let want = ClientInput { avatar: id, number: 1, velocity, spin: [0; 3] };
        let way = follow(&start, id, 90, Some(Input::Steer(want)));
        assert!(way.iter().all(|z| *z < -0.49), "{way:?}");
        assert!(*way.last().expect("ticks") > -0.52, "it stands before the wall: {way:?}");
    }
}
