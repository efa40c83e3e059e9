//! `jostle node`: adds this machine to a world.

use super::args::NodeArgs;
use super::serve::limits;
use super::{begin_log, failed, resolve, wait_for_end};
use crate::error::CliError;
use jostle_net::Process;
use jostle_net::work::NodeSettings;
use std::io::Write;

pub(crate) fn run(args: &NodeArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    begin_log();
    let join = resolve(&args.join)?;
    let (limits, gateway) = limits(args.clients_per_host);
    let settings = NodeSettings {
        join,
        trust: args.guard.node_trust(join, args.insecure)?,
        listen: args.listen,
        door: args.door.map(|door| (door, args.web)),
        guards: args.guard.shown(),
        files: args.files.files(),
        engine: args.engine.into(),
        gateway,
        limits,
    };
    let process = Process::work(settings).map_err(failed)?;
    let reached = process.plane_address().map_or_else(|| "-".into(), |it| it.to_string());
    writeln!(out, "joined; other nodes reach this one at {reached}")?;
    if let Some(door) = process.door_address() {
        writeln!(out, "clients: jostle bots --join {door}")?;
    }
    out.flush()?;
    wait_for_end()?;
    drop(process);
    Ok(false)
}
