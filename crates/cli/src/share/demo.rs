//! `jostle demo`: a whole shared world in one process, with a page to watch it on.

use super::args::DemoArgs;
use super::{allow_many_files, begin_log, browser, end_flag, failed, generate};
use crate::error::CliError;
use cpu_time::ProcessTime;
use jostle_net::StartError;
use jostle_net::demo::{Demo, DemoSettings};
use jostle_net::edge::EdgeError;
use std::io::{ErrorKind, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

pub(crate) fn run(args: &DemoArgs, out: &mut dyn Write) -> Result<bool, CliError> {
    begin_log();
    allow_many_files();
    let stopped = end_flag()?;
    let start = generate::generate(&format!("demo,{}", args.bodies), args.seed)?;
    let settings = DemoSettings {
        start,
        rate: args.tick,
        nodes: args.nodes,
        bots: args.bots,
        seed: args.seed,
        listen: args.listen,
        web: Some(args.listen),
        guards: args.page.guards(),
    };
    let demo = Demo::start(settings).map_err(explain)?;
    let web = demo.world().web_address().unwrap_or(args.listen);
    let page = args.page.address(web);
    let DemoArgs { bodies, bots, nodes, .. } = args;
    writeln!(out, "{nodes} nodes, {bodies} bodies, {bots} bots; open\n  {page}")?;
    if let Some(address) = demo.world().edge_address() {
        writeln!(out, "clients: jostle bots --join {address}")?;
    }
    writeln!(out, "stop with Ctrl-C")?;
    out.flush()?;
    if !args.no_open {
        browser::open(&page);
    }
    let mut clock = Stopwatch::new(&demo);
    let begin = Stopwatch::new(&demo);
    let over = || {
        stopped.load(Ordering::Relaxed)
            || args.seconds.is_some_and(|most| begin.since.elapsed().as_secs_f64() >= most)
    };
    while !over() {
        std::thread::sleep(Duration::from_millis(50));
        if args.verbose && clock.since.elapsed() >= Duration::from_secs(1) {
            writeln!(out, "{}", clock.line(&demo)?)?;
            out.flush()?;
            clock = Stopwatch::new(&demo);
        }
    }
    writeln!(out, "{}", begin.line(&demo)?)?;
    Ok(false)
}

/// Why it cannot start, with a hint if there is one.
fn explain(error: StartError) -> CliError {
    match error {
        StartError::Edge(EdgeError::Listen { address, error })
            if error.kind() == ErrorKind::AddrInUse =>
        {
            failed(format!(
                "{address} is in use, perhaps by another demo: --listen 127.0.0.1:0 takes a free \
                 port"
            ))
        }
        other => failed(other),
    }
}

/// Measures ticks and CPU time since its creation.
struct Stopwatch {
    since: Instant,
    cpu: ProcessTime,
    tick: u64,
}

impl Stopwatch {
    fn new(demo: &Demo) -> Stopwatch {
        Stopwatch { since: Instant::now(), cpu: ProcessTime::now(), tick: demo.figures().tick }
    }

    fn line(&self, demo: &Demo) -> Result<String, CliError> {
        let (figures, took) = (demo.figures(), self.since.elapsed().as_secs_f64().max(1e-9));
        let ticks = (figures.tick - self.tick.min(figures.tick)) as f64 / took;
        let cores = self.cpu.try_elapsed().map_err(failed)?.as_secs_f64() / took;
        Ok(format!(
            "tick {}: {ticks:.1} per second, dilation {:.2}, {} bodies, {} bots, {} contacts, \
             {} nodes, {cores:.2} cores",
            figures.tick,
            figures.dilation,
            figures.bodies,
            figures.bots,
            figures.touching,
            demo.state().nodes.len(),
        ))
    }
}
