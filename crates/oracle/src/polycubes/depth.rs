//! How far solids made of cells must move, by counting.
//!
//! A move leaves an overlap iff it is closer than 1, in every coordinate, to a whole-number move
//! that puts a cell of the second solid on one of the first. So each element of the grid of moves
//! (corner, open edge, open square, open cell) leaves one as a whole or not at all; the moves that
//! leave none are a closed set, and its point closest to zero is a corner. So the square of the
//! depth is a whole number: the smallest of all whole moves that put no cell on a cell.

use super::{Family, Polycube, WRONG_MAX, draw, unimodular};
use crate::rng::Rng;
use glam::{DVec3, Vec3};
use jostle_geom::{DepthError, Effort, Model, Pair, Pose, Quality};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Families of two solids.
const FAMILIES: [Family; 3] = [Family::Cells, Family::CoarseCells, Family::Boxes];

/// Intervals up to this part of their upper end are narrow.
const NARROW: f64 = 0.05;

/// Bounds are off by less than this part of the truth.
const ROUNDING: f64 = 1e-9;

/// The result of a comparison.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The seed that was given.
    pub seed: u64,
    /// Pairs compared.
    pub cases: u64,
    /// Of each family and each square of the depth: pairs, those with a narrow interval, and those
    /// whose shortest move was found.
    pub depths: BTreeMap<(Family, i32), [u64; 3]>,
    /// Pairs whose first and last distance along an axis differ.
    pub gaps: u64,
    /// Distances along a slanted axis: how many were made longer by rounding, and how many not.
    pub slanted: [u64; 2],
    /// Descriptions of pairs with a wrong answer, at most a few.
    pub wrong: Vec<String>,
}

/// Compares `cases` pairs. Independent of the number of threads.
#[must_use]
pub fn run(cases: u64, seed: u64, effort: Effort) -> Summary {
    let empty = || Summary { seed, ..Summary::default() };
    (0..cases)
        .into_par_iter()
        .fold(empty, |mut sum, case| {
            sum.add_case(case, effort);
            sum
        })
        .reduce(empty, Summary::join)
}

impl Summary {
    fn add_case(&mut self, case: u64, effort: Effort) {
        let family = FAMILIES[case as usize % FAMILIES.len()];
        let mut rng = Rng::new(self.seed, 100 + family as u64, case);
        let [a, b] = draw(&mut rng, family);
        self.cases += 1;
        let fault = self.compare(&mut rng, [&a, &b], family, effort);
        let fault = fault.unwrap_or_else(|error| Some(error.to_string()));
        if let Some(fault) = fault
            && self.wrong.len() < WRONG_MAX
        {
            self.wrong.push(format!(
                "{family:?}, seed {}, case {case}: {fault}\n  a = {:?}\n  b = {:?}",
                self.seed, a.cells, b.cells
            ));
        }
    }

    fn compare(
        &mut self,
        rng: &mut Rng,
        solids: [&Polycube; 2],
        family: Family,
        effort: Effort,
    ) -> Result<Option<String>, DepthError> {
        let differences = differences(solids);
        let quality = rng.pick(&[Quality::Fast, Quality::Default, Quality::Tight]);
        let upright = [Vec3::X, Vec3::Y, Vec3::Z];
        let [a, b] = solids.map(|p| Model::build(p.mapped(upright), quality));
        let pair = Pair::new(&a, &Pose::IDENTITY, &b, &Pose::IDENTITY);
        let squared = squared_depth(&differences);
        let depth = f64::from(squared).sqrt();
        let found = pair.separation(effort)?;
        let counts = self.depths.entry((family, squared)).or_default();
        counts[0] += 1;
        counts[1] += u64::from(found.at_least >= found.at_most * (1.0 - NARROW));
        counts[2] += u64::from(found.at_most <= depth * (1.0 + ROUNDING));
        let moved = Pose::from_translation(found.way);
        let parted = moved
            .is_ok_and(|pose| Pair::new(&a, &Pose::IDENTITY, &b, &pose).overlaps() == Ok(false));
        let holds = found.at_least <= depth * (1.0 + ROUNDING)
            && found.at_most >= depth * (1.0 - ROUNDING)
            && (found.way.length() - found.at_most).abs() <= ROUNDING * depth;
        if !parted || !holds {
            return Ok(Some(format!("depth {depth}, found {found:?}, parted {parted}")));
        }
        let columns = unimodular(rng);
        let axis = rng.below(3) as usize;
        let sign = rng.pick(&[-1, 1]);
        let expected = Along::new(&differences, axis, sign);
        self.gaps += u64::from(expected.first != expected.last);
        let n = upright[axis].as_dvec3() * f64::from(sign);
        let found = pair.clearing(n)?;
        let off = (found.first - expected.first).abs().max((found.last - expected.last).abs());
        if off > ROUNDING {
            return Ok(Some(format!("along {n}: {expected:?}, found {found:?}")));
        }
        let [a, b] = solids.map(|p| Model::build(p.mapped(columns), quality));
        let pair = Pair::new(&a, &Pose::IDENTITY, &b, &Pose::IDENTITY);
        let n: DVec3 = columns[axis].as_dvec3() * f64::from(sign);
        let found = pair.clearing(n)?;
        // Now the direction is rounded, and so are the places on the way, and faces that slide
        // along each other may overlap by that. So the answers may be too far, but rarely.
        let near = |x: f64, y: f64| (x - y * n.length()).abs() <= ROUNDING;
        let right = (near(found.first, expected.first) || near(found.first, expected.wide))
            && near(found.last, expected.last);
        let safe = found.first >= expected.first * n.length() - ROUNDING
            && found.last >= expected.last * n.length() - ROUNDING;
        self.slanted[usize::from(right)] += 1;
        if !safe {
            return Ok(Some(format!("columns {columns:?} along {n}: {expected:?}, {found:?}")));
        }
        Ok(None)
    }

