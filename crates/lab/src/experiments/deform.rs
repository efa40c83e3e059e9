//! `jostle lab deform`: two meshes that change their form, asked in every frame.
//!
//! Zachmann (2000, 3.7) finds that neither a grow-shrink tree nor sorted brackets are faster than
//! the box pipeline that needs no structure. Here all three are beside our hierarchy, fitted to the
//! new positions or built anew.

use super::args::DeformArgs;
use super::clock::{Clock, milliseconds};
use super::plot::{Figure, Line, Panel, Scale};
use super::table::{Share, Table, short};
use super::{Results, check_writable};
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use crate::{
    BoxPipeline, BracketSort, DeformRow, DeformScene, Deforming, GrowShrink, Renewal, Renewed,
    deform_row,
};
use jostle_geom::Mesh;
use serde::Serialize;
use std::io::Write;
use std::time::Duration;

/// What a method took, in means per frame.
#[derive(Debug, Serialize)]
struct Row {
    scene: &'static str,
    /// Of both meshes.
    triangles: usize,
    method: String,
    clock: Clock,
    frames: u32,
    update_ms: f64,
    touches_ms: f64,
    all_pairs_ms: f64,
    /// New positions, and the first question.
    frame_ms: f64,
    box_tests: f64,
    alignments: f64,
    comparisons: f64,
    triangle_tests: f64,
    /// The share of frames in which they touch.
    touching: f64,
    /// Pairs of faces.
    pairs: f64,
}

pub(crate) fn run(args: &DeformArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let methods = 5 + args.threads.len();
    let scenes = args.scene.len() * args.triangles.len();
    let mut progress = Progress::new(scenes * methods * args.frames as usize, true);
    let (mut rows, mut done) = (Vec::new(), 0);
    for &kind in &args.scene {
        for &triangles in &args.triangles {
            let scene = DeformScene::new(kind, triangles)?;
            let [a, b] = scene.meshes();
            for (mut method, clock) in contestants(args, a, b)? {
                let reader = clock.reader();
                let frame_done = &mut |frame: u32| progress.done(done + frame as usize);
                let now = &mut || reader();
                let row = deform_row(&scene, args.frames, method.as_mut(), now, frame_done)?;
                rows.push(Row::new(&scene, clock, &row));
                done += args.frames as usize;
            }
        }
    }
    drop(progress);
    let results = Results { rows: &rows, table: table(&rows), figure: figure(&rows) };
    results.show(&args.output, out)
}

type Contestant = (Box<dyn Deforming>, Clock);

fn contestants(args: &DeformArgs, a: &Mesh, b: &Mesh) -> Result<Vec<Contestant>, LabError> {
    let own = Clock::ThreadCpu;
    let mut all: Vec<Contestant> = vec![(Box::new(BoxPipeline::new(a, b)), own)];
    for &threads in &args.threads {
        all.push((Box::new(BoxPipeline::parallel(a, b, threads)?), Clock::Wall));
    }
    all.push((Box::new(GrowShrink::new(a, b)), own));
    if a.triangle_count().max(b.triangle_count()) <= args.brackets_max {
        all.push((Box::new(BracketSort::new(a, b)), own));
    }
    all.push((Box::new(Renewed::new(a, b, Renewal::Refit)), own));
    all.push((Box::new(Renewed::new(a, b, Renewal::Rebuild)), own));
    Ok(all)
}

impl Row {
    fn new(scene: &DeformScene, clock: Clock, row: &DeformRow) -> Row {
        let frames = f64::from(row.frames);
        let ms = |time: Duration| milliseconds(time) / frames;
        let mean = |sum: u64| sum as f64 / frames;
        Row {
            scene: scene.kind().name(),
            triangles: scene.triangles(),
            method: row.name.clone(),
            clock,
            frames: row.frames,
            update_ms: ms(row.update),
            touches_ms: ms(row.touches),
            all_pairs_ms: ms(row.all_pairs),
            frame_ms: ms(row.update + row.touches),
            box_tests: mean(row.count.volume_tests),
            alignments: mean(row.count.alignments),
            comparisons: mean(row.count.comparisons),
            triangle_tests: mean(row.count.triangle_tests),
            touching: f64::from(row.touching) / frames,
            pairs: row.pairs as f64 / frames,
        }
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "scene",
        "triangles",
        "method",
        "frame ms",
        "update ms",
        "touches ms",
        "all pairs ms",
        "box tests",
        "alignments",
        "triangle tests",
        "touching",
        "pairs",
    ]);
    for row in rows {
        table.row(&[
            &row.scene,
            &row.triangles,
            &row.method,
            &row.frame_ms,
            &row.update_ms,
            &row.touches_ms,
            &row.all_pairs_ms,
            &row.box_tests,
            &row.alignments,
            &row.triangle_tests,
            &Share(row.touching),
            &row.pairs,
        ]);
    }
    claim(rows, &mut table, "grow-shrink", "thesis 3.7.1: always slower");
    claim(rows, &mut table, "sorted brackets", "thesis 3.7.2: slower still");
    claim(rows, &mut table, "ours, refitted", "not in the thesis");
    claim(rows, &mut table, "ours, rebuilt", "thesis 3.7.1: probably slower");
    let same = pairs_agree(rows);
    table.note(format!(
        "means per frame; frame is update and touches; times on several threads are of the clock \
         on the wall, others processor time; all methods find the same pairs: {}",
        if same { "yes" } else { "NO, this is an error in Jostle" }
    ));
    table
}

/// How a method compares with the box pipeline on one thread, over all scenes.
fn claim(rows: &[Row], table: &mut Table, method: &str, thesis: &str) {
    let plain = |row: &Row| {
        let same = |other: &&Row| (other.scene, other.triangles) == (row.scene, row.triangles);
        let pipeline = rows.iter().filter(same).find(|other| other.method == "box pipeline");
        pipeline.map(|pipeline| row.frame_ms / pipeline.frame_ms)
    };
    let ratios: Vec<f64> =
        rows.iter().filter(|row| row.method == method).filter_map(plain).collect();
    let slower = ratios.iter().filter(|&&ratio| ratio > 1.0).count();
    let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
    let most = ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !ratios.is_empty() {
        table.note(format!(
            "{method}: {} to {} times the time of the box pipeline, slower in {slower} of {} \
             ({thesis})",
            short(least),
            short(most),
            ratios.len()
        ));
    }
}

/// Every method of a scene has the same pairs.
fn pairs_agree(rows: &[Row]) -> bool {
    let same = |x: &Row, y: &Row| (x.scene, x.triangles) == (y.scene, y.triangles);
    let found = |x: &Row, y: &Row| x.pairs == y.pairs && x.touching == y.touching;
    rows.windows(2).all(|two| !same(&two[0], &two[1]) || found(&two[0], &two[1]))
}

fn figure(rows: &[Row]) -> Figure {
    let mut panels: Vec<Panel> = Vec::new();
    for row in rows {
        let title = format!("{}: new positions and touching", row.scene);
        if !panels.iter().any(|panel| panel.title == title) {
            let (x, y) = ("triangles", "ms per frame");
            panels.push(Panel { title: title.clone(), x, y, lines: Vec::new() });
        }
        if let Some(panel) = panels.iter_mut().find(|panel| panel.title == title) {
            let point = [row.triangles as f64, row.frame_ms];
            Line::extend(&mut panel.lines, &row.method, point);
        }
    }
    Figure {
        title: "Deforming meshes: time of a frame by method",
        columns: 3,
        scale: Scale::Logarithmic,
        panels,
    }
}
