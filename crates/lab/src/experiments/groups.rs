//! `jostle lab groups`: consistency groups from delays.
//!
//! K. Storey, *Scalable Collision Detection for Distributed Virtual Environments*, 2006: the worked
//! examples of 3.3.7 and 4.3.1.4, and machines at random places.

use super::args::GroupsArgs;
use super::clock::{Clock, Spent};
use super::plot::{Figure, Line, Scale};
use super::table::{Share, Table};
use super::{Results, check_writable};
use crate::experiments::error::LabError;
use jostle_proto::{Formation, Matrix, NodeId, Sizes, Span, Thresholds, TooManyNodes, form};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

/// Each matrix is grouped so often: once takes less than clocks can measure.
const REPEATS: u32 = 10;

/// What machines at random places are like: the first hop takes so many milliseconds there and
/// back, the way across their square so many more.
const FIRST_HOP_MS: [f64; 2] = [0.2, 3.0];
const ACROSS_MS: f64 = 40.0;
/// What two machines measure of each other differs by so much at most.
const ONE_WAY: f64 = 0.1;

/// One example, or the means of random matrices.
#[derive(Debug, Serialize)]
struct Row {
    case: &'static str,
    n: usize,
    threshold_ms: f64,
    size_max: usize,
    /// Of random matrices.
    seed: Option<u64>,
    matrices: u32,
    /// Groups of a matrix.
    groups: f64,
    /// Groups of each size, in all matrices.
    sizes: BTreeMap<usize, u32>,
    largest: f64,
    /// The share of machines that are in a group by themselves.
    alone: f64,
    clock: Clock,
    ms: f64,
    worst_ms: f64,
    /// Of an example.
    formed: Option<Vec<Vec<u32>>>,
    /// What the thesis has.
    thesis: Option<Vec<Vec<u32>>>,
}

struct Example {
    case: &'static str,
    threshold_ms: u64,
    sizes: Sizes,
    /// In milliseconds, rows of those who measured; none where there is no measurement.
    delays: &'static [&'static [Option<u64>]],
    thesis: &'static [&'static [u32]],
}

const NONE: Option<u64> = None;
const NEAR: Option<u64> = Some(1);
const FOUR: &[&[Option<u64>]] = &[
    &[NONE, Some(3), Some(4), Some(10)],
    &[Some(2), NONE, Some(1), Some(6)],
    &[Some(4), Some(3), NONE, Some(2)],
    &[Some(7), Some(4), Some(1), NONE],
];

const EXAMPLES: [Example; 3] = [
    Example {
        case: "3.3.7",
        threshold_ms: 5,
        sizes: Sizes::Largest,
        delays: FOUR,
        thesis: &[&[1, 2, 3], &[4]],
    },
    // What it calls more desirable, and leaves because the best groups are too hard to find.
    Example {
        case: "3.3.7 halves",
        threshold_ms: 5,
        sizes: Sizes::PowersOfTwo,
        delays: FOUR,
        thesis: &[&[1, 2], &[3, 4]],
    },
    // Lists of who is near: A says B, C, D and so on. The scan shows {E} twice; B is meant once.
    Example {
        case: "4.3.1.4",
        threshold_ms: 2,
        sizes: Sizes::Largest,
        delays: &[
            &[NONE, NEAR, NEAR, NEAR, NONE],
            &[NEAR, NONE, NEAR, NONE, NEAR],
            &[NEAR, NONE, NONE, NEAR, NONE],
            &[NEAR, NONE, NEAR, NONE, NEAR],
            &[NONE, NONE, NONE, NEAR, NONE],
        ],
        thesis: &[&[1, 3, 4], &[2], &[5]],
    },
];

pub(crate) fn run(args: &GroupsArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let mut rows = Vec::new();
    for example in &EXAMPLES {
        rows.push(example.row()?);
    }
    for &threshold_ms in &args.threshold {
        for &n in &args.n {
            rows.push(random_row(args, n, threshold_ms)?);
        }
    }
    let results = Results { rows: &rows, table: table(&rows), figure: figure(&rows) };
    results.show(&args.output, out)
}

fn limit(threshold: Span, size_max: usize, sizes: Sizes) -> Formation {
    let thresholds = Thresholds { inclusion: threshold, rejection: threshold };
    Formation { thresholds, size_max, sizes }
}

fn milli(ms: f64) -> Span {
    Span((ms * 1000.0).round() as u64)
}

/// So many machines, from 1.
fn names(n: usize) -> Vec<NodeId> {
    (1..).map(NodeId).take(n).collect()
}

/// Sums over matrices of `n` machines.
#[derive(Default)]
struct Sums {
    spent: Spent,
    sizes: BTreeMap<usize, u32>,
    largest: usize,
}

impl Sums {
    fn add(&mut self, matrix: &Matrix, formation: &Formation) -> Vec<Vec<NodeId>> {
        let now = Clock::ThreadCpu.reader();
        let begin = now();
        let mut groups = Vec::new();
        for _ in 0..REPEATS {
            groups = form(matrix, &[], formation);
        }
        self.spent.add(now().saturating_sub(begin) / REPEATS);
        for group in &groups {
            *self.sizes.entry(group.len()).or_default() += 1;
        }
        self.largest += groups.first().map_or(0, Vec::len);
        groups
    }

