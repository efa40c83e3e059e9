//! The bounding-box pipeline (Zachmann 2000, 3.3; in parallel 3.10.2): any two meshes, also
//! deforming ones, with nothing prepared but a list in order.
//!
//! Cheap tests come first, each in the frame where no vertex has to be brought over, and the sides
//! of a box are computed when they are needed: x, then y, then z.
//!
//! 1. Triangles of the second mesh that meet the box of the first, in the second's frame.
//! 2. Triangles of the first mesh that meet the box of the second, in the first's frame.
//! 3. The boxes of those, in the second's frame, against all that was gathered.
//! 4. Pairs of boxes that overlap along x by search in the order, then along y and z.
//! 5. The exact test of two triangles.
//!
//! Zachmann sorts what step 1 gathers at each question. Here both meshes have their triangles in
//! order of their left brackets, kept so by insertion when vertices move, and what is gathered
//! comes out in order.
//!
//! Boxes that are brought over, or compared with such, are grown by [`Frames::slack`]; the
//! others are exact.

use super::sorted::sort_nearly;
use super::{Deforming, Which};
use crate::frames::{Bounds, Frames, Map};
use crate::{Contender, Count};
use glam::{DVec3, Vec3};
use jostle_geom::triangle::{Triangle, triangles_touch};
use jostle_geom::{FacePair, Mesh, MeshError, Pose};
use rayon::prelude::*;

/// So many triangles of the first mesh are one piece of work. Rayon hands out pieces as threads
/// become free, which balances as Zachmann's stride does: near triangles are in few pieces.
const PIECE: usize = 32;

/// So many pieces are begun before any of them is asked whether it has found something.
const PIECES_AT_ONCE: usize = 64;

/// Gathering is cheaper, so its pieces are larger: chunks, as Zachmann has them (3.10.2).
const GATHER_PIECE: usize = 4096;

/// Threads that could not be started.
#[derive(Debug, thiserror::Error)]
#[error("{threads} threads could not be started: {reason}")]
pub struct ThreadsError {
    threads: usize,
    reason: String,
}

/// Two meshes, with their triangles in order of their left brackets.
///
/// ```
/// use glam::{DVec3, Vec3};
/// use jostle_geom::{Pose, solids};
/// use jostle_lab::{BoxPipeline, Contender, Deforming, Which};
///
/// let cube = solids::cuboid(DVec3::splat(2.0))?;
/// let mut pipeline = BoxPipeline::new(&cube, &cube);
/// let far = Pose::from_translation(DVec3::new(5.0, 0.0, 0.0))?;
/// assert!(!pipeline.touches(&Pose::IDENTITY, &far).0);
/// let larger: Vec<Vec3> = cube.vertices().iter().map(|v| v * 4.0).collect();
/// pipeline.set_vertices(Which::B, &larger)?;
/// assert!(pipeline.touches(&Pose::IDENTITY, &far).0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BoxPipeline {
    soups: [Soup; 2],
    pool: Option<rayon::ThreadPool>,
}

/// A mesh and its order.
#[derive(Debug)]
struct Soup {
    mesh: Mesh,
    /// Triangles by the left ends of their boxes.
    order: Vec<Bracket>,
    /// The largest width of a triangle along x.
    widest: f64,
    bounds: Bounds,
}

#[derive(Clone, Copy, Debug)]
struct Bracket {
    left: f32,
    triangle: u32,
}

/// A triangle of the second mesh that meets the box of the first.
#[derive(Clone, Copy, Debug)]
struct Gathered {
    low: Vec3,
    high: Vec3,
    triangle: u32,
}

/// What is the same for a whole question.
struct Question<'q> {
    soups: &'q [Soup; 2],
    poses: [&'q Pose; 2],
    /// From the frame of the first mesh into that of the second.
    map: Map,
    slack: f64,
    /// The box of the second mesh, in the frame of the first.
    b_in_a: Bounds,
    gathered: Vec<Gathered>,
    /// The box around all that was gathered.
    around: Bounds,
    /// The largest width along x of what was gathered.
    widest: f64,
    all: bool,
}

/// What a piece of work found, and what it took.
#[derive(Debug, Default)]
struct Piece {
    found: Vec<(u32, u32)>,
    count: Count,
}

