//! Solids made of unit cells, whose relation is known by counting.
//!
//! A solid is the sum, modulo two, of boxes with whole-number corners: so its faces may be there
//! twice, shells may share edges and corners, and one may lie in another. The common points of two
//! such solids are those of the grid's *elements*: corners, open edges, open squares and open
//! cells. An element is a point of a grid that is twice as fine; odd coordinates are the open ones.
//! The meshes are then mapped by a random whole-number matrix of determinant ±1: the faces become
//! slanted, the answer stays.

pub mod depth;

use crate::rng::Rng;
use glam::Vec3;
use jostle_geom::{Mesh, Model, Pair, PatchExtent, Pose, Quality, Relation};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Cells along each axis.
const SIZE: i32 = 4;

/// How the solids of a pair are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// Sets of unit cells; faces between two cells of a set are left out.
    Cells,
    /// The same, the second of them with cells of twice the size.
    CoarseCells,
    /// Sums modulo two of a few boxes; where these share faces, the faces are there twice.
    Boxes,
    /// As `Cells`, the second one a surface, not a solid.
    Surface,
}

impl Family {
    /// All families.
    pub const ALL: [Family; 4] =
        [Family::Cells, Family::CoarseCells, Family::Boxes, Family::Surface];
}

/// A box of cells, from one corner to another. All numbers are whole.
type Cuboid = [Vec3; 2];

/// A set of squares of the surface, as mesh and as elements.
#[derive(Clone, Debug)]
pub struct Polycube {
    mesh: Mesh,
    /// Elements of the surface.
    surface: BTreeSet<[i32; 3]>,
    /// Cells of the inside.
    cells: BTreeSet<[i32; 3]>,
    /// No face is there twice.
    simple: bool,
}

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The seed that was given.
    pub seed: u64,
    /// Pairs compared.
    pub cases: u64,
    /// How many pairs of each family had each relation.
    pub seen: BTreeMap<(Family, &'static str), u64>,
    /// Descriptions of pairs with a wrong answer, at most a few.
    pub wrong: Vec<String>,
}

/// Most wrong cases described.
const WRONG_MAX: usize = 3;

/// Compares `cases` pairs. Independent of the number of threads.
#[must_use]
pub fn run(cases: u64, seed: u64) -> Summary {
    let empty = || Summary { seed, ..Summary::default() };
    (0..cases)
        .into_par_iter()
        .fold(empty, |mut sum, case| {
            sum.add_case(case);
            sum
        })
        .reduce(empty, Summary::join)
}

impl Summary {
    fn add_case(&mut self, case: u64) {
        let family = Family::ALL[case as usize % Family::ALL.len()];
        let mut rng = Rng::new(self.seed, family as u64, case);
        let [a, b] = draw(&mut rng, family);
        let expected = expected(&a, &b);
        self.cases += 1;
        *self.seen.entry((family, expected.relation.name())).or_default() += 1;
        if let Some(fault) = fault(&mut rng, &a, &b, expected)
            && self.wrong.len() < WRONG_MAX
        {
            self.wrong.push(format!(
                "{family:?}, seed {}, case {case}: {fault}, expected {expected:?}\n  \
                 a = {:?}\n  b = {:?}",
                self.seed, a.cells, b.cells
            ));
        }
    }

    fn join(mut self, other: Summary) -> Summary {
        self.cases += other.cases;
        for (key, count) in other.seen {
            *self.seen.entry(key).or_default() += count;
        }
        self.wrong.extend(other.wrong);
        self.wrong.truncate(WRONG_MAX);
        self
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for ((family, relation), count) in &self.seen {
            writeln!(f, "{:<12}  {relation:<10}  {count}", format!("{family:?}"))?;
        }
        for wrong in &self.wrong {
            writeln!(f, "{wrong}")?;
        }
        let verdict = if self.wrong.is_empty() { "none wrong" } else { "WRONG, see above" };
        write!(f, "{} cases, {verdict} (seed {})", self.cases, self.seed)
    }
}

