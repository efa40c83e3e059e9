//! `jostle lab latency`: how wrong is what another host shows, and for how many bytes?
//!
//! J. Ohlenburg, *Collision Detection in Distributed Virtual Environments*, 2003, section 4.4: two
//! hosts in virtual time, an object between walls for 15 seconds. Figures A.1 to A.12 show the
//! error and the bytes over time. What the thesis leaves open is described in
//! `crates/lab/src/reckon.rs`.

use super::args::{LatencyArgs, tracking_name};
use super::plot::{Figure, Line, Panel, Scale};
use super::table::Table;
use super::{Results, check_writable};
use crate::experiments::error::LabError;
use crate::reckon::{Errors, LENGTH, Outcome, Scheme, Setup, run as simulate};
use jostle_proto::reckon::Tracking;
use jostle_proto::{Span, Time};
use serde::Serialize;
use std::io::Write;

/// One scheme at one latency. Errors are in metres.
#[derive(Debug, Serialize)]
struct Row {
    tracking: &'static str,
    latency_ms: u32,
    scheme: &'static str,
    mean_error: f64,
    max_error: f64,
    /// Between the first collision and the second.
    first_mean_error: f64,
    first_max_error: f64,
    /// In close proximity to objects of the other host.
    close_mean_error: f64,
    close_max_error: f64,
    /// What `close_mean_error` would be if every frame were sent: less takes no more updates, but
    /// better ones.
    close_floor: f64,
    /// Frames that show the object inside of another, which it never was.
    false_contacts: usize,
    messages: usize,
    bytes: usize,
    /// For each second.
    over_time: Vec<Second>,
    /// Time in seconds and error, for the plot.
    #[serde(skip)]
    errors: Vec<[f64; 2]>,
}

#[derive(Debug, Serialize)]
struct Second {
    mean_error: f64,
    max_error: f64,
    bytes: usize,
}

pub(crate) fn run(args: &LatencyArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let mut rows = Vec::new();
    for &tracking in &args.tracking {
        for &latency_ms in &args.latency {
            measure(tracking, latency_ms, &mut rows)?;
        }
    }
    let results = Results { rows: &rows, table: table(&rows), figure: figure(&rows) };
    results.show(&args.output, out)
}

fn measure(tracking: Tracking, latency_ms: u32, rows: &mut Vec<Row>) -> Result<(), LabError> {
    let latency = Span::from_ms(u64::from(latency_ms));
    let setup = |scheme| Setup { tracking, ..Setup::new(latency, scheme) };
    let mut every_frame = setup(Scheme::Predicted);
    every_frame.adaptive.apart.error = 0.0;
    let close_floor = close(&simulate(&every_frame)?).mean;
    for scheme in Scheme::ALL {
        let outcome = simulate(&setup(scheme))?;
        let (all, first) = (outcome.errors(|_| true), outcome.after_first_collision());
        let close = close(&outcome);
        rows.push(Row {
            tracking: tracking_name(tracking),
            latency_ms,
            scheme: name(scheme),
            mean_error: all.mean,
            max_error: all.max,
            first_mean_error: first.mean,
            first_max_error: first.max,
            close_mean_error: close.mean,
            close_max_error: close.max,
            close_floor,
            false_contacts: outcome.frames.iter().filter(|frame| frame.false_contact()).count(),
            messages: outcome.sent.len(),
            bytes: outcome.bytes(),
            over_time: (0..LENGTH.0 / 1_000_000).map(|second| at(&outcome, second)).collect(),
            errors: outcome.frames.iter().map(|frame| [seconds(frame.at), frame.error()]).collect(),
        });
    }
    Ok(())
}

fn close(outcome: &Outcome) -> Errors {
    outcome.errors(|frame| frame.close)
}

fn seconds(at: Time) -> f64 {
    (at - Time(0)).as_seconds()
}

fn at(outcome: &Outcome, second: u64) -> Second {
    let within = |at: Time| at.0 / 1_000_000 == second;
    let errors = outcome.errors(|frame| within(frame.at));
    let sent = outcome.sent.iter().filter(|sent| within(sent.at));
    let bytes = sent.map(|sent| sent.bytes).sum();
    Second { mean_error: errors.mean, max_error: errors.max, bytes }
}

fn name(scheme: Scheme) -> &'static str {
    match scheme {
        Scheme::Plain => "plain",
        Scheme::Predicted => "predicted",
        Scheme::Adapted => "adapted",
        Scheme::Accelerated => "accelerated",
    }
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "tracking", "ms", "scheme", "error", "worst", "1st hit", "worst", "close", "worst",
        "floor", "false", "messages", "bytes",
    ]);
    for row in rows {
        table.row(&[
            &row.tracking,
            &row.latency_ms,
            &row.scheme,
            &row.mean_error,
            &row.max_error,
            &row.first_mean_error,
            &row.first_max_error,
            &row.close_mean_error,
            &row.close_max_error,
            &row.close_floor,
            &row.false_contacts,
            &row.messages,
            &row.bytes,
        ]);
    }
    for note in NOTES {
        table.note(note.to_owned());
    }
    table
}

const NOTES: [&str; 6] = [
    "errors in metres: over all frames, between first and second collision, in close proximity",
    "floor: the error in close proximity if every frame were sent, predicted",
    "false: frames that show the object inside of another, which it never was",
    "plain: dead reckoning; predicted: and remote collision prediction",
    "adapted: and 0.01 m instead of 0.5 m in close proximity (the thesis)",
    "accelerated: and accelerations sent in close proximity (not in the thesis)",
];

/// Above the errors, below the bytes, a column for each latency.
fn figure(rows: &[Row]) -> Figure {
    let (mut above, mut below): (Vec<Panel>, Vec<Panel>) = (Vec::new(), Vec::new());
    for row in rows {
        let title = format!("{} ms, {}", row.latency_ms, row.tracking);
        if above.last().is_none_or(|panel| panel.title != title) {
            let panel = |y| Panel { title: title.clone(), x: "seconds", y, lines: Vec::new() };
            above.push(panel("error in m"));
            below.push(panel("bytes per second"));
        }
        let bytes = row.over_time.iter().enumerate();
        let bytes = bytes.map(|(second, of)| [second as f64 + 0.5, of.bytes as f64]).collect();
        for (panels, points) in [(&mut above, row.errors.clone()), (&mut below, bytes)] {
            let line = Line { name: row.scheme.to_owned(), points };
            if let Some(panel) = panels.last_mut() {
                panel.lines.push(line);
            }
        }
    }
    let columns = above.len();
    above.extend(below);
    Figure {
        title: "A remote object: error and bytes over time",
        columns,
        scale: Scale::OverTime,
        panels: above,
    }
}
