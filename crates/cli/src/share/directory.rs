//! `jostle directory`: adds or removes a replica of a world's directory.

use super::args::DirectoryArgs;
use super::hints::Hints;
use super::{allow_many_files, begin_log, failed, resolve, wait_for_end};
use crate::error::CliError;
use jostle_net::client::change_replicas;
use jostle_net::directory::DirectorySettings;
use jostle_net::edge::EdgeLimits;
use jostle_net::manifest::ReplicaChange;
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
    let versions = args.peer_version.map(|version| Versions { oldest: version, newest: version });
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
        limits: EdgeLimits::default(),
        versions: versions.unwrap_or(Versions::OURS),
    };
    if let Some(join) = join {
        // Another machine requires a way to verify it.
        args.guard.node_trust(join, args.insecure)?;
    }
    let process = Process::directory_replica(settings).map_err(failed)?;
    if let Some(address) = process.edge_address() {
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
    change_replicas(join, token.as_ref(), &trust, change).map_err(failed)?;
    writeln!(
        out,
        "replica {leave} is being removed: stop its process when it is no voter any more"
    )?;
    Ok(false)
}
