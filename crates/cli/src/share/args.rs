//! The options of the commands for shared worlds.

use clap::{Args, ValueEnum};
use jostle_net::demo::{BODIES_MAX, BOTS_MAX};
use jostle_net::edge::WebHost;
use jostle_proto::{BACKUPS, BACKUPS_MAX};
use std::net::SocketAddr;
use std::path::PathBuf;

/// Credentials.
#[derive(Debug, Args)]
pub(crate) struct GuardArgs {
    /// Token that clients must send
    #[arg(long, env = "JOSTLE_TOKEN", hide_env_values = true, help_heading = "Security")]
    pub(crate) token: Option<String>,
    /// Token that nodes must send
    #[arg(long, env = "JOSTLE_NODE_TOKEN", hide_env_values = true, help_heading = "Security")]
    pub(crate) node_token: Option<String>,
    /// Folder with certificates; `serve` makes what is missing. Nodes need ca.pem, nodes.pem,
    /// node.pem and node.key from it, clients ca.pem
    #[arg(long, value_name = "DIR", help_heading = "Security")]
    pub(crate) tls: Option<PathBuf>,
}

/// Requirements of listeners.
#[derive(Debug, Default, Args)]
pub(crate) struct ListenArgs {
    /// Listen without --token also where other machines reach the address: anyone may connect
    #[arg(long, help_heading = "Security")]
    pub(crate) allow_anyone: bool,
    /// Host name under which the page may be used, besides localhost and addresses of this
    /// machine, and whose pages may connect; can be given several times
    #[arg(long, value_name = "NAME", help_heading = "Security")]
    pub(crate) web_host: Vec<WebHost>,
}

/// Access to a page.
#[derive(Debug, Default, Args)]
pub(crate) struct PageArgs {
    /// Token that pages must send
    #[arg(long, env = "JOSTLE_TOKEN", hide_env_values = true, help_heading = "Security")]
    pub(crate) token: Option<String>,
    #[command(flatten)]
    pub(crate) listen: ListenArgs,
}

/// Output files.
#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// Record every tick, for `jostle replay`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) record: Option<PathBuf>,
    /// Log every message to this file, for `jostle judge`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) events: Option<PathBuf>,
}

