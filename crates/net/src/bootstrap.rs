//! Bootstrap of a world with a replicated directory: the serving process creates the bootstrap
//! record, and each replica fetches it from an edge server and stores it. From then on the replicas
//! own the world: a process that serves it or joins it later asks them.

use crate::client::{Trust, fetch_bootstrap, join_as_node};
use crate::clock::Clock;
use crate::driver::{InboxItem, Inboxes};
use crate::edge::ReplicaHandler;
use crate::files::{disk, log};
use crate::manifest::{EdgeResponse, Purpose, ReplicaChange, ReplicaStart, WorldManifest};
use crate::metrics::Metrics;
use crate::node::{lacks, static_objects};
use crate::process::{StartError, folder, grouping, random_u64, repair, timing};
use crate::registry::{Identity, REPLICAS_END};
use crate::serve::{
    AccessControl, FOLLOWERS, ServeSettings, ServerStart, static_objects_of, stored,
};
use crate::transport::Engine;
use jostle_directory::{Change, Record};
use jostle_proto::{Content, Directory, Library, Member, NodeId, Object, ReplicaId};
use jostle_store::{MirroredError, MirroredFile, MirroredKind, Store, Stored};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The bootstrap record: what all directory replicas of a world start with.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Bootstrap {
    pub(crate) manifest: WorldManifest,
    /// The immovable objects.
    pub(crate) static_objects: Content,
    /// The key of the gateways.
    pub(crate) key: [u64; 2],
    /// Addresses of the replicas.
    pub(crate) replicas: BTreeMap<u16, SocketAddr>,
    /// The initial log of each replica.
    pub(crate) log: Vec<Record>,
}

/// The first node of a world.
const FOUNDER: Member = Member { node: NodeId(0), life: 1 };

/// The file in the store of a serving process that marks the world as started. (Its name is that of
/// version 1.)
const BEGUN: &str = "founding";
const KIND: MirroredKind = MirroredKind { magic: *b"JOFND\0\0\x02", name: "mark of a begun world" };

/// Interval of attempts to reach a replica.
const AGAIN: Duration = Duration::from_millis(500);

/// Checks the addresses of replicas.
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

/// The transport address of the replica with this edge address. The QUIC engine cannot share the
/// port with the edge server, which uses QUIC, too.
pub(crate) fn transport_address(address: SocketAddr, engine: &Engine) -> SocketAddr {
    match engine {
        Engine::Zenoh | Engine::Local(_) => address,
        Engine::Quic => SocketAddr::new(address.ip(), address.port().wrapping_add(1)),
    }
}

impl AccessControl {
    /// How other processes of this world are verified.
    pub(crate) fn trust(&self) -> Trust {
        match &self.certificates {
            Some(folder) => Trust::Node(folder.clone()),
            None => Trust::Anyone,
        }
    }
}

