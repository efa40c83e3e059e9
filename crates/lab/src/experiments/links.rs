//! `jostle lab links`: a turning copy of a solid, with links between two trees of 18-DOPs and
//! without (Zachmann 2000, 3.5.11).
//!
//! He counts five times fewer alignments with links, fewer tests, a few more visits, and measures
//! about the same time.

use super::args::LinksArgs;
use super::clock::Clock;
use super::plot::{Figure, Line, Scale};
use super::table::{Table, short};
use super::{Results, check_writable};
use crate::bench::oriented;
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use crate::{Contender, DopPairs, Keep, LinkRow, LinkedDops, NearContact, Ours, link_row};
use glam::DQuat;
use jostle_geom::Quality;
use serde::Serialize;
use std::io::Write;

/// What a method took, in means per question.
#[derive(Debug, Serialize)]
struct Row {
    solid: &'static str,
    triangles: usize,
    method: String,
    turns: u32,
    questions: usize,
    touching: f64,
    alignments: f64,
    volume_tests: f64,
    visits: f64,
    triangle_tests: f64,
    microseconds: f64,
    bytes: usize,
    /// The plain traversal divided by this method: more than 1 is less work.
    saved: Saved,
}

/// How many times less than the plain traversal.
#[derive(Clone, Copy, Debug, Serialize)]
struct Saved {
    alignments: f64,
    volume_tests: f64,
    visits: f64,
    time: f64,
}

pub(crate) fn run(args: &LinksArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let approach = NearContact::new(args.turns);
    let work = args.solid.len() * args.triangles.len();
    let mut progress = Progress::new(work * 4, true);
    let mut rows: Vec<Row> = Vec::new();
    for solid in &args.solid {
        for &triangles in &args.triangles {
            let mesh = oriented(&solid.mesh(triangles)?, DQuat::IDENTITY)?;
            let poses = approach.poses(&mesh);
            let methods: [Box<dyn Contender>; 4] = [
                Box::new(DopPairs::new(&mesh, &mesh, Keep::Nothing)),
                Box::new(DopPairs::new(&mesh, &mesh, Keep::Aligned)),
                Box::new(LinkedDops::new(&mesh, &mesh)),
                Box::new(Ours::new(&mesh, &mesh, Quality::Default)),
            ];
            let mut plain: Option<LinkRow> = None;
            for mut method in methods {
                let reader = Clock::ThreadCpu.reader();
                let found = link_row(method.as_mut(), &poses, &mut || reader());
                let plain = plain.get_or_insert_with(|| found.clone());
                let name = solid.name();
                let row = Row::new(&found, plain, method.bytes());
                rows.push(Row {
                    solid: name,
                    triangles: mesh.triangle_count(),
                    turns: args.turns,
                    ..row
                });
                progress.done(rows.len());
            }
        }
    }
    drop(progress);
    let results = Results { rows: &rows, table: table(&rows), figure: figure(&rows) };
    results.show(&args.output, out)
}

impl Row {
    /// Without what it was asked about.
    fn new(row: &LinkRow, plain: &LinkRow, bytes: usize) -> Row {
        let mean = |sum: u64| sum as f64 / row.questions.max(1) as f64;
        let times = |of: fn(&LinkRow) -> f64| of(plain) / of(row);
        Row {
            solid: "",
            triangles: 0,
            method: row.name.clone(),
            turns: 0,
            questions: row.questions,
            touching: row.touching as f64 / row.questions.max(1) as f64,
            alignments: mean(row.count.alignments),
            volume_tests: mean(row.count.volume_tests),
            visits: mean(row.count.visits),
            triangle_tests: mean(row.count.triangle_tests),
            microseconds: row.time.as_secs_f64() * 1e6 / row.questions.max(1) as f64,
            bytes,
            saved: Saved {
                alignments: times(|row| row.count.alignments as f64),
                volume_tests: times(|row| row.count.volume_tests as f64),
                visits: times(|row| row.count.visits as f64),
                time: times(|row| row.time.as_secs_f64()),
            },
        }
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "solid",
        "triangles",
        "method",
        "alignments",
        "volume tests",
        "visits",
        "triangle tests",
        "µs",
        "kB",
        "× fewer alignments",
        "× fewer tests",
        "× faster",
    ]);
    let times = |times: f64| if times.is_finite() { short(times) } else { "-".to_owned() };
    for row in rows {
        table.row(&[
            &row.solid,
            &row.triangles,
            &row.method,
            &row.alignments,
            &row.volume_tests,
            &row.visits,
            &row.triangle_tests,
            &row.microseconds,
            &(row.bytes / 1000),
            &times(row.saved.alignments),
            &times(row.saved.volume_tests),
            &times(row.saved.time),
        ]);
    }
    let linked: Vec<&Row> = rows.iter().filter(|row| row.method.ends_with("links")).collect();
    let range = |of: fn(&Saved) -> f64| {
        let all = linked.iter().map(|row| of(&row.saved));
        let (least, most) = (all.clone().fold(f64::INFINITY, f64::min), all.fold(0.0, f64::max));
        format!("{} to {}", short(least), short(most))
    };
    table.note(format!(
        "links, times less than from the top: alignments {} (thesis: about 5), volume tests {} \
         (thesis: significantly), visits {} (thesis: slightly more), time {} (thesis: about 1)",
        range(|saved| saved.alignments),
        range(|saved| saved.volume_tests),
        range(|saved| saved.visits),
        range(|saved| saved.time),
    ));
    if let Some(row) = rows.first() {
        table.note(format!(
            "means of {} questions, {} in a turn at five distances around contact; times: {}",
            row.questions,
            row.turns,
            Clock::ThreadCpu.name()
        ));
    }
    table
}

fn figure(rows: &[Row]) -> Figure {
    let by_solid = |saved: fn(&Saved) -> f64| {
        let linked = rows.iter().filter(|row| row.method.ends_with("links"));
        Line::through(linked, |row| {
            (row.solid.to_owned(), [row.triangles as f64, saved(&row.saved)])
        })
    };
    let title = "Links between two trees, against walking from the top";
    Figure::over(
        "triangles",
        title,
        Scale::Logarithmic,
        [
            ("Alignments", "times less", by_solid(|saved| saved.alignments)),
            ("Time", "times less", by_solid(|saved| saved.time)),
        ],
    )
}
