//! What `jostle lab zachmann` shows.

use super::thesis::DEPTHS;
use super::{Build, LabError, PolygonPair, Query, ZachmannArgs};
use crate::bench::Solid;
use crate::dop::{DopTree, NormalSet};
use crate::experiments::clock::Clock;
use crate::experiments::plot::{Figure, Line, Panel, Scale};
use crate::experiments::table::{Share, Table, short};
use crate::traverse::Node;
use crate::tree::{SplitRule, Splitting};

/// Methods in the plot; all of them would hide each other.
const PLOTTED: [&str; 8] =
    ["ours", "planes+ours", "aabb", "sphere", "obb", "dop-6", "dop-14", "dop-24"];

/// Names in the order in which they first come.
fn in_order(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut order: Vec<String> = Vec::new();
    names.for_each(|name| {
        if !order.contains(&name) {
            order.push(name);
        }
    });
    order
}

fn meshes(rows: &[&Query]) -> Vec<String> {
    in_order(rows.iter().map(|row| row.mesh()))
}

fn methods(rows: &[&Query]) -> Vec<String> {
    in_order(rows.iter().map(|row| row.method.clone()))
}

/// A line for each method, a column for each mesh.
fn pivot(rows: &[&Query], title: &str, cell: impl Fn(&Query) -> String) -> Table {
    let meshes = meshes(rows);
    let titles: Vec<&str> =
        std::iter::once(title).chain(meshes.iter().map(String::as_str)).collect();
    let mut table = Table::new(&titles);
    for method in methods(rows) {
        let find = |mesh: &String| {
            let row = rows.iter().find(|row| row.method == method && row.mesh() == *mesh);
            row.map_or_else(String::new, |row| cell(row))
        };
        let cells: Vec<String> = meshes.iter().map(find).collect();
        table.line([method].into_iter().chain(cells).collect());
    }
    table
}

pub(super) fn times(rows: &[&Query]) -> Table {
    let mut table = pivot(rows, "us per query", |row| short(row.micros));
    table.note(format!(
        "mean over the interesting range; times: {}, methods in turns",
        Clock::ThreadCpu.name()
    ));
    table
}

pub(super) fn counts(rows: &[&Query]) -> Table {
    let cell = |row: &Query| format!("{:.0}/{}", row.volume_tests, short(row.triangle_tests));
    let mut table = pivot(rows, "tests per query", cell);
    table.note(
        "pairs of volumes / pairs of triangles; a box against eight of ours counts as eight".into(),
    );
    table
}

/// Ours against the best of the laboratory, mesh by mesh and over all.
pub(super) fn ratios(rows: &[&Query]) -> Table {
    let mut table =
        Table::new(&["mesh", "ours us", "best of the laboratory", "us", "times ours", "quartiles"]);
    let mut logarithms = Vec::new();
    let mut least: Option<(f64, String)> = None;
    for mesh in meshes(rows) {
        let of_mesh = || rows.iter().filter(|row| row.mesh() == mesh);
        let Some(ours) = of_mesh().find(|row| row.method == "ours") else { continue };
        let laboratory = of_mesh().filter(|row| row.laboratory);
        let best = laboratory.min_by(|a, b| a.micros.total_cmp(&b.micros));
        let Some(best) = best else { continue };
        let ratio = best.micros / ours.micros;
        logarithms.push(ratio.ln());
        if least.as_ref().is_none_or(|(smallest, _)| ratio < *smallest) {
            least = Some((ratio, format!("{mesh}, {}", best.method)));
        }
        let [low, _, high] = best.times_ours.map(short);
        table.row(&[
            &mesh,
            &ours.micros,
            &best.method,
            &best.micros,
            &ratio,
            &format!("{low} to {high}"),
        ]);
    }
    if let Some((least, at)) = least {
        let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
        table.note(format!(
            "best laboratory method / ours over the whole range: {} in the geometric mean, at \
             least {} ({at})",
            short(mean),
            short(least)
        ));
        let verdict = if least >= 2.0 { "reached on every mesh" } else { "not reached everywhere" };
        table.note(format!("the bar of 2: {verdict}"));
    }
    table
}