    fn row(self, case: &'static str, n: usize, matrices: u32) -> Row {
        let mean = |sum: f64| sum / f64::from(matrices.max(1));
        let alone = self.sizes.get(&1).copied().unwrap_or(0);
        Row {
            case,
            n,
            threshold_ms: 0.0,
            size_max: 0,
            seed: None,
            matrices,
            groups: mean(self.sizes.values().copied().map(f64::from).sum()),
            largest: mean(self.largest as f64),
            alone: mean(f64::from(alone)) / n as f64,
            sizes: self.sizes,
            clock: Clock::ThreadCpu,
            ms: self.spent.mean_ms(),
            worst_ms: self.spent.worst_ms(),
            formed: None,
            thesis: None,
        }
    }
}

impl Example {
    fn row(&self) -> Result<Row, TooManyNodes> {
        let nodes = names(self.delays.len());
        let mut matrix = Matrix::new(&nodes)?;
        for (&from, row) in nodes.iter().zip(self.delays) {
            for (&to, delay) in nodes.iter().zip(*row) {
                delay.iter().for_each(|&ms| matrix.set(from, to, Span::from_ms(ms)));
            }
        }
        let size_max = nodes.len();
        let mut sums = Sums::default();
        let formation = limit(Span::from_ms(self.threshold_ms), size_max, self.sizes);
        let groups = sums.add(&matrix, &formation);
        let ids = |group: &Vec<NodeId>| group.iter().map(|node| node.0).collect();
        Ok(Row {
            threshold_ms: self.threshold_ms as f64,
            size_max,
            formed: Some(groups.iter().map(ids).collect()),
            thesis: Some(self.thesis.iter().map(|group| group.to_vec()).collect()),
            ..sums.row(self.case, nodes.len(), 1)
        })
    }
}

fn random_row(args: &GroupsArgs, n: usize, threshold_ms: f64) -> Result<Row, TooManyNodes> {
    let &GroupsArgs { seed, matrices, size_max, .. } = args;
    let sizes = if args.halves { Sizes::PowersOfTwo } else { Sizes::Largest };
    let formation = limit(milli(threshold_ms), size_max, sizes);
    let mut sums = Sums::default();
    // The same places for every threshold.
    let mut dice = Dice(seed ^ (n as u64) << 32);
    for _ in 0..matrices {
        sums.add(&random_matrix(&mut dice, n)?, &formation);
    }
    Ok(Row { threshold_ms, size_max, seed: Some(seed), ..sums.row("random", n, matrices) })
}

/// Machines anywhere in a square, each with a first hop of its own.
fn random_matrix(dice: &mut Dice, n: usize) -> Result<Matrix, TooManyNodes> {
    let nodes = names(n);
    let mut matrix = Matrix::new(&nodes)?;
    let places: Vec<[f64; 3]> = (0..n)
        .map(|_| {
            let [least, most] = FIRST_HOP_MS;
            [dice.share(), dice.share(), least + (most - least) * dice.share()]
        })
        .collect();
    for (&from, a) in nodes.iter().zip(&places) {
        for (&to, b) in nodes.iter().zip(&places) {
            let way = ((a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2)).sqrt() * ACROSS_MS;
            let delay = (a[2] + b[2] + way) * (1.0 + ONE_WAY * dice.share());
            matrix.set(from, to, milli(delay));
        }
    }
    Ok(matrix)
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Dice(u64);

impl Dice {
    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        (jostle_dice::bits(&mut self.0) >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn table(rows: &[Row]) -> Table {
    let titles = ["case", "n", "threshold ms", "groups", "largest", "alone", "ms", "worst ms"];
    let mut table = Table::new(&titles);
    for row in rows {
        table.row(&[
            &row.case,
            &row.n,
            &row.threshold_ms.to_string(),
            &row.groups,
            &row.largest,
            &Share(row.alone),
            &format!("{:.4}", row.ms),
            &format!("{:.4}", row.worst_ms),
        ]);
    }
    for Row { case, formed, thesis, .. } in rows {
        let Some((formed, thesis)) = formed.as_ref().zip(thesis.as_ref()) else { continue };
        let verdict = match formed == thesis {
            true => "as in the thesis".to_owned(),
            false => format!("the thesis has {}", in_braces(thesis)),
        };
        table.note(format!("{case}: {}, {verdict}", in_braces(formed)));
    }
    if let Some(row) = rows.last() {
        let Row { matrices, size_max, clock, .. } = row;
        table.note(format!(
            "random: means of {matrices} matrices, at most {size_max} in a group; times: {}",
            clock.name()
        ));
    }
    table
}

fn in_braces(groups: &[Vec<u32>]) -> String {
    let group = |group: &Vec<u32>| {
        let members: Vec<String> = group.iter().map(u32::to_string).collect();
        format!("{{{}}}", members.join(" "))
    };
    groups.iter().map(group).collect::<Vec<_>>().join(" ")
}

fn figure(rows: &[Row]) -> Figure {
    let by_threshold = |y: fn(&Row) -> f64| {
        let random = rows.iter().filter(|row| row.seed.is_some());
        Line::through(random, |row| (format!("{} ms", row.threshold_ms), [row.n as f64, y(row)]))
    };
    let title = "Consistency groups of machines at random places, by threshold";
    Figure::over(
        "machines",
        title,
        Scale::Linear,
        [
            ("How many groups", "groups", by_threshold(|row| row.groups)),
            ("Machines by themselves", "percent", by_threshold(|row| 100.0 * row.alone)),
            ("Time to form them", "ms", by_threshold(|row| row.ms)),
        ],
    )
}
