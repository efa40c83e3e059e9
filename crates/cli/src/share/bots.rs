//! `jostle bots`: load from real clients.

use super::args::{BotsArgs, MotionArg};
use super::{begin_log, failed, resolve};
use crate::error::CliError;
use glam::DVec3;
use jostle_net::Secret;
use jostle_net::client::{ClientOptions, Clients, Connection};
use jostle_sim::Dice;
use serde::Serialize;
use std::io::Write;
use std::time::{Duration, Instant};

/// Speed of bots in metres per second.
const SPEED: f64 = 3.0;

/// Interval of decisions.
const THINK: Duration = Duration::from_millis(100);

/// A bot.
struct Bot {
    connection: Connection,
    target: DVec3,
    steered: Instant,
}

#[derive(Serialize)]
struct Output {
    avatars: u32,
    /// Avatars in the world at the end.
    active: usize,
    seconds: f64,
    /// Per client, from the server.
    bytes_per_second: f64,
    messages_per_second: f64,
    /// Intervals between state updates, over all clients, in milliseconds: median and 99th
    /// percentile.
    update_ms: Option<[f64; 2]>,
    /// From an input to the update that acknowledges it, in milliseconds: median and 99th
    /// percentile.
    input_ms: Option<[f64; 2]>,
    /// Mean number of other avatars and objects that a client sees.
    seen: f64,
    contacts: u64,
    corrections: u64,
    reconnects: u64,
}

pub(crate) fn run(args: &BotsArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    begin_log();
    let join = resolve(&args.join)?;
    let trust = args.guard.trust(join, args.insecure)?;
    let clients = Clients::new().map_err(failed)?;
    let mut dice = Dice::new(args.seed);
    let mut bots = Vec::new();
    for _ in 0..args.avatars {
        let options = ClientOptions {
            token: args.guard.token.clone().map(Secret::new),
            trust: trust.clone(),
            ..ClientOptions::to(join)
        };
        let connection = clients.open(options).map_err(failed)?;
        bots.push(Bot { connection, target: DVec3::ZERO, steered: Instant::now() });
    }
    if !args.json {
        writeln!(out, "{} bots connect to {join}; stop with Ctrl-C", bots.len())?;
        out.flush()?;
    }
    let (begin, mut contacts) = (Instant::now(), 0);
    let stopped = super::end_flag()?;
    while !stopped.load(std::sync::atomic::Ordering::Relaxed)
        && args.seconds.is_none_or(|seconds| begin.elapsed().as_secs_f64() < seconds)
    {
        for bot in &mut bots {
            bot.think(args.motion, &mut dice);
            contacts += bot.connection.take_contacts().len() as u64;
        }
        std::thread::sleep(THINK);
    }
    let output = sum_up(args, &bots, begin.elapsed(), contacts);
    if args.json {
        serde_json::to_writer(&mut *out, &output)?;
        writeln!(out)?;
    } else {
        print(&output, out)?;
    }
    Ok(output.active == 0)
}

impl Bot {
    /// Moves towards the target; chooses a new one now and then.
    fn think(&mut self, motion: MotionArg, dice: &mut Dice) {
        let Some(own) = self.connection.own() else { return };
        let here = DVec3::from_array(own.position);
        let mut draw = |reach: f64| dice.between(-1000, 1000) as f64 / 1000.0 * reach;
        let waited = self.steered.elapsed();
        let arrived = here.distance(self.target) < 1.0;
        let again = match motion {
            MotionArg::Targets => arrived || waited > Duration::from_secs(10),
            MotionArg::Random => waited > Duration::from_secs(1),
            MotionArg::Crowd => waited > Duration::from_secs(1),
        };
        if !again {
            return;
        }
        self.steered = Instant::now();
        self.target = match motion {
            MotionArg::Crowd => DVec3::ZERO,
            MotionArg::Targets | MotionArg::Random => {
                here + DVec3::new(draw(20.0), draw(4.0), draw(20.0))
            }
        };
        let way = (self.target - here).normalize_or_zero() * SPEED;
        self.connection.send_input(way.to_array(), [0.0; 3]);
    }
}

fn sum_up(args: &BotsArgs, bots: &[Bot], took: Duration, contacts: u64) -> Output {
    let seconds = took.as_secs_f64();
    let count = bots.len().max(1) as f64;
    let statistics: Vec<_> = bots.iter().map(|bot| bot.connection.statistics()).collect();
    let total = |part: &dyn Fn(&jostle_net::client::Statistics) -> u64| -> f64 {
        statistics.iter().map(part).sum::<u64>() as f64
    };
    let update_intervals = statistics.iter().flat_map(|it| it.update_intervals.iter()).map(millis);
    let answers = statistics.iter().flat_map(|it| it.input_latencies.iter()).map(millis);
    let seen: usize = bots.iter().map(|bot| bot.connection.others().len()).sum();
    Output {
        avatars: args.avatars,
        active: bots.iter().filter(|bot| bot.connection.is_active()).count(),
        seconds,
        bytes_per_second: total(&|it| it.bytes_received) / count / seconds,
        messages_per_second: total(&|it| it.messages_received) / count / seconds,
        update_ms: percentiles(update_intervals.collect()),
        input_ms: percentiles(answers.collect()),
        seen: seen as f64 / count,
        contacts,
        corrections: bots.iter().map(|bot| bot.connection.corrections()).sum(),
        reconnects: total(&|it| it.links.saturating_sub(1)) as u64,
    }
}

fn millis(span: &Duration) -> f64 {
    span.as_secs_f64() * 1000.0
}

fn percentiles(mut values: Vec<f64>) -> Option<[f64; 2]> {
    values.sort_by(f64::total_cmp);
    let at = |part: usize| values.get(values.len().saturating_sub(1) * part / 100).copied();
    Some([at(50)?, at(99)?])
}

fn print(output: &Output, out: &mut dyn Write) -> Result<(), CliError> {
    let Output { avatars, active, seconds, bytes_per_second, messages_per_second, .. } = output;
    writeln!(out, "{active} of {avatars} avatars are in the world after {seconds:.1} s")?;
    writeln!(
        out,
        "each receives {messages_per_second:.1} messages and {bytes_per_second:.0} bytes per \
         second and sees {:.1} others",
        output.seen
    )?;
    if let Some([p50, p99]) = output.update_ms {
        writeln!(out, "update interval: p50 {p50:.1} ms, p99 {p99:.1} ms")?;
    }
    if let Some([p50, p99]) = output.input_ms {
        writeln!(out, "input to update: p50 {p50:.1} ms, p99 {p99:.1} ms")?;
    }
    let Output { contacts, corrections, reconnects, .. } = output;
    writeln!(out, "{contacts} contacts, {corrections} corrections, {reconnects} reconnections")?;
    Ok(())
}
