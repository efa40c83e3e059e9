//! `jostle directory`: one replica of a world's directory, or one less.

use super::args::DirectoryArgs;
use super::hints::Hints;
use super::{allow_many_files, begin_log, failed, resolve, wait_for_end};
use crate::error::CliError;
use jostle_net::charter::ReplicaChange;
use jostle_net::client::ask_to_change;
use jostle_net::direct::DirectorySettings;
use jostle_net::door::DoorLimits;
use jostle_net::{Process, Secret, Versions};
use jostle_proto::Span;
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;

pub(crate) fn run(args: &DirectoryArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    begin_log();
    allow_many_files();
    let join = args.join.as_deref().map(resolve).transpose()?;
    if let (Some(leave), Some(join)) = (args.leave, join) {
        return remove(args, leave, join, out);
    }
    let speak = args.speak.map(|version| Versions { oldest: version, newest: version });
    let settings = DirectorySettings {
        id: args.id,
        join,
        listen: args.listen,
        store: args.store.clone().unwrap_or_else(|| PathBuf::from(".")),
        web: args.web,
        guards: args.guard.guards(&args.listeners),
        round_trip: Span::from_ms(args.round_trip),
        events: args.events.clone(),
        engine: args.engine.into(),
        limits: DoorLimits::default(),
        versions: speak.unwrap_or(Versions::OURS),
    };
    if let Some(join) = join {
        // Refuses another machine without a way to check that it is the right one.
        args.guard.node_trust(join, args.insecure)?;
    }
    let process = Process::direct(settings).map_err(failed)?;
    if let Some(address) = process.door_address() {
        let hints = Hints { guard: &args.guard, engine: args.engine, address };
        writeln!(out, "nodes:   {}", hints.node("node"))?;
        writeln!(out, "status:  {}", hints.client("status"))?;
        if let Some(web) = process.web_address() {
            writeln!(out, "web:     {}", hints.page(web))?;
        }
    }
    out.flush()?;
    wait_for_end()?;
    drop(process);
    Ok(false)
}

fn remove(
    args: &DirectoryArgs,
    leave: u16,
    join: SocketAddr,
    out: &mut dyn Write,
) -> Result<bool, CliError> {
    let trust = args.guard.node_trust(join, args.insecure)?;
    let token = args.guard.node_token.clone().map(Secret::new);
    let change = ReplicaChange::Remove(leave);
    ask_to_change(join, token.as_ref(), &trust, change).map_err(failed)?;
    writeln!(
        out,
        "replica {leave} is being removed: stop its process when it is no voter any more"
    )?;
    Ok(false)
}