impl BoxPipeline {
    /// On the caller's thread.
    #[must_use]
    pub fn new(a: &Mesh, b: &Mesh) -> BoxPipeline {
        BoxPipeline { soups: [Soup::new(a), Soup::new(b)], pool: None }
    }

    /// On so many threads. Answers and counts are the same for any number.
    ///
    /// # Errors
    /// When the system refuses to start them.
    pub fn parallel(a: &Mesh, b: &Mesh, threads: usize) -> Result<BoxPipeline, ThreadsError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.map_err(|error| ThreadsError { threads, reason: error.to_string() })?;
        Ok(BoxPipeline { pool: Some(pool), ..BoxPipeline::new(a, b) })
    }

    /// In a question with one answer, work beyond the first pair that touches is not counted:
    /// how much of that is done depends on the threads.
    fn ask(&self, pose_a: &Pose, pose_b: &Pose, all: bool) -> Piece {
        let ask = || {
            let mut sum = Piece::default();
            let question = Question::new(self, [pose_a, pose_b], all, &mut sum.count);
            let near = question.near(&mut sum.count);
            let pieces: Vec<&[Bracket]> = near.chunks(PIECE).collect();
            for batch in pieces.chunks(PIECES_AT_ONCE) {
                let work = |piece: &&[Bracket]| question.piece(piece);
                let done: Vec<Piece> = match &self.pool {
                    Some(_) => batch.par_iter().map(work).collect(),
                    None => stop_after_first(batch.iter().map(work), all),
                };
                for piece in done {
                    sum.count += piece.count;
                    sum.found.extend(piece.found);
                    if !all && !sum.found.is_empty() {
                        return sum;
                    }
                }
            }
            sum
        };
        match &self.pool {
            Some(pool) => pool.install(ask),
            None => ask(),
        }
    }
}

fn stop_after_first(pieces: impl Iterator<Item = Piece>, all: bool) -> Vec<Piece> {
    let mut done = Vec::new();
    for piece in pieces {
        let stop = !all && !piece.found.is_empty();
        done.push(piece);
        if stop {
            break;
        }
    }
    done
}

impl Contender for BoxPipeline {
    fn name(&self) -> String {
        match &self.pool {
            Some(pool) => format!("box pipeline, {} threads", pool.current_num_threads()),
            None => "box pipeline".to_owned(),
        }
    }

    fn touches(&mut self, pose_a: &Pose, pose_b: &Pose) -> (bool, Count) {
        let sum = self.ask(pose_a, pose_b, false);
        (!sum.found.is_empty(), sum.count)
    }

    fn all_pairs(&mut self, pose_a: &Pose, pose_b: &Pose) -> (Vec<FacePair>, Count) {
        let sum = self.ask(pose_a, pose_b, true);
        let [a, b] = self.soups.each_ref().map(|soup| &soup.mesh);
        (face_pairs(a, b, &sum.found), sum.count)
    }

    fn bytes(&self) -> usize {
        self.soups.iter().map(|soup| soup.order.capacity() * size_of::<Bracket>()).sum()
    }
}

impl Deforming for BoxPipeline {
    fn set_vertices(&mut self, which: Which, positions: &[Vec3]) -> Result<Count, MeshError> {
        let soup = &mut self.soups[which.index()];
        soup.mesh.set_vertices(positions)?;
        Ok(match &self.pool {
            Some(pool) => pool.install(|| soup.update(true)),
            None => soup.update(false),
        })
    }
}

/// Pairs of faces in the order of [`jostle_geom::Pair::all_pairs`], each once.
pub(crate) fn face_pairs(a: &Mesh, b: &Mesh, touching: &[(u32, u32)]) -> Vec<FacePair> {
    let pair = |&(x, y): &(u32, u32)| FacePair { a: a.face_of(x), b: b.face_of(y) };
    let mut pairs: Vec<FacePair> = touching.iter().map(pair).collect();
    pairs.sort_unstable();
    pairs.dedup();
    pairs
}

/// The places of a triangle's corners, where `Pose::transform_point` has them.
pub(crate) fn placed(mesh: &Mesh, triangle: u32, pose: &Pose) -> Triangle {
    mesh.triangles()[triangle as usize].map(|v| pose.transform_point(mesh.vertices()[v as usize]))
}

