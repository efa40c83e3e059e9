//! Measures the transport over loopback, with both engines, without authentication and with
//! certificates: the round trip between two processes, and the longest send while the other process
//! is frozen.
//!
//! `cargo run -p jostle-net --example transport_rtt`

use jostle_net::certificates;
use jostle_net::transport::{Engine, Transport, TransportAuth, TransportSettings, Urgency};
use std::error::Error;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::{Duration, Instant};

const ROUNDS: usize = 4_000;
const WARM_UP: usize = 500;
const ENGINES: [Engine; 2] = [Engine::Zenoh, Engine::Quic];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [engine, join, certificates @ ..] = &arguments[..] {
        let engine = ENGINES[usize::from(engine != "Zenoh")].clone();
        return echo(&settings(engine, vec![join.parse()?], certificates.first().map(Path::new)));
    }
    let directory = std::env::temp_dir().join(format!("plane-rtt-{}", std::process::id()));
    certificates::make(&directory, &[])?;
    for engine in ENGINES {
        for certificates in [None, Some(directory.as_path())] {
            measure(&engine, certificates)?;
        }
    }
    std::fs::remove_dir_all(directory)?;
    Ok(())
}

fn settings(
    engine: Engine,
    join: Vec<SocketAddr>,
    certificates: Option<&Path>,
) -> TransportSettings {
    let guard = TransportAuth { token: None, certificates: certificates.map(PathBuf::from) };
    let listen = vec![SocketAddr::from(([127, 0, 0, 1], 0))];
    TransportSettings { world: "rtt".to_owned(), listen, join, guard, engine }
}

/// The other process: sends everything back as long as the first one lives.
fn echo(settings: &TransportSettings) -> Result<(), Box<dyn Error>> {
    let transport: Arc<OnceLock<Transport>> = Arc::default();
    let back = transport.clone();
    let deliver = move |_: &str, bytes: &[u8]| {
        if let Some(transport) = back.get() {
            transport.send("a", bytes, Urgency::Now);
        }
    };
    let opened = Transport::open(settings, Arc::new(deliver))?;
    opened.answer_to("b")?;
    let _ = transport.set(opened);
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}

fn measure(engine: &Engine, certificates: Option<&Path>) -> Result<(), Box<dyn Error>> {
    let (arrived, arrivals) = mpsc::channel();
    let deliver = move |_: &str, _: &[u8]| {
        let _ = arrived.send(());
    };
    let transport =
        Transport::open(&settings(engine.clone(), vec![], certificates), Arc::new(deliver))?;
    transport.answer_to("a")?;
    let mut other = Command::new(std::env::current_exe()?)
        .arg(format!("{engine:?}"))
        .arg(transport.listening()[0].to_string())
        .args(certificates)
        .stdin(Stdio::piped())
        .spawn()?;
    let guard = if certificates.is_some() { "certificates" } else { "open" };
    for size in [64, 1_000, 20_000, 200_000] {
        let bytes = vec![7; size];
        let mut micros = Vec::new();
        for round in 0..ROUNDS + WARM_UP {
            let began = Instant::now();
            loop {
                transport.send("b", &bytes, Urgency::Now);
                if arrivals.recv_timeout(Duration::from_secs(1)).is_ok() {
                    break;
                }
            }
            if round >= WARM_UP {
                micros.push(began.elapsed().as_micros());
            }
        }
        micros.sort_unstable();
        let at = |part: usize| micros[(micros.len() * part / 1000).min(micros.len() - 1)];
        println!(
            "{engine:?} {guard} {size} B: p50 {} us, p99 {} us, worst {} us",
            at(500),
            at(990),
            at(1000)
        );
    }
    frozen(&transport, &mut other, guard, engine)?;
    other.kill()?;
    other.wait()?;
    Ok(())
}

/// Thousands of messages a second to a process that does not run for three seconds.
fn frozen(
    transport: &Transport,
    other: &mut Child,
    guard: &str,
    engine: &Engine,
) -> Result<(), Box<dyn Error>> {
    let signal = |name: &str| Command::new("kill").args([name, &other.id().to_string()]).status();
    signal("-STOP")?;
    let before = transport.counters();
    let mut worst = [Duration::ZERO; 2];
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(3) {
        for (worst, size) in worst.iter_mut().zip([1_000, 100_000]) {
            let bytes = vec![7; size];
            let sending = Instant::now();
            transport.send("b", &bytes, Urgency::Tick);
            *worst = sending.elapsed().max(*worst);
        }
        std::thread::sleep(Duration::from_micros(50));
    }
    signal("-CONT")?;
    let after = transport.counters();
    println!(
        "{engine:?} {guard} to a frozen process: worst send {worst:?} (1 kB, 100 kB), {} sent, {} \
         known to be lost",
        after.sent - before.sent,
        after.lost - before.lost
    );
    Ok(())
}