/// Transport engines.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum EngineArg {
    Zenoh,
    Quic,
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Load the world from this scene
    #[arg(long, value_name = "FILE", conflicts_with = "generate")]
    pub(crate) scene: Option<PathBuf>,
    /// Also read files outside the scene's folder that the scene refers to
    #[arg(long, requires = "scene")]
    pub(crate) allow_outside: bool,
    /// Generate the world: `balls`, `boxes`, `solids` or `demo`, and how many
    #[arg(long, value_name = "KIND,N", default_value = "solids,500")]
    pub(crate) generate: String,
    /// Seed of a generated world
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    /// Name of the world
    #[arg(long, default_value = "world", value_parser = parse_name)]
    pub(crate) name: String,
    /// Listen address for nodes (TCP and UDP) and clients (UDP)
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7447")]
    pub(crate) listen: SocketAddr,
    /// Listen address for the page, WebSockets, /status and /metrics; `none` for no page
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7448", value_parser = parse_web)]
    pub(crate) web: Web,
    /// Ticks per second
    #[arg(long, value_name = "HZ", default_value = "30",
        value_parser = clap::value_parser!(u32).range(1..=240))]
    pub(crate) tick: u32,
    /// Lockstep: a tick waits for all nodes of a group (the default)
    #[arg(long, alias = "sync", conflicts_with = "free_running")]
    pub(crate) lockstep: bool,
    /// Free-running: no node waits for another; without --store and --record
    #[arg(long, alias = "unsync", conflicts_with_all = ["store", "record"])]
    pub(crate) free_running: bool,
    /// Box and triangle tests per node and tick, at most; pairs left over are reported as assumed
    /// contacts
    #[arg(long, value_name = "COUNT", requires = "free_running")]
    pub(crate) operations: Option<u64>,
    /// Keep all nodes in one group, whatever the delay between them
    #[arg(long)]
    pub(crate) one_group: bool,
    /// Backups of each node: so many nodes of a group may die at once without loss (fewer in a
    /// group of no more nodes than that)
    #[arg(long, value_name = "N", default_value_t = BACKUPS,
        value_parser = clap::value_parser!(u8).range(1..=i64::from(BACKUPS_MAX)))]
    pub(crate) backups: u8,
    /// Store the world here, and resume it after a restart
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Start from the store even if living nodes have a part of the world, or if a file beside it
    /// is damaged; see docs/shared-worlds.md
    #[arg(long, requires = "store")]
    pub(crate) restore: bool,
    /// Run the directory as replicas at these addresses (3 or 5, separated by commas); start
    /// `jostle directory` at each
    #[arg(long, value_name = "ADDR,…", value_delimiter = ',')]
    pub(crate) replicas: Vec<String>,
    /// Clients per host, at most
    #[arg(long, value_name = "N", default_value = "32")]
    pub(crate) clients_per_host: usize,
    /// Radius in which clients receive updates, in metres
    #[arg(long, value_name = "M", default_value = "30")]
    pub(crate) reach: f64,
    /// Send all clients updates of the whole world
    #[arg(long)]
    pub(crate) broadcast: bool,
    /// Transport between nodes; the same for all nodes of a world
    #[arg(long, value_name = "ENGINE", default_value = "zenoh")]
    pub(crate) engine: EngineArg,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
    #[command(flatten)]
    pub(crate) listeners: ListenArgs,
    #[command(flatten)]
    pub(crate) files: FileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArgs {
    /// Listen address for the page (TCP) and clients (UDP)
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7448")]
    pub(crate) listen: SocketAddr,
    /// Number of moving bodies
    #[arg(long, value_name = "N", default_value = "3000",
        value_parser = clap::value_parser!(u64).range(1..=BODIES_MAX))]
    pub(crate) bodies: u64,
    /// Number of bots
    #[arg(long, value_name = "N", default_value = "200",
        value_parser = clap::value_parser!(u32).range(0..=i64::from(BOTS_MAX)))]
    pub(crate) bots: u32,
    /// Number of nodes at the start, 1 to 8
    #[arg(long, value_name = "N", default_value = "4")]
    pub(crate) nodes: usize,
    /// Seed of the world and of the bots
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    /// Ticks per second
    #[arg(long, value_name = "HZ", default_value = "30",
        value_parser = clap::value_parser!(u32).range(1..=240))]
    pub(crate) tick: u32,
    /// Do not open the page in a browser
    #[arg(long)]
    pub(crate) no_open: bool,
    /// Stop after so many seconds; without, run until stopped
    #[arg(long, value_name = "S")]
    pub(crate) seconds: Option<f64>,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Print a line of figures every second
    #[arg(long, help_heading = "Output")]
    pub(crate) verbose: bool,
}

#[derive(Debug, Args)]
pub(crate) struct NodeArgs {
    /// Address of the serving process or of a directory replica
    #[arg(long, value_name = "ADDR")]
    pub(crate) join: String,
    /// Listen address for other nodes
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,
    /// Listen address for clients (UDP), if clients may connect here
    #[arg(long, alias = "door", value_name = "ADDR")]
    pub(crate) listen_clients: Option<SocketAddr>,
    /// Listen address for the page, WebSockets, /status and /metrics
    #[arg(long, value_name = "ADDR", requires = "listen_clients")]
    pub(crate) web: Option<SocketAddr>,
    /// Clients per host, at most
    #[arg(long, value_name = "N", default_value = "32")]
    pub(crate) clients_per_host: usize,
    /// Do not check the server's certificate
    #[arg(long, help_heading = "Security")]
    pub(crate) insecure: bool,
    /// Transport between nodes; the same for all nodes of a world
    #[arg(long, value_name = "ENGINE", default_value = "zenoh")]
    pub(crate) engine: EngineArg,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
    #[command(flatten)]
    pub(crate) listeners: ListenArgs,
    #[command(flatten)]
    pub(crate) files: FileArgs,
}

