//! Measures the cost of viewers: `cargo run --release -p jostle-net --example watch [BODIES
//! VIEWERS]`. Serves a hall of balls to some viewers, and prints the processor time of each thread
//! and the bytes per viewer. Reads /proc, so it needs Linux.

use jostle_geom::{Model, Quality, solids};
use jostle_net::Process;
use jostle_net::serve::{InitialWorld, ServeSettings};
use jostle_proto::{Block, Class, Object, ObjectId, ShapeId, Shapes, Solid, State};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio_tungstenite::tungstenite::{Error as WebError, Message, client};

const METRE: i32 = 4096;
const RATE: u32 = 30;
const WARM: Duration = Duration::from_secs(4);
const MEASURED: Duration = Duration::from_secs(10);

/// A ball for every nine square metres of a hall twelve metres high, as `--generate balls` has it.
fn start(bodies: u64) -> Result<InitialWorld, Box<dyn Error>> {
    let half = ((bodies as f64 * 9.0).sqrt() / 2.0) as i32 * METRE;
    let half = [half, 6 * METRE, half];
    let ball = Arc::new(Model::build(solids::sphere(0.4, 0.02)?, Quality::Default));
    let mut forms = vec![Solid::mesh(ball)];
    let mut objects = Vec::new();
    let mut seed = 1u64;
    let mut draw = |reach: i32| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        ((seed >> 33) % (2 * reach as u64)) as i32 - reach
    };
    for number in 1..=bodies {
        let position = half.map(|half| draw(half - METRE));
        let velocity = [draw(768) as i16, draw(384) as i16, draw(768) as i16];
        let spin = [draw(256) as i16, draw(256) as i16, draw(256) as i16];
        let state = State { position, velocity, spin, ..State::default() };
        let (id, class) = (ObjectId(number), Class::Dynamic);
        objects.push(Object { id, class, shape: ShapeId(0), state });
    }
    for axis in 0..3 {
        let mut size = half.map(|half| half + METRE);
        size[axis] = METRE / 2;
        forms.push(Solid::cuboid(size));
        for side in [-1, 1] {
            let mut position = [0; 3];
            position[axis] = side * (half[axis] + METRE / 2);
            let state = State { position, ..State::default() };
            let (id, shape) = (ObjectId(objects.len() as u64 + 1), ShapeId(axis as u32 + 1));
            objects.push(Object { id, class: Class::Immovable, shape, state });
        }
    }
    let extent = Block { min: half.map(|half| -half), max: half };
    let (shapes, names) = (Shapes::new(forms), BTreeMap::new());
    Ok(InitialWorld { objects, shapes, extent, avatar: ShapeId(0), places: extent, names })
}

/// Nanoseconds on a processor, by name of thread.
fn spent() -> Result<BTreeMap<String, u64>, Box<dyn Error>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir("/proc/self/task")? {
        let path = entry?.path();
        let Ok(name) = std::fs::read_to_string(path.join("comm")) else { continue };
        let Ok(spent) = std::fs::read_to_string(path.join("schedstat")) else { continue };
        let spent: u64 = spent.split_whitespace().next().unwrap_or("0").parse()?;
        *all.entry(name.trim().to_string()).or_insert(0) += spent;
    }
    Ok(all)
}

/// A page that reads and counts.
fn page(web: SocketAddr, bytes: &AtomicU64, frames: &AtomicU64, stop: &AtomicBool) {
    let Ok(stream) = TcpStream::connect(web) else { return };
    let _ = stream.set_read_timeout(Some(Duration::from_millis(100)));
    let Ok((mut socket, _)) = client(format!("ws://{web}/view"), stream) else { return };
    let _ = socket.send(Message::text("{\"type\":\"hello\"}"));
    while !stop.load(Ordering::Relaxed) {
        match socket.read() {
            Ok(message) => {
                bytes.fetch_add(message.len() as u64, Ordering::Relaxed);
                frames.fetch_add(u64::from(message.is_binary()), Ordering::Relaxed);
            }
            Err(WebError::Io(error))
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return,
        }
    }
}

fn measure(bodies: u64, viewers: u64) -> Result<(), Box<dyn Error>> {
    let world = Process::serve(ServeSettings::local("watch", start(bodies)?))?;
    let web = world.web_address().ok_or("there is no page")?;
    let (bytes, frames, stop) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| -> Result<(), Box<dyn Error>> {
        for _ in 0..viewers {
            let page = || page(web, &bytes, &frames, &stop);
            std::thread::Builder::new().name("page".into()).spawn_scoped(scope, page)?;
        }
        std::thread::sleep(WARM);
        let before = (spent()?, bytes.load(Ordering::Relaxed), frames.load(Ordering::Relaxed));
        let begin = Instant::now();
        std::thread::sleep(MEASURED);
        let seconds = begin.elapsed().as_secs_f64();
        let after = (spent()?, bytes.load(Ordering::Relaxed), frames.load(Ordering::Relaxed));
        stop.store(true, Ordering::Relaxed);
        let each = (viewers.max(1) as f64) * seconds;
        println!(
            "{bodies} bodies, {viewers} viewers: {:.1} kB/s and {:.1} frames/s for each",
            (after.1 - before.1) as f64 / each / 1000.0,
            (after.2 - before.2) as f64 / each,
        );
        for (name, spent) in &after.0 {
            let ms = (spent - before.0.get(name).unwrap_or(&0)) as f64 / 1e6;
            let (percent, tick) = (ms / seconds / 10.0, ms / seconds / f64::from(RATE));
            if percent > 0.05 {
                println!("  {name:16} {percent:5.1} % of a processor, {tick:.3} ms per tick");
            }
        }
        Ok(())
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let numbers: Vec<u64> = std::env::args().skip(1).flat_map(|number| number.parse()).collect();
    if let [bodies, viewers] = numbers[..] {
        return measure(bodies, viewers);
    }
    for bodies in [3000, 5000] {
        for viewers in [0, 1, 8] {
            measure(bodies, viewers)?;
        }
    }
    Ok(())
}