/// Two solids, or a solid and a surface.
fn draw(rng: &mut Rng, family: Family) -> [Polycube; 2] {
    match family {
        Family::Cells | Family::Surface => {
            let [first, second] = two_sets(rng, SIZE - 1);
            let a = Polycube::of_cells(rng, &first, 1);
            // The same triangles, or others for the same cells.
            let same = first == second && rng.below(2) == 0;
            let b = if same { a.clone() } else { Polycube::of_cells(rng, &second, 1) };
            [solid(a), if family == Family::Cells { solid(b) } else { b }]
        }
        Family::CoarseCells => {
            let small = random_set(rng, SIZE);
            let coarse = random_set(rng, SIZE / 2);
            let mut set: BTreeSet<[i32; 3]> = fine(&coarse);
            match rng.below(5) {
                0 => set.retain(|cell| small.contains(cell)),
                1 => set = small.difference(&set).copied().collect(),
                2 => set.extend(&small),
                3 => {}
                _ => set = small,
            }
            let pair = [Polycube::of_cells(rng, &set, 1), Polycube::of_cells(rng, &coarse, 2)];
            pair.map(solid)
        }
        Family::Boxes => {
            let a = boxes(rng);
            let mut b = boxes(rng);
            match rng.below(4) {
                0 => b = a.clone(),
                1 => b.extend(a.clone()),
                _ => {}
            }
            [Polycube::of_boxes(rng, &a), Polycube::of_boxes(rng, &b)].map(solid)
        }
    }
}

fn solid(mut drawn: Polycube) -> Polycube {
    drawn.mesh = drawn.mesh.into_solid().expect("sums of closed surfaces are closed");
    drawn
}

/// The unit cells of cells of twice the size.
fn fine(coarse: &BTreeSet<[i32; 3]>) -> BTreeSet<[i32; 3]> {
    let part = |cell: &[i32; 3], k: i32| {
        [cell[0] * 2 + (k & 1), cell[1] * 2 + (k >> 1 & 1), cell[2] * 2 + (k >> 2)]
    };
    coarse.iter().flat_map(|cell| (0..8).map(move |k| part(cell, k))).collect()
}

fn all_cells(size: i32) -> impl Iterator<Item = [i32; 3]> {
    (0..size * size * size).map(move |k| [k % size, k / size % size, k / size / size])
}

/// Sparse, dense, or a box.
fn random_set(rng: &mut Rng, size: i32) -> BTreeSet<[i32; 3]> {
    let share = rng.pick(&[1, 2, 4, 8, 14]);
    if rng.below(4) == 0 {
        let cuboid = cuboid(rng, size);
        return all_cells(size).filter(|cell| has_cell(&cuboid, cell)).collect();
    }
    all_cells(size).filter(|_| rng.below(16) < share).collect()
}

/// Two sets of cells that are likely to touch.
fn two_sets(rng: &mut Rng, size: i32) -> [BTreeSet<[i32; 3]>; 2] {
    let (a, mut b) = (random_set(rng, size), random_set(rng, size));
    match rng.below(7) {
        0 => b = a.clone(),
        1 => b.retain(|cell| a.contains(cell)),
        2 => b.extend(&a),
        3 | 4 => b.retain(|cell| !a.contains(cell)),
        5 => {
            // Few common cells.
            let common: Vec<_> = b.intersection(&a).copied().skip(1).collect();
            b.retain(|cell| !common.contains(cell));
        }
        _ => {}
    }
    [a, b]
}

fn cuboid(rng: &mut Rng, size: i32) -> Cuboid {
    let mut interval = || loop {
        let mut end = || rng.below(size as u64 + 1) as f32;
        let (from, to) = (end(), end());
        if from < to {
            return (from, to);
        }
    };
    let (x, y, z) = (interval(), interval(), interval());
    [Vec3::new(x.0, y.0, z.0), Vec3::new(x.1, y.1, z.1)]
}

