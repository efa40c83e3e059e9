//! The options of the commands for shared worlds.

use clap::{Args, ValueEnum};
use jostle_net::demo::{BODIES_MAX, BOTS_MAX};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Who may come.
#[derive(Debug, Args)]
pub(crate) struct GuardArgs {
    /// What clients must show
    #[arg(long, env = "JOSTLE_TOKEN", hide_env_values = true, help_heading = "Security")]
    pub(crate) token: Option<String>,
    /// What nodes must show
    #[arg(long, env = "JOSTLE_NODE_TOKEN", hide_env_values = true, help_heading = "Security")]
    pub(crate) node_token: Option<String>,
    /// A folder with certificates; `serve` makes what is missing. Nodes need node.pem and node.key
    /// from it, clients ca.pem
    #[arg(long, value_name = "DIR", help_heading = "Security")]
    pub(crate) tls: Option<PathBuf>,
}

/// What is written.
#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// Record the world, for `jostle replay`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) record: Option<PathBuf>,
    /// Write down every message, for `jostle judge`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) events: Option<PathBuf>,
}

/// What carries frames between processes.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum EngineArg {
    Zenoh,
    Quic,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The world is this scene
    #[arg(long, value_name = "FILE", conflicts_with = "generate")]
    pub(crate) scene: Option<PathBuf>,
    /// The world is made: `balls`, `boxes`, `solids` or `demo`, and how many
    #[arg(long, value_name = "KIND,N", default_value = "solids,500")]
    pub(crate) generate: String,
    /// Decides about a world that is made
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    /// The name of the world
    #[arg(long, default_value = "world", value_parser = parse_name)]
    pub(crate) name: String,
    /// Where nodes (TCP) and clients (UDP) come in
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7447")]
    pub(crate) listen: SocketAddr,
    /// Where WebSockets, status and metrics are; `none` for nowhere
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7448", value_parser = parse_web)]
    pub(crate) web: Web,
    /// Ticks per second
    #[arg(long, value_name = "HZ", default_value = "30",
        value_parser = clap::value_parser!(u32).range(1..=240))]
    pub(crate) tick: u32,
    /// A tick waits for all nodes of a group (the default)
    #[arg(long, conflicts_with = "unsync")]
    pub(crate) sync: bool,
    /// No node waits for another; without store and recordings
    #[arg(long, conflicts_with_all = ["store", "record"])]
    pub(crate) unsync: bool,
    /// Box and triangle tests that a node may make in a tick; what it cannot find out with them it
    /// assumes to touch, and says so
    #[arg(long, value_name = "COUNT", requires = "unsync")]
    pub(crate) operations: Option<u64>,
    /// All nodes are one group, however far from each other
    #[arg(long)]
    pub(crate) one_group: bool,
    /// Keep the world here, and go on with it after a restart
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// The directory is not here but has replicas there: addresses separated by commas, an odd
    /// number; start `jostle directory` at each
    #[arg(long, value_name = "ADDR,…", value_delimiter = ',')]
    pub(crate) replicas: Vec<String>,
    /// Clients from one host, at most
    #[arg(long, value_name = "N", default_value = "32")]
    pub(crate) clients_per_host: usize,
    /// How far clients see, in metres
    #[arg(long, value_name = "M", default_value = "30")]
    pub(crate) reach: f64,
    /// Tell clients everything, wherever they are
    #[arg(long)]
    pub(crate) broadcast: bool,
    /// What carries frames between processes
    #[arg(long, value_name = "ENGINE", default_value = "zenoh")]
    pub(crate) engine: EngineArg,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
    #[command(flatten)]
    pub(crate) files: FileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Where the page is (TCP), and where clients come in (UDP)
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7448")]
    pub(crate) listen: SocketAddr,
    /// How many things fly about
    #[arg(long, value_name = "N", default_value = "3000",
        value_parser = clap::value_parser!(u64).range(1..=BODIES_MAX))]
    pub(crate) bodies: u64,
    /// How many walk about
    #[arg(long, value_name = "N", default_value = "200",
        value_parser = clap::value_parser!(u32).range(0..=i64::from(BOTS_MAX)))]
    pub(crate) bots: u32,
    /// How many nodes share the world at first, 1 to 8
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) nodes: usize,
    /// Decides about the world, and where bots go
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    /// Ticks per second
    #[arg(long, value_name = "HZ", default_value = "30",
        value_parser = clap::value_parser!(u32).range(1..=240))]
    pub(crate) tick: u32,
    /// Do not open the page in a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// For how long; without, until it is stopped
    #[arg(long, value_name = "S")]
    pub(crate) seconds: Option<f64>,
    /// Say every second how it goes
    #[arg(long, help_heading = "Output")]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NodeArgs {
    /// The door of the process that serves the world
    #[arg(long, value_name = "ADDR")]
    pub(crate) join: String,
    /// Where other nodes reach this one
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Let clients in here, too
    #[arg(long, value_name = "ADDR")]
    pub(crate) door: Option<SocketAddr>,
    /// And WebSockets, status and metrics
    #[arg(long, value_name = "ADDR", requires = "door")]
    pub(crate) web: Option<SocketAddr>,
    /// Clients from one host, at most
    #[arg(long, value_name = "N", default_value = "32")]
    pub(crate) clients_per_host: usize,
    /// Trust whoever answers, without certificates
    #[arg(long, help_heading = "Security")]
    pub(crate) insecure: bool,
    /// What carries frames between processes
    #[arg(long, value_name = "ENGINE", default_value = "zenoh")]
    pub(crate) engine: EngineArg,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
    #[command(flatten)]
    pub(crate) files: FileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DirectoryArgs {
    /// Which replica this is, from 1; what is stored knows it
    #[arg(long, value_name = "N")]
    pub(crate) id: Option<u16>,
    /// The door of the serving process or of another replica, for a replica that is new
    #[arg(long, value_name = "ADDR")]
    pub(crate) join: Option<String>,
    /// Where its log is kept
    #[arg(long, value_name = "DIR", required_unless_present = "leave")]
    pub(crate) store: Option<PathBuf>,
    /// Where it is, if it is none of those that the world began with: it is added to them
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Where status and metrics are
    #[arg(long, value_name = "ADDR")]
    pub(crate) web: Option<SocketAddr>,
    /// How many milliseconds a message takes between replicas at most, there and back; the same
    /// for all of them
    #[arg(long, value_name = "MS", default_value = "0",
        value_parser = clap::value_parser!(u64).range(0..=10_000))]
    pub(crate) round_trip: u64,
    /// Remove a replica from the directory, for good, and end
    #[arg(long, value_name = "N", requires = "join", conflicts_with_all = ["id", "store"])]
    pub(crate) leave: Option<u16>,
    /// Trust whoever answers, without certificates
    #[arg(long, help_heading = "Security")]
    pub(crate) insecure: bool,
    /// What carries frames between processes
    #[arg(long, value_name = "ENGINE", default_value = "zenoh")]
    pub(crate) engine: EngineArg,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
    /// Write down every message, for `jostle judge`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) events: Option<PathBuf>,
    /// Speak only this version with other replicas, to see what they do
    #[arg(long, value_name = "V", hide = true)]
    pub(crate) speak: Option<u8>,
}

