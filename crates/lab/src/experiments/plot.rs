//! Plots of experiments: panels of lines, as SVG.
//!
//! Written by hand because it is lines and marks; colours follow the reader's light or dark mode,
//! and neighbours in the legend differ in their mark too, so that colour is not needed to read it.
//! Panels with the same names on both axes have the same axes, so that they can be compared.

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
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .quiet { fill: #9198a1; } .paper { fill: #0d1117; }
    .grid { stroke: #3d444d; }
  }";
/// For each line its own, on white and on black. Marks repeat after five, so that a line in any
/// plot of up to eighty has a colour or a mark that no other has.
const COLOURS: [[&str; 2]; 16] = [
    ["#0969da", "#58a6ff"],
    ["#bc4c00", "#f0883e"],
    ["#1a7f37", "#56d364"],
    ["#8250df", "#bc8cff"],
    ["#bf3989", "#ff7eb6"],
    ["#9a6700", "#e3b341"],
    ["#1b7c83", "#39c5cf"],
    ["#59636e", "#9198a1"],
    ["#cf222e", "#ff7b72"],
    ["#5c8a00", "#a5d63f"],
    ["#0aa5d8", "#8fd3ff"],
    ["#7d4e2d", "#c89b7b"],
    ["#1f2a8c", "#8f9bff"],
    ["#e56bb0", "#ffc2e0"],
    ["#3fb58a", "#9ff0cf"],
    ["#c9a200", "#fff1a0"],
];
const SHAPES: usize = 5;

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
    /// An axis on which there is a 0 is linear all the same.
    Logarithmic,
    /// Linear, for lines of many points over time: each panel has a vertical axis of its own, and
    /// only some points have marks.
    OverTime,
}

/// So many marks on a line of many points, and on one of few not fewer than points.
const MARKS: usize = 8;
const FEW: usize = 16;

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

