//! A bolt and its nut: conforming contact, which is the hardest case for distances and motions.
//!
//! Everywhere along the thread the two surfaces are nearly at the smallest distance, so no part of
//! a hierarchy can be left out early. Both are cut from one profile that runs along one helix, and
//! a screw motion of the pitch keeps the play.

use crate::hyperboloid::circle;
use glam::{DVec2, DVec3, Vec3};
use jostle_geom::solids::{DIMENSION_MAX, DIMENSION_MIN, SolidError, TRIANGLES_MAX};
use jostle_geom::{Mesh, MeshError};

/// A bolt along z with its nut on it, both with ends that follow the helix.
///
/// ```
/// use jostle_geom::{Model, Pair, Pose, Quality};
/// use jostle_lab::NutAndBolt;
///
/// let pair = NutAndBolt { around: 48, ..NutAndBolt::M16 };
/// let [bolt, nut] = pair.meshes()?.map(|mesh| Model::build(mesh, Quality::Default));
/// let apart = Pair::new(&bolt, &Pose::IDENTITY, &nut, &Pose::IDENTITY).distance().unwrap();
/// assert!((0.09..0.11).contains(&apart.distance));
/// # Ok::<(), jostle_geom::solids::SolidError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NutAndBolt {
    /// Radius of the bolt at the crest of its thread.
    pub radius: f64,
    /// How far a turn goes.
    pub pitch: f64,
    /// The distance of the flanks. They are at 30° to the normal of the axis, so crests and roots
    /// are twice as far apart.
    pub play: f64,
    /// Chords around the axis. Between corners a chord is nearer to the axis, so a nut with a play
    /// below `radius` · (π / around)² / 4 may touch the bolt in turned poses.
    pub around: u32,
    /// Turns of the thread of bolt and nut.
    pub turns: [u32; 2],
}

/// Places in the profile, in parts of the pitch and of its depth below the crest.
const PROFILE: [(f64, f64); 6] = [
    (0.0, 0.0),
    (1.0 / 8.0, 0.0),
    (9.0 / 32.0, 0.5),
    (7.0 / 16.0, 1.0),
    (11.0 / 16.0, 1.0),
    (27.0 / 32.0, 0.5),
];

/// Depth of the profile in parts of the pitch: a flank is 5/16 of the pitch high, at 30° to the
/// normal of the axis.
const DEPTH: f64 = 5.0 / 16.0 * 1.732_050_807_568_877_2;

const ROWS_PER_TURN: u32 = PROFILE.len() as u32;

impl NutAndBolt {
    /// Sizes of a metric M16 thread in millimetres, 0.1 mm of play, about 40,000 triangles.
    pub const M16: NutAndBolt =
        NutAndBolt { radius: 8.0, pitch: 2.0, play: 0.1, around: 256, turns: [8, 5] };

    /// Bolt and nut, the nut on the middle of the bolt. Both are closed and look outward.
    ///
    /// # Errors
    /// Dimensions that are not usable numbers, a pitch that leaves nothing of the bolt, fewer than
    /// 3 chords, no turn or a nut that is longer than the bolt, too many triangles.
    pub fn meshes(&self) -> Result<[Mesh; 2], SolidError> {
        self.check()?;
        Ok([self.bolt()?, self.nut()?])
    }

    fn bolt(&self) -> Result<Mesh, MeshError> {
        let mut thread = Thread::of(self, self.turns[0], 0.0, 0.0);
        thread.push_sides(false);
        let rows = thread.rows;
        for (first, upward) in [(0, false), (rows, true)] {
            let lead = (f64::from(first) / f64::from(ROWS_PER_TURN) + 0.5) * self.pitch;
            let centre = thread.push(DVec3::Z * lead);
            for i in 0..self.around {
                let [a, b] = [thread.at(i, first), thread.at(i + 1, first)];
                thread.push_face(vec![centre, b, a], upward);
            }
            let mut wall: Vec<u32> = vec![centre];
            wall.extend((first..=first + ROWS_PER_TURN).map(|row| thread.at(0, row)));
            thread.push_face(wall, upward);
        }
        thread.mesh()
    }