/// The mean over all meshes of the time with k directions, against that with 24.
fn curve_points(rows: &[&Query]) -> Vec<(usize, f64)> {
    let reference = |mesh: &str| {
        let row = rows.iter().find(|row| row.k == Some(24) && row.mesh() == mesh);
        row.map(|row| row.micros)
    };
    let mut sizes: Vec<usize> = rows.iter().filter_map(|row| row.k).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mean = |k: usize| {
        let of_k = rows.iter().filter(|row| row.k == Some(k));
        let logs = of_k.filter_map(|row| Some((row.micros / reference(&row.mesh())?).ln()));
        let logs: Vec<f64> = logs.collect();
        (k, (logs.iter().sum::<f64>() / logs.len() as f64).exp())
    };
    sizes.into_iter().map(mean).filter(|(_, ratio)| ratio.is_finite()).collect()
}

pub(super) fn curve(rows: &[&Query]) -> Option<Table> {
    let points = curve_points(rows);
    let best = points.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let titles: Vec<String> = points.iter().map(|(k, _)| format!("k = {k}")).collect();
    let titles: Vec<&str> =
        std::iter::once("DOP-trees").chain(titles.iter().map(String::as_str)).collect();
    let mut table = Table::new(&titles);
    let cells = points.iter().map(|(_, ratio)| short(*ratio));
    table.line(["time, 24 = 1".to_owned()].into_iter().chain(cells).collect());
    table.note(format!(
        "geometric mean over all meshes; best here: k = {}; the thesis: k = 24, 8 and 10 worst",
        best.0
    ));
    Some(table)
}

pub(super) fn builds(rows: &[&Build]) -> Table {
    let methods = in_order(rows.iter().map(|row| row.method.clone()));
    let titles: Vec<String> = methods.iter().map(|name| format!("{name} ms/MB")).collect();
    let titles: Vec<&str> =
        ["build", "triangles"].into_iter().chain(titles.iter().map(String::as_str)).collect();
    let mut table = Table::new(&titles);
    let meshes = in_order(rows.iter().map(|row| format!("{} {}", row.solid, row.triangles)));
    for mesh in meshes {
        let of_mesh =
            || rows.iter().filter(|row| format!("{} {}", row.solid, row.triangles) == mesh);
        let Some(first) = of_mesh().next() else { continue };
        let cell = |name: &String| {
            let row = of_mesh().find(|row| row.method == *name);
            let text =
                |row: &&Build| format!("{}/{}", short(row.build_ms), short(row.bytes as f64 / 1e6));
            row.map_or_else(String::new, text)
        };
        let cells = methods.iter().map(cell);
        let head = [first.solid.to_owned(), first.triangles.to_string()];
        table.line(head.into_iter().chain(cells).collect());
    }
    table.note("one mesh, without the mesh itself; the median of three".into());
    table
}

/// Table 3.2: how deep the leaves of a 6-DOP-tree are.
pub(super) fn depths() -> Result<Table, LabError> {
    let titles = ["leaves at depth", "10", "11", "12", "13", "14", "15", "16", "other"];
    let mut table = Table::new(&titles);
    let mesh = Solid::Sphere.mesh(23_000)?;
    let splitting = Splitting::single(SplitRule::AlternatingEnds);
    let tree = DopTree::build(&mesh, &NormalSet::axes(), splitting);
    let levels = tree.shape().levels();
    let mut counts = [0u32; 8];
    for node in 0..tree.shape().node_count() as u32 {
        if let Node::Leaf(_) = tree.shape().node(node) {
            let level = levels[node as usize] as usize;
            counts[if (10..=16).contains(&level) { level - 10 } else { 7 }] += 1;
        }
    }
    let cells = counts.iter().map(u32::to_string);
    let name = format!("sphere ({})", mesh.triangle_count());
    table.line([name].into_iter().chain(cells).collect());
    for (object, counts) in DEPTHS {
        let cells = counts.iter().map(u32::to_string);
        table.line([object.to_owned()].into_iter().chain(cells).collect());
    }
    table.note("the root is at depth 0; Zachmann 2000, table 3.2".into());
    Ok(table)
}

