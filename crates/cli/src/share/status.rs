//! `jostle status`: the status of a world.

use super::args::StatusArgs;
use super::{failed, resolve};
use crate::error::CliError;
use crate::table::Table;
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
        "{name}: group {}, tick {} ({}), {} of {} per second, {} objects, {} clients, up {} s",
        whole(&status["group"]),
        whole(&status["tick"]),
        age(&status["tick_age_ms"]),
        number(&status["ticks_per_second"]),
        whole(&status["rate"]),
        whole(&status["objects"]),
        whole(&status["clients"]),
        number(&status["up_seconds"]),
    )?;
    for (what, of) in [("tick interval", "tick_ms"), ("input to update", "input_ms")] {
        match status[of].is_object() {
            true => {
                let (p50, p99) = (number(&status[of]["p50"]), number(&status[of]["p99"]));
                writeln!(out, "{what}: p50 {p50} ms, p99 {p99} ms")?;
            }
            false => writeln!(out, "{what}: none in the last 10 s")?,
        }
    }
    for (what, of) in [("traffic between nodes", "nodes"), ("traffic with clients", "edge")] {
        let traffic = &status[of];
        writeln!(
            out,
            "{what}: {} messages, {} bytes out; {} messages, {} bytes in",
            whole(&traffic["sent"]),
            whole(&traffic["sent_bytes"]),
            whole(&traffic["received"]),
            whole(&traffic["received_bytes"]),
        )?;
    }
    prevented(status, out)?;
    files(status, out)?;
    replicas(status, out)?;
    for each in status["groups"].as_array().into_iter().flatten() {
        group(status, each, out)?;
    }
    Ok(())
}

/// A group and its members.
fn group(status: &Value, group: &Value, out: &mut dyn Write) -> Result<(), CliError> {
    let state = match group["stable"] == true {
        _ if group["halt"].is_object() => "cannot go on",
        true => "stable",
        false => "changing",
    };
    writeln!(
        out,
        "\ngroup {}, view {}, {state}, led by node {}",
        whole(&group["group"]),
        whole(&group["view"]),
        whole(&group["leader"]),
    )?;
    let heads = ["node", "objects", "step ms", "pairs", "silent ms", "delays ms", "region x y z m"];
    let mut table = Table::new(&heads);
    for member in group["members"].as_array().into_iter().flatten() {
        let delays = member["delays_ms"].as_object().into_iter().flatten();
        let delays: Vec<String> =
            delays.map(|(node, delay)| format!("{node}:{}", number(delay))).collect();
        let loads = status["loads"].as_array().into_iter().flatten();
        let load = loads.clone().find(|load| load["node"] == member["node"]);
        let load = load.unwrap_or(&Value::Null);
        table.line(vec![
            whole(&member["node"]),
            whole(&member["objects"]),
            number(&load["step_ms"]),
            whole(&load["pairs_tested"]),
            number(&member["silent_ms"]),
            delays.join(" "),
            region(&member["region"]),
        ]);
    }
    write!(out, "{table}")?;
    if let Some(text) = group["halt"]["text"].as_str() {
        writeln!(out, "{text}; for {} s now", number(&group["halt"]["seconds"]))?;
    }
    Ok(())
}

/// What prevents progress.
fn prevented(status: &Value, out: &mut dyn Write) -> Result<(), CliError> {
    for reason in status["prevented"].as_array().into_iter().flatten() {
        writeln!(out, "prevented: {}", reason.as_str().unwrap_or("?"))?;
    }
    Ok(())
}

/// The age of the last tick.
fn age(value: &Value) -> String {
    match value.as_f64() {
        Some(ms) if ms < 1000.0 => format!("{ms:.0} ms ago"),
        Some(ms) => format!("{:.1} s ago: the world is stalled", ms / 1000.0),
        None => "none yet".into(),
    }
}

/// Files that the process writes.
fn files(status: &Value, out: &mut dyn Write) -> Result<(), CliError> {
    for name in ["store", "recording", "directory_store"] {
        let file = &status[name];
        let what = name.replace('_', " ");
        if let Some(tick) = file["tick"].as_u64() {
            writeln!(out, "{what}: tick {tick} is on the disk; {} bytes", whole(&file["bytes"]))?;
        }
        if let Some(trouble) = file["trouble"].as_str() {
            let failures = whole(&file["failures"]);
            writeln!(out, "{what}: CANNOT BE WRITTEN ({failures} writes failed): {trouble}")?;
        }
    }
    Ok(())
}

/// Replicas of the directory, if there are several.
fn replicas(status: &Value, out: &mut dyn Write) -> Result<(), CliError> {
    let replicas = status["replicas"].as_array().map_or(&[][..], Vec::as_slice);
    if replicas.is_empty() {
        return Ok(());
    }
    let heads = ["replica", "role", "term", "index", "lag", "log bytes", "silent ms", "address"];
    let mut table = Table::new(&heads);
    for replica in replicas {
        let is = match (replica["leads"] == true, replica["leader"].as_u64()) {
            _ if replica["trouble"].is_string() => "unavailable".into(),
            (true, _) => "leader".into(),
            (false, Some(leader)) => format!("follows {leader}"),
            (false, None) => "no leader".into(),
        };
        table.line(vec![
            whole(&replica["replica"]),
            is,
            whole(&replica["term"]),
            whole(&replica["index"]),
            whole(&replica["lag"]),
            whole(&replica["log_bytes"]),
            number(&replica["silent_ms"]),
            replica["address"].as_str().unwrap_or("-").into(),
        ]);
    }
    write!(out, "\n{table}")?;
    for replica in replicas {
        let id = whole(&replica["replica"]);
        if let Some(trouble) = replica["trouble"].as_str() {
            writeln!(out, "replica {id} takes no part: {trouble}")?;
        }
        for other in replica["incompatible"].as_array().into_iter().flatten() {
            let other = whole(other);
            writeln!(out, "replica {id} ignores replica {other}: no common protocol version")?;
        }
    }
    Ok(())
}

/// Regions extend to the ends of the world: only boundaries inside it are shown.
fn region(region: &Value) -> String {
    let end = |value: &Value| value.as_f64().filter(|metres| metres.abs() < 500_000.0);
    let axis = |axis: usize| match (end(&region[0][axis]), end(&region[1][axis])) {
        (Some(min), Some(max)) => format!("{min:.0}…{max:.0}"),
        (Some(min), None) => format!("≥{min:.0}"),
        (None, Some(max)) => format!("<{max:.0}"),
        (None, None) => "all".into(),
    };
    if region.is_null() { "-".into() } else { [axis(0), axis(1), axis(2)].join(" ") }
}
