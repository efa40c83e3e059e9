//! Whatever comes over a link: an error or a message, never a panic, memory within bounds, and
//! afterwards a good conversation goes on.
//!
//! One test function, because the allocator that counts is one for the whole process. How many
//! mutated messages it tries is in `JOSTLE_WIRE_MUTATIONS`; campaigns set it to 10000000.

mod wire_mutate;
mod wire_samples;

use jostle_proto::wire::{
    CHUNK_BYTES, Chunk, Kind, Limits, Receiver, Sender, WireError, is_reply, kind_of, pack,
};
use jostle_proto::{
    Bundle, Class, ClientInput, Commit, Done, Epoch, Flush, Follow, GatewayId, GroupId, Input,
    Inputs, Member, Message, NodeId, NodeLoad, Normal, Object, ObjectId, RemoteKick, Resume,
    ShapeId, Share, Source, Span, State, Tick, Time, Touch, View,
};
use peak_alloc::PeakAlloc;
use std::collections::BTreeMap;
use wire_mutate::{mend, mutate, mutations};
use wire_samples::{Habits, ORDINARY, RATE, Random, World};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const LIMITS: Limits = Limits { objects: 500, bytes: 1 << 20 };

/// Between two good messages come so many others.
const BETWEEN: usize = 200;

/// What a frame of so many bytes may allocate: a megabyte that serde keeps ready, inputs that take
/// two bytes on the wire and sixty-four in memory, twice while their list grows, and lists of the
/// most objects with the base that they come from.
fn bound(bytes: usize) -> usize {
    (1 << 20) + 200 * bytes + 1024 * LIMITS.objects
}

/// What stays: four long messages and four bundles at most, and a few replies.
const STAYS: usize = 4 * (1 << 20) + 4 * 256 * 500 + (64 << 10);

/// A world as one member sends it to another.
fn bundle(world: &World) -> Bundle {
    let now = world.snapshot();
    let list = |of: u64| -> Vec<Object> {
        now.objects().iter().filter(|object| object.id.0.is_multiple_of(of)).copied().collect()
    };
    Bundle {
        epoch: Epoch(3),
        tick: now.tick(),
        from: NodeId(1),
        answer: false,
        transfers: list(7),
        ghosts: list(3),
        backup: list(2),
        entrusted: list(11).into_iter().map(|object| (NodeId(2), object)).collect(),
    }
}

fn commit(world: &World) -> Commit {
    let objects = world.snapshot().into_objects();
    let touch = |pair: &[Object]| Touch {
        a: pair[0].id,
        b: pair[1].id,
        normal: Normal::along((pair[0].id.0 % 3) as usize, true),
        stops: false,
        kick_a: pair[0].state.velocity,
        kick_b: [0; 3],
        shift: [0, -7, 3],
    };
    let avatar = ObjectId(9);
    let input = ClientInput { avatar, number: 4, velocity: [1, -2, 300], spin: [0; 3] };
    Commit {
        group: GroupId(1),
        epoch: Epoch(3),
        tick: Tick(77),
        touches: objects.windows(2).take(12).map(touch).collect(),
        kicks: vec![RemoteKick { to: GroupId(2), object: avatar, kick: [-300, 0, 7] }],
        inputs: vec![Input::Steer(input), Input::Absent(avatar), Input::Enter(objects[0])],
        heard: vec![(source(), 17)],
        digest: 0x1234_5678_9abc_def0,
        dilation: 1003,
    }
}

fn source() -> Source {
    Source::Gateway(GatewayId { number: 3, life: 1 })
}