fn has_cell([low, high]: &Cuboid, cell: &[i32; 3]) -> bool {
    (0..3).all(|k| (low[k]..high[k]).contains(&(cell[k] as f32)))
}

fn boxes(rng: &mut Rng) -> Vec<Cuboid> {
    (0..1 + rng.below(3)).map(|_| cuboid(rng, SIZE)).collect()
}

/// Whole numbers, exactly.
fn whole(p: Vec3) -> [i32; 3] {
    p.to_array().map(|x| x as i32)
}

/// A mesh in the making. Each quad is cut along a random diagonal.
#[derive(Default)]
struct Quads {
    vertices: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    surface: BTreeSet<[i32; 3]>,
}

impl Quads {
    /// The rectangle from `low` to `high`, which have one coordinate in common.
    fn push(&mut self, rng: &mut Rng, low: Vec3, high: Vec3) {
        let axis = (0..3).find(|&k| low[k] == high[k]).expect("a rectangle along the axes");
        let (i, j) = ((axis + 1) % 3, (axis + 2) % 3);
        let first = self.vertices.len() as u32;
        for (from_i, from_j) in [(low, low), (high, low), (high, high), (low, high)] {
            let mut corner = low;
            corner[i] = from_i[i];
            corner[j] = from_j[j];
            self.vertices.push(corner);
        }
        let halves =
            if rng.below(2) == 0 { [[0, 1, 2], [0, 2, 3]] } else { [[0, 1, 3], [1, 2, 3]] };
        self.triangles.extend(halves.map(|t| t.map(|k| first + k)));
        let [low, high] = [low, high].map(|p| whole(p * 2.0));
        for p in low[i]..=high[i] {
            for q in low[j]..=high[j] {
                let mut element = low;
                (element[i], element[j]) = (p, q);
                self.surface.insert(element);
            }
        }
    }

    fn finish(self, cells: BTreeSet<[i32; 3]>) -> Polycube {
        let mesh = Mesh::from_triangles(self.vertices, self.triangles).expect("small numbers");
        Polycube { mesh, surface: self.surface, cells, simple: true }
    }
}

impl Polycube {
    /// Of cells with this edge length.
    fn of_cells(rng: &mut Rng, cells: &BTreeSet<[i32; 3]>, edge: i32) -> Polycube {
        let size = edge as f32;
        let mut quads = Quads::default();
        for cell in cells {
            let low = Vec3::from_array(cell.map(|x| x as f32));
            let is_cell = |p: Vec3| cells.contains(&whole(p));
            for (axis, step) in [(0, Vec3::X), (1, Vec3::Y), (2, Vec3::Z)] {
                let mut far = low + Vec3::ONE;
                if !is_cell(low - step) {
                    far[axis] = low[axis];
                    quads.push(rng, low * size, far * size);
                }
                if !is_cell(low + step) {
                    far[axis] = low[axis] + 1.0;
                    quads.push(rng, (low + step) * size, far * size);
                }
            }
        }
        quads.finish(if edge == 2 { fine(cells) } else { cells.clone() })
    }

    /// The sum modulo two.
    fn of_boxes(rng: &mut Rng, boxes: &[Cuboid]) -> Polycube {
        let mut quads = Quads::default();
        for &[low, high] in boxes {
            for axis in 0..3 {
                let (mut near, mut far) = (high, low);
                near[axis] = low[axis];
                far[axis] = high[axis];
                quads.push(rng, low, near);
                quads.push(rng, far, high);
            }
        }
        let odd = |cell: &[i32; 3]| boxes.iter().filter(|b| has_cell(b, cell)).count() % 2 == 1;
        Polycube { simple: false, ..quads.finish(all_cells(SIZE).filter(odd).collect()) }
    }

    /// Returns true if an element is inside, and not on the surface.
    fn holds(&self, element: &[i32; 3]) -> bool {
        // Then any cell next to it is inside.
        self.mesh.is_solid()
            && !self.surface.contains(element)
            && self.cells.contains(&element.map(|x| x.div_euclid(2)))
    }

