//! `jostle replay`: recomputes a recorded world and compares every tick, or shows it.

use super::args::ReplayArgs;
use super::{begin_log, browser, failed, wait_for_end};
use crate::error::CliError;
use jostle_net::recording::{self, Ending, Step};
use jostle_net::view::{Player, PlayerSettings};
use serde::Serialize;
use std::io::Write;

#[derive(Default, Serialize)]
struct Output {
    world: String,
    rate: u32,
    objects: usize,
    ticks: u64,
    gaps: u64,
    collisions: u64,
    /// Of all objects after the last tick.
    digest: String,
    different: Option<String>,
    /// The recording has an end mark. Without, a part may be missing.
    complete: bool,
    /// The last tick of the recording.
    last: Option<u64>,
}

/// Returns true (failure) if a tick differs from the recording, or the end of the recording is
/// missing.
pub(crate) fn run(args: &ReplayArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    if args.view {
        return view(args, out);
    }
    let mut replay = recording::open(&args.file).map_err(failed)?;
    let mut output =
        Output { world: replay.world_name().into(), rate: replay.rate(), ..Output::default() };
    let mut worlds = 0u64;
    while let Some(step) = replay.step().map_err(failed)? {
        match step {
            Step::World(_) => worlds += 1,
            Step::Same(_, touches) => {
                output.ticks += 1;
                output.collisions += touches as u64;
            }
            Step::Different(tick, what) => {
                output.different = Some(format!("tick {}: {what}", tick.0));
                break;
            }
        }
    }
    let ending = replay.ending();
    // After a difference the rest is not read.
    output.complete = output.different.is_none() && ending == Ending::Marked;
    output.last = replay.tick().map(|tick| tick.0);
    output.gaps = worlds.saturating_sub(1);
    output.objects = replay.objects().len();
    output.digest = format!("{:016x}", jostle_proto::digest(replay.objects().values()));
    if args.json {
        serde_json::to_writer(&mut *out, &output)?;
        writeln!(out)?;
    } else {
        let Output { world, rate, objects, ticks, gaps, collisions, digest, .. } = &output;
        writeln!(out, "{world}: {objects} objects at {rate} ticks per second")?;
        writeln!(out, "{ticks} ticks replayed, {collisions} contacts, {gaps} gaps")?;
        match (&output.different, ending) {
            (Some(what), _) => writeln!(out, "DIFFERENT: {what}")?,
            (None, Ending::Marked) => writeln!(out, "identical in every tick; digest {digest}")?,
            (None, Ending::Missing { torn, at }) => {
                writeln!(out, "identical up to the last tick that is there; digest {digest}")?;
                let last = output.last.unwrap_or(0);
                writeln!(
                    out,
                    "INCOMPLETE: no end mark behind tick {last} (byte {at}; {torn} bytes of an \
                     incomplete record follow): the recorder was killed, or a part of the file is \
                     missing"
                )?;
            }
        }
    }
    Ok(!output.complete)
}

/// Shows it on a page until stopped.
fn view(args: &ReplayArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    begin_log();
    let settings = PlayerSettings { guards: args.page.guards(), ..PlayerSettings::at(args.listen) };
    let player = Player::open(&args.file, settings).map_err(failed)?;
    let [first, last] = player.ticks();
    let page = args.page.address(player.web_address().unwrap_or(args.listen));
    writeln!(out, "ticks {} to {}; open\n  {page}", first.0, last.0)?;
    out.flush()?;
    if !args.no_open {
        browser::open(&page);
    }
    wait_for_end()?;
    drop(player);
    Ok(false)
}
