//! Drives worlds with random requests: the same to several worlds, which must then be the same.
#![allow(dead_code)] // each test program uses some of it

use crate::common::{Rng, shapes};
use glam::{DVec3, Vec3};
use jostle_geom::{Mesh, Model, Quality, Shape, ShapeKind, solids};
use jostle_world::{
    Body, BodyId, CollisionGroups, Contact, Event, GravityTarget, GroupId, InterestTarget,
    PairDistance, QueryKind, Reply, Report, Request, Response, Runtime, Settings, Velocity,
    VelocityResponse, Workers, World, WorldError,
};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

thread_local! {
    /// A clock that goes on by a fixed time whenever it is read: now, and that time.
    static CLOCK: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

pub(crate) fn read_clock() -> Duration {
    let (now, tick) = CLOCK.get();
    CLOCK.set((now + tick, tick));
    Duration::from_micros(now)
}

pub(crate) fn runtime(threads: usize) -> Runtime {
    let workers = Workers::new(threads).expect("threads");
    Runtime { workers, stopwatch: Some(read_clock) }
}

pub(crate) fn settings(threads: usize) -> Settings {
    let Runtime { workers, stopwatch } = runtime(threads);
    Settings { workers, stopwatch, ..Settings::default() }
}

pub(crate) struct Driver {
    pub(crate) rng: Rng,
    shapes: Vec<Shape>,
    /// Some may be gone.
    groups: Vec<GroupId>,
    /// Bodies keep within this distance of zero.
    half: f64,
    /// How often requests were refused, and how often not.
    pub(crate) refused: [usize; 2],
}

/// Shapes without triangles, and a convex hull.
fn round_shapes() -> Vec<Shape> {
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z, Vec3::splat(0.75)];
    vec![
        Shape::capsule(0.25, 0.75).expect("a size"),
        Shape::cylinder(0.5, 0.5).expect("a size"),
        Shape::cone(0.5, 1.0).expect("a size"),
        Shape::convex_hull(&corners).expect("corners that are not in one plane"),
    ]
}

/// A solid ball of triangles, and polygons with a point and a segment.
fn more_shapes() -> Vec<Shape> {
    let ball = solids::sphere(0.5, 0.05).expect("a ball").into_solid().expect("it is closed");
    let corners = [0, 1, 2, 3, 4, 5].map(|i| {
        let i = i as f32;
        Vec3::new(0.2 * i - 0.5, 0.1 * i * i - 0.7, if i > 2.0 { 0.5 } else { 0.0 })
    });
    let faces: [&[u32]; 4] = [&[3, 1, 0, 2, 5], &[4], &[5, 0], &[1, 4, 2]];
    let polygons = Mesh::from_polygons(corners.to_vec(), faces).expect("good polygons");
    [(ball, Quality::Fast), (polygons, Quality::Tight)]
        .map(|(mesh, quality)| Shape::mesh(Model::build(mesh, quality)))
        .into()
}

impl Driver {
    pub(crate) fn new(seed: u64) -> Driver {
        let mut shapes = shapes();
        shapes.extend(more_shapes());
        shapes.extend(round_shapes());
        Driver { rng: Rng(seed), shapes, groups: Vec::new(), half: 2.0, refused: [0; 2] }
    }

    /// No triangles but those of boxes.
    pub(crate) fn without_meshes(mut self) -> Driver {
        let has_mesh =
            |shape: &Shape| matches!(shape.kind(), ShapeKind::Mesh(_) | ShapeKind::ConvexHull(_));
        self.shapes.retain(|shape| !has_mesh(shape));
        self
    }

    fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.rng.below(from.len())]
    }

    fn body(&mut self) -> Body {
        let shape = self.shapes[self.rng.below(self.shapes.len())].clone();
        let pose = self.rng.pose(self.half);
        let mut body = match self.rng.below(4) {
            0 => Body::fixed(shape, pose),
            1 => Body::deforming(shape, pose),
            _ => Body::moving(shape, pose),
        };
        if self.rng.below(4) == 0 {
            body = body.with_family(self.rng.below(3) as u32);
        }
        if let Some(group) = self.groups.last()
            && self.rng.below(4) == 0
        {
            body = body.with_group(*group);
        }
        if self.rng.below(4) == 0 {
            body = body.with_continuous_motion();
        }
        body
    }

    fn response(&mut self) -> Option<Response> {
        let restitution = self.rng.unit();
        let bounce = VelocityResponse::Bounce { restitution };
        let velocity = self.choose(&[VelocityResponse::Keep, VelocityResponse::Stop, bounce]);
        let set_back = self.rng.below(2) == 0;
        (self.rng.below(3) > 0).then_some(Response { velocity, set_back })
    }

    fn party(&mut self, world: &World) -> InterestTarget {
        if !self.groups.is_empty() && self.rng.below(3) == 0 {
            let group = self.rng.below(self.groups.len());
            return self.groups[group].into();
        }
        self.any(world).into()
    }

    /// A body; or one that was never there, if there is none.
    fn any(&mut self, world: &World) -> BodyId {
        let at = self.rng.below(world.len().max(1));
        world.ids().nth(at).unwrap_or(BodyId::from_parts([7, 7]))
    }

    /// New vertices for a deforming mesh, in the order in which its mesh was made.
    fn bent(&mut self, world: &World, id: BodyId) -> Vec<Vec3> {
        let Ok(ShapeKind::Mesh(model)) = world.shape(id).map(Shape::kind) else {
            return Vec::new();
        };
        let bend = self.rng.point(0.2).as_vec3();
        let mesh = model.mesh();
        let mut vertices = vec![Vec3::ZERO; mesh.vertices().len()];
        for (vertex, &v) in (0u32..).zip(mesh.vertices()) {
            vertices[mesh.caller_vertex(vertex) as usize] = v + bend * (v.x * v.y + 0.1);
        }
        vertices
    }

    fn request(&mut self, world: &World) -> Request {
        let (id, other) = (self.any(world), self.any(world));
        let layer = 1 << self.rng.below(3);
        let asks = [
            QueryKind::Volume,
            QueryKind::Touch,
            QueryKind::Witness,
            QueryKind::AllPairs,
            QueryKind::Distance,
        ];
        let clearance = QueryKind::Clearance(self.rng.unit());
        match self.rng.below(46) {
            40 => Request::SetGravity(self.rng.point(1.0)),
            41 => {
                let floors = GravityTarget::onto([self.party(world), self.party(world)]);
                let falls = [None, Some(floors), Some(GravityTarget::onto_everything())];
                Request::SetGravityTarget { id, target: falls[self.rng.below(3)].clone() }
            }
            42 => Request::SetContinuousMotion { id, on: self.rng.below(2) == 0 },
            43..46 => Request::Advance { seconds: self.rng.unit() * 0.5 },
            0..4 => Request::Insert(Box::new(self.body())),
            4..6 => Request::Remove(id),
            6 => Request::SetVelocity {
                id,
                velocity: Velocity { linear: self.rng.point(1.0), angular: self.rng.point(1.0) },
            },
            7 => {
                let shape = self.shapes[self.rng.below(self.shapes.len())].clone();
                Request::SetShape { id, shape }
            }
            8..12 => Request::Deform { id, vertices: self.bent(world, id) },
            12 => Request::SetCollisionGroups {
                id,
                groups: CollisionGroups { memberships: layer, filter: u32::MAX },
            },
            13 => Request::SetResponse { id, response: self.response() },
            14 => Request::Disable(id),
            15 => Request::Enable(id),
            16 => Request::IgnorePair(id, other),
            17 => Request::UnignorePair(id, other),
            18..20 => {
                let (a, b) = (self.party(world), self.party(world));
                Request::SetInterest { a, b, kind: self.choose(&asks) }
            }
            20 => {
                let (a, b) = (self.party(world), self.party(world));
                Request::SetInterest { a, b, kind: clearance }
            }
            21 => Request::RemoveInterest { a: self.party(world), b: self.party(world) },
            22 => Request::NewGroup { parent: self.groups.last().copied() },
            23 if !self.groups.is_empty() => {
                let group = self.rng.below(self.groups.len());
                Request::RemoveGroup(self.groups[group])
            }
            24 => Request::SetGroup { id, group: self.groups.first().copied() },
            25 => Request::SetGroup { id, group: None },
            _ => Request::SetPose { id, pose: self.rng.pose(self.half) },
        }
    }

    /// Some requests.
    pub(crate) fn change(&mut self, worlds: &mut [World]) {
        for _ in 0..1 + self.rng.below(8) {
            let request = self.request(&worlds[0]);
            self.apply(worlds, &request);
        }
    }

    /// Many bodies.
    pub(crate) fn fill(&mut self, worlds: &mut [World], count: usize) {
        for _ in 0..count {
            let body = self.body();
            self.apply(worlds, &Request::Insert(Box::new(body)));
        }
    }

    /// The same to all worlds, and from all the same reply.
    fn apply(&mut self, worlds: &mut [World], request: &Request) {
        let mut replies = worlds.iter_mut().map(|world| world.apply(request.clone()));
        let reply = replies.next().expect("a world");
        for other in replies {
            assert_eq!(short(&other), short(&reply), "{request:?}");
        }
        self.refused[usize::from(reply.is_err())] += 1;
        if let Ok(Reply::NewGroup(id)) = reply {
            self.groups.push(id);
        }
    }

    /// One step of all worlds, some of them within a budget, with the same clock.
    pub(crate) fn step(&mut self, worlds: &mut [World]) {
        let tick = self.choose(&[0, 0, 1, 500, 5000]);
        for world in worlds {
            CLOCK.set((0, tick));
            if tick == 0 {
                world.step();
            } else {
                world.step_within(Duration::from_millis(2)).expect("there is a clock");
            }
        }
    }
}