/// How bots move.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum MotionArg {
    /// From one place to another
    Targets,
    /// Anyhow
    Random,
    /// All to the same place
    Crowd,
}

#[derive(Debug, Args)]
pub(crate) struct BotsArgs {
    /// The door
    #[arg(long, value_name = "ADDR")]
    pub(crate) join: String,
    /// How many
    #[arg(long, value_name = "N", default_value = "10",
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) avatars: u32,
    /// How they move
    #[arg(long, value_name = "MOTION", default_value = "targets")]
    pub(crate) motion: MotionArg,
    /// For how long; without, until they are stopped
    #[arg(long, value_name = "S")]
    pub(crate) seconds: Option<f64>,
    /// Decides where they go
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    /// Trust whoever answers, without certificates
    #[arg(long, help_heading = "Security")]
    pub(crate) insecure: bool,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct StatusArgs {
    /// The door
    #[arg(long, value_name = "ADDR")]
    pub(crate) join: String,
    /// Trust whoever answers, without certificates
    #[arg(long, help_heading = "Security")]
    pub(crate) insecure: bool,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The recording
    pub(crate) file: PathBuf,
    /// Show it on a page instead, with a timeline
    #[arg(long)]
    pub(crate) view: bool,
    /// Where that page is
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7448", requires = "view")]
    pub(crate) listen: SocketAddr,
    /// Do not open the page in a browser
    #[arg(long, requires = "view")]
    pub(crate) no_open: bool,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    /// What the processes of one world wrote with --events
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// A recording of that world, from its beginning
    #[arg(long, value_name = "FILE")]
    pub(crate) recording: PathBuf,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// An address, or nowhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Web(pub(crate) Option<SocketAddr>);

fn parse_web(text: &str) -> Result<Web, String> {
    if text == "none" {
        return Ok(Web(None));
    }
    let address = text.parse::<SocketAddr>();
    address.map(|address| Web(Some(address))).map_err(|error| format!("{error}, or `none`"))
}

fn parse_name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if text.is_empty() || text.len() > 40 || !text.chars().all(fits) {
        return Err("a name has 1 to 40 letters, digits, - and _".into());
    }
    Ok(text.into())
}
