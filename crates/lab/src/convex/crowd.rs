//! Many objects: boxes, a grid, separating planes, and a grid followed by separating planes, which
//! the thesis planned and did not build (Zachmann 2000, 3.8.7 and 3.8.8).

use super::{Effort, Hull, HullError, Placement, PlaneSettings, SeparatingPlane};
use crate::bench::{Air, Flight, Random, Stopwatch};
use glam::DVec3;
use jostle_geom::{Mesh, Model, Pair, Pose, Quality};
use std::time::Duration;

/// What comes before the exact test of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// All pairs of bounding boxes.
    Boxes,
    /// A grid, then the boxes of objects in the same cell.
    Grid,
    /// Separating planes of all pairs.
    Planes,
    /// A grid, then boxes, then separating planes.
    GridPlanes,
}

impl Stage {
    /// All of them.
    pub const ALL: [Stage; 4] = [Stage::Boxes, Stage::Grid, Stage::Planes, Stage::GridPlanes];

    /// What tables call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Stage::Boxes => "boxes",
            Stage::Grid => "grid",
            Stage::Planes => "planes",
            Stage::GridPlanes => "grid, planes",
        }
    }
}

/// What a number of frames took.
#[derive(Clone, Copy, Debug, Default)]
pub struct CrowdCost {
    /// Before the exact tests.
    pub filter: Duration,
    /// Exact tests.
    pub exact: Duration,
    /// Pairs that were tested exactly.
    pub tested: u64,
    /// Pairs that touch.
    pub touching: u64,
    /// Of the planes.
    pub effort: Effort,
}

/// Copies of one mesh that fly about in a room and through each other. The motion does not depend
/// on what is found, so every stage sees the same frames.
#[derive(Clone, Debug)]
pub struct Crowd {
    hull: Hull,
    model: Model,
    /// Of the mesh: middle and half sides of its box.
    middle: DVec3,
    half: DVec3,
    air: Air,
    flights: Vec<Flight>,
    planes: Vec<SeparatingPlane>,
    stage: Stage,
}

/// Cells along each side of the room: the thesis found 5 to 10 to be best.
const CELLS: usize = 8;
/// The largest motion in a frame, in radii of the mesh, and the largest turn in radians.
const SPEED: f64 = 0.1;
const TURN: f64 = 0.05;

impl Crowd {
    /// So many copies, in a room in which they fill the given share of the volume with their boxes.
    ///
    /// # Errors
    /// A mesh without triangles.
    pub fn new(
        mesh: &Mesh,
        count: usize,
        density: f64,
        stage: Stage,
        seed: u64,
    ) -> Result<Crowd, HullError> {
        let hull = Hull::of_mesh(mesh)?;
        let first = hull.corners()[0];
        let ends =
            hull.corners().iter().fold([first; 2], |[low, high], &p| [low.min(p), high.max(p)]);
        let half = (ends[1] - ends[0]) * 0.5;
        let volume = 8.0 * half.x * half.y * half.z * count as f64 / density;
        let room = volume.cbrt() * 0.5;
        let mut random = Random::new(seed);
        let air = Air { room, speed: SPEED * hull.radius(), turn: TURN };
        let flights = (0..count).map(|_| Flight::new(air, &mut random)).collect();
        let settings = PlaneSettings { feedback: true, ..PlaneSettings::default() };
        let pairs = count * count.saturating_sub(1) / 2;
        Ok(Crowd {
            middle: (ends[0] + ends[1]) * 0.5,
            half,
            air,
            flights,
            planes: vec![SeparatingPlane::new(settings); pairs],
            stage,
            model: Model::build(mesh.clone(), Quality::Default),
            hull,
        })
    }

