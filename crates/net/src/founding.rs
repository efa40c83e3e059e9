//! How a world begins whose directory has replicas: the serving process makes up everything that a
//! replica must know, and each fetches it at a door and keeps it. From then on the replicas have
//! the world: who serves it next, or works in it, asks them.

use crate::board::Board;
use crate::charter::{Answer, Begin, Charter, Purpose, ReplicaChange};
use crate::client::{Trust, ask_for_founding, ask_for_work};
use crate::clock::Clock;
use crate::door::ReplicaDesk;
use crate::driver::{Inboxes, Mail};
use crate::files::{disk, log};
use crate::memory::{Identity, REPLICAS_END};
use crate::plane::Engine;
use crate::process::{StartError, draw, folder, grouping, repair, timing};
use crate::serve::{Beginning, FOLLOWERS, Guards, ServeSettings, scenery_of, stored};
use crate::work::{lacks, scenery};
use jostle_directory::{Change, Record};
use jostle_proto::{Content, Directory, Library, Member, NodeId, Object, ReplicaId};
use jostle_store::{Store, Stored, Twin, TwinError, TwinKind};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// What all replicas of a world's directory know from the beginning.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Founding {
    pub(crate) charter: Charter,
    /// The immovable objects.
    pub(crate) scenery: Content,
    /// The gateways'.
    pub(crate) key: [u64; 2],
    /// Where each replica is.
    pub(crate) replicas: BTreeMap<u16, SocketAddr>,
    /// What the log of each begins with.
    pub(crate) log: Vec<Record>,
}

/// The node that a world begins with.
const FOUNDER: Member = Member { node: NodeId(0), life: 1 };

/// Says in the store of a serving process that the world has begun.
const BEGUN: &str = "founding";
const KIND: TwinKind = TwinKind { magic: *b"JOFND\0\0\x02", name: "mark of a begun world" };

/// How often replicas are asked that do not answer.
const AGAIN: Duration = Duration::from_millis(500);

/// Can these be the places of replicas?
pub(crate) fn check(replicas: &[SocketAddr]) -> Result<(), StartError> {
    let wrong = |what: String| Err(StartError::Other(format!("--replicas: {what}")));
    if replicas.len() as u32 >= REPLICAS_END / 4 {
        return wrong(format!("{} are too many", replicas.len()));
    }
    if !replicas.is_empty() && replicas.len().is_multiple_of(2) {
        return wrong(format!(
            "{} replicas can lose no more than {}; give an odd number",
            replicas.len(),
            replicas.len() - 1
        ));
    }
    for (at, address) in replicas.iter().enumerate() {
        if address.port() == 0 || address.ip().is_unspecified() {
            return wrong(format!("{address} is no address that others can reach"));
        }
        if replicas[..at].contains(address) {
            return wrong(format!("{address} is given twice"));
        }
    }
    Ok(())
}

/// Where the plane of a replica is whose door is there. Our own engine cannot share the port with
/// the door, which is QUIC too.
pub(crate) fn plane(door: SocketAddr, engine: &Engine) -> SocketAddr {
    match engine {
        Engine::Zenoh | Engine::Local(_) => door,
        Engine::Quic => SocketAddr::new(door.ip(), door.port().wrapping_add(1)),
    }
}

impl Guards {
    /// How the doors of other processes of this world are known.
    pub(crate) fn trust(&self) -> Trust {
        match &self.certificates {
            Some(folder) => Trust::Node(folder.clone()),
            None => Trust::Anyone,
        }
    }
}

/// Goes on with the world that the replicas have, or begins one.
pub(crate) fn begin(settings: &ServeSettings) -> Result<Beginning, StartError> {
    if let Some(path) = &settings.store {
        folder(path)?;
        repair(path)?;
    }
    let known = begun(settings)?;
    let (stored, store) = stored(settings)?;
    let begins = known.as_ref().is_none_or(|(_, known)| known.is_none());
    let mut waits = false;
    let door = loop {
        match somebody(settings) {
            Some(door) => break Some(door),
            None if begins || settings.restore => break None,
            None => {}
        }
        if !std::mem::replace(&mut waits, true) {
            let replicas: Vec<String> = settings.replicas.iter().map(ToString::to_string).collect();
            tracing::warn!(
                "this world has begun, and no replica of its directory answers at {}: waiting for \
                 them. If they are gone for good: stop, and start again with --restore, and new \
                 replicas with empty stores",
                replicas.join(", ")
            );
        }
        std::thread::sleep(AGAIN);
    };
    if let Some(door) = door {
        return go_on(settings, door, stored, store);
    }
    let drawn = Identity::draw(&settings.name)?;
    // Its name is another one: replicas and nodes of the world before are not heard. Avatars stay
    // their clients'.
    let before = known.as_ref().and_then(|(_, known)| known.as_ref());
    let key = before.map_or(drawn.key, |known| known.key);
    let identity = Identity { key, ..drawn };
    let mark = known.map(|(file, _)| (file, identity.clone()));
    let Stored { tick, heard, objects, shapes, .. } = stored;
    let objects: Vec<Object> = objects.values().copied().collect();
    tracing::info!("world starts at tick {} with {} objects", tick.0, objects.len());
    Ok(Beginning {
        identity,
        directory: None,
        node: FOUNDER,
        follower: 0,
        scenery: scenery_of(&objects),
        objects: Some(objects),
        tick,
        heard,
        shapes,
        store,
        newest: None,
        charter: None,
        mark,
    })
}

