//! The two ends of a link: messages to frames at the one, and back at the other.
//!
//! Frames may be lost, duplicated, damaged and reordered: what comes out is what was put in, or an
//! error that changes nothing. A bundle is a delta to the one that the same sender sent for the
//! tick before in the same view. A receiver of a tick has that one: a tick is begun when the one
//! before is committed, and that needs a report of every member that it has heard from all. Should
//! the receiver not have it nevertheless (after damage, or a restart), it asks for the whole in a
//! reply. What is longer than a frame goes in pieces, and replies are credits for more.

use super::WireError;
use super::body;
use super::bundle_content::BundleContent;
use super::chunks::{Chunk, Credit, Incoming, Outgoing};
use super::frame::{Check, Kind, kind_of, open, pack, seal, take};
use crate::message::{Bundle, Message};
use crate::mutant::Mutant;
use crate::object::{NodeId, Object};
use crate::time::Tick;
use crate::view::Epoch;
use jostle_geom::Checksum;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bundles that a sender keeps: of the tick under way, and of the one before, which a receiver may
/// have missed.
const KEPT: usize = 2;

/// Bundles that a receiver keeps: those two, what the older one is a delta to, and one of another
/// view.
const HELD: usize = 4;

/// Long messages that are on their way at the same time; older ones are given up.
const LONG_MAX: usize = 4;

/// Replies that wait to be sent; older ones are dropped.
const REPLIES_MAX: usize = 64;

/// What a receiver takes from a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Objects in a bundle.
    pub objects: usize,
    /// Bytes of a message that comes in pieces.
    pub bytes: usize,
}

impl Default for Limits {
    /// A million objects.
    fn default() -> Limits {
        Limits { objects: 1 << 20, bytes: 64 << 20 }
    }
}

/// How the content of a bundle is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Form {
    /// Lists that nodes do not make, as postcard writes them.
    Plain,
    /// All of it.
    Whole,
    /// What is different from the tick before.
    Since,
}

#[derive(Serialize, Deserialize)]
struct Head {
    form: Form,
    answer: bool,
    epoch: Epoch,
    tick: Tick,
    from: NodeId,
}

/// The lists of a bundle, as postcard writes them.
type Lists = (Vec<Object>, Vec<Object>, Vec<Object>, Vec<(NodeId, Object)>);

/// A delta to a bundle that is not there: this one is wanted whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Lack {
    epoch: Epoch,
    tick: Tick,
}

/// Is this frame for the sender of a link, and not for its receiver?
#[must_use]
pub fn is_reply(frame: &[u8]) -> bool {
    matches!(kind_of(frame), Ok((Kind::Credit | Kind::Lack, _)))
}

/// A bundle that was sent.
#[derive(Clone, Debug)]
struct Kept {
    content: BundleContent,
    from: NodeId,
    /// Whether it was an answer when it was last sent.
    answer: bool,
    form: Form,
    bytes: Vec<u8>,
}

impl Kept {
    fn content(&self) -> Result<Vec<u8>, WireError> {
        let &Kept { ref content, from, answer, form, ref bytes } = self;
        let (epoch, tick) = (content.epoch, content.tick());
        let mut content = body::plain(&Head { form, answer, epoch, tick, from })?;
        content.extend(bytes);
        Ok(content)
    }
}

/// A long message on its way, and how far it was when it was last sent.
#[derive(Clone, Debug)]
struct Going {
    outgoing: Outgoing,
    arrived: u32,
}

/// The sending end of a link.
///
/// ```
/// use jostle_proto::wire::{Limits, Receiver, Sender};
/// use jostle_proto::{Epoch, Message};
///
/// let (mut sender, mut receiver) = (Sender::new(60), Receiver::new(Limits::default()));
/// let message = Message::StableKept(Epoch(7));
/// let frames = sender.pack(&message)?;
/// assert_eq!(frames.len(), 1);
/// assert_eq!(receiver.unpack(&frames[0])?, Some(message));
/// # Ok::<(), jostle_proto::wire::WireError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sender {
    rate: u32,
    mutant: Option<Mutant>,
    kept: VecDeque<Kept>,
    going: VecDeque<Going>,
}

impl Sender {
    /// One that has sent nothing, in a world of so many ticks per second.
    #[must_use]
    pub fn new(rate: u32) -> Sender {
        Sender { rate, mutant: None, kept: VecDeque::new(), going: VecDeque::new() }
    }

    /// The same with a defect, to test the checkers.
    #[must_use]
    pub fn with_mutant(self, mutant: Option<Mutant>) -> Sender {
        Sender { mutant, ..self }
    }

    /// The frames to send for a message: one, or the first pieces of a long one. A message that is
    /// packed again is sent again.
    ///
    /// # Errors
    /// [`WireError::Oversize`] if it is too long for its kind.
    pub fn pack(&mut self, message: &Message) -> Result<Vec<Vec<u8>>, WireError> {
        let content = match message {
            Message::Bundle(bundle) => self.bundle(bundle)?,
            _ => body::write(message)?,
        };
        self.frames(body::kind(message), &content)
    }