impl Figure {
    /// Panels beside each other over the same horizontal axis: a title, what is upwards, lines.
    pub(crate) fn over<const N: usize>(
        x: &'static str,
        title: &'static str,
        scale: Scale,
        panels: [(&str, &'static str, Vec<Line>); N],
    ) -> Figure {
        let panel =
            |(title, y, lines): (&str, _, _)| Panel { title: title.to_owned(), x, y, lines };
        Figure { title, columns: N, scale, panels: panels.map(panel).into() }
    }
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
    /// A point of each row, on the line of the name that comes with it.
    pub(crate) fn through<R>(
        rows: impl IntoIterator<Item = R>,
        point: impl Fn(R) -> (String, [f64; 2]),
    ) -> Vec<Line> {
        let mut lines = Vec::new();
        for row in rows {
            let (name, point) = point(row);
            Line::extend(&mut lines, &name, point);
        }
        lines
    }

    /// Adds a point to the line of that name, which may be new.
    pub(crate) fn extend(lines: &mut Vec<Line>, name: &str, point: [f64; 2]) {
        match lines.iter_mut().find(|line| line.name == name) {
            Some(line) => line.points.push(point),
            None => lines.push(Line { name: name.to_owned(), points: vec![point] }),
        }
    }
}

/// Numbers that are easy to read, in every decade.
const ROUND: [f64; 4] = [1.0, 2.0, 5.0, 10.0];

/// Where numbers are on an axis: from 0 to 1.
struct Axis {
    scale: Scale,
    low: f64,
    high: f64,
}

impl Axis {
    fn new(scale: Scale, numbers: impl Iterator<Item = f64> + Clone) -> Axis {
        let most = numbers.clone().fold(LEAST, f64::max);
        let zero = numbers.clone().any(|number| number <= 0.0);
        let least = numbers.fold(most, f64::min).max(LEAST);
        match if zero { Scale::Linear } else { scale } {
            Scale::Linear | Scale::OverTime => Axis { scale: Scale::Linear, low: 0.0, high: most },
            Scale::Logarithmic => Axis { scale, low: least, high: most },
        }
    }

    /// With a little room at the ends.
    fn wider(self) -> Axis {
        match self.scale {
            Scale::Linear | Scale::OverTime => Axis { high: self.high * 1.05, ..self },
            Scale::Logarithmic => {
                let room = (self.high / self.low).powf(0.05).max(1.1);
                Axis { low: self.low / room, high: self.high * room, ..self }
            }
        }
    }

    /// From a round number to another, if it is logarithmic, and at least a factor of four.
    fn whole(self) -> Axis {
        let Scale::Logarithmic = self.scale else { return self.wider() };
        let [low, high] = match self.high / self.low {
            ratio if ratio < 4.0 => [self.low / 2.0, self.high * 2.0],
            _ => [self.low, self.high],
        };
        let steps = |number: f64| {
            let digit = 10f64.powf(number.log10().floor());
            ROUND.map(|factor| factor * digit)
        };
        let below = steps(low).into_iter().rfind(|&step| step <= low).unwrap_or(low);
        let above = steps(high).into_iter().find(|&step| step >= high).unwrap_or(high);
        Axis { low: below, high: above, ..self }
    }

    fn at(&self, number: f64) -> f64 {
        let Axis { low, high, .. } = *self;
        match self.scale {
            Scale::Linear | Scale::OverTime => (number - low) / (high - low),
            Scale::Logarithmic => (number.max(LEAST) / low).log10() / (high / low).log10(),
        }
    }

    /// Round numbers, not more than nine.
    fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Linear | Scale::OverTime => {
                let digit = 10f64.powf((self.high / 8.0).log10().floor());
                let steps = ROUND.map(|factor| factor * digit);
                let enough = |step: &f64| self.high / step <= 8.0;
                let step = steps.into_iter().find(enough).unwrap_or(self.high);
                (0..=8).map(|i| f64::from(i) * step).filter(|&tick| tick <= self.high).collect()
            }
            Scale::Logarithmic => {
                let [first, last] = [self.low, self.high].map(|end| end.log10().floor() as i32);
                let between = if last - first > 2 { &ROUND[..1] } else { &ROUND[..3] };
                let decade = |d: i32| between.iter().map(move |digit| digit * 10f64.powi(d));
                let shown = |tick: &f64| *tick >= self.low * 0.99 && *tick <= self.high * 1.01;
                (first..=last + 1).flat_map(decade).filter(shown).collect()
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
             <style>{STYLE}\n{}</style>\n<rect class=\"paper\" width=\"{width}\" \
             height=\"{height}\"/>\n<text class=\"title\" x=\"{LEFT}\" y=\"24\">{title}</text>",
            self.colours()
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

    /// Colours of the lines, for light and dark.
    fn colours(&self) -> String {
        let colour = |mode: usize| {
            let used = COLOURS.iter().take(self.names().len()).enumerate();
            used.map(|(i, pair)| format!(".c{i} {{ color: {}; }} ", pair[mode])).collect::<String>()
        };
        let [light, dark] = [0, 1].map(colour);
        format!("  {light}\n  @media (prefers-color-scheme: dark) {{ {dark}}}\n")
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
        let alike = |other: &&Panel| match own {
            true => std::ptr::eq(*other, panel),
            false => [other.x, other.y] == [panel.x, panel.y],
        };
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
            let class = colour % COLOURS.len();
            let path = path.join("L");
            writeln!(text, "<path class=\"line c{class}\" d=\"M{path}\"/>")?;
            let many = own && line.points.len() > FEW;
            let every = if many { line.points.len().div_ceil(MARKS) } else { 1 };
            // Each line at other places, so that marks do not hide each other.
            for point in line.points.iter().skip(class * every / COLOURS.len()).step_by(every) {
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

/// Circle, square, triangle, diamond or cross, in the colour of the line.
fn mark(text: &mut String, line: usize, x: f64, y: f64) -> fmt::Result {
    let (x, y) = ((x * 10.0).round() / 10.0, (y * 10.0).round() / 10.0);
    let shape = match line % SHAPES {
        0 => format!("M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"),
        1 => format!("M{x} {y}m-3.5 -3.5h7v7h-7z"),
        2 => format!("M{x} {y}m0 -4.5l4.5 8h-9z"),
        3 => format!("M{x} {y}m0 -5l5 5l-5 5l-5 -5z"),
        _ => format!("M{x} {y}m-1.5 -4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z"),
    };
    let colour = line % COLOURS.len();
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
        assert_eq!((axis.low, axis.high), (0.2, 500.0));
        assert_eq!(axis.ticks(), [1.0, 10.0, 100.0]);
        let axis = Axis::new(Scale::Logarithmic, [2.1, 6.5].into_iter()).whole();
        assert_eq!((axis.low, axis.high), (1.0, 20.0));
        assert_eq!(axis.ticks(), [1.0, 2.0, 5.0, 10.0, 20.0]);
    }

    fn panel(x: &'static str, y: &'static str, lines: &[(&str, &[[f64; 2]])]) -> Panel {
        let line = |&(name, points): &(&str, &[[f64; 2]])| Line {
            name: name.into(),
            points: points.to_vec(),
        };
        Panel { title: x.into(), x, y, lines: lines.iter().map(line).collect() }
    }

    /// The ninth line of a plot had the colour and the mark of the first.
    #[test]
    fn every_series_has_a_colour_of_its_own() {
        let names: Vec<String> = (0..16).map(|i| format!("line {i}")).collect();
        let lines: Vec<(&str, &[[f64; 2]])> =
            names.iter().map(|name| (name.as_str(), &[[1.0, 1.0]][..])).collect();
        let panels = vec![panel("x", "y", &lines)];
        let svg = Figure { title: "many", columns: 1, scale: Scale::Linear, panels }.svg();
        for (i, [light, dark]) in COLOURS.iter().enumerate() {
            assert_eq!(svg.matches(&format!("class=\"line c{i}\"")).count(), 1);
            for colour in [light, dark] {
                let set = format!("{{ color: {colour}; }}");
                assert_eq!(svg.matches(&set).count(), 1, "{colour}");
            }
        }
        let looks: std::collections::BTreeSet<_> =
            (0..80).map(|line| (line % COLOURS.len(), line % SHAPES)).collect();
        assert_eq!(looks.len(), 80);
    }

    /// Distances from 1 to 3 shared an axis with 32,768 triangles, and took a tenth of the width.
    #[test]
    fn a_line_uses_the_width_and_height_of_its_panel() {
        let distances = panel("distance", "us", &[("planes", &[[1.0, 300.0], [3.0, 0.2]])]);
        let sizes = panel("triangles", "us", &[("planes", &[[128.0, 1.0], [32768.0, 2.0]])]);
        let panels = vec![distances, sizes];
        let scale = Scale::Logarithmic;
        let svg = Figure { title: "axes", columns: 2, scale, panels }.svg();
        for path in svg.lines().filter_map(|line| line.split("class=\"line c0\" d=\"M").nth(1)) {
            let numbers = path.trim_end_matches("\"/>").split(['L', ' ']);
            let ends: Vec<f64> = numbers.map(|number| number.parse().unwrap()).collect();
            assert!(ends[2] - ends[0] > 0.6 * PANEL[0], "{path}");
        }
    }

    /// Shares of wrong answers from 0 to 50 % were drawn from a millionth of a per cent on.
    #[test]
    fn zeros_make_an_axis_linear() {
        let axis = Axis::new(Scale::Logarithmic, [0.0, 50.0].into_iter()).whole();
        assert_eq!(axis.ticks(), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0]);
        assert!(axis.at(25.0) > 0.4);
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