/// The box of a triangle, in the frame of its mesh: exact.
fn box_of(mesh: &Mesh, triangle: u32) -> (Vec3, Vec3) {
    let [a, b, c] = mesh.triangles()[triangle as usize].map(|v| mesh.vertices()[v as usize]);
    (a.min(b).min(c), a.max(b).max(c))
}

impl Soup {
    fn new(mesh: &Mesh) -> Soup {
        let bracket = |triangle| Bracket { left: box_of(mesh, triangle).0.x, triangle };
        let mut order: Vec<Bracket> = (0..mesh.triangle_count() as u32).map(bracket).collect();
        order.sort_by(|x, y| x.left.total_cmp(&y.left).then(x.triangle.cmp(&y.triangle)));
        let mut soup = Soup { mesh: mesh.clone(), order, widest: 0.0, bounds: Bounds::EMPTY };
        soup.update(false);
        soup
    }

    /// After vertices have moved. In chunks, each with a box of its own, if there are threads.
    fn update(&mut self, in_parallel: bool) -> Count {
        let mesh = &self.mesh;
        let chunk = |chunk: &mut [Bracket]| {
            let (mut low, mut high, mut widest) = (Vec3::INFINITY, Vec3::NEG_INFINITY, 0f64);
            for bracket in chunk {
                let (from, to) = box_of(mesh, bracket.triangle);
                (low, high) = (low.min(from), high.max(to));
                widest = widest.max(f64::from(to.x) - f64::from(from.x));
                bracket.left = from.x;
            }
            (Bounds { low: low.as_dvec3(), high: high.as_dvec3() }, widest)
        };
        let join = |x: (Bounds, f64), y: (Bounds, f64)| (x.0.joined(y.0), x.1.max(y.1));
        let none = || (Bounds::EMPTY, 0.0);
        (self.bounds, self.widest) = match in_parallel {
            true => self.order.par_chunks_mut(GATHER_PIECE).map(chunk).reduce(none, join),
            false => self.order.chunks_mut(GATHER_PIECE).map(chunk).fold(none(), join),
        };
        let comparisons = sort_nearly(&mut self.order, |b| (b.left, b.triangle));
        Count { comparisons, ..Count::default() }
    }

    /// The part of the order where triangles can reach from `low` to `high` along x.
    fn between(&self, low: f64, high: f64, count: &mut Count) -> &[Bracket] {
        let from = self.order.partition_point(|b| f64::from(b.left) < low - self.widest);
        let rest = &self.order[from..];
        let to = rest.partition_point(|b| f64::from(b.left) <= high);
        count.comparisons += 2 * search_steps(self.order.len());
        &rest[..to]
    }
}

fn search_steps(length: usize) -> u64 {
    u64::from(usize::BITS - length.leading_zeros())
}

/// Two intervals share a point; counts what that took.
fn meets(low: f64, high: f64, other: [f64; 2], count: &mut Count) -> bool {
    count.comparisons += 2;
    low <= other[1] && other[0] <= high
}

fn side(bounds: &Bounds, axis: usize) -> [f64; 2] {
    [bounds.low[axis], bounds.high[axis]]
}

