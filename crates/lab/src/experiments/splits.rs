//! `jostle lab splits`: what split rules and leaf sizes do to trees of 18-DOPs (Ohlenburg 2003,
//! 3.2.4 and 3.3.2, tables 3.2 to 3.6, figure 3.8; row O4).

mod paper;

use super::args::{OutputArgs, one_of};
use super::clock::{Clock, milliseconds};
use super::plot::{Figure, Line, Panel, Scale};
use super::table::Table;
use super::tightness::{objects, triangles};
use super::{Results, check_writable};
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use crate::tree::{Object, Proximity, SplitRow, SplitRule, Splitting};
use clap::Args;
use clap::builder::{RangedU64ValueParser, TypedValueParser};
use serde::Serialize;
use std::io::Write;

pub(crate) const EXAMPLES: &str = "\
Examples:
  jostle lab splits --svg splits.svg
  jostle lab splits --object figure --rule longest-side,min-sum --threshold 1,2,4,8,16 --json
  jostle lab splits --triangles 50000 --threshold 1";

/// Lists are separated by commas; every combination is measured.
#[derive(Debug, Args)]
pub(crate) struct SplitsArgs {
    /// Which objects, each standing in for one of the paper's [default: all]
    #[arg(long, value_delimiter = ',', value_parser = objects(), value_name = "LIST")]
    pub(crate) object: Vec<Object>,
    /// Triangles of an object, at most; the paper's have up to 50,000
    #[arg(long, value_parser = triangles(), default_value = "6000")]
    pub(crate) triangles: usize,
    /// Which split rules [default: all]
    #[arg(long, value_delimiter = ',', value_parser = rules(), value_name = "LIST")]
    pub(crate) rule: Vec<SplitRule>,
    /// How many triangles a leaf may have
    #[arg(long, value_delimiter = ',', value_parser = threshold(), value_name = "LIST",
        default_value = "1,2,4,10,20")]
    pub(crate) threshold: Vec<usize>,
    /// How many questions two copies in close proximity are asked about
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000),
        default_value = "200")]
    pub(crate) questions: u32,
    /// Random seed of rotations and directions
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

fn rules() -> impl TypedValueParser<Value = SplitRule> {
    one_of(SplitRule::ALL.map(|rule| (rule.name(), rule)).to_vec())
}

fn threshold() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=1000)
}

/// What one rule and leaf size did to one object.
#[derive(Debug, Serialize)]
struct Row {
    object: &'static str,
    triangles: usize,
    rule: &'static str,
    threshold: usize,
    /// With as many leaves as triangles, and all of them equally deep.
    height_optimal: u32,
    height: u32,
    nodes: usize,
    kilobytes: f64,
    kilobytes_boundary: f64,
    build_ms: f64,
    boundaries_ms: f64,
    questions: usize,
    touching: usize,
    clock: Clock,
    /// A question, in the mean, re-aligned by boundaries (as the paper does) and by sums.
    ms_boundary: f64,
    ms_sums: f64,
    /// Per question, re-aligned by sums.
    volume_tests: f64,
    triangle_tests: f64,
    /// Volumes of the levels as parts of the root's.
    levels: Vec<f64>,
}

impl Row {
    fn new(object: Object, triangles: usize, asked: &Proximity, row: SplitRow) -> Row {
        let questions = asked.count() as f64;
        Row {
            object: object.name(),
            triangles,
            rule: row.splitting.rule.name(),
            threshold: row.splitting.leaf_max.get(),
            height_optimal: triangles.next_power_of_two().trailing_zeros(),
            height: row.height,
            nodes: row.nodes,
            kilobytes: row.bytes as f64 / 1024.0,
            kilobytes_boundary: row.bytes_boundary as f64 / 1024.0,
            build_ms: milliseconds(row.build),
            boundaries_ms: milliseconds(row.boundaries),
            questions: asked.count(),
            touching: asked.touching(),
            clock: Clock::ThreadCpu,
            ms_boundary: milliseconds(row.by_boundary),
            ms_sums: milliseconds(row.by_sums),
            volume_tests: row.count.volume_tests as f64 / questions,
            triangle_tests: row.count.triangle_tests as f64 / questions,
            levels: row.levels,
        }
    }
}

