//! A process that is one replica of a world's directory, with a door for newcomers.

use crate::charter::{Begin, Place, ReplicaChange};
use crate::client::{ClientError, ask_for_founding, ask_to_change};
use crate::door::{DoorLimits, DoorSettings};
use crate::files::{disk, log};
use crate::founding::{Founding, Offer, WAIT, plane};
use crate::ledger::Ledger;
use crate::machine::Machine;
use crate::memory::{Givers, Identity, REPLICAS_END, Reception};
use crate::peers::Versions;
use crate::plane::{Engine, Guard, PlaneSettings};
use crate::process::{Parts, Process, StartError, clock, draw, folder, repair, timing};
use crate::seat::{Seat, SeatError};
use crate::serve::Guards;
use crate::work::lacks;
use jostle_directory::Settings;
use jostle_proto::{Content, Library, ReplicaId, Span};
use jostle_store::{Twin, TwinKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

/// How a replica takes part.
#[derive(Clone, Debug)]
pub struct DirectorySettings {
    /// Which one it is, from 1. What is stored knows it.
    pub id: Option<u16>,
    /// The door of the serving process or of another replica, where a new one asks how the world
    /// began; it is waited for.
    pub join: Option<SocketAddr>,
    /// Where it is, if it is none of those that the world began with: it is added to them.
    pub listen: Option<SocketAddr>,
    /// Where it keeps its log.
    pub store: PathBuf,
    /// Where pages, status and metrics are, if wanted.
    pub web: Option<SocketAddr>,
    /// Who may come.
    pub guards: Guards,
    /// How long a message takes between replicas at most, there and back.
    pub round_trip: Span,
    /// Every message, for [`crate::witness::events`].
    pub events: Option<PathBuf>,
    /// What carries frames between processes.
    pub engine: Engine,
    /// How its door is.
    pub limits: DoorLimits,
    /// The versions that it speaks with other replicas; another one than [`Versions::OURS`] only
    /// shows what happens then.
    pub versions: Versions,
}

const KIND: TwinKind = TwinKind { magic: *b"JOREP\0\0\x02", name: "identity of the replica" };

/// How often a door is tried that does not answer yet.
const AGAIN: Duration = Duration::from_millis(500);

/// So often it asks to be added while nobody leads.
const ATTEMPTS: usize = 20;

/// What a replica keeps besides its log, for ever.
#[derive(Serialize, Deserialize)]
struct Kept {
    id: u16,
    /// Where it is.
    place: SocketAddr,
    founding: Founding,
    /// All forms, and the immovable objects.
    contents: Vec<Vec<u8>>,
}

impl Process {
    /// Begins a replica, or goes on with the one that is stored.
    ///
    /// # Errors
    /// If something cannot be opened, or its log is damaged.
    pub fn direct(settings: DirectorySettings) -> Result<Process, StartError> {
        // Before it is added to the others.
        settings.guards.door((settings.listen, settings.web), settings.limits).check()?;
        folder(&settings.store)?;
        repair(&settings.store)?;
        let kept = match kept(&settings.store)? {
            Some(kept) => kept.checked(&settings)?,
            None => found(&settings)?,
        };
        let Kept { id, place: door, founding, contents } = kept;
        let Founding { charter, scenery, key, replicas, .. } = founding.clone();
        let mut library = Library::awaiting(charter.forms.clone(), Span(0));
        for bytes in contents {
            library.put(bytes);
        }
        let offered = library.put(founding.bytes()?);
        let shapes = library.shapes().map_err(|error| StartError::Other(error.to_string()))?;
        let shapes = shapes.ok_or_else(lacks)?;
        let replica = Settings::new(ReplicaId(id), timing(charter.rate));
        let replica = Settings { pace: replica.pace.over(settings.round_trip), ..replica };
        let mut seat = Seat::open(replica, &settings.store.join(LOG), settings.versions)?;
        seat.set_door(Some(door));
        let others: BTreeSet<SocketAddr> =
            replicas.values().copied().chain(settings.join).filter(|it| *it != door).collect();
        let engine = settings.engine.clone();
        let planes: Vec<SocketAddr> =
            replicas.values().chain([&door]).map(|door| plane(*door, &engine)).collect();
        let place = move |node, follower, _| {
            let plane = planes.clone();
            Place { node, life: 1, follower, plane, scenery, key }
        };
        let identity = || Identity { world: charter.world.clone(), key };
        let reception = Reception::open(Some(&settings.store), identity).map_err(|error| {
            StartError::Other(format!("{error}; see \"A damaged log\" in docs/shared-worlds.md"))
        })?;
        let reception = reception.among(Givers::Replica(id));
        tracing::info!("directory replica {id} of world {}", charter.world);
        Process::start(Parts {
            machines: vec![Machine::Replica(Box::new(seat))],
            clock: clock(None),
            shapes,
            contents: library,
            plane: settings.plane(&charter.world, door, &others),
            door: Some(settings.door(door)),
            events: settings.events.clone(),
            reception: Some((reception, Box::new(place))),
            replicas: Some(Offer {
                founding: offered,
                begins: None,
                begun: Mutex::default(),
                doors: others.into_iter().collect(),
                gives: true,
                clock: clock(None),
                mark: Mutex::default(),
            }),
            view: None,
            charter,
        })
    }
}

impl DirectorySettings {
    fn plane(&self, world: &str, door: SocketAddr, others: &BTreeSet<SocketAddr>) -> PlaneSettings {
        let Guards { node_token, certificates, .. } = self.guards.clone();
        let listen = match self.engine {
            Engine::Local(_) => Vec::new(),
            Engine::Zenoh | Engine::Quic => vec![plane(self.listen.unwrap_or(door), &self.engine)],
        };
        PlaneSettings {
            world: world.into(),
            listen,
            join: others.iter().map(|other| plane(*other, &self.engine)).collect(),
            guard: Guard { token: node_token, certificates },
            engine: self.engine.clone(),
        }
    }

    fn door(&self, door: SocketAddr) -> DoorSettings {
        self.guards.door((Some(self.listen.unwrap_or(door)), self.web), self.limits)
    }
}

const LOG: &str = "log";
const KEPT: &str = "replica";

fn kept(store: &Path) -> Result<Option<Kept>, StartError> {
    let found = Twin::open(&disk(), &store.join(KEPT), KIND).map_err(|error| {
        StartError::Other(format!("{error}; see \"A damaged log\" in docs/shared-worlds.md"))
    })?;
    log(found.notices);
    Ok(found.value)
}

impl Kept {
    /// Is it the one that is wanted?
    fn checked(self, settings: &DirectorySettings) -> Result<Kept, StartError> {
        if let Some(id) = settings.id.filter(|id| *id != self.id) {
            let (store, is) = (settings.store.display(), self.id);
            return Err(StartError::Other(format!(
                "{store} belongs to replica {is}, not to replica {id}"
            )));
        }
        Ok(self)
    }
}

/// A replica that begins.
fn found(settings: &DirectorySettings) -> Result<Kept, StartError> {
    let store = settings.store.display();
    let wrong = |what: &str| StartError::Other(format!("{store} is empty: {what}"));
    let id = settings.id.ok_or_else(|| wrong("say which replica this is, with --id"))?;
    let join = settings.join.ok_or_else(|| wrong("say where the world is, with --join"))?;
    if u32::from(id) >= REPLICAS_END || id == 0 {
        return Err(StartError::Other(format!(
            "replicas are numbered from 1 to {}",
            REPLICAS_END - 1
        )));
    }
    let (mut founding, library) = wait_for(join, None, settings)?;
    let (begins, place) = match (founding.replicas.get(&id), settings.listen) {
        (Some(place), None) => (true, *place),
        (Some(place), Some(listen)) if listen.port() == place.port() => (true, *place),
        (Some(place), Some(listen)) => {
            let what = format!("the world knows replica {id} at {place}, not at {listen}");
            return Err(StartError::Other(what));
        }
        // It hears everything from the others, once it is one of them.
        (None, Some(listen)) if listen.port() != 0 && !listen.ip().is_unspecified() => {
            (false, listen)
        }
        (None, _) => {
            return Err(StartError::Other(format!(
                "the world did not begin with replica {id}: to add it, say with --listen where \
                 others can reach it"
            )));
        }
    };
    match begins {
        true => {
            let begin = Begin { replica: id, name: draw()? };
            founding = wait_for(join, Some(begin), settings)?.0;
        }
        false => add(join, id, settings)?,
    }
    let log = std::mem::take(&mut founding.log);
    let bytes = |content: Content| library.get(content).map(|bytes| bytes.to_vec());
    let forms = founding.charter.forms.iter().filter_map(|form| form.content);
    let contents: BTreeSet<Content> = forms.chain([founding.scenery]).collect();
    let contents = contents.into_iter().filter_map(bytes).collect();
    Ledger::create(&settings.store.join(LOG), ReplicaId(id), &log).map_err(SeatError::from)?;
    let kept = Kept { id, place, founding, contents };
    // Last: with it the replica has begun, and must never be without its log.
    Twin::anew(&disk(), &settings.store.join(KEPT), KIND).save(&kept)?;
    Ok(kept)
}

/// Asks again and again until the door answers.
fn wait_for(
    join: SocketAddr,
    begin: Option<Begin>,
    settings: &DirectorySettings,
) -> Result<(Founding, Library), StartError> {
    let (token, trust) = (settings.guards.node_token.as_ref(), settings.guards.trust());
    let mut said = false;
    loop {
        match ask_for_founding(join, token, &trust, begin) {
            Ok(found) => return Ok(found),
            Err(error @ ClientError::Unreachable { .. }) => {
                if !said {
                    tracing::warn!("waiting for the world: {error}");
                }
                said = true;
                std::thread::sleep(AGAIN);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Has it added to the replicas, who tell it everything as soon as it is there. One that is among
/// them already has lost its store: it must not come back with nothing.
fn add(join: SocketAddr, id: u16, settings: &DirectorySettings) -> Result<(), StartError> {
    let (token, trust) = (settings.guards.node_token.as_ref(), settings.guards.trust());
    let mut answer = Ok(());
    for _ in 0..ATTEMPTS {
        answer = ask_to_change(join, token, &trust, ReplicaChange::Add(id));
        match &answer {
            Err(ClientError::Refused { why, .. }) if why.ends_with(WAIT) => {}
            _ => break,
        }
        std::thread::sleep(AGAIN);
    }
    answer.map_err(|error| {
        StartError::Other(format!(
            "replica {id} is not added: {error}. One that has lost its store must be removed first \
             (jostle directory --leave), and come back with another number"
        ))
    })
}