/// A reply, without what a model found out meanwhile and keeps for later.
fn short(reply: &Result<Reply, WorldError>) -> String {
    match reply {
        Ok(Reply::Removed(_)) => "removed".into(),
        reply => format!("{reply:?}"),
    }
}

/// All that a world reports.
#[derive(Debug, PartialEq)]
pub(crate) struct Observed {
    hash: u64,
    contacts: Vec<Contact>,
    distances: Vec<PairDistance>,
    events: Vec<Event>,
    group_overlaps: Vec<[GroupId; 2]>,
    report: Report,
}

/// Without times, and without how much work the broad phase had.
pub(crate) fn observe(world: &World) -> Observed {
    let mut report = Report::clone(world.report());
    report.times = Default::default();
    (report.counts.box_tests, report.counts.structure_updates) = (0, 0);
    Observed {
        hash: world.hash(),
        contacts: world.contacts().to_vec(),
        distances: world.distances().to_vec(),
        events: world.events(),
        group_overlaps: world.group_overlaps().to_vec(),
        report,
    }
}

/// The number of the first body with the same mesh or hull, for each body with one.
pub(crate) fn sharing(world: &World) -> Vec<Option<usize>> {
    let meshes: Vec<Option<Arc<Model>>> = world
        .ids()
        .map(|id| match world.shape(id).expect("it is there").kind() {
            ShapeKind::Mesh(model) | ShapeKind::ConvexHull(model) => Some(Arc::clone(model)),
            _ => None,
        })
        .collect();
    let first = |mesh: &Arc<Model>| {
        meshes.iter().position(|other| other.as_ref().is_some_and(|o| Arc::ptr_eq(o, mesh)))
    };
    meshes.iter().map(|mesh| mesh.as_ref().and_then(first)).collect()
}

/// A world after some time, with a bit of everything.
pub(crate) fn lived(seed: u64, bodies: usize, steps: usize) -> World {
    let mut driver = Driver::new(seed);
    let mut worlds = [World::new(settings(1))];
    driver.fill(&mut worlds, bodies);
    for _ in 0..steps {
        driver.change(&mut worlds);
        driver.step(&mut worlds);
    }
    driver.change(&mut worlds);
    let [world] = worlds;
    world
}

pub(crate) fn cube(size: f64) -> Shape {
    Shape::cuboid(DVec3::splat(size)).expect("a size")
}