    fn touches(&self, other: &Polycube) -> bool {
        let all = (0..=SIZE * 2)
            .flat_map(|x| (0..=SIZE * 2).flat_map(move |y| (0..=SIZE * 2).map(move |z| [x, y, z])));
        let has = |p: &Polycube, e: &[i32; 3]| p.surface.contains(e) || p.holds(e);
        all.into_iter().any(|e| has(self, &e) && has(other, &e))
    }

    /// The same mesh under a linear map.
    fn mapped(&self, columns: [Vec3; 3]) -> Mesh {
        let map = |v: &Vec3| columns[0] * v.x + columns[1] * v.y + columns[2] * v.z;
        let vertices = self.mesh.vertices().iter().map(map).collect();
        let mesh = Mesh::from_triangles(vertices, self.mesh.triangles().to_vec());
        let mesh = mesh.expect("small numbers");
        if self.mesh.is_solid() { mesh.into_solid().expect("closed as before") } else { mesh }
    }

    /// All triangles, in an order that does not depend on how they are given.
    fn triangles(&self) -> Vec<[[i32; 3]; 3]> {
        let corner = |v: u32| whole(self.mesh.vertices()[v as usize]);
        let sorted = |t: &[u32; 3]| {
            let mut corners = t.map(corner);
            corners.sort_unstable();
            corners
        };
        let mut all: Vec<_> = self.mesh.triangles().iter().map(sorted).collect();
        all.sort_unstable();
        all
    }
}

/// The true answers for a pair.
#[derive(Clone, Copy, Debug)]
struct Expected {
    relation: Relation,
    /// `None` if one of them is a surface.
    overlaps: Option<bool>,
}

fn expected(a: &Polycube, b: &Polycube) -> Expected {
    let solids = a.mesh.is_solid() && b.mesh.is_solid();
    let overlap = !a.cells.is_disjoint(&b.cells);
    let overlaps = solids.then_some(overlap);
    let relation = if !a.surface.is_empty() && a.triangles() == b.triangles() {
        Relation::Identical
    } else {
        related(a, b, overlaps == Some(true))
    };
    Expected { relation, overlaps }
}

fn related(a: &Polycube, b: &Polycube, overlap: bool) -> Relation {
    let inside = |p: &Polycube, q: &Polycube| p.surface.iter().any(|e| q.holds(e));
    let outside = |p: &Polycube, q: &Polycube| {
        q.mesh.is_solid() && p.surface.iter().any(|e| !q.holds(e) && !q.surface.contains(e))
    };
    if !overlap && !inside(a, b) && !inside(b, a) {
        return if a.touches(b) { Relation::Touching } else { Relation::Apart };
    }
    let solids = a.mesh.is_solid() && b.mesh.is_solid();
    let beyond = |p: &Polycube, q: &Polycube| {
        outside(p, q) || (solids && !p.cells.is_subset(&q.cells)) || !q.mesh.is_solid()
    };
    match (beyond(a, b), beyond(b, a)) {
        (true, true) => Relation::Crossing,
        (false, true) => Relation::AInsideB,
        (true, false) => Relation::BInsideA,
        (false, false) => Relation::Identical,
    }
}

/// The connected parts of what two surfaces share, under a linear map. Elements that differ by one
/// in one coordinate are next to each other: the one that is even there bounds the other.
fn patches(a: &Polycube, b: &Polycube, columns: [Vec3; 3]) -> Vec<PatchExtent> {
    let mut rest: BTreeSet<[i32; 3]> = a.surface.intersection(&b.surface).copied().collect();
    let mut patches = Vec::new();
    while let Some(first) = rest.pop_first() {
        let (mut area, mut length) = (0.0, 0.0);
        let mut open = vec![first];
        while let Some(element) = open.pop() {
            let along: Vec<Vec3> =
                (0..3).filter(|&k| element[k] % 2 != 0).map(|k| columns[k]).collect();
            match along[..] {
                [u, v] => area += u.as_dvec3().cross(v.as_dvec3()).length(),
                [u] => length += u.as_dvec3().length(),
                _ => {}
            }
            for (k, step) in (0..3).flat_map(|k| [(k, -1), (k, 1)]) {
                let mut next = element;
                next[k] += step;
                open.extend(rest.take(&next));
            }
        }
        patches.push(match (area, length) {
            (0.0, 0.0) => PatchExtent::Point,
            (0.0, length) => PatchExtent::Curve { length },
            (area, _) => PatchExtent::Area { area },
        });
    }
    patches
}

