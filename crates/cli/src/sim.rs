//! `jostle sim`: a cluster under seeded faults, with checkers.

use crate::error::CliError;
use crate::progress::Progress;
use crate::run::counted;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use jostle_proto::{BACKUPS, BACKUPS_MAX, Mutant};
use jostle_sim::{
    FaultProfile, Layout, Matter, Operation, Options, Outcome, RULES, Sometimes, Violation,
    run as run_seed,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

#[derive(Debug, Args)]
pub(crate) struct SimArgs {
    /// Nodes at the start; more may join
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=64), default_value = "4")]
    nodes: u32,
    /// Moving objects; six walls are added
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100_000), default_value = "80")]
    objects: u32,
    /// Where objects start
    #[arg(long, value_name = "LAYOUT", default_value = "uniform")]
    world: WorldArg,
    /// Clients, with gateways for them; some of the clients are hostile
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=1000), default_value = "0")]
    clients: u32,
    /// Simulated seconds with faults; as many again follow without
    #[arg(long, default_value = "2", value_parser = parse_seconds)]
    seconds: f64,
    /// The first seed
    #[arg(long, default_value = "1")]
    seed: u64,
    /// Number of seeds, run on all cores
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Start no new seed after this many seconds of real time
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    budget: Option<f64>,
    /// Which faults occur: none; delay, jitter and a little loss; or everything
    #[arg(long, value_name = "FAULTS", default_value = "campaign")]
    faults: FaultsArg,
    /// Axis-aligned boxes instead of rotating meshes: many more seeds in the same time
    #[arg(long)]
    boxes: bool,
    /// Lockstep: a tick waits for all nodes (the default)
    #[arg(long, alias = "sync", conflicts_with = "free_running")]
    lockstep: bool,
    /// Free-running: no node waits for another; with one group
    #[arg(long, alias = "unsync", conflicts_with = "sites")]
    free_running: bool,
    /// Limit of box and triangle tests per node and tick; pairs that it leaves undecided are
    /// assumed to touch, and reported as assumed
    #[arg(long, value_name = "COUNT", requires = "free_running")]
    operations: Option<u64>,
    /// Ticks per second
    #[arg(long, default_value = "30", value_parser = clap::value_parser!(u32).range(1..=1000))]
    rate: u32,
    /// Encode and decode every message in every run; otherwise in one run of eight
    #[arg(long)]
    wire: bool,
    /// Sites that are far from each other; nodes of different sites form different groups
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u32).range(1..=8))]
    sites: u32,
    /// Replicas of the directory; with more than one, they and their disks fail too
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u32).range(1..=7))]
    replicas: u32,
    /// Backups of each node; with two or more, several nodes die at once too
    #[arg(long, value_name = "N", default_value_t = BACKUPS,
        value_parser = clap::value_parser!(u8).range(1..=i64::from(BACKUPS_MAX)))]
    backups: u8,
    /// Halfway, a node and all its backups die at once: the group must report that it cannot go on
    #[arg(long)]
    disaster: bool,
    /// A store, whose disk fails, and outages of all machines in every seed; otherwise in one
    /// fault campaign of four. In lockstep, at one site, with one directory and without clients
    #[arg(long, conflicts_with_all = ["free_running", "sites", "replicas", "clients", "disaster"])]
    store: bool,
    /// Build in a defect, to see that a rule catches it
    #[arg(long, value_name = "NAME", value_parser = mutants())]
    mutant: Option<Mutant>,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum FaultsArg {
    None,
    Calm,
    #[value(alias = "storm")]
    Campaign,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum WorldArg {
    /// Anywhere
    Uniform,
    /// In a few heaps
    Clustered,
    /// On the borders and corners of regions
    Borders,
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 3600.0 => Ok(seconds),
        _ => Err(format!("expected seconds, more than 0 and at most 3600, found {text:?}")),
    }
}

fn mutants() -> impl TypedValueParser<Value = Mutant> {
    let names = Mutant::ALL.iter().map(|(_, name)| *name).collect::<Vec<_>>();
    PossibleValuesParser::new(names).try_map(|name| {
        Mutant::from_name(&name).ok_or_else(|| format!("there is no mutant {name:?}"))
    })
}