    fn join(mut self, other: Summary) -> Summary {
        self.cases += other.cases;
        self.gaps += other.gaps;
        self.slanted = [0, 1].map(|i| self.slanted[i] + other.slanted[i]);
        for (key, counts) in other.depths {
            let all = self.depths.entry(key).or_default();
            for (sum, count) in all.iter_mut().zip(counts) {
                *sum += count;
            }
        }
        self.wrong.extend(other.wrong);
        self.wrong.truncate(WRONG_MAX);
        self
    }

    /// Of the pairs that overlap: how many, how many with a narrow interval, and how many whose
    /// shortest move was found.
    #[must_use]
    pub fn overlapping(&self) -> [u64; 3] {
        let deep = self.depths.iter().filter(|((_, squared), _)| *squared > 0);
        deep.fold([0; 3], |sum, (_, counts)| [0, 1, 2].map(|i| sum[i] + counts[i]))
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "family        depth²    pairs   narrow    exact")?;
        for ((family, squared), [pairs, narrow, exact]) in &self.depths {
            let family = format!("{family:?}");
            writeln!(f, "{family:<12}  {squared:>6} {pairs:>8} {narrow:>8} {exact:>8}")?;
        }
        for wrong in &self.wrong {
            writeln!(f, "{wrong}")?;
        }
        let [pairs, narrow, exact] = self.overlapping();
        writeln!(f, "{pairs} overlap, {narrow} of them narrow, {exact} exact")?;
        writeln!(f, "{} with a gap along an axis", self.gaps)?;
        let [longer, right] = self.slanted;
        writeln!(f, "slanted: {right} right, {longer} made longer by rounding")?;
        let verdict = if self.wrong.is_empty() { "none wrong" } else { "WRONG, see above" };
        write!(f, "{} cases, {verdict} (seed {})", self.cases, self.seed)
    }
}

/// All whole-number moves that put a cell of the second solid on one of the first.
fn differences([a, b]: [&Polycube; 2]) -> BTreeSet<[i32; 3]> {
    let minus = |p: &[i32; 3], q: &[i32; 3]| [p[0] - q[0], p[1] - q[1], p[2] - q[2]];
    a.cells.iter().flat_map(|p| b.cells.iter().map(move |q| minus(p, q))).collect()
}

/// The square of the length of the shortest whole move that is not among these.
fn squared_depth(differences: &BTreeSet<[i32; 3]>) -> i32 {
    // A move this far along an axis is never among them.
    let most = 1 + differences.iter().map(|d| d[0].abs()).max().unwrap_or(-1);
    let near = -most..=most;
    let all = near.clone().flat_map(|x| {
        let near = near.clone();
        near.clone().flat_map(move |y| near.clone().map(move |z| [x, y, z]))
    });
    let free = all.filter(|d| !differences.contains(d));
    free.map(|d| d.iter().map(|x| x * x).sum()).min().unwrap_or(0)
}

/// The distances along an axis.
#[derive(Clone, Copy, Debug)]
struct Along {
    first: f64,
    /// The first that is not the only one in its gap, which rounding may close.
    wide: f64,
    last: f64,
}

impl Along {
    fn new(differences: &BTreeSet<[i32; 3]>, axis: usize, sign: i32) -> Along {
        let overlap = |k: i32| {
            let mut d = [0; 3];
            d[axis] = k * sign;
            differences.contains(&d)
        };
        let most = 1 + differences.iter().map(|d| d[axis].abs()).max().unwrap_or(0);
        let first = (0..=most).find(|&k| !overlap(k)).unwrap_or(most);
        let wide = (first..=most).find(|&k| !overlap(k) && !overlap(k + 1)).unwrap_or(most);
        let last = (0..=most).rev().find(|&k| overlap(k)).map_or(0, |k| k + 1);
        let wide = if first == 0 { 0 } else { wide };
        Along { first: f64::from(first), wide: f64::from(wide), last: f64::from(last) }
    }
}