/// The same patches in any order, with sizes that are equal but for rounding, if that is asked?
fn are_alike(found: &[PatchExtent], expected: &[PatchExtent], sized: bool) -> bool {
    let parts = |extent: &PatchExtent| match *extent {
        PatchExtent::Point => (0, 0.0),
        PatchExtent::Curve { length } => (1, length),
        PatchExtent::Area { area } => (2, area),
    };
    let alike = |(p, q): (&PatchExtent, &PatchExtent)| {
        let ((p, x), (q, y)) = (parts(p), parts(q));
        p == q && (!sized || (x - y).abs() <= 1e-9 * y)
    };
    let [found, expected] = [found, expected].map(|all| {
        let mut all = all.to_vec();
        all.sort_by(|p, q| parts(p).partial_cmp(&parts(q)).expect("numbers"));
        all
    });
    found.len() == expected.len() && found.iter().zip(&expected).all(alike)
}

/// The wrong answers, before and after a map, if there are any.
fn fault(rng: &mut Rng, a: &Polycube, b: &Polycube, expected: Expected) -> Option<String> {
    let identity = [Vec3::X, Vec3::Y, Vec3::Z];
    for columns in [identity, unimodular(rng)] {
        let quality = rng.pick(&[Quality::Fast, Quality::Default, Quality::Tight]);
        let [model_a, model_b] = [a, b].map(|p| Model::build(p.mapped(columns), quality));
        let pair = Pair::new(&model_a, &Pose::IDENTITY, &model_b, &Pose::IDENTITY);
        let found = pair.relation();
        if found != Some(expected.relation) {
            return Some(format!("relation {found:?} with columns {columns:?}"));
        }
        let found = pair.overlaps().ok();
        if found != expected.overlaps {
            return Some(format!("overlaps {found:?} with columns {columns:?}"));
        }
        if pair.touches() != (expected.relation != Relation::Apart) {
            return Some(format!("touches {} with columns {columns:?}", pair.touches()));
        }
        // The slanted one has all the difficulties of the upright one.
        if columns != identity
            && let Some(fault) = fault_of_patches(&pair, a, b, columns)
        {
            return Some(fault);
        }
    }
    None
}

fn fault_of_patches(
    pair: &Pair<'_>,
    a: &Polycube,
    b: &Polycube,
    columns: [Vec3; 3],
) -> Option<String> {
    let found: Vec<_> = pair.patches().ok()?.iter().map(|patch| patch.extent).collect();
    let expected = patches(a, b, columns);
    // Faces that are there twice count twice.
    let sized = a.simple && b.simple;
    (!are_alike(&found, &expected, sized))
        .then(|| format!("patches {found:?}, not {expected:?}, with columns {columns:?}"))
}

/// The columns of a matrix with small whole numbers and determinant ±1: shears of the identity.
fn unimodular(rng: &mut Rng) -> [Vec3; 3] {
    let mut columns = [Vec3::X, Vec3::Y, Vec3::Z];
    for _ in 0..1 + rng.below(5) {
        let (i, j) = (rng.below(3) as usize, rng.below(2) as usize);
        let j = (i + 1 + j) % 3;
        columns[i] += columns[j] * rng.pick(&[-3.0, -1.0, 1.0, 2.0, 3.0]);
    }
    if rng.below(2) == 0 {
        columns.swap(0, 1);
    }
    columns
}
