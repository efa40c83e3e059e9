//! `jostle node`: adds this machine to a world.

use super::args::NodeArgs;
use super::hints::Hints;
use super::serve::limits;
use super::{allow_many_files, begin_log, end_flag, failed, resolve, wait_for};
use crate::error::CliError;
use jostle_net::Process;
use jostle_net::node::NodeSettings;
use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A node that has not joined by then cannot reach the others, or they it.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn run(args: &NodeArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    begin_log();
    allow_many_files();
    let join = resolve(&args.join)?;
    let (limits, gateway) = limits(args.clients_per_host);
    let settings = NodeSettings {
        join,
        trust: args.guard.node_trust(join, args.insecure)?,
        listen: args.listen,
        edge: args.listen_clients.map(|quic| (quic, args.web)),
        guards: args.guard.guards(&args.listeners),
        files: args.files.files(),
        engine: args.engine.into(),
        gateway,
        limits,
    };
    let stopped = end_flag()?;
    let process = Process::join(settings).map_err(failed)?;
    let reached = process.transport_address().map_or_else(|| "-".into(), |it| it.to_string());
    let mut since = Instant::now();
    while !process.wait_until_joined(Duration::from_millis(50)) {
        if stopped.load(Ordering::Relaxed) {
            return Ok(false);
        }
        if since.elapsed() >= PATIENCE {
            since = Instant::now();
            tracing::warn!(
                "admitted by {join}, but not joined: other nodes cannot be reached, or they \
                 cannot reach {reached} (--listen); all nodes need the same --engine"
            );
        }
    }
    writeln!(out, "joined; other nodes reach this one at {reached}")?;
    if let Some(address) = process.edge_address() {
        let hints = Hints { guard: &args.guard, engine: args.engine, address };
        writeln!(out, "clients: {}", hints.client("bots"))?;
        writeln!(out, "status:  {}", hints.client("status"))?;
        if let Some(web) = process.web_address() {
            writeln!(out, "web:     {}", hints.page(web))?;
        }
    }
    out.flush()?;
    wait_for(&stopped);
    drop(process);
    Ok(false)
}
