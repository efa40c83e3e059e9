//! `jostle lab tightness`: how much larger than the convex hull bounding volumes are while the
//! object turns (Ohlenburg 2003, 3.1.1, table 3.1, figures 3.1 and 3.2; row O3).

use super::args::{OutputArgs, one_of};
use super::plot::{Figure, Line, Panel, Scale};
use super::table::Table;
use super::{Results, check_writable};
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use crate::tree::{AXES, Object, Percent, Tightness, tightness};
use clap::Args;
use clap::builder::{RangedU64ValueParser, TypedValueParser};
use serde::Serialize;
use std::io::Write;

pub(crate) const EXAMPLES: &str = "\
Examples:
  jostle lab tightness --svg tightness.svg
  jostle lab tightness --object bird,tree --steps 100 --json";

#[derive(Debug, Args)]
pub(crate) struct TightnessArgs {
    /// Which objects, each standing in for one of the paper's [default: all]
    #[arg(long, value_delimiter = ',', value_parser = objects(), value_name = "LIST")]
    pub(crate) object: Vec<Object>,
    /// Triangles of an object, at most; the paper's have up to 50,000
    #[arg(long, value_parser = triangles(), default_value = "50000")]
    pub(crate) triangles: usize,
    /// Steps of each of seven full turns
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000),
        default_value = "1000")]
    pub(crate) steps: u32,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

pub(crate) fn objects() -> impl TypedValueParser<Value = Object> {
    one_of(Object::ALL.map(|object| (object.name(), object)).to_vec())
}

pub(crate) fn triangles() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(100..=2_000_000)
}

/// Table 3.1: 18-DOP, AABB, OBB and sphere, in per cent of the hull.
const PAPER: [(Object, [f64; 4]); 8] = [
    (Object::Figure, [221.99, 373.88, 181.50, 417.99]),
    (Object::Ship, [147.62, 243.91, 205.40, 385.60]),
    (Object::Car, [170.99, 323.89, 148.26, 774.00]),
    (Object::Coupe, [206.99, 404.12, 216.83, 820.80]),
    (Object::Bird, [213.28, 479.68, 331.96, 1261.97]),
    (Object::Tree, [144.66, 244.86, 178.83, 232.31]),
    (Object::Pipes, [160.68, 261.74, 160.57, 407.59]),
    (Object::Truck, [179.23, 333.71, 149.36, 783.10]),
];

/// An object; volumes in per cent of that of the hull, means over all turns.
#[derive(Debug, Serialize)]
struct Row {
    object: &'static str,
    /// What it stands in for, and that one's figures: 18-DOP, AABB, OBB, sphere.
    paper: &'static str,
    paper_percent: [f64; 4],
    triangles: usize,
    steps: u32,
    dop: f64,
    aabb: f64,
    obb: f64,
    sphere: f64,
    /// Of the turned corners of the volume before it was turned.
    dop_again: f64,
    aabb_again: f64,
    #[serde(skip)]
    turns: Vec<Percent>,
}

impl Row {
    fn ours(&self) -> [f64; 4] {
        [self.dop, self.aabb, self.obb, self.sphere]
    }
}

pub(crate) fn run(args: &TightnessArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let objects = if args.object.is_empty() { &Object::ALL[..] } else { &args.object };
    let each = AXES.len() * args.steps as usize;
    let mut progress = Progress::new(objects.len() * each, true);
    let mut rows = Vec::new();
    for &object in objects {
        let mesh = object.mesh(object.paper_triangles().min(args.triangles))?;
        let done = rows.len() * each;
        let Tightness { mean, turns, .. } =
            tightness(&mesh, args.steps, |step| progress.done(done + step))?;
        let paper = PAPER.iter().find(|(other, _)| *other == object);
        rows.push(Row {
            object: object.name(),
            paper: object.paper(),
            paper_percent: paper.map_or([f64::NAN; 4], |(_, percent)| *percent),
            triangles: mesh.triangle_count(),
            steps: args.steps,
            dop: mean.dop,
            aabb: mean.aabb,
            obb: mean.obb,
            sphere: mean.sphere,
            dop_again: mean.dop_again,
            aabb_again: mean.aabb_again,
            turns,
        });
    }
    drop(progress);
    let results = Results { rows: &rows, table: table(&rows), figure: figure(&rows) };
    results.show(&args.output, out)
}

/// Each object in two lines, ours and the paper's.
fn table(rows: &[Row]) -> Table {
    let titles =
        ["object", "triangles", "18-DOP", "AABB", "OBB", "sphere", "18-DOP again", "AABB again"];
    let mut table = Table::new(&titles);
    let percent = |x: &f64| format!("{x:.1} %");
    let mut wins = [[0; 4]; 2];
    for row in rows {
        let mut cells = vec![row.object.to_owned(), row.triangles.to_string()];
        cells.extend(row.ours().iter().chain([&row.dop_again, &row.aabb_again]).map(percent));
        table.line(cells);
        let mut cells = vec![format!("  {} (2003)", row.paper), String::new()];
        cells.extend(row.paper_percent.iter().map(percent));
        table.line(cells);
        for (wins, percents) in wins.iter_mut().zip([row.ours(), row.paper_percent]) {
            let least = percents.into_iter().fold(f64::INFINITY, f64::min);
            wins.iter_mut().zip(percents).for_each(|(wins, p)| *wins += u32::from(p == least));
        }
    }
    for (name, wins) in [("wins", wins[0]), ("  wins (2003)", wins[1])] {
        let mut cells = vec![name.to_owned(), String::new()];
        cells.extend(wins.map(|wins| wins.to_string()));
        table.line(cells);
    }
    if let Some(row) = rows.first() {
        table.note(format!(
            "volumes in per cent of that of the convex hull, means of {} turns about 7 axes; \
             again: around the turned corners of the volume, not around the object",
            7 * row.steps
        ));
        table.note("Ohlenburg 2003, table 3.1: other objects of about the same kind".to_owned());
    }
    table
}

/// A panel for each object, as figures 3.1 and 3.2 have it; every twentieth turn.
fn figure(rows: &[Row]) -> Figure {
    let panel = |row: &Row| {
        let mut lines = Vec::new();
        let every = (row.turns.len() / 350).max(1);
        for (turn, percent) in row.turns.iter().enumerate().step_by(every) {
            let x = turn as f64 * 7.0 / row.turns.len() as f64;
            Line::extend(&mut lines, "18-DOP", [x, percent.dop]);
            Line::extend(&mut lines, "AABB", [x, percent.aabb]);
            Line::extend(&mut lines, "18-DOP again", [x, percent.dop_again]);
            Line::extend(&mut lines, "OBB", [x, percent.obb]);
            Line::extend(&mut lines, "sphere", [x, percent.sphere]);
        }
        let title = format!("{} (for {})", row.object, row.paper);
        Panel { title, x: "turns about x, y, z, xy, xz, yz, xyz", y: "% of hull", lines }
    };
    Figure {
        title: "Volumes of turning objects, in per cent of the convex hull",
        columns: 2,
        scale: Scale::OverTime,
        panels: rows.iter().map(panel).collect(),
    }
}
