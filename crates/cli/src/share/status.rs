//! `jostle status`: how a world is.

use super::args::StatusArgs;
use super::{failed, resolve};
use crate::error::CliError;
use crate::lab::table::Table;
use jostle_net::Secret;
use jostle_net::client::fetch_status;
use serde_json::Value;
use std::io::Write;

pub(crate) fn run(args: &StatusArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    let join = resolve(&args.join)?;
    let trust = args.guard.trust(join, args.insecure)?;
    let token = args.guard.token.clone().map(Secret::new);
    let text = fetch_status(join, token.as_ref(), &trust).map_err(failed)?;
    if args.json {
        writeln!(out, "{text}")?;
        return Ok(false);
    }
    let status: Value = serde_json::from_str(&text)?;
    print(&status, out)?;
    Ok(false)
}

fn number(value: &Value) -> String {
    value.as_f64().map_or_else(|| "-".into(), |number| format!("{number:.1}"))
}

fn whole(value: &Value) -> String {
    value.as_u64().map_or_else(|| "-".into(), |number| number.to_string())
}

fn print(status: &Value, out: &mut dyn Write) -> Result<(), CliError> {
    let name = status["world"].as_str().unwrap_or("?");
    writeln!(
        out,
        "{name}: group {}, tick {}, {} of {} per second, {} objects, {} clients, up {} s",
        whole(&status["group"]),
        whole(&status["tick"]),
        number(&status["ticks_per_second"]),
        whole(&status["rate"]),
        whole(&status["objects"]),
        whole(&status["clients"]),
        number(&status["up_seconds"]),
    )?;
    for (what, of) in [("tick", "tick_ms"), ("input to glimpse", "input_ms")] {
        let (p50, p99) = (&status[of]["p50"], &status[of]["p99"]);
        writeln!(out, "{what}: {} ms, p99 {} ms", number(p50), number(p99))?;
    }
    for (what, of) in [("between nodes", "nodes"), ("clients", "door")] {
        let traffic = &status[of];
        writeln!(
            out,
            "{what}: {} messages and {} bytes out, {} and {} in",
            whole(&traffic["sent"]),
            whole(&traffic["sent_bytes"]),
            whole(&traffic["received"]),
            whole(&traffic["received_bytes"]),
        )?;
    }
    replicas(status, out)?;
    for group in status["groups"].as_array().into_iter().flatten() {
        let state = if group["stable"] == true { "stable" } else { "changing" };
        writeln!(
            out,
            "\ngroup {}, view {}, {state}, led by node {}",
            whole(&group["group"]),
            whole(&group["view"]),
            whole(&group["leader"]),
        )?;
        let mut table = Table::new(&["node", "objects", "silent ms", "delays ms", "region m"]);
        for member in group["members"].as_array().into_iter().flatten() {
            let delays = member["delays_ms"].as_object().into_iter().flatten();
            let delays: Vec<String> =
                delays.map(|(node, delay)| format!("{node}:{}", number(delay))).collect();
            table.line(vec![
                whole(&member["node"]),
                whole(&member["objects"]),
                number(&member["silent_ms"]),
                delays.join(" "),
                region(&member["region"]),
            ]);
        }
        write!(out, "{table}")?;
    }
    Ok(())
}

/// The replicas of the directory, if it has several.
fn replicas(status: &Value, out: &mut dyn Write) -> Result<(), CliError> {
    let replicas = status["replicas"].as_array().map_or(&[][..], Vec::as_slice);
    if replicas.is_empty() {
        return Ok(());
    }
    let heads = ["replica", "is", "term", "index", "lag", "log bytes", "silent ms", "door"];
    let mut table = Table::new(&heads);
    for replica in replicas {
        let is = match (replica["leads"] == true, replica["leader"].as_u64()) {
            _ if replica["trouble"].is_string() => "away".into(),
            (true, _) => "leader".into(),
            (false, Some(leader)) => format!("follows {leader}"),
            (false, None) => "looks for a leader".into(),
        };
        table.line(vec![
            whole(&replica["replica"]),
            is,
            whole(&replica["term"]),
            whole(&replica["index"]),
            whole(&replica["lag"]),
            whole(&replica["log_bytes"]),
            number(&replica["silent_ms"]),
            replica["door"].as_str().unwrap_or("-").into(),
        ]);
    }
    write!(out, "\n{table}")?;
    for replica in replicas {
        let id = whole(&replica["replica"]);
        if let Some(trouble) = replica["trouble"].as_str() {
            writeln!(out, "replica {id} takes no part: {trouble}")?;
        }
        for stranger in replica["strangers"].as_array().into_iter().flatten() {
            let stranger = whole(stranger);
            writeln!(out, "replica {id} does not speak the version of replica {stranger}")?;
        }
    }
    Ok(())
}

/// A box without its far ends: regions reach to the ends of the world.
fn region(region: &Value) -> String {
    let end = |value: &Value| match value.as_f64() {
        Some(metres) if metres.abs() < 500_000.0 => format!("{metres:.0}"),
        Some(_) => "∞".into(),
        None => "-".into(),
    };
    let axis = |axis: usize| format!("{}…{}", end(&region[0][axis]), end(&region[1][axis]));
    [axis(0), axis(1), axis(2)].join(" ")
}
