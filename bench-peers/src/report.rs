//! What was measured, as a table to read and as one to compute with.

use crate::builds::BuildRow;
use crate::measure::{Engine, Figure, Query, Series};
use std::fmt::Write;

/// All that one workload gave.
pub(crate) struct Report {
    pub(crate) workload: &'static str,
    pub(crate) rows: Vec<Row>,
    pub(crate) builds: Vec<BuildRow>,
}

/// One query on one pair of models.
pub(crate) struct Row {
    pub(crate) case: String,
    pub(crate) triangles: [usize; 2],
    pub(crate) query: Query,
    pub(crate) series: Vec<Series>,
    pub(crate) remarks: Vec<String>,
}

/// Distances further apart than this are a disagreement: FCL stops at 1e-6, parry has `f32`.
const DISTANCE_SLACK: [(Engine, f64); 2] = [(Engine::Fcl, 1e-6), (Engine::Parry, 1e-3)];

impl Row {
    pub(crate) fn new(case: &str, triangles: [usize; 2], query: Query, series: Vec<Series>) -> Row {
        let mut row = Row { case: case.to_owned(), triangles, query, series, remarks: Vec::new() };
        row.remarks = Engine::PEERS.iter().filter_map(|&peer| row.disagreement(peer)).collect();
        row
    }

    pub(crate) fn of(&self, engine: Engine) -> Option<&Series> {
        self.series.iter().find(|s| s.engine == engine)
    }

    /// How many times our time a peer took. None if we gave no answers: that is not fast.
    pub(crate) fn ratio(&self, peer: Engine) -> Option<Figure> {
        let us = self.of(Engine::Us).filter(|us| !us.sum().is_nan())?;
        Some(self.of(peer)?.times_slower_than(us))
    }

    /// How often a peer answers otherwise than we do.
    fn disagreement(&self, peer: Engine) -> Option<String> {
        let (ours, theirs) = (self.of(Engine::Us)?, self.of(peer)?);
        let slack = match self.query {
            Query::Distance => DISTANCE_SLACK.iter().find(|s| s.0 == peer).map_or(0.0, |s| s.1),
            Query::Touch | Query::Pairs | Query::Within(_) => 0.0,
        };
        let answers = || ours.answers.iter().zip(&theirs.answers);
        // NaN, which is no answer, does not agree with anything.
        let agrees = |a: f64, b: f64| (a - b).abs() <= slack;
        let count = answers().filter(|&(&a, &b)| !agrees(a, b)).count();
        if count == 0 {
            return None;
        }
        let worst = answers().map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let by = match self.query {
            Query::Pairs => format!(" by up to {worst} pairs"),
            Query::Distance if ours.sum().is_nan() => " (we have no answer)".into(),
            Query::Distance => format!(" by up to {worst:.1e}"),
            Query::Touch | Query::Within(_) => String::new(),
        };
        Some(format!("{} DISAGREES in {count} of {}{by}", peer.name(), answers().count()))
    }
}

impl Report {
    pub(crate) fn new(workload: &'static str) -> Report {
        Report { workload, rows: Vec::new(), builds: Vec::new() }
    }

    /// The table to read. `about` says where and when.
    pub(crate) fn markdown(&self, about: &[(&str, String)]) -> String {
        let mut text = format!("# Jostle beside its peers: {}\n\n", self.workload);
        for (name, value) in about {
            let _ = writeln!(text, "- {name}: {value}");
        }
        text.push_str(
            "\nMean µs per query, thread-CPU time, one thread, first pass after building; engines \
             take turns block by block. In brackets the least and largest mean of a block, for \
             ratios the least and largest ratio of a block (the same poses for both).\n\n",
        );
        text.push_str("| model | triangles | query | poses | ");
        for engine in Engine::ALL {
            let _ = write!(text, "{} µs | ", engine.name());
        }
        text.push_str("FCL / us | parry / us | answers | remarks |\n");
        text.push_str("|---|---|---|---|---|---|---|---|---|---|---|\n");
        self.rows.iter().for_each(|row| text.push_str(&markdown_row(row)));
        text.push_str(&self.summary());
        text.push_str(&self.markdown_builds());
        text
    }

    /// For each query and peer: the ratio over all rows, and the row where we do worst.
    fn summary(&self) -> String {
        let mut text = String::from("\n## In short\n\n");
        for query in [Query::Touch, Query::Pairs, Query::Distance] {
            for peer in Engine::PEERS {
                let rows = self.rows.iter().filter(|row| row.query == query);
                let ratios: Vec<(f64, &Row)> =
                    rows.filter_map(|row| Some((row.ratio(peer)?.mean, row))).collect();
                let Some((least, row)) = ratios.iter().min_by(|a, b| a.0.total_cmp(&b.0)) else {
                    continue;
                };
                let mean = ratios.iter().map(|r| r.0.ln()).sum::<f64>() / ratios.len() as f64;
                let (mean, least) = (short(mean.exp()), short(*least));
                let (query, peer) = (query.name(), peer.name());
                let Row { case, triangles: [a, b], .. } = row;
                let _ = writeln!(
                    text,
                    "- {query}, {peer} / us: geometric mean {mean}, least {least} ({case}, {a} × \
                     {b} triangles)"
                );
            }
        }
        text
    }

