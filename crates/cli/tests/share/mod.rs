//! Real processes of shared worlds: started, watched, stopped, killed, and asked how they are.

// Each test file is a program of its own and uses a part of this.
#![allow(dead_code)]

pub(crate) mod figures;
pub(crate) mod hosts;
pub(crate) mod switch;

use nix::sys::signal::Signal;
use nix::unistd::Pid;
use serde_json::Value;
use std::cell::RefCell;
use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Output};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Nothing that is waited for takes so long, however slow the machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often it is looked whether it has happened.
const LOOK: Duration = Duration::from_millis(100);

/// Worlds of several processes take turns: two at a time would be slow rather than wrong.
static TURN: Mutex<()> = Mutex::new(());

/// A machine that processes run on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Host {
    /// What stands before the command.
    enter: Vec<String>,
}

impl Host {
    /// A host that is a network namespace.
    pub(crate) fn namespace(name: &str) -> Host {
        Host { enter: ["ip", "netns", "exec", name].map(String::from).to_vec() }
    }

    fn command(&self) -> Command {
        let jostle = env!("CARGO_BIN_EXE_jostle");
        match self.enter.split_first() {
            Some((program, rest)) => {
                let mut command = Command::new(program);
                command.args(rest).arg(jostle);
                command
            }
            None => Command::new(jostle),
        }
    }
}

/// A folder for what the processes of a test write.
pub(crate) struct Ground {
    folder: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Ground {
    pub(crate) fn new() -> Ground {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        Ground { folder: TempDir::new().unwrap(), _turn: turn }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts a process; `name` is that of its logs.
    pub(crate) fn start(&self, host: &Host, name: &str, args: &[&str]) -> Running {
        self.start_command(name, host.command().args(args))
    }

    /// The same with any command.
    pub(crate) fn start_command(&self, name: &str, command: &mut Command) -> Running {
        let log = |end: &str| self.path(&format!("{name}.{end}"));
        let (out, err) = (log("out"), log("err"));
        command.current_dir(self.folder.path()).env("NO_COLOR", "1");
        command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        Running { name: name.into(), child, out, err }
    }

    /// Runs a process to its end.
    pub(crate) fn run(&self, host: &Host, args: &[&str]) -> Output {
        host.command().args(args).current_dir(self.folder.path()).output().unwrap()
    }

    /// What a process prints that is to succeed.
    pub(crate) fn json(&self, host: &Host, args: &[&str]) -> Value {
        let output = self.run(host, args);
        let sent = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            output.status.success(),
            "{args:?}: {}{sent}{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_str(&sent).unwrap_or_else(|error| panic!("{args:?}: {error}: {sent}"))
    }

    /// A recording is computed again, and everything is as it was.
    pub(crate) fn replay(&self, recording: &str) -> Value {
        let replay = self.json(&Host::default(), &["replay", recording, "--json"]);
        assert_eq!(replay["different"], Value::Null, "{recording}: {replay}");
        assert_eq!(replay["complete"], true, "{recording}: {replay}");
        assert!(replay["ticks"].as_u64().unwrap() > 0, "{recording}: {replay}");
        replay
    }

    /// The same of one whose process was killed: as far as it goes everything is as it was.
    pub(crate) fn replay_of_killed(&self, recording: &str) -> Value {
        let output = self.run(&Host::default(), &["replay", recording, "--json"]);
        let replay: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{recording}: {replay}");
        assert_eq!(replay["different"], Value::Null, "{recording}: {replay}");
        assert_eq!(replay["complete"], false, "{recording}: {replay}");
        assert!(replay["ticks"].as_u64().unwrap() > 0, "{recording}: {replay}");
        replay
    }

    /// The checkers find no violation.
    pub(crate) fn judge(&self, events: &[&str], recording: &str) -> Value {
        // A machine with much to do is slow, which is no stall.
        let mut args = vec!["judge", "--json", "--stalled-after", "60", "--recording", recording];
        args.extend(events);
        let verdict = self.json(&Host::default(), &args);
        assert_eq!(verdict["violations"], serde_json::json!([]), "{verdict}");
        // Nothing can be against the rules where nothing happens.
        assert!(verdict["collisions"].as_u64().unwrap() > 0, "{verdict}");
        verdict
    }
}

/// A process; it ends with this, at the latest.
pub(crate) struct Running {
    name: String,
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Running {
    /// Waits until it has printed a line that begins like this, and gives the rest of that line.
    pub(crate) fn message(&mut self, begin: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let sent = std::fs::read_to_string(&self.out).unwrap();
            // Only lines that are whole.
            let whole = sent.rsplit_once('\n').map_or("", |(whole, _)| whole);
            if let Some(rest) = whole.lines().find_map(|line| line.strip_prefix(begin)) {
                return rest.trim().into();
            }
            let ended = self.child.try_wait().unwrap();
            assert!(ended.is_none(), "{} has ended: {ended:?}", self.name);
            assert!(Instant::now() < until, "{} does not say {begin:?}: {sent}", self.name);
            std::thread::sleep(LOOK / 4);
        }
    }

    /// Waits until a node has joined, or has ended with this code.
    pub(crate) fn joins_or_ends(&mut self) -> Option<Option<i32>> {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(ended) = self.child.try_wait().unwrap() {
                return Some(ended.code());
            }
            if std::fs::read_to_string(&self.out).unwrap().contains("joined") {
                return None;
            }
            assert!(Instant::now() < until, "{} neither joins nor ends", self.name);
            std::thread::sleep(LOOK / 4);
        }
    }

    /// Waits until its log has a line with these words, and gives that line.
    pub(crate) fn logs(&self, words: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            let log = self.log();
            if let Some(line) = log.lines().find(|line| line.contains(words)) {
                return line.into();
            }
            assert!(Instant::now() < until, "{} does not log {words:?}: {log}", self.name);
            std::thread::sleep(LOOK / 4);
        }
    }