pub(super) fn polygons(rows: &[&PolygonPair]) -> Table {
    let mut table = Table::new(&[
        "polygons",
        "way",
        "apart us",
        "touching us",
        "mixed us",
        "touching",
        "wrong answers",
    ]);
    for row in rows {
        table.row(&[
            &row.polygons,
            &row.way,
            &row.apart_us,
            &row.touching_us,
            &row.mixed_us,
            &Share(row.touching),
            &row.wrong,
        ]);
    }
    table
}

pub(super) fn note(args: &ZachmannArgs) -> String {
    format!(
        "{} steps of a turn, {} orientations, {} questions: every answer is that of the default \
         hierarchy\n",
        args.steps,
        args.orientations,
        if args.all_pairs { "all-pairs" } else { "yes-or-no" }
    )
}

/// Over the number of triangles, if solids come in several sizes; otherwise over the directions of
/// DOP-trees, and what has no directions is a level line.
pub(super) fn figure(rows: &[&Query]) -> Figure {
    let mut sizes: Vec<(&str, usize)> = rows.iter().map(|row| (row.solid, row.triangles)).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let several = sizes.windows(2).any(|pair| pair[0].0 == pair[1].0);
    let mut panels = if several { over_size(rows) } else { over_directions(rows) };
    let points: Vec<[f64; 2]> =
        curve_points(rows).into_iter().map(|(k, ratio)| [k as f64, ratio]).collect();
    if !points.is_empty() {
        let lines = vec![Line { name: DOP_CURVE.into(), points }];
        let title = "All solids, geometric mean".to_owned();
        panels.push(Panel { title, x: "k", y: "time, k = 24 is 1", lines });
    }
    let title = "Two copies come closer while one turns";
    Figure { title, columns: 3, scale: Scale::Logarithmic, panels }
}

const DOP_CURVE: &str = "DOP-tree of k directions";

/// The panel of a solid, which may be new.
fn panel_of<'a>(panels: &'a mut Vec<Panel>, solid: &str, x: &'static str) -> &'a mut Panel {
    let found = panels.iter().position(|panel| panel.title == solid);
    let at = found.unwrap_or_else(|| {
        let title = solid.to_owned();
        panels.push(Panel { title, x, y: "us per query", lines: Vec::new() });
        panels.len() - 1
    });
    &mut panels[at]
}

fn over_size(rows: &[&Query]) -> Vec<Panel> {
    let mut panels: Vec<Panel> = Vec::new();
    for row in rows.iter().filter(|row| PLOTTED.contains(&row.method.as_str())) {
        let panel = panel_of(&mut panels, row.solid, "triangles");
        Line::extend(&mut panel.lines, &row.method, [row.triangles as f64, row.micros]);
    }
    panels
}

fn over_directions(rows: &[&Query]) -> Vec<Panel> {
    let directions = rows.iter().filter_map(|row| row.k);
    let ends = [directions.clone().min(), directions.max()].map(|k| k.unwrap_or(1) as f64);
    let mut panels: Vec<Panel> = Vec::new();
    for row in rows {
        let panel = panel_of(&mut panels, row.solid, "k");
        if let Some(k) = row.k {
            Line::extend(&mut panel.lines, DOP_CURVE, [k as f64, row.micros]);
        } else if PLOTTED.contains(&row.method.as_str()) {
            ends.iter().for_each(|&k| Line::extend(&mut panel.lines, &row.method, [k, row.micros]));
        }
    }
    panels
}