#[derive(Serialize)]
struct Output {
    seeds: u64,
    violations: u64,
    checkers: Vec<CheckerOutput>,
    /// The first failures.
    failures: Vec<Failure>,
    ticks: u64,
    collisions: u64,
    messages: u64,
    /// Of all frames, in the runs in which messages go through their bytes.
    bytes: u64,
    /// The same for each object and tick; none if there was no such run.
    bytes_per_object_tick: Option<f64>,
    crashes: u64,
    /// Groups that could not go on in the end, and said so.
    halted: u64,
    /// From a node's death to the next tick without it.
    recovery: Recovery,
    views: u64,
    events: u64,
    /// How often rare things happened.
    sometimes: BTreeMap<&'static str, u64>,
    /// Of all runs: the same for the same seeds.
    trace: String,
}

/// In milliseconds of the world's time.
#[derive(Serialize)]
struct Recovery {
    times: usize,
    median_ms: f64,
    p99_ms: f64,
    worst_ms: f64,
}

impl Recovery {
    fn of(outcomes: &[(u64, Outcome)]) -> Recovery {
        let mut times: Vec<u64> = outcomes
            .iter()
            .flat_map(|(_, outcome)| outcome.recoveries.iter().map(|span| span.0))
            .collect();
        times.sort_unstable();
        let at = |percent: usize| {
            let rank = (times.len() * percent).div_ceil(100).saturating_sub(1);
            times.get(rank).map_or(0.0, |&time| time as f64 / 1e3)
        };
        Recovery { times: times.len(), median_ms: at(50), p99_ms: at(99), worst_ms: at(100) }
    }
}

#[derive(Serialize)]
struct CheckerOutput {
    rule: &'static str,
    what: &'static str,
    violations: u64,
}

#[derive(Serialize)]
struct Failure {
    seed: u64,
    rule: &'static str,
    seconds: f64,
    what: String,
}

/// The most failures that are listed.
const FAILURES_MAX: usize = 10;

/// Says whether a rule was broken.
pub(crate) fn run(args: &SimArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    let outcomes = run_all(args);
    let output = summary(&outcomes);
    if args.json {
        serde_json::to_writer(&mut *out, &output)?;
        writeln!(out)?;
    } else {
        print(&output, out)?;
    }
    Ok(output.violations > 0)
}

fn options(args: &SimArgs) -> Options {
    Options {
        nodes: args.nodes,
        objects: args.objects,
        clients: args.clients,
        matter: if args.boxes { Matter::Boxes } else { Matter::Meshes },
        layout: match args.world {
            WorldArg::Uniform => Layout::Uniform,
            WorldArg::Clustered => Layout::Clustered,
            WorldArg::Borders => Layout::Borders,
        },
        seconds: args.seconds,
        fault_profile: match args.faults {
            FaultsArg::None => FaultProfile::None,
            FaultsArg::Calm => FaultProfile::Calm,
            FaultsArg::Campaign => FaultProfile::Campaign,
        },
        mutant: args.mutant,
        rate: args.rate,
        wire: args.wire,
        sites: args.sites,
        replicas: args.replicas,
        backups: args.backups,
        disaster: args.disaster,
        store: args.store,
        operation: if args.free_running && !args.lockstep {
            Operation::FreeRunning
        } else {
            Operation::Lockstep
        },
        operations: args.operations,
    }
}

/// Runs all seeds, each core taking the next; in the order of the seeds.
fn run_all(args: &SimArgs) -> Vec<(u64, Outcome)> {
    let options = options(args);
    let next = AtomicU64::new(0);
    let end = args.budget.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
    let progress = Mutex::new(Progress::new(args.seeds as usize, true));
    let done = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores.min(args.seeds as usize) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let late = end.is_some_and(|end| Instant::now() > end);
                    if at >= args.seeds || late {
                        return;
                    }
                    let seed = args.seed.wrapping_add(at);
                    let outcome = run_seed(seed, options);
                    let Ok(mut done) = done.lock() else { return };
                    done.push((seed, outcome));
                    if let Ok(mut progress) = progress.lock() {
                        progress.done(done.len());
                    }
                }
            });
        }
    });
    let mut outcomes = done.into_inner().unwrap_or_default();
    outcomes.sort_by_key(|(seed, _)| seed.wrapping_sub(args.seed));
    outcomes
}