    /// The receiver has said something: what is to be sent now.
    ///
    /// # Errors
    /// See [`WireError`]; [`WireError::Malformed`] if it is no reply.
    pub fn reply(&mut self, frame: &[u8]) -> Result<Vec<Vec<u8>>, WireError> {
        match open(frame, Check::Sum)? {
            (Kind::Credit, bytes) => self.credit(&whole(bytes)?),
            (Kind::Lack, bytes) => self.lack(&whole(bytes)?),
            _ => Err(WireError::Malformed("no reply")),
        }
    }

    fn frames(&mut self, kind: Kind, content: &[u8]) -> Result<Vec<Vec<u8>>, WireError> {
        if content.len() <= kind.cap() || !kind.may_be_long() {
            return Ok(vec![seal(kind, content)?]);
        }
        let content = [&[kind as u8], content].concat();
        let transfer = Checksum::of(&content);
        let at = self.going.iter().position(|going| going.outgoing.transfer() == transfer);
        let mut going = match at.and_then(|at| self.going.remove(at)) {
            // It is on its way: what is missing is sent again.
            Some(mut going) if going.outgoing.arrived_in_order() > going.arrived => {
                going.outgoing.repeat();
                going
            }
            // It does not come through, for example because the receiver has given it up.
            _ => Going { outgoing: Outgoing::new(transfer, content.into())?, arrived: 0 },
        };
        going.arrived = going.outgoing.arrived_in_order();
        let frames = pieces(&mut going.outgoing);
        if self.going.len() == LONG_MAX {
            self.going.pop_front();
        }
        self.going.push_back(going);
        frames
    }

    fn credit(&mut self, credit: &Credit) -> Result<Vec<Vec<u8>>, WireError> {
        let Credit { transfer, .. } = *credit;
        let at = self.going.iter().position(|going| going.outgoing.transfer() == transfer);
        let Some(mut going) = at.and_then(|at| self.going.remove(at)) else {
            return Ok(Vec::new());
        };
        going.outgoing.credit(credit);
        let frames = pieces(&mut going.outgoing);
        if !going.outgoing.is_done() {
            self.going.push_back(going);
        }
        frames
    }

    fn bundle(&mut self, bundle: &Bundle) -> Result<Vec<u8>, WireError> {
        let &Bundle { epoch, tick, from, answer, .. } = bundle;
        let Some(content) = BundleContent::of(bundle) else {
            let Bundle { transfers, ghosts, backup, entrusted, .. } = bundle;
            let lists = (transfers, ghosts, backup, entrusted);
            return body::plain(&(Head { form: Form::Plain, answer, epoch, tick, from }, lists));
        };
        let same = |kept: &&mut Kept| (kept.from, &kept.content) == (from, &content);
        if let Some(kept) = self.kept.iter_mut().find(same) {
            kept.answer = answer;
            return kept.content();
        }
        self.kept.retain(|kept| (kept.content.epoch, kept.content.tick()) != (epoch, tick));
        let base =
            self.kept.iter().find(|kept| kept.from == from && kept.content.precedes(&content));
        let base = base.filter(|_| self.mutant != Some(Mutant::NoDelta));
        let mut bytes = Vec::new();
        let form = match base {
            Some(base) => {
                content.encode_since(&base.content, self.rate, &mut bytes);
                Form::Since
            }
            None => {
                content.encode(&mut bytes);
                Form::Whole
            }
        };
        let kept = Kept { content, from, answer, form, bytes };
        let content = kept.content();
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(kept);
        content
    }

    /// The receiver cannot do anything with a delta. It is sent the whole, once by this; then
    /// whenever the bundle is sent again.
    fn lack(&mut self, lack: &Lack) -> Result<Vec<Vec<u8>>, WireError> {
        let of =
            |kept: &&mut Kept| (kept.content.epoch, kept.content.tick()) == (lack.epoch, lack.tick);
        let kept = self.kept.iter_mut().find(of).filter(|kept| kept.form == Form::Since);
        let Some(kept) = kept else { return Ok(Vec::new()) };
        kept.form = Form::Whole;
        kept.bytes.clear();
        kept.content.encode(&mut kept.bytes);
        let content = kept.content()?;
        self.frames(Kind::Bundle, &content)
    }
}

fn pieces(outgoing: &mut Outgoing) -> Result<Vec<Vec<u8>>, WireError> {
    let mut frames = Vec::new();
    while let Some(chunk) = outgoing.next_chunk() {
        frames.push(pack(Kind::Chunk, &chunk)?);
    }
    Ok(frames)
}

/// Something that is all of these bytes.
fn whole<Part: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<Part, WireError> {
    match take(bytes)? {
        (part, []) => Ok(part),
        (_, rest) => Err(WireError::Trailing { extra: rest.len() }),
    }
}

/// The receiving end of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receiver {
    limits: Limits,
    mutant: Option<Mutant>,
    held: VecDeque<BundleContent>,
    coming: VecDeque<Incoming>,
    replies: VecDeque<Vec<u8>>,
}

