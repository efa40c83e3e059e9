//! The plot of the tori: time per query over triangles, a panel per query, logarithmic scales.
//!
//! Written by hand because it is three panels of lines; its colours follow the reader's light or
//! dark mode, and every line also has its own mark, so that colour is not needed to read it.

use crate::measure::{Engine, Query};
use crate::report::Report;
use std::fmt::Write;

const QUERIES: [Query; 3] = [Query::Touch, Query::Pairs, Query::Distance];
const PANEL_WIDTH: f64 = 270.0;
const PANEL_HEIGHT: f64 = 300.0;
const GAP: f64 = 40.0;
const LEFT: f64 = 70.0;
const TOP: f64 = 84.0;
const WIDTH: f64 = LEFT + 3.0 * PANEL_WIDTH + 2.0 * GAP + 24.0;
const HEIGHT: f64 = TOP + PANEL_HEIGHT + 62.0;

const STYLE: &str = "
  svg { font-family: system-ui, sans-serif; font-size: 12px; background: #ffffff; }
  text { fill: #1f2328; } .quiet { fill: #59636e; } .title { font-size: 14px; font-weight: 600; }
  .paper { fill: #ffffff; } .grid { stroke: #d1d9e0; stroke-width: 1; }
  .jostle { stroke: #0969da; fill: #0969da; } .fcl { stroke: #bc4c00; fill: #bc4c00; }
  .parry { stroke: #1a7f37; fill: #1a7f37; } .line { fill: none; stroke-width: 2.5; }
  .ratio { font-size: 11px; stroke: none; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; } text { fill: #f0f6fc; } .quiet { fill: #9198a1; }
    .paper { fill: #0d1117; } .grid { stroke: #3d444d; }
    .jostle { stroke: #58a6ff; fill: #58a6ff; } .fcl { stroke: #f0883e; fill: #f0883e; }
    .parry { stroke: #56d364; fill: #56d364; }
  }";

/// One measured point.
struct Point {
    triangles: f64,
    micros: f64,
    /// How much slower than we are.
    ratio: Option<f64>,
}

/// Logarithmic scales, the same in all panels so that they can be compared.
struct Scale {
    triangles: (f64, f64),
    /// Whole decades.
    decades: (i32, i32),
}

impl Scale {
    fn x(&self, panel: usize, triangles: f64) -> f64 {
        let (low, high) = (self.triangles.0.log10() - 0.2, self.triangles.1.log10() + 0.2);
        let left = LEFT + panel as f64 * (PANEL_WIDTH + GAP);
        left + (triangles.log10() - low) / (high - low) * PANEL_WIDTH
    }

    fn y(&self, micros: f64) -> f64 {
        let (low, high) = (f64::from(self.decades.0), f64::from(self.decades.1));
        TOP + PANEL_HEIGHT * (1.0 - (micros.log10() - low) / (high - low))
    }
}

/// The plot, or an empty one if nothing was measured.
pub(crate) fn svg(report: &Report) -> String {
    let panels = QUERIES.map(|q| Engine::ALL.map(|engine| points(report, q, engine)));
    let all = || panels.iter().flatten().flatten();
    let range = |of: fn(&Point) -> f64| {
        let low = all().map(of).fold(f64::INFINITY, f64::min);
        (low, all().map(of).fold(low, f64::max))
    };
    let (triangles, micros) = (range(|p| p.triangles), range(|p| p.micros));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\">\n\
         <title>Time per query of Jostle, FCL and parry on two bumpy tori</title>\n\
         <style>{STYLE}\n</style>\n\
         <rect class=\"paper\" width=\"{WIDTH}\" height=\"{HEIGHT}\"/>\n"
    );
    if all().next().is_some() {
        let decades = (micros.0.log10().floor() as i32, micros.1.log10().ceil() as i32);
        let scale = Scale { triangles, decades: (decades.0, decades.1.max(decades.0 + 1)) };
        legend(&mut text);
        for (panel, lines) in panels.iter().enumerate() {
            axes(&mut text, &scale, panel, lines);
            for (engine, line) in Engine::ALL.into_iter().zip(lines) {
                draw(&mut text, &scale, panel, engine, line);
            }
        }
    }
    text.push_str("</svg>\n");
    text
}

fn points(report: &Report, query: Query, engine: Engine) -> Vec<Point> {
    let rows = report.rows.iter().filter(|row| row.query == query);
    let points = rows.filter_map(|row| {
        let series = row.of(engine).filter(|series| !series.sum().is_nan())?;
        Some(Point {
            triangles: row.triangles[0] as f64,
            // A clock tick at least: zero has no logarithm.
            micros: series.micros().mean.max(1e-3),
            ratio: row.ratio(engine).filter(|_| engine != Engine::Us).map(|r| r.mean),
        })
    });
    points.collect()
}

fn class(engine: Engine) -> &'static str {
    match engine {
        Engine::Us => "jostle",
        Engine::Fcl => "fcl",
        Engine::Parry => "parry",
    }
}

fn mark(engine: Engine, x: f64, y: f64) -> String {
    let class = class(engine);
    match engine {
        Engine::Us => format!("<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4.5\"/>"),
        Engine::Fcl => {
            let (x, y) = (x - 4.0, y - 4.0);
            format!("<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"8\" height=\"8\"/>")
        }
        Engine::Parry => {
            format!("<path class=\"{class}\" d=\"M{x:.1} {:.1}l5 9h-10z\"/>", y - 5.0)
        }
    }
}

fn legend(text: &mut String) {
    let mut x = LEFT;
    for engine in Engine::ALL {
        let _ = writeln!(
            text,
            "{}<text x=\"{}\" y=\"26\">{}</text>",
            mark(engine, x + 5.0, 22.0),
            x + 15.0,
            engine.name()
        );
        x += 80.0;
    }
    let _ = writeln!(
        text,
        "<text class=\"quiet\" x=\"{x}\" y=\"26\">one thread, first pass after building; \
         numbers: how many times our time</text>"
    );
}

fn axes(text: &mut String, scale: &Scale, panel: usize, lines: &[Vec<Point>; 3]) {
    let left = LEFT + panel as f64 * (PANEL_WIDTH + GAP);
    let (right, bottom) = (left + PANEL_WIDTH, TOP + PANEL_HEIGHT);
    let _ = writeln!(
        text,
        "<text class=\"title\" x=\"{left}\" y=\"{}\">{}</text>",
        TOP - 16.0,
        QUERIES[panel].name()
    );
    for decade in scale.decades.0..=scale.decades.1 {
        let y = scale.y(10f64.powi(decade));
        let _ = writeln!(
            text,
            "<path class=\"grid\" d=\"M{left} {y:.1}H{right}\"/>\
             <text class=\"quiet\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 6.0,
            y + 4.0,
            decade_name(decade)
        );
    }
    for point in lines.iter().max_by_key(|line| line.len()).into_iter().flatten() {
        let x = scale.x(panel, point.triangles);
        let _ = writeln!(
            text,
            "<path class=\"grid\" d=\"M{x:.1} {TOP}V{bottom}\"/>\
             <text class=\"quiet\" x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{:.0}k</text>",
            bottom + 18.0,
            point.triangles / 1e3
        );
    }
    let _ = writeln!(
        text,
        "<text class=\"quiet\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">triangles per model</text>",
        (left + right) / 2.0,
        bottom + 40.0
    );
    if panel == 0 {
        let middle = (TOP + bottom) / 2.0;
        let _ = writeln!(
            text,
            "<text class=\"quiet\" transform=\"translate(16 {middle}) rotate(-90)\" \
             text-anchor=\"middle\">time per query</text>"
        );
    }
}

fn decade_name(decade: i32) -> String {
    let (unit, below) = match decade {
        ..0 => ("ns", -3),
        0..3 => ("µs", 0),
        3..6 => ("ms", 3),
        6.. => ("s", 6),
    };
    format!("{:.0} {unit}", 10f64.powi(decade - below))
}

fn draw(text: &mut String, scale: &Scale, panel: usize, engine: Engine, line: &[Point]) {
    let at = |p: &Point| (scale.x(panel, p.triangles), scale.y(p.micros));
    let mut path = String::new();
    for (k, point) in line.iter().enumerate() {
        let (x, y) = at(point);
        let _ = write!(path, "{}{x:.1} {y:.1}", if k == 0 { 'M' } else { 'L' });
    }
    let class = class(engine);
    let _ = writeln!(text, "<path class=\"{class} line\" style=\"fill:none\" d=\"{path}\"/>");
    for point in line {
        let (x, y) = at(point);
        let _ = writeln!(text, "{}", mark(engine, x, y));
        if let Some(ratio) = point.ratio {
            // FCL's below its mark and parry's above: their lines cross.
            let y = if engine == Engine::Fcl { y + 19.0 } else { y - 10.0 };
            let digits = usize::from(ratio < 10.0);
            let _ = writeln!(
                text,
                "<text class=\"{class} ratio\" x=\"{x:.1}\" y=\"{y:.1}\" \
                 text-anchor=\"middle\">{ratio:.digits$}×</text>"
            );
        }
    }
}