fn summary(outcomes: &[(u64, Outcome)]) -> Output {
    let sum = |part: fn(&Outcome) -> u64| outcomes.iter().map(|(_, outcome)| part(outcome)).sum();
    let broken: Vec<(u64, &Violation)> = outcomes
        .iter()
        .flat_map(|(seed, outcome)| outcome.verdict.violations.iter().map(move |v| (*seed, v)))
        .collect();
    let checkers = RULES.iter().map(|&(rule, what)| CheckerOutput {
        rule,
        what,
        violations: broken.iter().filter(|(_, violation)| violation.rule == rule).count() as u64,
    });
    let failures = broken.iter().take(FAILURES_MAX).map(|(seed, violation)| Failure {
        seed: *seed,
        rule: violation.rule,
        seconds: violation.time.0 as f64 / 1e6,
        what: violation.what.clone(),
    });
    let add = |sum: Sometimes, (_, outcome): &(u64, Outcome)| sum.plus(outcome.sometimes);
    let sometimes = outcomes.iter().fold(Sometimes::default(), add);
    let (bytes, object_ticks) = (sum(|o| o.bytes), sum(|o| o.object_ticks));
    let trace = outcomes.iter().fold(0u64, |sum, (_, o)| sum.rotate_left(7) ^ o.trace);
    Output {
        seeds: outcomes.len() as u64,
        violations: broken.len() as u64,
        checkers: checkers.collect(),
        failures: failures.collect(),
        ticks: sum(|outcome| outcome.ticks),
        collisions: sum(|outcome| outcome.collisions),
        messages: sum(|outcome| outcome.messages),
        bytes,
        bytes_per_object_tick: (object_ticks > 0).then(|| bytes as f64 / object_ticks as f64),
        crashes: sum(|outcome| outcome.crashes),
        halted: sum(|outcome| outcome.halted),
        recovery: Recovery::of(outcomes),
        views: sum(|outcome| outcome.views),
        events: sum(|outcome| outcome.events),
        sometimes: sometimes.counts().into_iter().collect(),
        trace: format!("{trace:016x}"),
    }
}

fn print(output: &Output, out: &mut dyn Write) -> Result<(), CliError> {
    for failure in &output.failures {
        let Failure { seed, rule, seconds, what } = failure;
        writeln!(out, "seed {seed}: {rule} at {seconds:.3} s: {what}")?;
    }
    for CheckerOutput { rule, what, violations } in &output.checkers {
        let verdict = if *violations == 0 { "kept".to_string() } else { format!("{violations}×") };
        writeln!(out, "{rule:<3} {verdict:>6}  {what}")?;
    }
    let rare: Vec<String> =
        output.sometimes.iter().map(|(what, count)| format!("{what} {count}")).collect();
    writeln!(out, "{}", rare.join(", "))?;
    let Output { seeds, ticks, collisions, messages, crashes, views, trace, .. } = output;
    let seeds = counted((*seeds as usize, "seed"));
    writeln!(out, "{seeds}: {ticks} ticks, {collisions} collisions, {messages} messages")?;
    if let Some(each) = output.bytes_per_object_tick {
        let bytes = output.bytes;
        writeln!(
            out,
            "{bytes} bytes in the runs that encode messages, {each:.1} per object and tick"
        )?;
    }
    writeln!(out, "{crashes} crashes, {views} view changes; trace {trace}")?;
    if output.halted > 0 {
        let groups = counted((output.halted as usize, "group"));
        writeln!(out, "{groups} could not go on in the end, and reported it")?;
    }
    let Recovery { times, median_ms, p99_ms, worst_ms } = output.recovery;
    if times > 0 {
        let spread = format!("{p99_ms:.0} ms at the 99th percentile, {worst_ms:.0} ms at most");
        writeln!(out, "first tick after a crash: {median_ms:.0} ms in the median, {spread}")?;
    }
    Ok(())
}
