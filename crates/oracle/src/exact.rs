//! The comparison: kernels against the oracle, case by case, on all cores.

use crate::cases::Family;
use crate::rng::Rng;
use crate::separation::{Verdict, judge};
use crate::whole::{Whole, whole};
use jostle_geom::triangle::{
    Triangle, TriangleRelation, common, distance, relation, triangles_touch,
    triangles_touch_counted,
};
use rayon::prelude::*;
use std::fmt;

/// The result of a comparison. Independent of the number of threads.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// The seed that was given.
    pub seed: u64,
    /// One entry per family, in the order of [`Family::ALL`].
    pub families: Vec<FamilySummary>,
}

/// The part of a [`Summary`] about one family.
#[derive(Clone, Debug)]
pub struct FamilySummary {
    /// The family.
    pub family: Family,
    /// Pairs compared.
    pub cases: u64,
    /// Pairs that touch (crossing ones included), by the oracle.
    pub touching: u64,
    /// Pairs that cross, by the oracle.
    pub crossing: u64,
    /// Sides that plain `f64` could not decide.
    pub unsure: u64,
    /// Pairs with a wrong answer.
    pub wrong: u64,
    /// The first few wrong ones, as code for a test.
    pub examples: Vec<String>,
}

/// Most wrong cases described in full, per family.
const EXAMPLES_MAX: usize = 3;

/// Compares about `cases` pairs, the same number of each family.
#[must_use]
pub fn run(cases: u64, seed: u64) -> Summary {
    let each = cases.div_ceil(Family::ALL.len() as u64);
    let families = Family::ALL.map(|family| run_family(family, each, seed)).to_vec();
    Summary { seed, families }
}

fn run_family(family: Family, cases: u64, seed: u64) -> FamilySummary {
    let empty = || FamilySummary {
        family,
        cases: 0,
        touching: 0,
        crossing: 0,
        unsure: 0,
        wrong: 0,
        examples: Vec::new(),
    };
    // Rayon keeps the order of the parts, so the first examples are the same in every run.
    (0..cases)
        .into_par_iter()
        .fold(empty, |mut sum, case| {
            sum.add_case(seed, case);
            sum
        })
        .reduce(empty, FamilySummary::join)
}

impl FamilySummary {
    fn add_case(&mut self, seed: u64, case: u64) {
        let [a, b] = self.family.draw(&mut Rng::new(seed, self.family as u64, case));
        let expected = verdict(&a, &b);
        self.cases += 1;
        self.touching += u64::from(expected != Verdict::Apart);
        self.crossing += u64::from(expected == Verdict::Crossing);
        if let Some(fault) = fault(&a, &b, expected, &mut self.unsure) {
            self.wrong += 1;
            if self.examples.len() < EXAMPLES_MAX {
                let family = self.family;
                self.examples.push(format!(
                    "{family:?}, seed {seed}, case {case}: {fault}, expected {expected:?}\n  \
                     a = {a:?}\n  b = {b:?}"
                ));
            }
        }
    }

    fn join(mut self, other: FamilySummary) -> FamilySummary {
        self.cases += other.cases;
        self.touching += other.touching;
        self.crossing += other.crossing;
        self.unsure += other.unsure;
        self.wrong += other.wrong;
        self.examples.extend(other.examples);
        self.examples.truncate(EXAMPLES_MAX);
        self
    }
}

/// The oracle's answer for two triangles.
#[must_use]
pub fn verdict(a: &Triangle, b: &Triangle) -> Verdict {
    match whole(&[a[0], a[1], a[2], b[0], b[1], b[2]]) {
        Whole::Small(points) => judge(&points),
        Whole::Large(points) => judge(&points),
    }
}

/// The error of the kernels for this pair, if any.
fn fault(a: &Triangle, b: &Triangle, expected: Verdict, unsure: &mut u64) -> Option<String> {
    let touching = expected != Verdict::Apart;
    if triangles_touch_counted(a, b, unsure) != touching {
        return Some(format!("triangles_touch(a, b) = {}", !touching));
    }
    if triangles_touch(b, a) != touching {
        return Some(format!("triangles_touch(b, a) = {}", !touching));
    }
    let expected_relation = match expected {
        Verdict::Apart => TriangleRelation::Apart,
        Verdict::Touching => TriangleRelation::Touching,
        Verdict::Crossing => TriangleRelation::Crossing,
    };
    let found = relation(a, b);
    if found != expected_relation {
        return Some(format!("relation(a, b) = {found:?}"));
    }
    let found = common(a, b);
    if found.is_some() != touching {
        return Some(format!("common(a, b) = {found:?}"));
    }
    let found = distance(a, b);
    if (found.distance == 0.0) != touching {
        return Some(format!("distance(a, b) = {found:?}"));
    }
    None
}

impl Summary {
    /// Pairs compared.
    #[must_use]
    pub fn cases(&self) -> u64 {
        self.families.iter().map(|f| f.cases).sum()
    }

    /// Pairs with a wrong answer.
    #[must_use]
    pub fn wrong(&self) -> u64 {
        self.families.iter().map(|f| f.wrong).sum()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "family            cases      touching   crossing   unsure     wrong")?;
        for s in &self.families {
            let name = format!("{:?}", s.family);
            writeln!(
                f,
                "{name:<16}  {:<9}  {:<9}  {:<9}  {:<9}  {}",
                s.cases, s.touching, s.crossing, s.unsure, s.wrong
            )?;
        }
        for example in self.families.iter().flat_map(|s| &s.examples) {
            writeln!(f, "{example}")?;
        }
        write!(f, "{} cases, {} wrong (seed {})", self.cases(), self.wrong(), self.seed)
    }
}
