//! The forms of a world, fetched by a machine that comes with nothing: each content once, however
//! many objects have that form, while the group goes on without it (Storey 2006, 4.3.2.10; row
//! S16).
//!
//! A form's bytes are known by their sum and length, so that a machine that has them already, from
//! an earlier incarnation or another world, need not fetch them. They come in pieces from any
//! machine that has them; if one falls silent or sends something else, the next is asked.

use crate::detect::Shapes;
use crate::node::Address;
use crate::solid::Solid;
use crate::time::{Span, Time};
use crate::wire::{Chunk, Credit, Incoming, Outgoing};
use jostle_geom::{Checksum, LoadModelError, Model};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Forms that a world has at most.
pub const FORMS_MAX: usize = 1 << 12;

/// Machines that are served at the same time; others ask again.
const SERVED_MAX: usize = 64;

/// Pieces that are sent for one request: so many are on their way at most.
const PIECES: usize = 4;

/// Bytes by their sum and their length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Content {
    /// [`jostle_geom::Checksum`] of the bytes.
    pub sum: u64,
    /// How many there are.
    pub length: u64,
}

impl Content {
    /// Of these bytes.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Content {
        Content { sum: Checksum::of(bytes), length: bytes.len() as u64 }
    }
}

/// A line of the table of forms that all machines of a world share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Form {
    /// Half the edges of a box around its origin, in its own frame, that holds it. With triangles
    /// the box is turned with the object; without them it is the form, and is never turned.
    pub half: [i32; 3],
    /// A model's bytes; a box has none.
    pub content: Option<Content>,
}

/// What machines send each other about forms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GeometryMessage {
    /// Which forms are there?
    AskTable,
    /// These.
    Table(Vec<Form>),
    /// Send me this.
    Ask {
        /// The content.
        content: Content,
        /// So much of it is here.
        credit: Credit,
        /// Nothing has come for a while: what was sent is lost.
        again: bool,
    },
    /// A piece of something that was asked for.
    Piece(Chunk),
}

/// A message and its receiver.
pub type Mail = (Address, GeometryMessage);

#[derive(Clone, Debug)]
struct Fetch {
    content: Content,
    incoming: Incoming,
    /// When a piece came last, or the first was asked for.
    heard: Time,
}

#[derive(Clone, Debug)]
struct Serving {
    outgoing: Outgoing,
    heard: Time,
}

/// The forms that a machine has, and those that it fetches.
///
/// ```
/// use jostle_geom::{Model, Quality, solids};
/// use jostle_proto::{Address, Library, NodeId, Shapes, Solid, Span, Time};
///
/// let ball = std::sync::Arc::new(Model::build(solids::sphere(1.0, 0.05)?, Quality::Fast));
/// let solid = Solid::mesh(ball);
/// // Two forms of the same model: its bytes travel once.
/// let mut giver = Library::of(&Shapes::new(vec![solid.clone(), solid]), Span::from_ms(50));
/// let mut taker = Library::new(Span::from_ms(50));
/// taker.set_peers(&[Address::Node(NodeId(1))]);
/// let (mut now, mut messages) = (Time(0), 0);
/// while taker.shapes()?.is_none() {
///     now = now + Span::from_ms(50);
///     let mut to_giver = Vec::new();
///     taker.wake(now, &mut to_giver);
///     while let Some((_, message)) = to_giver.pop() {
///         let mut answers = Vec::new();
///         giver.receive(now, Address::Node(NodeId(2)), message, &mut answers);
///         messages += answers.len();
///         for (_, answer) in answers {
///             taker.receive(now, Address::Node(NodeId(1)), answer, &mut to_giver);
///         }
///     }
/// }
/// assert!(messages < 8, "a table and the pieces of one model");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Library {
    resend: Span,
    table: Option<Vec<Form>>,
    have: BTreeMap<Content, Arc<[u8]>>,
    peers: Vec<Address>,
    /// Which of them is asked now.
    asked: usize,
    fetch: Option<Fetch>,
    serving: BTreeMap<(Address, Content), Serving>,
    wake_at: Time,
}