/// What the store says of a world that has begun with replicas.
fn begun(settings: &ServeSettings) -> Result<Option<(Twin, Option<Identity>)>, StartError> {
    let Some(path) = settings.store.as_ref().map(|store| store.join(BEGUN)) else {
        return Ok(None);
    };
    let disk = disk();
    match Twin::open(&disk, &path, KIND) {
        Ok(known) => {
            log(known.notices);
            Ok(Some((known.twin, known.value)))
        }
        Err(error) if settings.restore && !matches!(error, TwinError::File(_)) => {
            tracing::error!("{error}: the world begins again as it was stored");
            Ok(Some((Twin::anew(&disk, &path, KIND), None)))
        }
        Err(error) => {
            let what = "then the world begins again as it was stored, with new replicas, unless \
                        the replicas answer";
            Err(StartError::Twin(error, what))
        }
    }
}

/// A replica that has a world, if one answers. All are asked at the same time.
fn somebody(settings: &ServeSettings) -> Option<SocketAddr> {
    let (token, trust) = (settings.guards.node_token.as_ref(), settings.guards.trust());
    std::thread::scope(|scope| {
        let ask = |door: SocketAddr| {
            let trust = &trust;
            scope.spawn(move || ask_for_founding(door, token, trust, None).is_ok().then_some(door))
        };
        let asked: Vec<_> = settings.replicas.iter().map(|door| ask(*door)).collect();
        asked.into_iter().find_map(|asked| asked.join().ok().flatten())
    })
}

/// The world is there: this process takes part in it. It offers what it has stored, which counts if
/// no living node has the world.
fn go_on(
    settings: &ServeSettings,
    door: SocketAddr,
    stored: Stored,
    store: Option<Store>,
) -> Result<Beginning, StartError> {
    let (token, trust) = (settings.guards.node_token.as_ref(), settings.guards.trust());
    let (charter, place, contents) = ask_for_work(door, token, &trust, draw()?, FOLLOWERS)?;
    let shapes = contents.shapes().map_err(|error| StartError::Other(error.to_string()))?;
    tracing::info!("world {} continues: the replicas have it ({door})", charter.world);
    let has = store.as_ref().is_some_and(Store::has_world);
    let objects = has.then(|| stored.objects.values().copied().collect());
    Ok(Beginning {
        identity: Identity { world: charter.world.clone(), key: place.key },
        directory: None,
        node: Member { node: NodeId(place.node), life: place.life },
        follower: place.follower,
        objects,
        tick: stored.tick,
        heard: stored.heard,
        scenery: scenery(&contents, &place)?,
        shapes: shapes.ok_or_else(lacks)?,
        store,
        newest: None,
        charter: Some(charter),
        mark: None,
    })
}

/// What is offered to replicas at the door of a serving process.
pub(crate) fn offer(
    settings: &ServeSettings,
    charter: &Charter,
    is_new: bool,
    (scenery, key): (Content, [u64; 2]),
    contents: &mut Library,
) -> Result<Offer, StartError> {
    let numbered = (1..).zip(settings.replicas.iter().copied());
    let replicas: BTreeMap<u16, SocketAddr> = numbered.collect();
    let grouping = grouping(charter.operation, charter.rate);
    let directory = Directory::grouping(FOUNDER, charter.extent, timing(charter.rate), grouping)
        .with_backups(settings.backups);
    let voters: Vec<ReplicaId> = replicas.keys().map(|replica| ReplicaId(*replica)).collect();
    let log = Record::founding(&directory, &voters)
        .ok_or_else(|| StartError::Other("the directory is too large to be encoded".into()))?;
    let doors = settings.replicas.clone();
    let known = Founding { charter: charter.clone(), scenery, key, replicas, log: Vec::new() };
    // A replica that comes to a world which is there already has been there before.
    let begins = match is_new {
        true => Some(contents.put(Founding { log, ..known.clone() }.bytes()?)),
        false => None,
    };
    let founding = contents.put(known.bytes()?);
    let (gives, begun, clock) = (false, Mutex::default(), Clock::start());
    Ok(Offer { founding, begins, begun, doors, gives, clock, mark: Mutex::default() })
}

