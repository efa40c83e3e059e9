//! `jostle lab boxtree`: Zachmann's criteria for splitting BoxTrees (2000, 3.5.7), in counts.
//!
//! He ranks fourteen by time, relative to the second, over nineteen objects. Here it is box tests
//! and triangle tests, which no machine changes, over solids of about the same size.

use super::args::BoxtreeArgs;
use super::plot::{Figure, Line, Panel, Scale};
use super::table::{Table, short};
use super::{Results, check_writable};
use crate::bench::oriented;
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use crate::{BoxTreeSettings, Criterion, CriterionRow, NearContact, boxtree_criteria};
use glam::DQuat;
use serde::Serialize;
use std::io::Write;

/// What is varied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Part {
    Criterion,
    /// And no empty boxes are split off.
    CriterionAlone,
    EmptyShare,
}

/// What a tree of a solid took, in means per question.
#[derive(Debug, Serialize)]
struct Row {
    varied: Part,
    solid: String,
    triangles: usize,
    criterion: u32,
    empty_share: f64,
    nodes: usize,
    bytes: usize,
    depth: usize,
    questions: usize,
    box_tests: f64,
    triangle_tests: f64,
    /// Box tests and triangle tests, relative to criterion 2 for the same solid, with empty boxes
    /// or without.
    cost: f64,
    /// The thesis' rank, of time.
    thesis: f64,
}

pub(crate) fn run(args: &BoxtreeArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let default = BoxTreeSettings::default();
    let criteria = Criterion::ALL.map(|criterion| BoxTreeSettings { criterion, ..default });
    let shares = args.empty.iter().map(|&empty_share| BoxTreeSettings { empty_share, ..default });
    let alone = criteria.map(|settings| BoxTreeSettings { empty_share: 1.0, ..settings });
    let criteria = criteria.into_iter().map(|settings| (Part::Criterion, settings));
    let alone = alone.into_iter().map(|settings| (Part::CriterionAlone, settings));
    let shares = shares.map(|settings| (Part::EmptyShare, settings));
    let all: Vec<_> = criteria.chain(alone).chain(shares).collect();
    let approach = NearContact::new(args.turns);
    let mut progress = Progress::new(args.solid.len() * all.len(), true);
    let mut rows = Vec::new();
    for solid in &args.solid {
        let mesh = oriented(&solid.mesh(args.triangles)?, DQuat::IDENTITY)?;
        let mut found = Vec::new();
        for (_, settings) in &all {
            found.extend(boxtree_criteria(solid.name(), &mesh, &approach, &[*settings]));
            progress.done(rows.len() + found.len());
        }
        let second = |place: usize| found.get(place).map_or(f64::NAN, CriterionRow::cost);
        let [with, without] = [second(1), second(Criterion::ALL.len() + 1)];
        rows.extend(found.iter().zip(&all).map(|(row, &(varied, _))| match varied {
            Part::CriterionAlone => Row::new(row, varied, without),
            _ => Row::new(row, varied, with),
        }));
    }
    drop(progress);
    let results = Results { rows: &rows, table: table(&rows), figure: figure(&rows) };
    results.show(&args.output, out)
}

impl Row {
    fn new(row: &CriterionRow, varied: Part, second: f64) -> Row {
        let mean = |sum: u64| sum as f64 / row.questions.max(1) as f64;
        Row {
            varied,
            solid: row.solid.clone(),
            triangles: row.triangles,
            criterion: row.settings.criterion.number(),
            empty_share: row.settings.empty_share,
            nodes: row.nodes,
            bytes: row.bytes,
            depth: row.depth,
            questions: row.questions,
            box_tests: mean(row.count.volume_tests),
            triangle_tests: mean(row.count.triangle_tests),
            cost: row.cost() / second,
            thesis: row.settings.criterion.zachmanns_rank(),
        }
    }
}

/// Rows of the same settings, in the order in which they come.
fn by_settings(rows: &[Row]) -> Vec<Vec<&Row>> {
    let mut groups: Vec<Vec<&Row>> = Vec::new();
    let of_solid = rows.iter().take_while(|row| row.solid == rows[0].solid).count();
    for (i, row) in rows.iter().enumerate() {
        match groups.get_mut(i % of_solid.max(1)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

fn mean(rows: &[&Row], of: impl Fn(&Row) -> f64) -> f64 {
    rows.iter().map(|row| of(row)).sum::<f64>() / rows.len() as f64
}

fn table(rows: &[Row]) -> Table {
    let solids: Vec<&str> = solids(rows);
    let titles = ["criterion", "empty", "cost", "thesis", "box tests", "triangle tests"];
    let rest = ["nodes/triangle", "depth"];
    let mut table = Table::new(&[&titles[..], &rest, &solids].concat());
    for group in by_settings(rows) {
        let Some(first) = group.first() else { continue };
        let mut cells = vec![
            first.criterion.to_string(),
            first.empty_share.to_string(),
            short(mean(&group, |row| row.cost)),
            short(first.thesis),
            short(mean(&group, |row| row.box_tests)),
            short(mean(&group, |row| row.triangle_tests)),
            short(mean(&group, |row| row.nodes as f64 / row.triangles as f64)),
            short(mean(&group, |row| row.depth as f64)),
        ];
        cells.extend(group.iter().map(|row| short(row.cost)));
        table.line(cells);
    }
    if let Some(row) = rows.first() {
        table.note(format!(
            "cost: box tests and ten times triangle tests, relative to criterion 2; in the second \
             twelve, criterion 2 without empty boxes; means of {} questions for each solid; \
             thesis: time relative to criterion 2, 19 objects (fig. 3.28)",
            row.questions
        ));
        table.note("a node takes 16 bytes; 12 and 14 are not defined in the thesis".to_owned());
    }
    table
}

fn solids(rows: &[Row]) -> Vec<&str> {
    let mut names: Vec<&str> = rows.iter().map(|row| row.solid.as_str()).collect();
    names.dedup();
    names
}

fn figure(rows: &[Row]) -> Figure {
    let (mut criteria, mut alone, mut shares) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let (lines, x) = match row.varied {
            Part::Criterion => (&mut criteria, f64::from(row.criterion)),
            Part::CriterionAlone => (&mut alone, f64::from(row.criterion)),
            Part::EmptyShare => (&mut shares, row.empty_share),
        };
        Line::extend(lines, &row.solid, [x, row.cost]);
    }
    let panel = |title: &str, x, lines| Panel { title: title.to_owned(), x, y: "cost", lines };
    let panels = vec![
        panel("With empty boxes, relative to criterion 2", "criterion", criteria),
        panel("Without, relative to criterion 2 without", "criterion", alone),
        panel("Criterion 1", "empty share", shares),
    ];
    let title = "BoxTrees: tests by criterion and by how much empty space is split off";
    Figure { title, columns: 3, scale: Scale::OverTime, panels }
}