impl Library {
    /// Of a machine that comes with nothing.
    #[must_use]
    pub fn new(resend: Span) -> Library {
        Library {
            resend,
            table: None,
            have: BTreeMap::new(),
            peers: Vec::new(),
            asked: 0,
            fetch: None,
            serving: BTreeMap::new(),
            wake_at: Time(0),
        }
    }

    /// Of a machine that has all forms.
    #[must_use]
    pub fn of(shapes: &Shapes, resend: Span) -> Library {
        let mut library = Library::new(resend);
        let mut known: BTreeMap<*const Model, Content> = BTreeMap::new();
        let forms = shapes.solids().iter().map(|solid| {
            let content = solid.model.as_ref().map(|model| {
                // Shared models are written once.
                *known.entry(Arc::as_ptr(model)).or_insert_with(|| library.put(model.to_bytes()))
            });
            Form { half: solid.half(), content }
        });
        library.table = Some(forms.collect());
        library
    }

    /// Of a machine that knows which forms there are, and none of their triangles.
    #[must_use]
    pub fn awaiting(forms: Vec<Form>, resend: Span) -> Library {
        Library { table: Some(forms), ..Library::new(resend) }
    }

    /// The forms, as far as they are known: all or none.
    #[must_use]
    pub fn forms(&self) -> &[Form] {
        self.table.as_deref().unwrap_or_default()
    }

    /// Keeps bytes that are here already, from a file or an earlier life.
    pub fn put(&mut self, bytes: Vec<u8>) -> Content {
        let content = Content::of(&bytes);
        self.have.insert(content, bytes.into());
        content
    }

    /// The bytes, if they are here.
    #[must_use]
    pub fn get(&self, content: Content) -> Option<&Arc<[u8]>> {
        self.have.get(&content)
    }

    /// Who may be asked.
    pub fn set_peers(&mut self, peers: &[Address]) {
        self.peers = peers.to_vec();
    }

    /// All forms, once they are here.
    ///
    /// # Errors
    /// If the bytes of a form are no model.
    pub fn shapes(&self) -> Result<Option<Shapes>, LoadModelError> {
        let Some(table) = self.table.as_ref().filter(|_| self.missing().is_none()) else {
            return Ok(None);
        };
        let mut models: BTreeMap<Content, Arc<Model>> = BTreeMap::new();
        let mut solids = Vec::new();
        for form in table {
            if let Some((content, bytes)) = form.content.and_then(|c| Some((c, self.get(c)?)))
                && !models.contains_key(&content)
            {
                models.insert(content, Arc::new(Model::from_bytes(bytes)?));
            }
            let model = form.content.and_then(|content| models.get(&content).cloned());
            solids.push(model.map_or_else(|| Solid::cuboid(form.half), Solid::mesh));
        }
        Ok(Some(Shapes::new(solids)))
    }

    /// The first content of the table that is not here.
    #[must_use]
    pub fn missing(&self) -> Option<Content> {
        let contents = self.table.iter().flatten().filter_map(|form| form.content);
        contents.into_iter().find(|content| !self.have.contains_key(content))
    }

    /// When it wants to be woken if nothing comes; never, when there is nothing to fetch.
    #[must_use]
    pub fn wake_at(&self) -> Time {
        let idle = self.table.is_some() && self.missing().is_none();
        if idle || self.peers.is_empty() { Time(u64::MAX) } else { self.wake_at }
    }

    /// To be called at [`Library::wake_at`]: asks, or asks another machine.
    pub fn wake(&mut self, now: Time, out: &mut Vec<Mail>) {
        if now < self.wake_at() {
            return;
        }
        self.wake_at = now + self.resend;
        let silent = |fetch: &Fetch| now - fetch.heard >= Span(self.resend.0 * 4);
        if self.table.is_none() || self.fetch.as_ref().is_some_and(silent) {
            self.asked = self.asked.wrapping_add(1);
            if let Some(fetch) = &mut self.fetch {
                fetch.heard = now;
            }
        }
        let waits = |fetch: &Fetch| now - fetch.heard < self.resend;
        if !self.fetch.as_ref().is_some_and(waits) {
            self.ask(now, true, out);
        }
    }