/// Resumes the world that the replicas have, or starts one.
pub(crate) fn begin(settings: &ServeSettings) -> Result<ServerStart, StartError> {
    if let Some(path) = &settings.store {
        folder(path)?;
        repair(path)?;
    }
    let known = begun(settings)?;
    let (stored, store) = stored(settings)?;
    let begins = known.as_ref().is_none_or(|(_, known)| known.is_none());
    let mut waits = false;
    let address = loop {
        match find_replica(settings) {
            Some(address) => break Some(address),
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
    if let Some(address) = address {
        return resume(settings, address, stored, store);
    }
    let drawn = Identity::draw(&settings.name)?;
    // The new name separates it from replicas and nodes of the previous world. The key stays, so
    // credentials of clients remain valid.
    let before = known.as_ref().and_then(|(_, known)| known.as_ref());
    let key = before.map_or(drawn.key, |known| known.key);
    let identity = Identity { key, ..drawn };
    let mark = known.map(|(file, _)| (file, identity.clone()));
    let Stored { tick, heard, objects, shapes, .. } = stored;
    let objects: Vec<Object> = objects.values().copied().collect();
    tracing::info!("world starts at tick {} with {} objects", tick.0, objects.len());
    Ok(ServerStart {
        identity,
        directory: None,
        node: FOUNDER,
        follower: 0,
        static_objects: static_objects_of(&objects),
        objects: Some(objects),
        tick,
        heard,
        shapes,
        store,
        newest: None,
        manifest: None,
        mark,
    })
}

/// The mark in the store, which says that the world has started with replicas.
fn begun(settings: &ServeSettings) -> Result<Option<(MirroredFile, Option<Identity>)>, StartError> {
    let Some(path) = settings.store.as_ref().map(|store| store.join(BEGUN)) else {
        return Ok(None);
    };
    let disk = disk();
    match MirroredFile::open(&disk, &path, KIND) {
        Ok(known) => {
            log(known.notices);
            Ok(Some((known.file, known.value)))
        }
        Err(error) if settings.restore && !matches!(error, MirroredError::File(_)) => {
            tracing::error!("{error}: the world begins again as it was stored");
            Ok(Some((MirroredFile::anew(&disk, &path, KIND), None)))
        }
        Err(error) => {
            let what = "then the world begins again as it was stored, with new replicas, unless \
                        the replicas answer";
            Err(StartError::MirroredFile(error, what))
        }
    }
}

/// The address of a replica that has the world, if one answers. All are asked concurrently.
fn find_replica(settings: &ServeSettings) -> Option<SocketAddr> {
    let (token, trust) = (settings.guards.node_token.as_ref(), settings.guards.trust());
    std::thread::scope(|scope| {
        let ask = |address: SocketAddr| {
            let trust = &trust;
            scope.spawn(move || {
                fetch_bootstrap(address, token, trust, None).is_ok().then_some(address)
            })
        };
        let asked: Vec<_> = settings.replicas.iter().map(|address| ask(*address)).collect();
        asked.into_iter().find_map(|asked| asked.join().ok().flatten())
    })
}

/// Joins the running world. What is stored here is used only if no living node has the world.
fn resume(
    settings: &ServeSettings,
    address: SocketAddr,
    stored: Stored,
    store: Option<Store>,
) -> Result<ServerStart, StartError> {
    let (token, trust) = (settings.guards.node_token.as_ref(), settings.guards.trust());
    let (manifest, place, contents) =
        join_as_node(address, token, &trust, random_u64()?, FOLLOWERS)?;
    let shapes = contents.shapes().map_err(|error| StartError::Other(error.to_string()))?;
    tracing::info!("world {} continues: the replicas have it ({address})", manifest.world);
    let has = store.as_ref().is_some_and(Store::has_world);
    let objects = has.then(|| stored.objects.values().copied().collect());
    Ok(ServerStart {
        identity: Identity { world: manifest.world.clone(), key: place.key },
        directory: None,
        node: Member { node: NodeId(place.node), life: place.life },
        follower: place.follower,
        objects,
        tick: stored.tick,
        heard: stored.heard,
        static_objects: static_objects(&contents, &place)?,
        shapes: shapes.ok_or_else(lacks)?,
        store,
        newest: None,
        manifest: Some(manifest),
        mark: None,
    })
}

/// The bootstrap record that a serving process offers to replicas.
pub(crate) fn offer(
    settings: &ServeSettings,
    manifest: &WorldManifest,
    is_new: bool,
    (static_objects, key): (Content, [u64; 2]),
    contents: &mut Library,
) -> Result<BootstrapOffer, StartError> {
    let numbered = (1..).zip(settings.replicas.iter().copied());
    let replicas: BTreeMap<u16, SocketAddr> = numbered.collect();
    let grouping = grouping(manifest.operation, manifest.rate);
    let directory = Directory::grouping(FOUNDER, manifest.extent, timing(manifest.rate), grouping)
        .with_backups(settings.backups);
    let voters: Vec<ReplicaId> = replicas.keys().map(|replica| ReplicaId(*replica)).collect();
    let log = Record::founding(&directory, &voters)
        .ok_or_else(|| StartError::Other("the directory is too large to be encoded".into()))?;
    let addresses = settings.replicas.clone();
    let known =
        Bootstrap { manifest: manifest.clone(), static_objects, key, replicas, log: Vec::new() };
    // In a running world the initial replicas have started already.
    let begins = match is_new {
        true => Some(contents.put(Bootstrap { log, ..known.clone() }.bytes()?)),
        false => None,
    };
    let bootstrap = contents.put(known.bytes()?);
    let (gives, begun, clock) = (false, Mutex::default(), Clock::start());
    Ok(BootstrapOffer { bootstrap, begins, begun, addresses, gives, clock, mark: Mutex::default() })
}

impl Bootstrap {
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, StartError> {
        postcard::to_allocvec(self).map_err(|error| StartError::Other(error.to_string()))
    }
}

/// Answers to directory replicas and joining nodes.
pub(crate) struct BootstrapOffer {
    /// The bootstrap record without the log.
    pub(crate) bootstrap: Content,
    /// With the log, for initial replicas.
    pub(crate) begins: Option<Content>,
    /// Initial replicas that have started. None starts twice: the second one would have forgotten
    /// what the first one promised.
    pub(crate) begun: Mutex<BTreeMap<u16, u64>>,
    /// Addresses of replicas.
    pub(crate) addresses: Vec<SocketAddr>,
    /// Whether this process admits nodes.
    pub(crate) gives: bool,
    pub(crate) clock: Clock,
    /// The mark, which is written before the first replica starts.
    pub(crate) mark: Mutex<Option<(MirroredFile, Identity)>>,
}

/// The end of a temporary rejection.
pub(crate) const WAIT: &str = "ask again";

/// Timeout of the leader's answer to a membership change.
const PATIENCE: Duration = Duration::from_secs(1);

impl BootstrapOffer {
    /// The handler for the edge server.
    pub(crate) fn handler(self, inboxes: &Inboxes, metrics: &Arc<Metrics>) -> ReplicaHandler {
        let (inboxes, metrics) = (inboxes.clone(), metrics.clone());
        Box::new(move |purpose| match purpose {
            Purpose::Replicate { begin: None } => Some(EdgeResponse::Bootstrap(self.bootstrap)),
            Purpose::Replicate { begin: Some(begin) } => Some(self.begin(*begin)),
            Purpose::Join { .. } if self.gives => None,
            Purpose::Join { .. } => Some(self.elsewhere(&metrics)),
            Purpose::Change(change) => Some(self.change(&inboxes, &metrics, *change)),
            // A replica has no gateway.
            Purpose::Play if self.gives => Some(EdgeResponse::Redirect(Vec::new())),
            Purpose::Play | Purpose::Status => None,
        })
    }

    /// Writes this mark before the first replica starts.
    pub(crate) fn marking(self, mark: Option<(MirroredFile, Identity)>) -> BootstrapOffer {
        BootstrapOffer { mark: Mutex::new(mark), ..self }
    }

    fn begin(&self, ReplicaStart { replica, name }: ReplicaStart) -> EdgeResponse {
        let mut mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((file, identity)) = &mut *mark
            && let Err(error) = file.save(identity)
        {
            tracing::error!("no replica can begin: {error}");
            return EdgeResponse::Rejected(format!("the server cannot write its store: {WAIT}"));
        }
        *mark = None;
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        match self.begins {
            Some(content) if *begun.entry(replica).or_insert(name) == name => {
                EdgeResponse::Bootstrap(content)
            }
            _ => EdgeResponse::Rejected(format!(
                "replica {replica} has begun, or the world has without it: remove it (jostle \
                 directory --leave {replica}), and let another number come instead"
            )),
        }
    }

    /// Redirects to the replicas, the leader first.
    fn elsewhere(&self, metrics: &Metrics) -> EdgeResponse {
        let (leader, known) = metrics.replica_addresses(self.clock.now());
        let mut addresses: Vec<SocketAddr> = leader.into_iter().collect();
        for address in known.into_iter().chain(self.addresses.iter().copied()) {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        EdgeResponse::Redirect(addresses)
    }

    fn change(&self, inboxes: &Inboxes, metrics: &Metrics, change: ReplicaChange) -> EdgeResponse {
        use jostle_directory::Refused;
        let Some(replica) = inboxes.replica() else { return self.elsewhere(metrics) };
        let (answer, answered) = sync_channel(1);
        let change = match change {
            ReplicaChange::Add(id) if u32::from(id) >= REPLICAS_END => {
                return EdgeResponse::Rejected(format!(
                    "replicas have numbers below {REPLICAS_END}"
                ));
            }
            ReplicaChange::Add(id) => Change::Add(ReplicaId(id)),
            ReplicaChange::Remove(id) => Change::Remove(ReplicaId(id)),
        };
        inboxes.put(replica, InboxItem::Change(change, answer));
        match answered.recv_timeout(PATIENCE) {
            Ok(Ok(())) => EdgeResponse::Changed,
            Ok(Err(Refused::NotLeader)) => match metrics.replica_addresses(self.clock.now()).0 {
                Some(leader) => EdgeResponse::Redirect(vec![leader]),
                None => EdgeResponse::Rejected(format!("no replica leads now: {WAIT}")),
            },
            Ok(Err(refused @ (Refused::Busy | Refused::Itself))) => {
                EdgeResponse::Rejected(format!("{refused}: {WAIT}"))
            }
            Ok(Err(refused)) => EdgeResponse::Rejected(refused.to_string()),
            Err(_) => EdgeResponse::Rejected(format!("the replica has much to do: {WAIT}")),
        }
    }
}
