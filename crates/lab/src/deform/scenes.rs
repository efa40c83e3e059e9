//! Deforming meshes to measure with.

use crate::Hyperboloid;
use glam::{DQuat, DVec2, DVec3, Vec3};
use jostle_geom::solids::{self, BumpyTorus, SolidError};
use jostle_geom::{Mesh, Pose};

/// What moves, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeformKind {
    /// Two sheets above each other with waves that run, in and out of contact.
    Sheets,
    /// Two bumpy tori beside each other whose bumps swell and shrink; one turns.
    Tori,
    /// A soft hyperboloid falls on a still landscape, is squashed and jumps up again.
    Hyperboloid,
}

/// Two meshes that deform, frame by frame.
#[derive(Clone, Debug)]
pub struct DeformScene {
    kind: DeformKind,
    cells: u32,
    rest: [Mesh; 2],
}

/// Where everything is in a frame.
#[derive(Clone, Debug)]
pub struct Frame {
    /// New positions of the vertices; `None` if they stay.
    pub positions: [Option<Vec<Vec3>>; 2],
    /// Poses of the two meshes.
    pub poses: [Pose; 2],
}

/// A wave passes in so many frames, and the hyperboloid falls once.
const PERIOD: f64 = 60.0;

impl DeformKind {
    /// All of them.
    pub const ALL: [DeformKind; 3] =
        [DeformKind::Sheets, DeformKind::Tori, DeformKind::Hyperboloid];

    /// One word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            DeformKind::Sheets => "sheets",
            DeformKind::Tori => "tori",
            DeformKind::Hyperboloid => "hyperboloid",
        }
    }
}

impl DeformScene {
    /// Meshes of about so many triangles each.
    ///
    /// # Errors
    /// More triangles than [`solids::TRIANGLES_MAX`].
    pub fn new(kind: DeformKind, triangles: usize) -> Result<DeformScene, SolidError> {
        let square = |share: f64| (triangles as f64 / share).sqrt().round().max(3.0) as u32;
        let cells = match kind {
            DeformKind::Sheets => square(2.0),
            DeformKind::Tori | DeformKind::Hyperboloid => square(4.0),
        };
        let sheet = |cells: u32| solids::grid(DVec2::splat(2.0), [cells; 2], |_| 0.0);
        let rest = match kind {
            DeformKind::Sheets => [sheet(cells)?, sheet(cells)?],
            DeformKind::Tori => [torus(cells, 0.0).mesh()?, torus(cells, 0.0).mesh()?],
            DeformKind::Hyperboloid => {
                let tube = Hyperboloid {
                    waist: 0.3,
                    rim: 0.7,
                    height: 1.6,
                    cells: [2 * cells, cells],
                    capped: false,
                };
                let hill = |p: DVec2| 0.1 * (4.0 * p.x).sin() * (3.0 * p.y).cos();
                [tube.mesh()?, solids::grid(DVec2::splat(3.0), [square(2.0); 2], hill)?]
            }
        };
        Ok(DeformScene { kind, cells, rest })
    }

    /// The meshes before the first frame.
    #[must_use]
    pub fn meshes(&self) -> &[Mesh; 2] {
        &self.rest
    }

    /// What it is.
    #[must_use]
    pub fn kind(&self) -> DeformKind {
        self.kind
    }

    /// Triangles of both meshes.
    #[must_use]
    pub fn triangles(&self) -> usize {
        self.rest.iter().map(Mesh::triangle_count).sum()
    }

    /// Frames repeat after a while.
    ///
    /// # Panics
    /// Never: all numbers are small.
    #[must_use]
    pub fn frame(&self, frame: u32) -> Frame {
        let time = std::f64::consts::TAU * f64::from(frame) / PERIOD;
        let at = |place: DVec3| Pose::from_translation(place).expect("a small translation");
        let moved = |side: usize, to: &dyn Fn(DVec3) -> DVec3| {
            let vertices = self.rest[side].vertices().iter();
            Some(vertices.map(|v| to(v.as_dvec3()).as_vec3()).collect())
        };
        match self.kind {
            DeformKind::Sheets => {
                let wave = |p: DVec3, speed: f64| {
                    p.with_z(0.12 * (5.0 * p.x + speed * time).sin() * (4.0 * p.y + time).cos())
                };
                let apart = 0.2 + 0.06 * (time * 0.5).cos();
                Frame {
                    positions: [moved(0, &|p| wave(p, 1.0)), moved(1, &|p| wave(p, -2.0))],
                    poses: [Pose::IDENTITY, at(DVec3::new(0.05, 0.02, apart))],
                }
            }
            DeformKind::Tori => {
                let swollen = |phase: f64| {
                    let mesh = torus(self.cells, phase).mesh();
                    mesh.ok().map(|mesh| mesh.vertices().to_vec())
                };
                let turn = DQuat::from_rotation_x(1.2) * DQuat::from_rotation_z(time * 0.25);
                let place = DVec3::new(2.1 + 0.5 * (time * 0.5).cos(), 0.0, 0.3);
                let pose = Pose::new(turn, place).expect("a turn and a small translation");
                Frame {
                    positions: [swollen(time), swollen(-2.0 * time)],
                    poses: [Pose::IDENTITY, pose],
                }
            }
            DeformKind::Hyperboloid => {
                let height = 0.75 + 0.6 * (time * 0.5).cos().abs();
                let squash = (height / 0.9).min(1.0);
                let soft = |p: DVec3| {
                    let wide = 1.0 + 0.6 * (1.0 - squash);
                    DVec3::new(p.x * wide, p.y * wide, p.z * squash)
                };
                let tilt = DQuat::from_rotation_y(0.3);
                let pose = Pose::new(tilt, DVec3::new(0.1, 0.0, height)).expect("small numbers");
                Frame { positions: [moved(0, &soft), None], poses: [pose, Pose::IDENTITY] }
            }
        }
    }
}

fn torus(cells: u32, phase: f64) -> BumpyTorus {
    let plain = BumpyTorus::plain(1.0, 0.3, [2 * cells, cells]);
    BumpyTorus { amplitude: 0.25, waves: 5.0, phase, ..plain }
}