    fn ask(&mut self, now: Time, again: bool, out: &mut Vec<Mail>) {
        let Some(&peer) = self.peers.get(self.asked % self.peers.len().max(1)) else { return };
        if self.table.is_none() {
            return out.push((peer, GeometryMessage::AskTable));
        }
        if self.fetch.is_none()
            && let Some(content) = self.missing()
        {
            let incoming = Incoming::new(content.sum, content.length);
            self.fetch = Some(Fetch { content, incoming, heard: now });
        }
        if let Some(fetch) = &self.fetch {
            let (content, credit) = (fetch.content, fetch.incoming.credit());
            out.push((peer, GeometryMessage::Ask { content, credit, again }));
        }
    }

    /// Handles a message.
    pub fn receive(
        &mut self,
        now: Time,
        from: Address,
        message: GeometryMessage,
        out: &mut Vec<Mail>,
    ) {
        match message {
            GeometryMessage::AskTable => {
                if let Some(table) = &self.table {
                    out.push((from, GeometryMessage::Table(table.clone())));
                }
            }
            GeometryMessage::Table(table) => {
                if self.table.is_none() && table.len() <= FORMS_MAX && self.peers.contains(&from) {
                    self.table = Some(table);
                    self.ask(now, false, out);
                }
            }
            GeometryMessage::Ask { content, credit, again } => {
                if let Some(serving) = self.serve(now, (from, content), &credit, again) {
                    out.extend(serving.map(|chunk| (from, GeometryMessage::Piece(chunk))));
                }
            }
            GeometryMessage::Piece(chunk) => self.piece(now, chunk, out),
        }
    }

    /// The next pieces of something that is here.
    fn serve(
        &mut self,
        now: Time,
        key: (Address, Content),
        credit: &Credit,
        again: bool,
    ) -> Option<impl Iterator<Item = Chunk> + '_> {
        let (_, content) = key;
        let bytes = self.have.get(&content)?;
        if !self.serving.contains_key(&key) {
            let patience = Span(self.resend.0 * 20);
            self.serving.retain(|_, serving| now - serving.heard < patience);
            if self.serving.len() >= SERVED_MAX {
                return None;
            }
            let outgoing = Outgoing::new(content.sum, bytes.clone()).ok()?;
            self.serving.insert(key, Serving { outgoing, heard: now });
        }
        let serving = self.serving.get_mut(&key)?;
        serving.heard = now;
        if again {
            serving.outgoing.repeat();
        }
        serving.outgoing.credit(credit);
        Some(std::iter::from_fn(|| serving.outgoing.next_chunk()).take(PIECES))
    }

    fn piece(&mut self, now: Time, chunk: Chunk, out: &mut Vec<Mail>) {
        let Some(fetch) = &mut self.fetch else { return };
        let content = fetch.content;
        let fits = chunk.transfer == content.sum
            && Content { sum: chunk.sum, length: chunk.length } == content;
        let before = fetch.incoming.credit();
        if !fits || fetch.incoming.take(chunk).is_err() {
            return;
        }
        match fetch.incoming.finish() {
            Ok(Some(bytes)) => {
                self.have.insert(content, bytes.into());
                self.fetch = None;
                self.ask(now, false, out);
            }
            Ok(None) => {
                let credit = fetch.incoming.credit();
                if credit == before {
                    return;
                }
                fetch.heard = now;
                // The last of the pieces that were on their way: the next ones may come.
                if credit.beyond == 0 && credit.next.is_multiple_of(PIECES as u32) {
                    self.ask(now, false, out);
                }
            }
            Err(_) => {
                // Pieces of a machine that sends something else; all of it again, from another.
                self.fetch = None;
                self.asked = self.asked.wrapping_add(1);
                self.ask(now, true, out);
            }
        }
    }
}