pub(crate) fn run(args: &SplitsArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let objects = if args.object.is_empty() { &Object::ALL[..] } else { &args.object };
    let rules = if args.rule.is_empty() { &SplitRule::ALL[..] } else { &args.rule };
    let total = objects.len() * rules.len() * args.threshold.len();
    let mut progress = Progress::new(total, true);
    let mut rows = Vec::new();
    for &object in objects {
        let mesh = object.mesh(object.paper_triangles().min(args.triangles))?;
        let asked = Proximity::new(&mesh, args.questions as usize, args.seed);
        for &threshold in &args.threshold {
            for &rule in rules {
                // The range of the option excludes 0.
                let Some(splitting) = Splitting::new(rule, threshold) else { continue };
                let row = asked.measure(splitting, Clock::ThreadCpu.reader())?;
                rows.push(Row::new(object, mesh.triangle_count(), &asked, row));
                progress.done(rows.len());
            }
        }
    }
    drop(progress);
    let results = Results { rows: &rows, table: table(&rows), figure: figure(&rows) };
    results.show(&args.output, out)?;
    if !args.output.json {
        write!(out, "\n{}\n{}", paper::trees(objects), paper::times(objects, &args.threshold))?;
    }
    Ok(())
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "object",
        "rule",
        "leaf",
        "height",
        "nodes",
        "KByte",
        "with boundaries",
        "build ms",
        "boundaries ms",
        "ms boundary",
        "ms sums",
        "volume tests",
        "triangle tests",
    ]);
    for row in rows {
        table.row(&[
            &format!("{} {}", row.object, row.triangles),
            &row.rule,
            &row.threshold,
            &format!("{} of {}", row.height, row.height_optimal),
            &row.nodes,
            &row.kilobytes,
            &row.kilobytes_boundary,
            &row.build_ms,
            &row.boundaries_ms,
            &format!("{:.4}", row.ms_boundary),
            &format!("{:.4}", row.ms_sums),
            &row.volume_tests,
            &row.triangle_tests,
        ]);
    }
    if let Some(row) = rows.first() {
        table.note(format!(
            "height: of the optimal one for leaves of one triangle; ms: a question about two \
             copies in close proximity, re-aligned by boundaries as the paper does and by sums as \
             Zachmann, means of {}; times: {}",
            row.questions,
            row.clock.name()
        ));
    }
    table
}

/// For each object the time of a question over the leaf size, and figure 3.8: volumes of levels.
fn figure(rows: &[Row]) -> Figure {
    let mut panels: Vec<Panel> = Vec::new();
    let panel = |title: String, x, y| Panel { title, x, y, lines: Vec::new() };
    for row in rows {
        let titles =
            [format!("{}: a question", row.object), format!("{}: volumes of levels", row.object)];
        if panels.iter().all(|panel| panel.title != titles[0]) {
            let [question, levels] = titles.clone();
            panels.push(panel(question, "triangles in a leaf", "ms, by boundaries"));
            panels.push(panel(levels, "level", "% of the root's volume"));
        }
        let mut extend = |title: &String, points: Vec<[f64; 2]>| {
            let panel = panels.iter_mut().find(|panel| panel.title == *title);
            if let Some(panel) = panel {
                points.iter().for_each(|&point| Line::extend(&mut panel.lines, row.rule, point));
            }
        };
        extend(&titles[0], vec![[row.threshold as f64, row.ms_boundary]]);
        if row.threshold == 1 {
            let shown = row.levels.iter().take(25).enumerate();
            let points = shown.map(|(level, part)| [level as f64, 100.0 * part]);
            extend(&titles[1], points.collect());
        }
    }
    Figure { title: "Split rules of 18-DOP trees", columns: 2, scale: Scale::OverTime, panels }
}
