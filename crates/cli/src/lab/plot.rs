//! Plots of experiments: panels of lines, as SVG.
//!
//! Written by hand because it is lines and marks; colours follow the reader's light or dark mode,
//! and every line has its own mark too, so that colour is not needed to read it. Panels that show
//! the same quantity have the same scale, so that they can be compared.

use super::table::short;
use std::fmt::{self, Write};

const PANEL: [f64; 2] = [400.0, 280.0];
const LEFT: f64 = 76.0;
const RIGHT: f64 = 20.0;
/// Above a panel: its title.
const ABOVE: f64 = 34.0;
/// Below a panel: numbers and what they mean.
const BELOW: f64 = 52.0;
const LEGEND_LINE: f64 = 22.0;
/// Numbers on the horizontal axis are at least so far apart.
const TICK_GAP: f64 = 34.0;
/// About the width of a letter.
const LETTER: f64 = 6.8;
/// What is 0 has no logarithm: a nanosecond in milliseconds.
const LEAST: f64 = 1e-6;

const STYLE: &str = "
  svg { font-family: system-ui, sans-serif; font-size: 12px; }
  text { fill: #1f2328; stroke: none; } .quiet { fill: #59636e; }
  .title { font-size: 14px; font-weight: 600; } .paper { fill: #ffffff; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .mark { stroke: currentColor; fill: currentColor; }
  .line { stroke: currentColor; fill: none; stroke-width: 2; }
  .c0 { color: #0969da; } .c1 { color: #bc4c00; } .c2 { color: #1a7f37; } .c3 { color: #8250df; }
  .c4 { color: #bf3989; } .c5 { color: #9a6700; } .c6 { color: #1b7c83; } .c7 { color: #59636e; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .quiet { fill: #9198a1; } .paper { fill: #0d1117; }
    .grid { stroke: #3d444d; }
    .c0 { color: #58a6ff; } .c1 { color: #f0883e; } .c2 { color: #56d364; } .c3 { color: #bc8cff; }
    .c4 { color: #ff7eb6; } .c5 { color: #e3b341; } .c6 { color: #39c5cf; } .c7 { color: #9198a1; }
  }";
const COLOURS: usize = 8;

#[derive(Debug)]
pub(crate) struct Figure {
    pub(crate) title: &'static str,
    /// Panels beside each other, at most.
    pub(crate) columns: usize,
    pub(crate) scale: Scale,
    pub(crate) panels: Vec<Panel>,
}

/// Of both axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scale {
    /// From 0.
    Linear,
    Logarithmic,
    /// Linear, for lines of many points over time: each panel has a vertical axis of its own, and
    /// only some points have marks.
    OverTime,
}

/// So many marks on a line of many points.
const MARKS: usize = 8;

#[derive(Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    /// What is on the axes.
    pub(crate) x: &'static str,
    pub(crate) y: &'static str,
    pub(crate) lines: Vec<Line>,
}

#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    /// x and y.
    pub(crate) points: Vec<[f64; 2]>,
}

impl Panel {
    /// What is on the horizontal axis, in order.
    fn measured(&self) -> Vec<f64> {
        let points = self.lines.iter().flat_map(|line| &line.points);
        let mut numbers: Vec<f64> = points.map(|point| point[0]).collect();
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        numbers
    }
}

impl Line {
    /// Adds a point to the line of that name, which may be new.
    pub(crate) fn extend(lines: &mut Vec<Line>, name: &str, point: [f64; 2]) {
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => lines.push(Line { name: name.to_owned(), points: vec![point] }),
        }
    }
}

/// Where numbers are on an axis: from 0 to 1.
struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Axis {
    fn new(scale: Scale, numbers: impl Iterator<Item = f64> + Clone) -> Axis {
        let most = numbers.clone().fold(LEAST, f64::max);
        let least = numbers.fold(most, f64::min).max(LEAST);
        match scale {
            Scale::Linear | Scale::OverTime => Axis { scale, low: 0.0, high: most },
            Scale::Logarithmic => Axis { scale, low: least, high: most },
        }
    }

    /// With a little room at the ends.
    fn wider(self) -> Axis {
        match self.scale {
            Scale::Linear | Scale::OverTime => Axis { high: self.high * 1.05, ..self },
            Scale::Logarithmic => Axis { low: self.low / 1.3, high: self.high * 1.3, ..self },
        }
    }

    /// From a power of ten to another, if it is logarithmic.
    fn whole(self) -> Axis {
        let Scale::Logarithmic = self.scale else { return self.wider() };
        let low = self.low.log10().floor();
        let high = self.high.log10().ceil().max(low + 1.0);
        Axis { low: 10f64.powf(low), high: 10f64.powf(high), ..self }
    }

    fn at(&self, number: f64) -> f64 {
        let Axis { low, high, .. } = *self;
        match self.scale {
            Scale::Linear | Scale::OverTime => (number - low) / (high - low),
            Scale::Logarithmic => (number.max(LEAST) / low).log10() / (high / low).log10(),
        }
    }

    /// Round numbers, not more than eight.
    fn ticks(&self) -> Vec<f64> {
        let first = self.low.max(LEAST).log10().round() as i32;
        match self.scale {
            Scale::Linear | Scale::OverTime => {
                let digit = 10f64.powf((self.high / 8.0).log10().floor());
                let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * digit);
                let enough = |step: &f64| self.high / step <= 8.0;
                let step = steps.into_iter().find(enough).unwrap_or(self.high);
                (0..=8).map(|i| f64::from(i) * step).filter(|&tick| tick <= self.high).collect()
            }
            Scale::Logarithmic => {
                let decades = (self.high / self.low).log10().round() as i32;
                let between: &[f64] = if decades > 2 { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let decade = |d: i32| between.iter().map(move |digit| digit * 10f64.powi(d));
                let ticks = (first..=first + decades).flat_map(decade);
                ticks.filter(|&tick| tick <= self.high * 1.01).collect()
            }
        }
    }
}

impl Figure {
    pub(crate) fn svg(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> fmt::Result {
        let columns = self.columns.min(self.panels.len()).max(1);
        let rows = self.panels.len().div_ceil(columns);
        let width = columns as f64 * (LEFT + PANEL[0] + RIGHT);
        let mut legend = String::new();
        let legend_bottom = self.legend(&mut legend, width)?;
        let height = legend_bottom + rows as f64 * (ABOVE + PANEL[1] + BELOW);
        let title = self.title;
        writeln!(
            text,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\">\n<title>{title}</title>\n\
             <style>{STYLE}\n</style>\n<rect class=\"paper\" width=\"{width}\" \
             height=\"{height}\"/>\n<text class=\"title\" x=\"{LEFT}\" y=\"24\">{title}</text>"
        )?;
        text.push_str(&legend);
        for (i, panel) in self.panels.iter().enumerate() {
            let left = (i % columns) as f64 * (LEFT + PANEL[0] + RIGHT) + LEFT;
            let top = legend_bottom + (i / columns) as f64 * (ABOVE + PANEL[1] + BELOW) + ABOVE;
            writeln!(text, "<g transform=\"translate({left} {top})\">")?;
            self.panel(text, panel)?;
            text.push_str("</g>\n");
        }
        text.push_str("</svg>\n");
        Ok(())
    }

    /// The names of all lines, in the order in which they come; their places give the colours.
    fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for line in self.panels.iter().flat_map(|panel| &panel.lines) {
            if !names.contains(&line.name.as_str()) {
                names.push(line.name.as_str());
            }
        }
        names
    }

    /// Returns where it ends.
    fn legend(&self, text: &mut String, width: f64) -> Result<f64, fmt::Error> {
        let (mut x, mut y) = (LEFT, 46.0);
        for (i, name) in self.names().into_iter().enumerate() {
            let wide = 34.0 + name.len() as f64 * LETTER;
            if x + wide > width && x > LEFT {
                (x, y) = (LEFT, y + LEGEND_LINE);
            }
            mark(text, i, x + 6.0, y - 4.0)?;
            writeln!(text, "<text x=\"{}\" y=\"{y}\">{name}</text>", x + 16.0)?;
            x += wide;
        }
        Ok(y + 10.0)
    }

    fn panel(&self, text: &mut String, panel: &Panel) -> fmt::Result {
        let own = self.scale == Scale::OverTime;
        let alike =
            |other: &&Panel| if own { std::ptr::eq(*other, panel) } else { other.y == panel.y };
        let same = self.panels.iter().filter(alike);
        let points = same.flat_map(|panel| &panel.lines).flat_map(|line| &line.points);
        let x_axis = Axis::new(self.scale, points.clone().map(|point| point[0])).wider();
        let y_axis = Axis::new(self.scale, points.map(|point| point[1])).whole();
        let [width, height] = PANEL;
        let x = |point: &[f64; 2]| width * x_axis.at(point[0]);
        let y = |number: f64| height * (1.0 - y_axis.at(number));
        writeln!(text, "<text class=\"title\" y=\"-12\">{}</text>", panel.title)?;
        for tick in y_axis.ticks() {
            let (y, label) = (y(tick), label(tick));
            writeln!(
                text,
                "<path class=\"grid\" d=\"M0 {y:.1}H{width}\"/><text class=\"quiet\" x=\"-6\" \
                 y=\"{:.1}\" text-anchor=\"end\">{label}</text>",
                y + 4.0
            )?;
        }
        let numbers = if own { x_axis.ticks() } else { panel.measured() };
        Figure::numbers_below(text, numbers, x)?;
        writeln!(
            text,
            "<text class=\"quiet\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\
             <text class=\"quiet\" transform=\"translate(-58 {}) rotate(-90)\" \
             text-anchor=\"middle\">{}</text>",
            width / 2.0,
            height + 38.0,
            panel.x,
            height / 2.0,
            panel.y
        )?;
        let names = self.names();
        for line in &panel.lines {
            let colour = names.iter().position(|&name| name == line.name).unwrap_or(0);
            let at = |point: &[f64; 2]| format!("{:.1} {:.1}", x(point), y(point[1]));
            let path: Vec<String> = line.points.iter().map(at).collect();
            let class = colour % COLOURS;
            let path = path.join("L");
            writeln!(text, "<path class=\"line c{class}\" d=\"M{path}\"/>")?;
            let every = if own { line.points.len().div_ceil(MARKS).max(1) } else { 1 };
            // Each line at other places, so that marks do not hide each other.
            for point in line.points.iter().skip(colour * every / COLOURS).step_by(every) {
                mark(text, colour, x(point), y(point[1]))?;
            }
        }
        Ok(())
    }

    /// These numbers, where there is room.
    fn numbers_below(
        text: &mut String,
        numbers: Vec<f64>,
        x: impl Fn(&[f64; 2]) -> f64,
    ) -> fmt::Result {
        let mut last = f64::NEG_INFINITY;
        for number in numbers {
            let x = x(&[number, 0.0]);
            if x - last < TICK_GAP {
                continue;
            }
            last = x;
            writeln!(
                text,
                "<path class=\"grid\" d=\"M{x:.1} 0V{}\"/><text class=\"quiet\" x=\"{x:.1}\" \
                 y=\"{}\" text-anchor=\"middle\">{}</text>",
                PANEL[1],
                PANEL[1] + 18.0,
                label(number)
            )?;
        }
        Ok(())
    }
}

/// A mark of its own for each line: circle, square, triangle or diamond.
fn mark(text: &mut String, line: usize, x: f64, y: f64) -> fmt::Result {
    let (x, y) = ((x * 10.0).round() / 10.0, (y * 10.0).round() / 10.0);
    let shape = match line % 4 {
        0 => format!("M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"),
        1 => format!("M{x} {y}m-3.5 -3.5h7v7h-7z"),
        2 => format!("M{x} {y}m0 -4.5l4.5 8h-9z"),
        _ => format!("M{x} {y}m0 -5l5 5l-5 5l-5 -5z"),
    };
    let colour = line % COLOURS;
    writeln!(text, "<path class=\"mark c{colour}\" d=\"{shape}\"/>")
}

fn label(number: f64) -> String {
    let plain = |number: f64| {
        let text = short(number);
        let text = if text.contains('.') { text.trim_end_matches('0') } else { &text };
        text.trim_end_matches('.').to_owned()
    };
    match number.abs() {
        size if size >= 1e6 => format!("{}M", plain(number / 1e6)),
        size if size >= 1e3 => format!("{}k", plain(number / 1e3)),
        size if size > 0.0 && size < 1e-3 => format!("{number:e}"),
        _ => plain(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_on_axes_are_round_and_short() {
        for (number, text) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (20.0, "20"),
            (1500.0, "1.5k"),
            (2e6, "2M"),
            (1e-5, "1e-5"),
        ] {
            assert_eq!(label(number), text);
        }
        let axis = Axis::new(Scale::Linear, [3.0, 47.0].into_iter()).whole();
        assert_eq!(axis.ticks(), [0.0, 10.0, 20.0, 30.0, 40.0]);
        let axis = Axis::new(Scale::Logarithmic, [0.2, 300.0].into_iter()).whole();
        assert_eq!(axis.ticks(), [0.1, 1.0, 10.0, 100.0, 1000.0]);
    }

    #[test]
    fn nothing_measured_and_zeros_still_make_a_plot() {
        for scale in [Scale::Linear, Scale::Logarithmic, Scale::OverTime] {
            for points in [vec![], vec![[1.0, 0.0]], vec![[0.0, 0.0], [5.0, f64::NAN]]] {
                let lines = vec![Line { name: "none".into(), points }];
                let panel = Panel { title: "empty".into(), x: "x", y: "y", lines };
                let svg = Figure { title: "none", columns: 2, scale, panels: vec![panel] }.svg();
                assert!(svg.ends_with("</svg>\n") && !svg.contains("inf"), "{svg}");
            }
        }
        let none = Figure { title: "none", columns: 2, scale: Scale::Linear, panels: vec![] };
        assert!(none.svg().ends_with("</svg>\n"));
    }
}
