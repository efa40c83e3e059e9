//! The summary of all results, and how results and summary are printed.

use crate::answer::Answer;
use crate::error::CliError;
use crate::query::{Placed, Query};
use jostle_geom::Counters;
use serde::Serialize;
use std::io::Write;
use std::time::Duration;

#[derive(Debug, Serialize)]
pub(crate) struct Summary {
    query: &'static str,
    pub(crate) queries: usize,
    /// Poses that touch, overlap or come as close as asked; motions with contact.
    pub(crate) hits: usize,
    /// Touching face pairs of all poses together; 0 unless asked for.
    pairs: usize,
    /// Sum of all distances; 0 unless asked for.
    distance_sum: f64,
    /// Motions that could not be followed to their end, and poses without an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unknown: Option<usize>,
    /// Processor time of this thread per query, in microseconds, without reading and printing.
    mean_us: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<MeanCounters>,
}

/// The mean cost of a query.
#[derive(Debug, Serialize)]
struct MeanCounters {
    box_tests: f64,
    triangle_tests: f64,
    unsure: f64,
}

impl Summary {
    pub(crate) fn new(query: Query) -> Summary {
        Summary {
            query: query.name(),
            queries: 0,
            hits: 0,
            pairs: 0,
            distance_sum: 0.0,
            unknown: query.may_be_unknown().then_some(0),
            mean_us: 0.0,
            counters: None,
        }
    }

    pub(crate) fn add(&mut self, answer: &Answer) {
        self.queries += 1;
        self.hits += usize::from(answer.is_hit());
        self.pairs += answer.pair_count();
        self.distance_sum += answer.distance();
        if let Some(unknown) = &mut self.unknown {
            *unknown += usize::from(answer.is_unknown());
        }
    }

    pub(crate) fn set_time(&mut self, time: Duration) {
        self.mean_us = time.as_secs_f64() * 1e6 / self.queries.max(1) as f64;
    }

    pub(crate) fn set_counters(&mut self, all: Counters) {
        let mean = |count: u64| count as f64 / self.queries.max(1) as f64;
        self.counters = Some(MeanCounters {
            box_tests: mean(all.box_tests),
            triangle_tests: mean(all.triangle_tests),
            unsure: mean(all.unsure),
        });
    }
}

/// How results are printed: one after the other, so that none has to be kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Printer {
    pub(crate) json: bool,
    /// Every result, not only the summary.
    pub(crate) listing: bool,
    /// Lines of the table begin with the number of the pose or motion.
    pub(crate) numbered: bool,
}

impl Printer {
    pub(crate) fn begin(self, out: &mut dyn Write) -> Result<(), CliError> {
        match (self.json, self.listing) {
            (true, true) => out.write_all(b"{\"results\":[")?,
            (true, false) => out.write_all(b"{")?,
            (false, _) => {}
        }
        Ok(())
    }

    pub(crate) fn result(
        self,
        index: usize,
        answer: &Answer,
        out: &mut dyn Write,
    ) -> Result<(), CliError> {
        if !self.listing {
            return Ok(());
        }
        if self.json {
            if index > 0 {
                out.write_all(b",")?;
            }
            serde_json::to_writer(out, answer)?;
            return Ok(());
        }
        if self.numbered {
            write!(out, "{index:>6}  ")?;
        }
        writeln!(out, "{answer}")?;
        Ok(())
    }

    pub(crate) fn end(
        self,
        query: Query,
        summary: &Summary,
        out: &mut dyn Write,
    ) -> Result<(), CliError> {
        if self.json {
            out.write_all(if self.listing { b"],\"summary\":" } else { b"\"summary\":" })?;
            serde_json::to_writer(&mut *out, summary)?;
            writeln!(out, "}}")?;
            return Ok(());
        }
        if self.numbered || !self.listing {
            writeln!(out, "{} queries, {} hits", summary.queries, summary.hits)?;
            match query {
                Query::Placed(Placed::Pairs(_)) => writeln!(out, "{} pairs", summary.pairs)?,
                Query::Placed(Placed::Distance) => {
                    writeln!(out, "{} distance in all", summary.distance_sum)?;
                }
                _ => {}
            }
            if let Some(unknown @ 1..) = summary.unknown {
                writeln!(out, "{unknown} unknown")?;
            }
        }
        if let Some(MeanCounters { box_tests, triangle_tests, unsure }) = summary.counters {
            writeln!(out, "{box_tests:.2} box tests per query")?;
            writeln!(out, "{triangle_tests:.2} triangle tests per query, {unsure:.3} unsure")?;
        }
        writeln!(out, "{:.2} µs per query", summary.mean_us)?;
        Ok(())
    }
}