    /// All bodies move once, and all pairs that touch are found.
    pub fn frame(&mut self, now: Stopwatch) -> CrowdCost {
        let air = self.air;
        self.flights.iter_mut().for_each(|flight| flight.step(air));
        let poses: Vec<Pose> = self.flights.iter().map(Flight::pose).collect();
        let mut cost = CrowdCost::default();
        let start = now();
        let near = self.near(&poses, &mut cost.effort);
        cost.filter = now() - start;
        let start = now();
        for &[a, b] in &near {
            let touches = Pair::new(&self.model, &poses[a], &self.model, &poses[b]).touches();
            cost.tested += 1;
            cost.touching += u64::from(touches);
            if matches!(self.stage, Stage::Planes | Stage::GridPlanes) {
                self.planes[pair_number(a, b)].hear(touches);
            }
        }
        cost.exact = now() - start;
        cost
    }

    /// The pairs that are left for the exact test.
    fn near(&mut self, poses: &[Pose], effort: &mut Effort) -> Vec<[usize; 2]> {
        let count = poses.len();
        let all = || (0..count).flat_map(move |b| (0..b).map(move |a| [a, b]));
        let mut pairs: Vec<[usize; 2]> = match self.stage {
            Stage::Planes => all().collect(),
            Stage::Boxes => {
                let boxes = self.boxes(poses);
                all().filter(|&[a, b]| meet(&boxes[a], &boxes[b])).collect()
            }
            Stage::Grid | Stage::GridPlanes => self.in_cells(&self.boxes(poses)),
        };
        if matches!(self.stage, Stage::Planes | Stage::GridPlanes) {
            let (hull, planes) = (&self.hull, &mut self.planes);
            pairs.retain(|&[a, b]| {
                let placement = Placement::new(hull, &poses[a], hull, &poses[b]);
                let (apart, more) = planes[pair_number(a, b)].proves_apart(&placement);
                *effort += more;
                !apart
            });
        }
        pairs
    }

    /// The boxes around turned boxes, a little larger for rounding.
    fn boxes(&self, poses: &[Pose]) -> Vec<[DVec3; 2]> {
        let around = |pose: &Pose| {
            let centre = pose.transform_point(self.middle);
            let [x, y, z] = pose.rows().map(|row| row.abs().dot(self.half));
            let half = DVec3::new(x, y, z) + (centre.abs() + self.half) * 1e-12;
            [centre - half, centre + half]
        };
        poses.iter().map(around).collect()
    }

    /// Pairs of boxes that meet, found in the cells of a grid. A pair that shares several cells is
    /// reported in the lowest of them only.
    fn in_cells(&self, boxes: &[[DVec3; 2]]) -> Vec<[usize; 2]> {
        let cell = |x: f64| {
            let at = (x / self.air.room * 0.5 + 0.5) * CELLS as f64;
            (at.max(0.0) as usize).min(CELLS - 1)
        };
        let spans = |[low, high]: &[DVec3; 2]| [0, 1, 2].map(|i| [cell(low[i]), cell(high[i])]);
        let spans: Vec<[[usize; 2]; 3]> = boxes.iter().map(spans).collect();
        let mut cells: Vec<Vec<u32>> = vec![Vec::new(); CELLS * CELLS * CELLS];
        let mut pairs = Vec::new();
        for (b, [xs, ys, zs]) in spans.iter().enumerate() {
            for x in xs[0]..=xs[1] {
                for y in ys[0]..=ys[1] {
                    for z in zs[0]..=zs[1] {
                        let inside = &mut cells[(x * CELLS + y) * CELLS + z];
                        for &a in inside.iter() {
                            let a = a as usize;
                            let lowest =
                                (0..3).all(|i| [x, y, z][i] == spans[a][i][0].max(spans[b][i][0]));
                            if lowest && meet(&boxes[a], &boxes[b]) {
                                pairs.push([a, b]);
                            }
                        }
                        inside.push(b as u32);
                    }
                }
            }
        }
        pairs
    }
}

/// The number of the pair of `a` and the larger `b`.
fn pair_number(a: usize, b: usize) -> usize {
    b * (b - 1) / 2 + a
}

fn meet(a: &[DVec3; 2], b: &[DVec3; 2]) -> bool {
    a[0].cmple(b[1]).all() && b[0].cmple(a[1]).all()
}