#[derive(Debug, Args)]
pub(crate) struct DirectoryArgs {
    /// Number of this replica, from 1; not needed when its store exists
    #[arg(long, value_name = "N")]
    pub(crate) id: Option<u16>,
    /// Address of the serving process or of another replica, for a new replica
    #[arg(long, value_name = "ADDR")]
    pub(crate) join: Option<String>,
    /// Folder of its log
    #[arg(long, value_name = "DIR", required_unless_present = "leave")]
    pub(crate) store: Option<PathBuf>,
    /// Listen address of a replica that is added to those of --replicas
    #[arg(long, value_name = "ADDR")]
    pub(crate) listen: Option<SocketAddr>,
    /// Listen address for /status and /metrics
    #[arg(long, value_name = "ADDR")]
    pub(crate) web: Option<SocketAddr>,
    /// Longest round trip between replicas, in milliseconds; the same for all of them
    #[arg(long, value_name = "MS", default_value = "0",
        value_parser = clap::value_parser!(u64).range(0..=10_000))]
    pub(crate) round_trip: u64,
    /// Remove this replica from the directory, permanently, and exit
    #[arg(long, value_name = "N", requires = "join", conflicts_with_all = ["id", "store"])]
    pub(crate) leave: Option<u16>,
    /// Do not check the server's certificate
    #[arg(long, help_heading = "Security")]
    pub(crate) insecure: bool,
    /// Transport between nodes; the same for all nodes of a world
    #[arg(long, value_name = "ENGINE", default_value = "zenoh")]
    pub(crate) engine: EngineArg,
    #[command(flatten)]
    pub(crate) guard: GuardArgs,
    #[command(flatten)]
    pub(crate) listeners: ListenArgs,
    /// Log every message to this file, for `jostle judge`
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) events: Option<PathBuf>,
    /// Use only this version of the protocol between replicas, for tests
    #[arg(long, alias = "speak", value_name = "V", hide = true)]
    pub(crate) peer_version: Option<u8>,
}

/// How bots move.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum MotionArg {
    /// From one random target to the next
    Targets,
    /// A new random direction every second
    Random,
    /// All to the centre
    Crowd,
}

#[derive(Debug, Args)]
pub(crate) struct BotsArgs {
    /// Address of the server
    #[arg(long, value_name = "ADDR")]
    pub(crate) join: String,
    /// Number of bots
    #[arg(long, value_name = "N", default_value = "10",
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) avatars: u32,
    /// How they move
    #[arg(long, value_name = "MOTION", default_value = "targets")]
    pub(crate) motion: MotionArg,
    /// Stop after so many seconds; without, run until stopped
    #[arg(long, value_name = "S")]
    pub(crate) seconds: Option<f64>,
    /// Seed of their movements
    #[arg(long, default_value = "1")]
    pub(crate) seed: u64,
    /// Do not check the server's certificate
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
    /// Address of the server
    #[arg(long, value_name = "ADDR")]
    pub(crate) join: String,
    /// Do not check the server's certificate
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
    /// Recording to replay
    pub(crate) file: PathBuf,
    /// Show it on a page with a timeline instead
    #[arg(long)]
    pub(crate) view: bool,
    /// Listen address of that page
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7448", requires = "view")]
    pub(crate) listen: SocketAddr,
    /// Do not open the page in a browser
    #[arg(long, requires = "view")]
    pub(crate) no_open: bool,
    #[command(flatten)]
    pub(crate) page: PageArgs,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    /// Event logs that the processes of one world wrote with --events
    #[arg(required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Recording of that world from its start
    #[arg(long, value_name = "FILE")]
    pub(crate) recording: PathBuf,
    /// Report a world that has no tick for longer than this as stalled
    #[arg(long, value_name = "SECONDS", default_value = "10")]
    pub(crate) stalled_after: u32,
    /// Print JSON
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// An address, or none.
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
