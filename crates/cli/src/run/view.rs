//! Runs a scene in real time and shows it on a page, which sends its keys.

use super::record::EventLog;
use crate::error::CliError;
use crate::scene::args::RunArgs;
use crate::share::{Screen, ViewPage, end_flag, failed, legend};
use jostle_stage::Stage;
use std::io::Write;
use std::sync::atomic::Ordering;

/// Makes a step.
pub(super) type Next<'a> = dyn FnMut(&mut Stage, u64, &mut EventLog) -> Result<(), CliError> + 'a;

/// Runs until it is stopped or all steps are done, and returns the number of steps. Events are
/// printed at once.
pub(super) fn run(
    stage: &mut Stage,
    args: &RunArgs,
    log: &mut EventLog,
    out: &mut dyn Write,
    next: &mut Next<'_>,
) -> Result<u64, CliError> {
    let stopped = end_flag()?;
    let (shown, rate) = (&args.shown, rate(args.dt)?);
    let page_settings =
        ViewPage { listen: shown.listen, open: !shown.no_open, rate, page: &shown.page };
    let file = args.scene.scene.file_name().unwrap_or_default();
    let mut screen = Screen::open(stage, &file.to_string_lossy(), &page_settings, out)?;
    for line in legend(stage) {
        writeln!(out, "{line}")?;
    }
    out.flush()?;
    let mut done = 0;
    while done < args.steps() && !stopped.load(Ordering::Relaxed) {
        let Some(keys) = screen.wait() else { continue };
        for key in keys {
            stage.play_mut().key(key);
        }
        next(stage, done + 1, log)?;
        done += 1;
        screen.show(stage, done)?;
        for row in log.rows.drain(..) {
            writeln!(out, "{row}")?;
        }
        out.flush()?;
    }
    Ok(done)
}

/// Steps per second: a whole number, as the protocol of pages has it.
fn rate(dt: f64) -> Result<u32, CliError> {
    let rate = (1.0 / dt).round();
    if !(1.0..=240.0).contains(&rate) || (rate * dt - 1.0).abs() > 1e-6 {
        return Err(failed(format!(
            "with --view, --dt must be 1/N seconds for a whole number N from 1 to 240, found {dt}"
        )));
    }
    Ok(rate as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_per_second_are_whole() {
        assert_eq!(rate(0.03125).unwrap(), 32);
        assert_eq!(rate(1.0).unwrap(), 1);
        assert_eq!(rate(1.0 / 30.0).unwrap(), 30);
        for dt in [0.0, 0.3, 2.0, 1e-9, f64::NAN] {
            assert!(rate(dt).is_err(), "{dt}");
        }
    }
}