    /// One line per model, one column per way of building.
    fn markdown_builds(&self) -> String {
        let Some(first) = self.builds.first() else {
            return String::new();
        };
        let mut text = String::from(
            "\n## Building\n\nMedian ms (least..largest), thread-CPU time unless it says wall \
             clock.\n\n| model | triangles |",
        );
        let columns = self.builds.iter().take_while(|b| b.case == first.case);
        let columns: Vec<_> = columns.map(|b| (b.engine, b.what)).collect();
        for (engine, what) in &columns {
            let _ = write!(text, " {}: {what} |", engine.name());
        }
        let _ = writeln!(text, "\n|---|---|{}", "---|".repeat(columns.len()));
        for line in self.builds.chunk_by(|a, b| a.case == b.case) {
            let _ = write!(text, "| {} | {} |", line[0].case, line[0].triangles);
            for build in line {
                let _ = write!(text, " {}", cell(build.figure()));
                if !build.remark.is_empty() {
                    let _ = write!(text, ", {}", build.remark);
                }
                text.push_str(" |");
            }
            text.push('\n');
        }
        text
    }

    /// The table to compute with: one line per figure.
    pub(crate) fn csv(&self, about: &[(&str, String)]) -> String {
        let mut text = String::new();
        for (name, value) in about {
            let _ = writeln!(text, "# {name}: {value}");
        }
        text.push_str(
            "workload,model,triangles_a,triangles_b,query,engine,queries,mean_us,median_block_us,\
             min_block_us,max_block_us,ratio_to_us,hits,sum_of_answers,remarks\n",
        );
        for row in &self.rows {
            for series in &row.series {
                text.push_str(&self.csv_line(row, series));
            }
        }
        for b in &self.builds {
            let f = b.figure();
            let _ = writeln!(
                text,
                "{},{},{},,build: {},{},{},{:.3},{:.3},{:.3},{:.3},,,,{}",
                self.workload,
                quoted(&b.case),
                b.triangles,
                quoted(b.what),
                b.engine.name(),
                b.millis.len(),
                f.mean * 1e3,
                f.median * 1e3,
                f.min * 1e3,
                f.max * 1e3,
                quoted(&b.remark),
            );
        }
        text
    }

    fn csv_line(&self, row: &Row, series: &Series) -> String {
        let f = series.micros();
        let ratio = row.ratio(series.engine).map(|ratio| ratio.mean);
        format!(
            "{},{},{},{},{},{},{},{:.3},{:.3},{:.3},{:.3},{:.3},{},{},{}\n",
            self.workload,
            quoted(&row.case),
            row.triangles[0],
            row.triangles[1],
            row.query.name(),
            series.engine.name(),
            series.queries(),
            f.mean,
            f.median,
            f.min,
            f.max,
            ratio.unwrap_or(f64::NAN),
            series.hits(),
            series.sum(),
            quoted(&row.remarks.join("; ")),
        )
    }
}

fn markdown_row(row: &Row) -> String {
    let [a, b] = row.triangles;
    let triangles = if a == b { a.to_string() } else { format!("{a} × {b}") };
    let poses = row.series.iter().map(Series::queries).max().unwrap_or(0);
    let mut text = format!("| {} | {triangles} | {} | {poses} |", row.case, row.query.name());
    for engine in Engine::ALL {
        let micros = row.of(engine).map_or(String::new(), |s| cell(s.micros()));
        let _ = write!(text, " {micros} |");
    }
    for peer in Engine::PEERS {
        let ratio = row.ratio(peer).map_or(String::new(), |r| {
            format!("**{}** ({}..{})", short(r.mean), short(r.min), short(r.max))
        });
        let _ = write!(text, " {ratio} |");
    }
    let answers: Vec<String> = row.series.iter().map(|s| answer(row.query, s)).collect();
    let _ = writeln!(text, " {} | {} |", answers.join(", "), row.remarks.join("; "));
    text
}

fn answer(query: Query, series: &Series) -> String {
    let name = series.engine.name();
    match query {
        Query::Touch | Query::Within(_) => format!("{name} {} hits", series.hits()),
        Query::Pairs => format!("{name} {} hits {} pairs", series.hits(), series.sum()),
        Query::Distance => {
            format!("{name} sum {:.6} of {}", series.sum(), series.answers.len())
        }
    }
}

pub(crate) fn cell(figure: Figure) -> String {
    format!("{} ({}..{})", short(figure.mean), short(figure.min), short(figure.max))
}

/// Three digits that count.
pub(crate) fn short(x: f64) -> String {
    match x.abs() {
        x if x >= 100.0 => format!("{x:.0}"),
        x if x >= 10.0 => format!("{x:.1}"),
        x if x >= 1.0 => format!("{x:.2}"),
        x => format!("{x:.3}"),
    }
}

pub(crate) fn quoted(text: &str) -> String {
    if text.contains([',', '"']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