    /// What it has logged.
    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(&self.err).unwrap()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let process = Pid::from_raw(i32::try_from(self.child.id()).unwrap());
        nix::sys::signal::kill(process, signal).unwrap();
    }

    /// Without a warning.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Asks it to end, waits for that, and gives what it has printed.
    pub(crate) fn end(mut self) -> String {
        self.signal(Signal::SIGTERM);
        let until = Instant::now() + PATIENCE;
        let ended = loop {
            if let Some(ended) = self.child.try_wait().unwrap() {
                break ended;
            }
            assert!(Instant::now() < until, "{} does not end", self.name);
            std::thread::sleep(LOOK / 4);
        };
        assert!(ended.success(), "{}: {ended}", self.name);
        std::fs::read_to_string(&self.out).unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            for log in [&self.out, &self.err] {
                let text = std::fs::read_to_string(log).unwrap_or_default();
                let lines: Vec<&str> = text.lines().collect();
                let last = &lines[lines.len().saturating_sub(20)..];
                eprintln!("{}:\n  {}", log.display(), last.join("\n  "));
            }
        }
    }
}

/// A member of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) group: u64,
    pub(crate) node: u64,
    pub(crate) life: u64,
}

/// How a world is.
#[derive(Clone, Debug)]
pub(crate) struct Status(Value);

impl Status {
    /// All of it.
    pub(crate) fn value(&self) -> &Value {
        &self.0
    }

    pub(crate) fn tick(&self) -> u64 {
        self.0["tick"].as_u64().unwrap_or(0)
    }

    pub(crate) fn objects(&self) -> u64 {
        self.0["objects"].as_u64().unwrap_or(0)
    }

    pub(crate) fn clients(&self) -> u64 {
        self.0["clients"].as_u64().unwrap_or(0)
    }

    pub(crate) fn is_stable(&self) -> bool {
        self.groups().iter().all(|group| group["stable"] == true)
    }

    pub(crate) fn groups(&self) -> &[Value] {
        self.0["groups"].as_array().map_or(&[], Vec::as_slice)
    }

    /// All members of all groups, by their groups and numbers.
    pub(crate) fn places(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for group in self.groups() {
            for member in group["members"].as_array().into_iter().flatten() {
                places.push(Place {
                    group: group["group"].as_u64().unwrap(),
                    node: member["node"].as_u64().unwrap(),
                    life: member["life"].as_u64().unwrap(),
                });
            }
        }
        places.sort_unstable();
        places
    }

    pub(crate) fn place(&self, node: u64) -> Option<Place> {
        self.places().into_iter().find(|place| place.node == node)
    }

    /// The nodes of a group.
    pub(crate) fn nodes(&self, group: u64) -> Vec<u64> {
        let places = self.places();
        places.iter().filter(|place| place.group == group).map(|place| place.node).collect()
    }
}

/// Who can be asked how the world is.
pub(crate) struct EdgeProbe<'a> {
    pub(crate) ground: &'a Ground,
    pub(crate) host: Host,
    pub(crate) address: String,
    last: RefCell<String>,
}

impl<'a> EdgeProbe<'a> {
    pub(crate) fn new(ground: &'a Ground, host: &Host, address: &str) -> EdgeProbe<'a> {
        EdgeProbe { ground, host: host.clone(), address: address.into(), last: RefCell::default() }
    }

    /// None if it does not answer.
    pub(crate) fn status(&self) -> Option<Status> {
        let args = ["status", "--json", "--insecure", "--join", &self.address];
        let output = self.ground.run(&self.host, &args);
        let status = output.status.success().then_some(output.stdout)?;
        *self.last.borrow_mut() = String::from_utf8_lossy(&status).into_owned();
        serde_json::from_slice(&status).ok().map(Status)
    }

    /// Waits until the world is like this.
    pub(crate) fn wait(&self, what: &str, is: impl Fn(&Status) -> bool) -> Status {
        let status = || self.status().filter(&is);
        wait(&|| format!("{what}; {}", self.last.borrow()), status)
    }

    /// Waits until the world has come so many ticks further.
    pub(crate) fn wait_ticks(&self, ticks: u64) -> Status {
        let begin = self.wait("a tick", |status| status.tick() > 0).tick();
        self.wait("more ticks", |status| status.tick() >= begin + ticks)
    }
}

/// Waits until there is something.
pub(crate) fn wait<T>(what: &dyn Fn() -> String, look: impl Fn() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < until, "never came: {}", what());
        std::thread::sleep(LOOK);
    }
}

/// An address that is free for both TCP and UDP, for a process that comes back to it.
pub(crate) fn free_address() -> String {
    for _ in 0..100 {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address: SocketAddr = tcp.local_addr().unwrap();
        if UdpSocket::bind(address).is_ok() {
            return address.to_string();
        }
    }
    panic!("no port is free for both TCP and UDP");
}