/// One of every kind.
fn messages(world: &World) -> Vec<Message> {
    let member = Member { node: NodeId(4), life: 2 };
    let (epoch, commit) = (Epoch(3), commit(world));
    let Bundle { mut backup, .. } = bundle(world);
    let Commit { touches, kicks, inputs, heard, digest, .. } = commit.clone();
    let commit = std::sync::Arc::new(commit);
    let share =
        Share { epoch, tick: Tick(5), from: NodeId(1), members: 4, objects: backup.clone(), heard };
    backup.reverse();
    // Not what nodes make, but it can be written.
    let odd = Bundle { backup, tick: Tick(1), ..bundle(world) };
    let load = NodeLoad { objects: 3, work: 40, places: vec![[1, -2, 3], [4, 5, -6]] };
    vec![
        Message::Join(member),
        Message::Reset { life: 3 },
        Message::Alive { member, epoch, sent: Time(123_456), load },
        Message::Lease { sent: Time(123_456), span: Span(500_000) },
        Message::View(View::first(member)),
        Message::Stable { epoch, from: member },
        Message::StableKept(epoch),
        Message::Flush(Flush { epoch, from: member, last: Some(commit.clone()) }),
        Message::Resume(Resume { epoch, last: commit.clone(), before: vec![commit.clone()] }),
        Message::Bundle(odd),
        Message::Done(Done { epoch, tick: Tick(77), from: NodeId(1), touches, kicks, digest }),
        Message::Commit(commit.clone()),
        Message::Inputs(Inputs {
            group: GroupId(1),
            source: source(),
            first: 3,
            inputs: vec![inputs, vec![]],
        }),
        Message::Follow(Follow {
            from: GatewayId { number: 3, life: 1 },
            group: GroupId(2),
            epoch,
            have: Some(Tick(5)),
        }),
        Message::Published(commit),
        Message::Share(share),
        Message::Ping { from: NodeId(4), number: 77 },
        Message::MayLeave(epoch),
        Message::Heard { by: GroupId(1), of: GroupId(2), number: Some(9) },
        Message::Where { from: GatewayId { number: 3, life: 1 }, epoch },
        Message::Here { node: NodeId(4), group: GroupId(2), epoch },
    ]
}

/// Two ends, and a third party that writes to them as well.
struct Line {
    world: World,
    sender: Sender,
    receiver: Receiver,
    /// Frames to be mutated: one of every kind, a piece, replies, the newest bundle, and that one
    /// whole.
    frames: Vec<Vec<u8>>,
    /// Good messages that came at once, and those that had to be asked for.
    at_once: u64,
    asked: u64,
}

impl Line {
    fn new() -> Line {
        let habits = Habits { objects: 30, bumps: 20, replaced: 3, ..ORDINARY };
        let world = World::new(1, habits);
        let mut sender = Sender::new(RATE);
        let mut frames: Vec<Vec<u8>> = Vec::new();
        for message in messages(&world) {
            let packed = sender.pack(&message).unwrap();
            assert_eq!(packed.len(), 1);
            assert_eq!(Receiver::new(LIMITS).unpack(&packed[0]), Ok(Some(message)));
            frames.extend(packed);
        }
        // A short message in one piece, and what is said to it.
        let content = [&[Kind::Commit as u8], &frames[11][12..]].concat();
        let sum = jostle_geom::Checksum::of(&content);
        let length = content.len() as u64;
        let chunk = Chunk { transfer: sum, length, sum, index: 0, bytes: content };
        frames.push(pack(Kind::Chunk, &chunk).unwrap());
        let mut receiver = Receiver::new(LIMITS);
        let last = frames.last().map_or(&[][..], |frame| frame);
        assert!(matches!(receiver.unpack(last), Ok(Some(Message::Commit(_)))));
        frames.extend(receiver.replies());
        frames.push(pack(Kind::Lack, &(Epoch(3), Tick(1001))).unwrap());
        frames.extend([Vec::new(), Vec::new()]);
        let mut line = Line { world, sender, receiver, frames, at_once: 0, asked: 0 };
        line.go_on();
        line
    }

    /// The next bundle arrives, if not at once then when it was asked for.
    fn go_on(&mut self) {
        self.world.step();
        let message = Message::Bundle(bundle(&self.world));
        let mut frames = self.sender.pack(&message).unwrap();
        let whole = Sender::new(RATE).pack(&message).unwrap();
        if let [.., delta_before, whole_before] = &mut self.frames[..] {
            delta_before.clone_from(&frames[0]);
            whole_before.clone_from(&whole[0]);
        }
        for attempt in 0..4 {
            let mut arrived = false;
            for frame in &frames {
                arrived |=
                    self.receiver.unpack(frame).is_ok_and(|it| it.as_ref() == Some(&message));
            }
            let replies: Vec<_> = self.receiver.replies().collect();
            if arrived {
                let count = if attempt == 0 { &mut self.at_once } else { &mut self.asked };
                *count += 1;
                return;
            }
            frames.clear();
            for reply in replies.iter().filter(|reply| is_reply(reply)) {
                frames.extend(self.sender.reply(reply).unwrap_or_default());
            }
            if frames.is_empty() {
                frames = self.sender.pack(&message).unwrap();
            }
        }
        panic!("the conversation has broken off");
    }