    fn nut(&self) -> Result<Mesh, MeshError> {
        let below = f64::from((self.turns[0] - self.turns[1]) / 2) * self.pitch;
        let mut thread = Thread::of(self, self.turns[1], 2.0 * self.play, below);
        thread.push_sides(true);
        let rows = thread.rows;
        let outer = self.radius * 1.5;
        // The outer wall: a bottom and a top corner for each step, and those one pitch higher that
        // the last step ends at.
        let z = |row: u32| below + f64::from(row / ROWS_PER_TURN) * self.pitch;
        let rims = [0, rows].map(|row| {
            let rim: Vec<u32> = (0..=self.around)
                .map(|i| {
                    let lead = f64::from(i) / f64::from(self.around) * self.pitch;
                    let flat = thread.circle[(i % self.around) as usize] * outer;
                    thread.push(flat.extend(z(row) + lead))
                })
                .collect();
            for i in 0..self.around {
                let inner = [thread.at(i, row), thread.at(i + 1, row)];
                let [from, to] = [rim[i as usize], rim[i as usize + 1]];
                thread.push_face(vec![inner[0], inner[1], to, from], row != 0);
            }
            let mut wall: Vec<u32> =
                (row..=row + ROWS_PER_TURN).map(|row| thread.at(0, row)).collect();
            wall.extend([rim[self.around as usize], rim[0]]);
            thread.push_face(wall, row == 0);
            rim
        });
        let last = self.around as usize;
        for i in 0..last {
            let [a, b, c, d] = [rims[0][i], rims[0][i + 1], rims[1][i + 1], rims[1][i]];
            // Where a turn ends, the corners of the other end are on the edge.
            let mut face = vec![a, b];
            face.extend((i + 1 == last).then_some(rims[1][0]));
            face.extend([c, d]);
            face.extend((i == 0).then_some(rims[0][last]));
            thread.push_face(face, false);
        }
        thread.mesh()
    }

    fn check(&self) -> Result<(), SolidError> {
        // NaN is in no range.
        let good = |value| (DIMENSION_MIN..=DIMENSION_MAX).contains(&value);
        let room = self.radius - self.pitch * DEPTH;
        for (what, value) in [
            ("the radius", self.radius),
            ("the pitch", self.pitch),
            ("the radius below the thread", room),
            ("the play (or zero) and the radius", self.play + self.radius),
        ] {
            if !good(value) || self.play < 0.0 {
                return Err(SolidError::BadDimension { what, value });
            }
        }
        let [bolt, nut] = self.turns;
        for (what, found, least) in [
            ("the number of chords around the axis", self.around, 3),
            ("the number of turns of the nut", nut, 2),
            ("the number of turns of the bolt", bolt, nut),
        ] {
            if found < least {
                return Err(SolidError::TooFew { what, least, found });
            }
        }
        let rows = f64::from(bolt + nut + 2) * f64::from(ROWS_PER_TURN);
        let triangles = 2.0 * rows * f64::from(self.around);
        if triangles > TRIANGLES_MAX as f64 {
            return Err(SolidError::TooMany { triangles });
        }
        Ok(())
    }
}

/// A thread in the making: columns of vertices around the axis, from row 0 up to `rows`, one turn
/// more in column 0. Row r + [`ROWS_PER_TURN`] of column 0 is row r after a whole turn.
struct Thread {
    around: u32,
    rows: u32,
    circle: Vec<DVec2>,
    /// Where each column begins.
    starts: Vec<u32>,
    vertices: Vec<Vec3>,
    faces: Vec<Vec<u32>>,
}

impl Thread {
    /// `wider` is added to all radii.
    fn of(pair: &NutAndBolt, turns: u32, wider: f64, below: f64) -> Thread {
        let (around, rows) = (pair.around, turns * ROWS_PER_TURN);
        let circle: Vec<DVec2> = circle(around).collect();
        let mut thread =
            Thread { around, rows, circle, starts: vec![], vertices: vec![], faces: vec![] };
        for i in 0..around {
            thread.starts.push(thread.vertices.len() as u32);
            let more = if i == 0 { ROWS_PER_TURN } else { 0 };
            for row in 0..=rows + more {
                let (part, depth) = PROFILE[(row % ROWS_PER_TURN) as usize];
                let turn = f64::from(row / ROWS_PER_TURN) + part;
                let z = below + (turn + f64::from(i) / f64::from(around)) * pair.pitch;
                let radius = pair.radius + wider - depth * DEPTH * pair.pitch;
                thread.push((thread.circle[i as usize] * radius).extend(z));
            }
        }
        thread
    }

    fn push(&mut self, position: DVec3) -> u32 {
        self.vertices.push(position.as_vec3());
        self.vertices.len() as u32 - 1
    }

    /// The vertex of a column, counted on over one turn, in a row.
    fn at(&self, column: u32, row: u32) -> u32 {
        let after = if column == self.around { ROWS_PER_TURN } else { 0 };
        self.starts[(column % self.around) as usize] + row + after
    }

    /// Two triangles for each cell, looking away from the axis or towards it.
    fn push_sides(&mut self, inward: bool) {
        for i in 0..self.around {
            for row in 0..self.rows {
                let (a, b) = (self.at(i, row), self.at(i + 1, row));
                let (c, d) = (self.at(i + 1, row + 1), self.at(i, row + 1));
                self.push_face(vec![a, b, c], inward);
                self.push_face(vec![a, c, d], inward);
            }
        }
    }

    fn push_face(&mut self, mut face: Vec<u32>, turned: bool) {
        if turned {
            face.reverse();
        }
        self.faces.push(face);
    }

    fn mesh(self) -> Result<Mesh, MeshError> {
        Mesh::from_polygons(self.vertices, self.faces)
    }
}