impl Receiver {
    /// One that has received nothing.
    #[must_use]
    pub fn new(limits: Limits) -> Receiver {
        Receiver {
            limits,
            mutant: None,
            held: VecDeque::new(),
            coming: VecDeque::new(),
            replies: VecDeque::new(),
        }
    }

    /// The same with a defect, to test the checkers.
    #[must_use]
    pub fn with_mutant(self, mutant: Option<Mutant>) -> Receiver {
        Receiver { mutant, ..self }
    }

    /// The message in a frame; none for a piece of a long one that is not complete.
    ///
    /// # Errors
    /// See [`WireError`]. Any bytes are safe. A frame that is refused changes nothing, but that a
    /// long message whose pieces do not fit each other is given up, and that there may be a reply.
    pub fn unpack(&mut self, frame: &[u8]) -> Result<Option<Message>, WireError> {
        let blind = self.mutant == Some(Mutant::NoChecksum);
        let opened = open(frame, if blind { Check::Nothing } else { Check::Sum });
        if self.mutant == Some(Mutant::DamageForgets) && opened.is_err() {
            self.held.clear();
        }
        match opened? {
            (Kind::Chunk, bytes) => self.piece(whole(bytes)?),
            (Kind::Credit | Kind::Lack, _) => Err(WireError::Malformed("a reply")),
            (kind, bytes) => self.content(kind, bytes).map(Some),
        }
    }

    /// What is to be sent back to the sender, if anything.
    pub fn replies(&mut self) -> impl Iterator<Item = Vec<u8>> {
        std::mem::take(&mut self.replies).into_iter()
    }

    fn answer(&mut self, reply: Result<Vec<u8>, WireError>) {
        if self.replies.len() == REPLIES_MAX {
            self.replies.pop_front();
        }
        // Credits and lacks are never too long.
        self.replies.extend(reply);
    }

    fn content(&mut self, kind: Kind, bytes: &[u8]) -> Result<Message, WireError> {
        match kind {
            Kind::Bundle => self.bundle(bytes).map(Message::Bundle),
            _ => body::read(kind, bytes),
        }
    }

    fn piece(&mut self, chunk: Chunk) -> Result<Option<Message>, WireError> {
        let transfer = chunk.transfer;
        let at = self.coming.iter().position(|coming| coming.transfer() == transfer);
        let coming = at.and_then(|at| self.coming.remove(at));
        let most = self.limits.bytes as u64;
        let mut coming = coming.unwrap_or_else(|| Incoming::new(transfer, most));
        coming.take(chunk)?;
        self.answer(pack(Kind::Credit, &coming.credit()));
        let Some(content) = coming.finish()? else {
            if self.coming.len() == LONG_MAX {
                self.coming.pop_front();
            }
            self.coming.push_back(coming);
            return Ok(None);
        };
        let Some((&number, content)) = content.split_first() else { return Err(WireError::Short) };
        let kind = Kind::from_number(number).filter(|kind| kind.may_be_long());
        let kind = kind.ok_or(WireError::UnknownKind { found: number })?;
        self.content(kind, content).map(Some)
    }

    fn bundle(&mut self, bytes: &[u8]) -> Result<Bundle, WireError> {
        let (Head { form, answer, epoch, tick, from }, rest) = take(bytes)?;
        let most = self.limits.objects;
        let content = match form {
            Form::Plain => {
                let (transfers, ghosts, backup, entrusted) = whole::<Lists>(rest)?;
                let count = transfers.len() + ghosts.len() + backup.len() + entrusted.len();
                if count > most {
                    return Err(WireError::TooMany { count: count as u64, most: most as u64 });
                }
                let bundle =
                    Bundle { epoch, tick, from, answer, transfers, ghosts, backup, entrusted };
                return Ok(bundle);
            }
            Form::Whole => BundleContent::decode((epoch, tick), rest, most)?,
            Form::Since => {
                let content = self.since((epoch, tick), rest);
                if let Err(WireError::NoBase | WireError::OtherBase { .. } | WireError::Diverged) =
                    content
                {
                    self.answer(pack(Kind::Lack, &Lack { epoch, tick }));
                }
                content?
            }
        };
        let bundle = content.bundle(from, answer);
        self.hold(content);
        Ok(bundle)
    }

    fn since(
        &self,
        (epoch, tick): (Epoch, Tick),
        bytes: &[u8],
    ) -> Result<BundleContent, WireError> {
        let blind = self.mutant == Some(Mutant::DeltaWrongBase);
        let before = |content: &&BundleContent| {
            content.epoch == epoch && content.tick().0.checked_add(1) == Some(tick.0)
        };
        let base = if blind { self.held.back() } else { self.held.iter().find(before) };
        let base = base.ok_or(WireError::NoBase)?;
        BundleContent::decode_since(base, tick, bytes, self.limits.objects, blind)
    }

    /// Keeps what was sent, for the delta that comes next.
    fn hold(&mut self, content: BundleContent) {
        let key = (content.epoch, content.tick());
        if let Some(held) = self.held.iter_mut().find(|held| (held.epoch, held.tick()) == key) {
            *held = content;
            return;
        }
        if self.held.len() == HELD {
            self.held.pop_front();
        }
        self.held.push_back(content);
    }
}