    /// Something comes that may be anything. Gives whether it was taken. If its sum is not sound it
    /// changes nothing.
    fn suffer(&mut self, frame: &[u8], sound: bool, count: usize) -> bool {
        let before = (!sound && count.is_multiple_of(64)).then(|| self.receiver.clone());
        let used_before = MEMORY.current_usage();
        MEMORY.reset_peak_usage();
        let taken = if is_reply(frame) {
            self.sender.reply(frame).is_ok()
        } else {
            self.receiver.unpack(frame).is_ok()
        };
        let used = MEMORY.peak_usage().saturating_sub(used_before);
        assert!(used <= bound(frame.len()), "seed {count}: {used} for {} bytes", frame.len());
        if let Some(before) = before.filter(|_| !taken) {
            assert_eq!(self.receiver, before, "seed {count}");
        }
        taken
    }
}

#[test]
fn any_frames_leave_a_link_that_works() {
    let start = MEMORY.current_usage();
    let mut line = Line::new();
    let mut taken: BTreeMap<(Option<Kind>, bool), [u64; 2]> = BTreeMap::new();
    for seed in 0..mutations() {
        let mut random = Random(seed as u64);
        let mended = random.chance(80);
        let source = &line.frames[random.below(line.frames.len())];
        let kind = kind_of(source).ok().map(|(kind, _)| kind);
        let mut frame = if random.chance(5) {
            (0..random.below(200)).map(|_| jostle_dice::bits(&mut random.0) as u8).collect()
        } else {
            mutate(source, if mended { 12 } else { 0 }, &mut random)
        };
        if mended {
            mend(&mut frame);
        }
        let same = frame == *source;
        let took = line.suffer(&frame, mended || same, seed);
        assert!(mended || !took || same, "seed {seed}: a damaged frame was taken");
        taken.entry((kind, mended)).or_default()[usize::from(took)] += 1;
        if seed % BETWEEN == 0 {
            line.go_on();
            let stays = MEMORY.current_usage().saturating_sub(start);
            assert!(stays <= STAYS, "seed {seed}: {stays} bytes stay");
        }
    }
    println!("{} good messages came at once, {} were asked for", line.at_once, line.asked);
    for ((kind, mended), [refused, took]) in &taken {
        println!("{kind:?}, mended {mended}: {took} taken, {refused} refused");
        // A mutator that never or always breaks the message tests half of the decoder.
        assert!(!mended || (*took > 0 && *refused > 0), "{kind:?}");
    }
    assert!(line.at_once > 100 && line.asked > 100);
    prefixes_are_refused(&mut line);
    floods_are_borne(&mut line);
}

fn prefixes_are_refused(line: &mut Line) {
    for frame in line.frames.clone() {
        for end in 0..frame.len() {
            assert!(!line.suffer(&frame[..end], false, 0));
        }
    }
    line.go_on();
}

/// Pieces of more long messages than any sender sends, and of messages that are too long.
fn floods_are_borne(line: &mut Line) {
    let before = MEMORY.current_usage();
    let bytes = vec![7; CHUNK_BYTES];
    let chunk = |transfer: u64, index: u32, length: u64| Chunk {
        transfer,
        length,
        sum: 1,
        index,
        bytes: bytes.clone(),
    };
    for transfer in 0..500 {
        for index in [0, 3, 1] {
            let frame = pack(Kind::Chunk, &chunk(transfer, index, 1 << 20)).unwrap();
            assert_eq!(line.receiver.unpack(&frame), Ok(None));
        }
        let frame = pack(Kind::Chunk, &chunk(transfer + 1000, 0, 1 << 40)).unwrap();
        let refused = matches!(line.receiver.unpack(&frame), Err(WireError::TooMany { .. }));
        assert!(refused);
        let used = MEMORY.current_usage().saturating_sub(before);
        assert!(used <= STAYS, "{used} bytes after {transfer} transfers");
    }
    line.go_on();
    // Deltas to a base that the receiver does not have: every one is asked for, and nothing is
    // kept.
    let mut stranger = Sender::new(RATE);
    let mut world = World::new(9, Habits { objects: 100, ..ORDINARY });
    for _ in 0..200 {
        world.step();
        let frames = stranger.pack(&Message::Bundle(Bundle { epoch: Epoch(8), ..bundle(&world) }));
        line.receiver.unpack(&frames.unwrap()[0]).ok();
    }
    assert!(line.receiver.replies().count() <= 64);
    line.go_on();
    let state = State::default();
    let many = (0..501).map(|id| Object {
        id: ObjectId(id),
        class: Class::Dynamic,
        shape: ShapeId(0),
        state,
    });
    let many = Bundle { ghosts: many.collect(), ..bundle(&line.world) };
    let frames = Sender::new(RATE).pack(&Message::Bundle(many)).unwrap();
    let refused = line.receiver.unpack(&frames[0]);
    assert!(matches!(refused, Err(WireError::TooMany { most: 500, .. })), "{refused:?}");
}
