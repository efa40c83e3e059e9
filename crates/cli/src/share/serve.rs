//! `jostle serve`: directory, first node, gateway and edge server in one process.

use super::args::{EngineArg, FileArgs, ServeArgs};
use super::hints::Hints;
use super::{allow_many_files, begin_log, end_flag, failed, generate, resolve, start, wait_for};
use crate::error::CliError;
use jostle_net::Process;
use jostle_net::edge::EdgeLimits;
use jostle_net::manifest::OperationMode;
use jostle_net::serve::{OutputFiles, ServeSettings};
use jostle_net::transport::Engine;
use jostle_net::view::Controls;
use jostle_proto::{Allowance, GatewaySettings, Interest};
use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Interval of checks for progress.
const LOOK: Duration = Duration::from_millis(100);

impl From<EngineArg> for Engine {
    fn from(engine: EngineArg) -> Engine {
        match engine {
            EngineArg::Zenoh => Engine::Zenoh,
            EngineArg::Quic => Engine::Quic,
        }
    }
}

impl FileArgs {
    pub(super) fn files(&self) -> OutputFiles {
        OutputFiles { record: self.record.clone(), events: self.events.clone() }
    }
}

/// Limits of clients per host, at the edge server and at the gateway.
pub(super) fn limits(per_host: usize) -> (EdgeLimits, GatewaySettings) {
    let edge = EdgeLimits::default();
    let gateway = GatewaySettings::default();
    // Many clients of one host may connect at once.
    let often = per_host as u64;
    let more = |known: Allowance| Allowance {
        per_second: known.per_second.max(often),
        most: known.most.max(often),
    };
    let edge = EdgeLimits {
        connections: edge.connections.max(2 * per_host),
        host_connections: per_host,
        host_pending: edge.host_pending.max(per_host),
        pending: edge.pending.max(2 * per_host),
        handshakes: more(edge.handshakes),
        ..edge
    };
    let gateway = GatewaySettings {
        sessions: gateway.sessions.max(2 * per_host),
        host_sessions: per_host,
        hellos: more(gateway.hellos),
        ..gateway
    };
    (edge, gateway)
}

pub(crate) fn run(args: &ServeArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    begin_log();
    allow_many_files();
    let start = match &args.scene {
        Some(path) => start::scene(path, args.allow_outside)?,
        None => generate::generate(&args.generate, args.seed)?,
    };
    let operation = match (args.free_running, args.one_group) {
        (true, _) => OperationMode::FreeRunning { operations: args.operations },
        (false, true) => OperationMode::Lockstep,
        (false, false) => OperationMode::Grouped,
    };
    let (edge, gateway) = limits(args.clients_per_host);
    let interest = match args.broadcast {
        true => Interest::Everyone,
        false => Interest::Auras { reach: args.reach },
    };
    let replicas = args.replicas.iter().map(|text| resolve(text)).collect::<Result<Vec<_>, _>>()?;
    let mut names = vec![args.listen.ip().to_string()];
    names.extend(replicas.iter().map(|replica| replica.ip().to_string()));
    names.dedup();
    let settings = ServeSettings {
        name: args.name.clone(),
        start,
        rate: args.tick,
        operation,
        backups: args.backups,
        listen: args.listen,
        web: args.web.0,
        guards: args.guard.guards(&args.listeners),
        store: args.store.clone(),
        restore: args.restore,
        files: args.files.files(),
        engine: args.engine.into(),
        gateway: GatewaySettings { interest, ..gateway },
        edge,
        replicas,
        controls: Controls::default(),
    };
    settings.check().map_err(failed)?;
    args.guard.make_certificates(&names)?;
    let process = Process::serve(settings).map_err(failed)?;
    let stopped = end_flag()?;
    print(args, &process, out)?;
    out.flush()?;
    // Printed only when the world is really served: living nodes, or replicas that are not up yet,
    // may determine what it is.
    while !stopped.load(Ordering::Relaxed) {
        if process.wait_until_joined(LOOK)
            && let Some(objects) = process.objects()
        {
            let what = if objects == 1 { "object" } else { "objects" };
            writeln!(out, "serving {objects} {what} at {} ticks per second", args.tick)?;
            out.flush()?;
            break;
        }
        std::thread::sleep(LOOK);
    }
    wait_for(&stopped);
    drop(process);
    Ok(false)
}

/// Prints the world's name, and commands and URLs to use it.
fn print(args: &ServeArgs, process: &Process, out: &mut dyn Write) -> Result<(), CliError> {
    let address = process.edge_address().unwrap_or(args.listen);
    let hints = Hints { guard: &args.guard, engine: args.engine, address };
    writeln!(out, "world:   {}", process.world_name())?;
    writeln!(out, "nodes:   {}", hints.node("node"))?;
    writeln!(out, "clients: {}", hints.client("bots"))?;
    writeln!(out, "status:  {}", hints.client("status"))?;
    for (number, _) in (1..).zip(&args.replicas) {
        let command = hints.node("directory");
        writeln!(out, "replica: {command} --id {number} --store replica-{number}")?;
    }
    if let Some(web) = process.web_address() {
        writeln!(out, "web:     {}", hints.page(web))?;
    }
    Ok(())
}
