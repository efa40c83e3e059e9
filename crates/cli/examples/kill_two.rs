//! Kills any two of the four processes that have a world's objects, at once and with signal 9,
//! again and again, and prints how long the others take to go on without them:
//! `cargo build -p jostle-cli && cargo run -p jostle-cli --example kill_two -- 20`.
//!
//! The directory has three replicas of its own, so the serving process, which has the first leader,
//! is one of those that are killed. After each round two new ones come, and everything must be
//! there. Ends with an error at the first round in which something is lost.

use jostle_net::client::{Trust, fetch_status};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

type Failure = Box<dyn Error>;

/// Moving bodies and stairs, and the six walls.
const WORLD: &str = "solids,300";
const OBJECTS: u64 = 306;

/// Nothing takes so long.
const PATIENCE: Duration = Duration::from_secs(120);

fn main() -> Result<(), Failure> {
    let rounds: u32 = std::env::args().nth(1).map_or(Ok(20), |text| text.parse())?;
    let folder = tempfile::tempdir()?;
    let mut world = World::begin(folder.path())?;
    let mut took = Vec::new();
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for round in 1..=rounds {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // One of the six pairs, the serving process (if it is one) last.
        let pair = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]][(random % 6) as usize];
        let healed = world.kill_two(pair)?;
        println!("round {round}: killed {pair:?}, the others went on after {healed:.1?}");
        took.push(healed);
        world.restore()?;
    }
    took.sort_unstable();
    let at = |part: usize| took.get((took.len() * part / 100).min(took.len().saturating_sub(1)));
    if let (Some(median), Some(worst)) = (at(50), took.last()) {
        println!("{rounds} rounds, nothing lost: {median:.1?} in the median, {worst:.1?} at most");
    }
    Ok(())
}

/// A process that is killed when this is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.0.kill();
        let _ended = self.0.wait();
    }
}

/// Of those that have objects: the serving process, or a node of its own.
struct Slot {
    process: Running,
    serves: bool,
}

struct World {
    folder: PathBuf,
    jostle: PathBuf,
    edge: SocketAddr,
    replicas: Vec<SocketAddr>,
    directory: Vec<Running>,
    slots: Vec<Slot>,
    started: u32,
}

impl World {
    fn begin(folder: &Path) -> Result<World, Failure> {
        let examples = std::env::current_exe()?;
        let built = examples.parent().and_then(Path::parent).ok_or("no target folder")?;
        let replicas = (0..3).map(|_| free_address()).collect::<Result<Vec<_>, _>>()?;
        let mut world = World {
            folder: folder.into(),
            jostle: built.join("jostle"),
            edge: free_address()?,
            replicas,
            directory: Vec::new(),
            slots: Vec::new(),
            started: 0,
        };
        let first = world.serve()?;
        world.slots.push(Slot { process: first, serves: true });
        world.wait("an answer", |_| true)?;
        for id in 1..=3 {
            let store = format!("store-{id}");
            let (id, edge) = (id.to_string(), world.edge.to_string());
            let args = ["directory", "--id", &id, "--join", &edge, "--store", &store];
            let replica = world.start(&args)?;
            world.directory.push(replica);
        }
        world.wait("a group", |status| status["groups"][0]["stable"] == true)?;
        world.restore()?;
        Ok(world)
    }

    fn start(&mut self, args: &[&str]) -> Result<Running, Failure> {
        self.started += 1;
        let log = std::fs::File::create(self.folder.join(format!("{}.log", self.started)))?;
        let mut command = Command::new(&self.jostle);
        command.args(args).current_dir(&self.folder).stdout(Stdio::null()).stderr(log);
        Ok(Running(command.spawn()?))
    }

    fn serve(&mut self) -> Result<Running, Failure> {
        let replicas: Vec<String> = self.replicas.iter().map(ToString::to_string).collect();
        let (replicas, edge) = (replicas.join(","), self.edge.to_string());
        let world = ["serve", "--generate", WORLD, "--web", "none", "--one-group"];
        self.start(&[&world[..], &["--listen", &edge, "--replicas", &replicas]].concat())
    }

    /// The status of the world, from any edge server that answers.
    fn status(&self) -> Option<Value> {
        // An edge server that is not there takes seconds to time out.
        let serving = self.slots.iter().any(|slot| slot.serves) || self.slots.is_empty();
        let edges = serving.then_some(&self.edge).into_iter().chain(&self.replicas);
        let ask = |edge: &SocketAddr| fetch_status(*edge, None, &Trust::Anyone).ok();
        let text = edges.filter_map(ask).next()?;
        serde_json::from_str(&text).ok()
    }

    fn wait(&self, what: &str, is: impl Fn(&Value) -> bool) -> Result<Value, Failure> {
        let begin = Instant::now();
        let mut last = None;
        while begin.elapsed() < PATIENCE {
            last = self.status();
            if let Some(status) = last.take_if(|status| is(status)) {
                return Ok(status);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(format!("never came: {what}; {last:?}").into())
    }

    /// Returns how long it takes until the directory has a stable view of the others.
    fn kill_two(&mut self, pair: [usize; 2]) -> Result<Duration, Failure> {
        let before = view(&self.wait("a view", |status| members(status) == 4)?);
        let begin = Instant::now();
        for at in pair {
            let slot = self.slots.get(at).ok_or("no such process")?;
            kill(Pid::from_raw(i32::try_from(slot.process.0.id())?), Signal::SIGKILL)?;
        }
        for at in pair.into_iter().rev() {
            self.slots.remove(at);
        }
        let healed = |status: &Value| {
            let stable = status["groups"][0]["stable"] == true;
            stable && view(status) > before && members(status) == 2
        };
        self.wait("a stable view of the other two", healed)?;
        Ok(begin.elapsed())
    }

    /// Four processes with objects again; all objects are there, and ticks go on.
    fn restore(&mut self) -> Result<(), Failure> {
        if !self.slots.iter().any(|slot| slot.serves) {
            let process = self.serve()?;
            self.slots.push(Slot { process, serves: true });
            self.wait("the serving process", |status| status["tick"].as_u64().is_some())?;
        }
        while self.slots.len() < 4 {
            let edge = self.edge.to_string();
            let process = self.start(&["node", "--join", &edge])?;
            self.slots.push(Slot { process, serves: false });
            let count = self.slots.len();
            self.wait("a node more", |status| members(status) == count)?;
        }
        let all = |status: &Value| status["objects"] == OBJECTS;
        let first = self.wait("all objects", all)?["tick"].as_u64();
        self.wait("ticks", |status| all(status) && status["tick"].as_u64() > first)?;
        Ok(())
    }
}

fn members(status: &Value) -> usize {
    status["groups"][0]["members"].as_array().map_or(0, Vec::len)
}

fn view(status: &Value) -> u64 {
    status["groups"][0]["view"].as_u64().unwrap_or(0)
}

/// An address that is free for both TCP and UDP.
fn free_address() -> Result<SocketAddr, Failure> {
    for _ in 0..100 {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = tcp.local_addr()?;
        if UdpSocket::bind(address).is_ok() {
            return Ok(address);
        }
    }
    Err("no port is free for both TCP and UDP".into())
}
