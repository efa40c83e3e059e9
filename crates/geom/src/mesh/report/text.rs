//! A report in words that an engineer knows.

use super::{MeshIssue, MeshReport, NON_PLANAR_BOUND, SLIVER_BOUND};
use glam::Vec3;
use std::fmt;

/// Further lines stand below the first.
const NEXT_LINE: &str = "\n                   ";

/// A report as text, with lengths in a unit. Made by [`MeshReport::in_unit`].
#[derive(Clone, Copy, Debug)]
pub struct ReportText<'a> {
    report: &'a MeshReport,
    unit: &'a str,
    scale: f64,
}

impl MeshReport {
    /// The report as text. A length of 1 in the mesh is `scale` units; `unit` is printed behind
    /// lengths and may be empty.
    ///
    /// ```
    /// use glam::DVec3;
    /// use jostle_geom::solids;
    ///
    /// let report = solids::cuboid(DVec3::new(0.1, 0.2, 0.3))?.report();
    /// let text = report.in_unit("mm", 1000.0).to_string();
    /// assert!(text.contains("size               100 × 200 × 300 mm"), "{text}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn in_unit<'a>(&'a self, unit: &'a str, scale: f64) -> ReportText<'a> {
        ReportText { report: self, unit, scale }
    }
}

impl fmt::Display for MeshReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.in_unit("", 1.0).fmt(f)
    }
}

impl fmt::Display for ReportText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.report;
        writeln!(f, "faces              {}", report.faces)?;
        writeln!(f, "triangles          {}", report.triangles)?;
        writeln!(f, "vertices           {} ({} unused)", report.vertices, report.unused_vertices)?;
        writeln!(f, "separate shells    {}", report.components)?;
        match report.bounds {
            Some([low, high]) => {
                let size = (high.as_dvec3() - low.as_dvec3()).to_array();
                let size = size.map(|length| short(length * self.scale)).join(" × ");
                writeln!(f, "size               {}", self.with_unit(&size, ""))?;
                let (low, high) = (self.point(low), self.point(high));
                writeln!(f, "bounds             {low} to {high}")?;
            }
            None => writeln!(f, "size               none: there are no faces")?,
        }
        let area = short(report.area * self.scale.powi(2));
        writeln!(f, "area               {}", self.with_unit(&area, "²"))?;
        writeln!(f, "volume             {}", self.volume())?;
        let closed = match (report.closed, report.solid) {
            (true, true) => "yes, solid",
            (true, false) => "yes",
            (false, _) => "no",
        };
        writeln!(f, "closed             {closed}")?;
        let odd = self.odd();
        let odd = if odd.is_empty() { "nothing".to_string() } else { odd.join(NEXT_LINE) };
        write!(f, "odd                {odd}")
    }
}

impl ReportText<'_> {
    fn with_unit(&self, number: &str, power: &str) -> String {
        match self.unit {
            "" => number.to_string(),
            unit => format!("{number} {unit}{power}"),
        }
    }

    fn length(&self, length: f64) -> String {
        self.with_unit(&short_digits(length * self.scale, 2), "")
    }

    fn point(&self, point: Vec3) -> String {
        let [x, y, z] = point.to_array().map(|number| short(f64::from(number) * self.scale));
        format!("({x}, {y}, {z})")
    }

    fn volume(&self) -> String {
        let report = self.report;
        match report.volume {
            _ if report.triangles == 0 => "none: there are no faces".to_string(),
            None if !report.closed => "unknown: the surface is not closed".to_string(),
            None => "unknown: some faces are flipped".to_string(),
            Some(volume) => {
                let text = short(volume.abs() * self.scale.powi(3));
                let inward =
                    if volume < 0.0 { " (all faces are flipped: they look inward)" } else { "" };
                format!("{}{inward}", self.with_unit(&text, "³"))
            }
        }
    }

    /// A line for each thing that is odd, the worst first.
    fn odd(&self) -> Vec<String> {
        let report = self.report;
        let mut lines = Vec::new();
        let mut add = |finding: &MeshIssue, one: &str, many: &str, more: &str| {
            if finding.count > 0 {
                let what = if finding.count == 1 { one } else { many };
                lines.push(format!("{} {what}{more} {}", finding.count, at_faces(finding)));
            }
        };
        let holes = match report.holes {
            1 => " around 1 hole".to_string(),
            holes => format!(" around {holes} holes"),
        };
        add(&report.open_edges, "open edge", "open edges", &holes);
        add(
            &report.non_manifold_edges,
            "edge where more than two triangles meet",
            "edges where more than two triangles meet",
            "",
        );
        add(
            &report.misoriented_edges,
            "edge between a face and a flipped one",
            "edges between a face and a flipped one",
            "",
        );
        add(&report.degenerate_faces, "face without area", "faces without area", "");
        let thin = format!(", thinner than {} of their length", percent(SLIVER_BOUND));
        add(&report.sliver_faces, "sliver", "slivers", &thin);
        add(&report.duplicate_faces, "duplicate face", "duplicate faces", "");
        let bent = format!(
            " by more than {} of their size, at most {}",
            percent(NON_PLANAR_BOUND),
            percent(report.largest_bend)
        );
        add(&report.non_planar_faces, "face is bent", "faces are bent", &bent);
        if let Some(gap) = report.gap {
            let (most, weld) = (self.length(gap.largest_move), gap.tolerance);
            let at = usize::from(report.open_edges.count > 0);
            let line = format!("the gaps are at most {most}: a weld of {weld:e} closes them");
            lines.insert(at.min(lines.len()), line);
        }
        lines
    }
}

fn at_faces(finding: &MeshIssue) -> String {
    let faces: Vec<String> = finding.faces.iter().map(u32::to_string).collect();
    let more = if finding.count > finding.faces.len() { ", …" } else { "" };
    format!("(at face {}{more})", faces.join(", "))
}

fn percent(part: f64) -> String {
    format!("{} %", short_digits(part * 100.0, 2))
}

/// A number with six significant digits, about those of the coordinates.
fn short(number: f64) -> String {
    short_digits(number, 6)
}

/// A number with at most so many significant digits, with an exponent only where it would be long.
fn short_digits(number: f64, digits: usize) -> String {
    if number == 0.0 {
        return "0".to_string();
    }
    let rounded = format!("{number:.*e}", digits - 1);
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    if !(-4..9).contains(&exponent) {
        return format!("{}e{exponent}", trimmed(mantissa));
    }
    let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
    trimmed(&format!("{number:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::{short, short_digits};

    #[test]
    fn numbers_are_short_whatever_their_size() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (0.1 + 0.2, "0.3"),
            (1234567.0, "1234567"),
            (0.000_123_456_789, "0.000123457"),
            (-6.146_320_536_455_941e-33, "-6.14632e-33"),
            (3.402_823_5e38, "3.40282e38"),
            (99_999_999.7, "100000000"),
            (999_999_999.7, "1e9"),
        ] {
            assert_eq!(short(number), text);
        }
        assert_eq!(short_digits(2.731_848e-16, 2), "2.7e-16");
    }
}