impl Founding {
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, StartError> {
        postcard::to_allocvec(self).map_err(|error| StartError::Other(error.to_string()))
    }
}

/// What newcomers are told of the replicas.
pub(crate) struct Offer {
    /// How the world began, without the log.
    pub(crate) founding: Content,
    /// With it, for those that it begins with.
    pub(crate) begins: Option<Content>,
    /// Who has begun: nobody twice, for it would have forgotten what it has said.
    pub(crate) begun: Mutex<BTreeMap<u16, u64>>,
    /// Where replicas are.
    pub(crate) doors: Vec<SocketAddr>,
    /// Are numbers given here?
    pub(crate) gives: bool,
    pub(crate) clock: Clock,
    /// What is to be on the disk when the first replica begins.
    pub(crate) mark: Mutex<Option<(Twin, Identity)>>,
}

/// How a refusal ends that will not last.
pub(crate) const WAIT: &str = "ask again";

/// The leader's answer to a change is not waited for any longer.
const PATIENCE: Duration = Duration::from_secs(1);

impl Offer {
    /// Answers at a door.
    pub(crate) fn desk(self, inboxes: &Inboxes, board: &Arc<Board>) -> ReplicaDesk {
        let (inboxes, board) = (inboxes.clone(), board.clone());
        Box::new(move |purpose| match purpose {
            Purpose::Replicate { begin: None } => Some(Answer::Founding(self.founding)),
            Purpose::Replicate { begin: Some(begin) } => Some(self.begin(*begin)),
            Purpose::Work { .. } if self.gives => None,
            Purpose::Work { .. } => Some(self.elsewhere(&board)),
            Purpose::Change(change) => Some(self.change(&inboxes, &board, *change)),
            // A replica has no gateway behind its door.
            Purpose::Play if self.gives => Some(Answer::Elsewhere(Vec::new())),
            Purpose::Play | Purpose::Status => None,
        })
    }

    /// From when a replica has begun on, the store says so.
    pub(crate) fn marking(self, mark: Option<(Twin, Identity)>) -> Offer {
        Offer { mark: Mutex::new(mark), ..self }
    }

    fn begin(&self, Begin { replica, name }: Begin) -> Answer {
        let mut mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((file, identity)) = &mut *mark
            && let Err(error) = file.save(identity)
        {
            tracing::error!("no replica can begin: {error}");
            return Answer::Refused(format!("the server cannot write its store: {WAIT}"));
        }
        *mark = None;
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        match self.begins {
            Some(content) if *begun.entry(replica).or_insert(name) == name => {
                Answer::Founding(content)
            }
            _ => Answer::Refused(format!(
                "replica {replica} has begun, or the world has without it: remove it (jostle \
                 directory --leave {replica}), and let another number come instead"
            )),
        }
    }

    /// The leader first.
    fn elsewhere(&self, board: &Board) -> Answer {
        let (leader, known) = board.replica_doors(self.clock.now());
        let mut doors: Vec<SocketAddr> = leader.into_iter().collect();
        for door in known.into_iter().chain(self.doors.iter().copied()) {
            if !doors.contains(&door) {
                doors.push(door);
            }
        }
        Answer::Elsewhere(doors)
    }

    fn change(&self, inboxes: &Inboxes, board: &Board, change: ReplicaChange) -> Answer {
        use jostle_directory::Refused;
        let Some(replica) = inboxes.replica() else { return self.elsewhere(board) };
        let (answer, answered) = sync_channel(1);
        let change = match change {
            ReplicaChange::Add(id) if u32::from(id) >= REPLICAS_END => {
                return Answer::Refused(format!("replicas have numbers below {REPLICAS_END}"));
            }
            ReplicaChange::Add(id) => Change::Add(ReplicaId(id)),
            ReplicaChange::Remove(id) => Change::Remove(ReplicaId(id)),
        };
        inboxes.put(replica, Mail::Change(change, answer));
        match answered.recv_timeout(PATIENCE) {
            Ok(Ok(())) => Answer::Changed,
            Ok(Err(Refused::NotLeader)) => match board.replica_doors(self.clock.now()).0 {
                Some(leader) => Answer::Elsewhere(vec![leader]),
                None => Answer::Refused(format!("no replica leads now: {WAIT}")),
            },
            Ok(Err(refused @ (Refused::Busy | Refused::Itself))) => {
                Answer::Refused(format!("{refused}: {WAIT}"))
            }
            Ok(Err(refused)) => Answer::Refused(refused.to_string()),
            Err(_) => Answer::Refused(format!("the replica has much to do: {WAIT}")),
        }
    }
}
