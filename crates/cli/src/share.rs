//! Shared worlds over the network: `demo`, `serve`, `node`, `directory`, `bots`, `status`,
//! `replay`, `judge`.

pub(crate) mod args;
mod bots;
mod browser;
mod checked;
mod demo;
mod directory;
mod generate;
mod hints;
mod judge;
mod node;
mod replay;
mod screen;
mod serve;
mod start;
mod status;

pub(crate) use bots::run as bots;
pub(crate) use checked::{CheckPage, show as show_checked};
pub(crate) use demo::run as demo;
pub(crate) use directory::run as directory;
pub(crate) use judge::run as judge;
pub(crate) use node::run as node;
pub(crate) use replay::run as replay;
pub(crate) use screen::{Screen, ViewPage, legend};
pub(crate) use serve::run as serve;
pub(crate) use status::run as status;

use crate::error::CliError;
use args::{GuardArgs, ListenArgs, PageArgs};
use jostle_net::Secret;
use jostle_net::certificates::{self, Role};
use jostle_net::client::Trust;
use jostle_net::serve::AccessControl;
use std::io::{self, IsTerminal, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Log lines on stderr; `JOSTLE_LOG` sets the level.
fn begin_log() {
    // zenoh logs every attempt to connect, forever. Our own crates log what an operator needs to
    // know of it; the rest is available with JOSTLE_LOG.
    let filter = tracing_subscriber::EnvFilter::try_from_env("JOSTLE_LOG")
        .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new("warn,jostle=info,zenoh=off"));
    let colour = std::io::stderr().is_terminal();
    let lines = tracing_subscriber::fmt().with_writer(PlainStderr::default).with_target(false);
    let lines = lines.with_ansi(colour);
    // A log that was started before is as good.
    let _begun = lines.with_env_filter(filter).try_init();
    std::panic::set_hook(Box::new(|panic| {
        let payload = panic.payload();
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or(payload.downcast_ref::<String>().map(String::as_str));
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        tracing::error!("internal error: {} at {place}", text.unwrap_or("a thread panicked"));
    }));
}

/// Stderr, without paths of the machine that built the libraries. A line of the log is one write.
#[derive(Default)]
struct PlainStderr;

impl Write for PlainStderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let plain = jostle_net::without_build_paths(&String::from_utf8_lossy(line));
        io::stderr().write_all(plain.as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

pub(crate) fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::Share(error.to_string())
}

/// Resolves an address.
fn resolve(text: &str) -> Result<SocketAddr, CliError> {
    let found = text.to_socket_addrs().map_err(|error| failed(format!("{text}: {error}")))?;
    // Servers listen on one address; names like localhost mean IPv4 most often.
    let mut all: Vec<SocketAddr> = found.collect();
    all.sort_by_key(SocketAddr::is_ipv6);
    all.first().copied().ok_or_else(|| failed(format!("{text}: no address")))
}

impl GuardArgs {
    /// Makes the certificates that are missing.
    fn make_certificates(&self, names: &[String]) -> Result<(), CliError> {
        match &self.tls {
            Some(folder) => certificates::make(folder, names).map_err(failed),
            None => Ok(()),
        }
    }

    /// The credentials of this process, and what its listeners require.
    fn guards(&self, listeners: &ListenArgs) -> AccessControl {
        AccessControl {
            token: self.token.clone().map(Secret::new),
            node_token: self.node_token.clone().map(Secret::new),
            certificates: self.tls.clone(),
            anyone: listeners.allow_anyone,
            hosts: listeners.web_host.clone(),
        }
    }

    /// How a server is verified.
    fn trust(&self, server: SocketAddr, insecure: bool) -> Result<Trust, CliError> {
        match &self.tls {
            Some(folder) => Ok(Trust::Ca(certificates::authority(folder, Role::Server))),
            None if server.ip().is_loopback() || insecure => Ok(Trust::Anyone),
            None => Err(failed(format!(
                "{server} is another machine: --tls DIR with its ca.pem is required, or --insecure \
                 to connect without checking its certificate"
            ))),
        }
    }
}

impl GuardArgs {
    /// The same for a node, which presents its own certificate.
    fn node_trust(&self, server: SocketAddr, insecure: bool) -> Result<Trust, CliError> {
        match &self.tls {
            Some(folder) => Ok(Trust::Node(folder.clone())),
            None => self.trust(server, insecure),
        }
    }
}

impl PageArgs {
    /// What the page requires.
    fn guards(&self) -> AccessControl {
        AccessControl {
            token: self.token.clone().map(Secret::new),
            anyone: self.listen.allow_anyone,
            hosts: self.listen.web_host.clone(),
            ..AccessControl::default()
        }
    }

    /// The URL of the page, with the token unless it is in the environment.
    fn address(&self, web: SocketAddr) -> String {
        hints::page("http", self.token.as_deref(), web)
    }
}

/// Every TCP connection is an open file, and the default limit is often 1024: idle connections
/// would use it up.
fn allow_many_files() {
    #[cfg(unix)]
    {
        use nix::sys::resource::{Resource, getrlimit, setrlimit};
        let raised = getrlimit(Resource::RLIMIT_NOFILE)
            .and_then(|(_, hard)| setrlimit(Resource::RLIMIT_NOFILE, hard, hard));
        if let Err(error) = raised {
            tracing::debug!("cannot raise the limit of open files: {error}");
        }
    }
}

/// A flag that is set when the user or the system stops the process.
pub(crate) fn end_flag() -> Result<Arc<AtomicBool>, CliError> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = flag.clone();
    ctrlc::set_handler(move || set.store(true, Ordering::Relaxed)).map_err(failed)?;
    Ok(flag)
}

/// Waits for the flag.
fn wait_for_end() -> Result<(), CliError> {
    wait_for(&*end_flag()?);
    Ok(())
}

fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
    }
}