impl<'q> Question<'q> {
    fn new(pipeline: &'q BoxPipeline, poses: [&'q Pose; 2], all: bool, count: &mut Count) -> Self {
        let soups = &pipeline.soups;
        let reach = soups.each_ref().map(|soup| soup.bounds.reach());
        let frames = Frames::new(reach, poses[0], poses[1]);
        // Differences of brackets and widths round once more.
        let slack = frames.slack(8);
        let a_in_b = frames.to_b.enclose(&soups[0].bounds).grown(slack);
        let b_in_a = frames.to_a.enclose(&soups[1].bounds).grown(slack);
        count.alignments += 2;
        let candidates = soups[1].between(a_in_b.low.x, a_in_b.high.x, count);
        let gather = |piece: &[Bracket]| soups[1].gather(piece, &a_in_b);
        let pieces: Vec<(Vec<Gathered>, Count)> = match &pipeline.pool {
            Some(_) => candidates.par_chunks(GATHER_PIECE).map(gather).collect(),
            None => candidates.chunks(GATHER_PIECE).map(gather).collect(),
        };
        let (mut gathered, mut around, mut widest) = (Vec::new(), Bounds::EMPTY, 0f64);
        for (piece, cost) in pieces {
            *count += cost;
            for g in &piece {
                let own = Bounds { low: g.low.as_dvec3(), high: g.high.as_dvec3() };
                around = around.joined(own);
                widest = widest.max(own.extent().x);
            }
            gathered.extend(piece);
        }
        let map = frames.to_b;
        Question { soups, poses, map, slack, b_in_a, gathered, around, widest, all }
    }

    /// Triangles of the first mesh that may reach the box of the second along x.
    fn near(&self, count: &mut Count) -> &'q [Bracket] {
        if self.gathered.is_empty() {
            return &[];
        }
        self.soups[0].between(self.b_in_a.low.x, self.b_in_a.high.x, count)
    }

    fn piece(&self, brackets: &[Bracket]) -> Piece {
        let mut piece = Piece::default();
        for bracket in brackets {
            self.one(bracket.triangle, &mut piece);
            if !self.all && !piece.found.is_empty() {
                break;
            }
        }
        piece
    }

    /// One triangle of the first mesh against what was gathered.
    fn one(&self, f: u32, piece: &mut Piece) {
        let count = &mut piece.count;
        count.visits += 1;
        let mesh = &self.soups[0].mesh;
        let (low, high) = box_of(mesh, f);
        let here = (0..3).all(|axis| {
            let (from, to) = (f64::from(low[axis]), f64::from(high[axis]));
            meets(from, to, side(&self.b_in_a, axis), count)
        });
        if !here {
            return;
        }
        let corners = mesh.triangles()[f as usize].map(|v| mesh.vertices()[v as usize].as_dvec3());
        let Some(own) = self.lazily(&corners, count) else { return };
        let from = self.gathered.partition_point(|g| f64::from(g.low.x) < own.low.x - self.widest);
        count.comparisons += search_steps(self.gathered.len());
        let a = placed(mesh, f, self.poses[0]);
        for g in &self.gathered[from..] {
            count.comparisons += 1;
            if f64::from(g.low.x) > own.high.x {
                break;
            }
            count.volume_tests += 1;
            count.comparisons += 1;
            if f64::from(g.high.x) < own.low.x {
                continue;
            }
            let near = |axis: usize, count: &mut Count| {
                let (from, to) = (f64::from(g.low[axis]), f64::from(g.high[axis]));
                meets(from, to, side(&own, axis), count)
            };
            if !near(1, count) || !near(2, count) {
                continue;
            }
            count.triangle_tests += 1;
            let b = placed(&self.soups[1].mesh, g.triangle, self.poses[1]);
            if triangles_touch(&a, &b) {
                piece.found.push((f, g.triangle));
                if !self.all {
                    return;
                }
            }
        }
    }

    /// The box of a triangle of the first mesh in the frame of the second, axis by axis, as long
    /// as it meets the box around all that was gathered.
    fn lazily(&self, corners: &[DVec3; 3], count: &mut Count) -> Option<Bounds> {
        let mut own = Bounds::EMPTY;
        count.alignments += 1;
        for axis in 0..3 {
            let along = corners.map(|p| self.map.rows[axis].dot(p) + self.map.shift[axis]);
            count.operations += 3 * 6;
            own.low[axis] = along[0].min(along[1]).min(along[2]) - self.slack;
            own.high[axis] = along[0].max(along[1]).max(along[2]) + self.slack;
            if !meets(own.low[axis], own.high[axis], side(&self.around, axis), count) {
                return None;
            }
        }
        Some(own)
    }
}

impl Soup {
    /// What of a piece of the order meets a box.
    fn gather(&self, piece: &[Bracket], bounds: &Bounds) -> (Vec<Gathered>, Count) {
        let (mut gathered, mut count) = (Vec::new(), Count::default());
        for bracket in piece {
            count.visits += 1;
            let (low, high) = box_of(&self.mesh, bracket.triangle);
            let near = (0..3).all(|axis| {
                let (from, to) = (f64::from(low[axis]), f64::from(high[axis]));
                meets(from, to, side(bounds, axis), &mut count)
            });
            if near {
                gathered.push(Gathered { low, high, triangle: bracket.triangle });
            }
        }
        (gathered, count)
    }
}
