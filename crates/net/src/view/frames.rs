//! Frames as docs/view-protocol.md has them: each made once for all who watch. Only those objects
//! are told again that are no longer where they would be if they had gone on as last told.

use super::scene::{Now, Scene, goes_on, per_second};
use bytes::{BufMut, Bytes, BytesMut};
use glam::{DQuat, DVec3};
use jostle_proto::{
    Block, Class, Epoch, GroupId, NodeId, Object, Objects, Region, Shapes, State, Tick,
};

/// Off by so many units of positions, an object is told again: a millimetre.
const OFF: i64 = 4;

/// Turned by so much (one minus the cosine of half the angle, here a tenth of a degree), it is
/// told again.
const TURNED: f64 = 4e-7;

/// Every object is told again after this many seconds; some of them in every tick.
const AGAIN: u64 = 10;

/// The kind of a frame of a world that stands still.
const STILL: u8 = 3;

const HEAD: usize = 32;
const OBJECT: usize = 44;

/// Units of positions per unit of velocities and second.
const PER_SECOND: i64 = 16;

/// What those who watch were told of an object.
#[derive(Clone, Copy)]
struct Told {
    object: Object,
    since: Tick,
    /// It reaches into more than one region. Always as it is now.
    border: bool,
    /// The place of its region in the list; a guess that is tried first.
    region: usize,
    /// Whose it is, see [`home_mark`]. Always as it is now.
    home: u8,
}

/// The regions of all nodes of a view: to see quickly who reaches beyond one.
#[derive(Default)]
struct Borders {
    epoch: Option<Epoch>,
    regions: Vec<(NodeId, Region)>,
}

impl Borders {
    fn follow(&mut self, now: &Now<'_>) {
        let epoch = now.view.map(|view| view.epoch);
        if epoch == self.epoch {
            return;
        }
        self.epoch = epoch;
        let owners = now.view.into_iter().flat_map(|view| {
            let region = |(vertex, node)| Some((node, view.tree.region(vertex)?));
            view.tree.owners().filter_map(region)
        });
        self.regions = owners.collect();
    }

    /// The place of the region that a point is in; the guess is tried first.
    fn region(&self, point: [i32; 3], guess: usize) -> Option<usize> {
        let fits = |at: usize| self.regions.get(at).is_some_and(|(_, it)| it.contains(point));
        if fits(guess) { Some(guess) } else { (0..self.regions.len()).find(|&at| fits(at)) }
    }

    /// Regions fill the world, so who is not all in one is in several.
    fn reaches_out(&self, block: &Block, region: usize) -> bool {
        self.regions
            .get(region)
            .is_some_and(|(_, region)| !(region.contains(block.min) && region.contains(block.max)))
    }
}

/// Makes the frames of a world.
pub(crate) struct Frames {
    rate: u32,
    shapes: Shapes,
    borders: Borders,
    /// Sorted by id: exactly the objects of the last frame.
    told: Vec<Told>,
    spare: Vec<Told>,
    at: Option<Tick>,
    /// What the group moves turns by its spin and not otherwise.
    steady: bool,
}

impl Frames {
    pub(crate) fn new(rate: u32, shapes: Shapes) -> Frames {
        let (told, spare) = (Vec::new(), Vec::new());
        let (rate, borders) = (rate.max(1), Borders::default());
        Frames { rate, shapes, borders, told, spare, at: None, steady: true }
    }

    /// The same for a world in which things also turn otherwise than by their spin.
    pub(crate) fn of_anything(rate: u32, shapes: Shapes) -> Frames {
        Frames { steady: false, ..Frames::new(rate, shapes) }
    }

    /// Nobody was told anything: the next frame lists everything.
    pub(crate) fn forget(&mut self) {
        (self.told, self.spare, self.at) = (Vec::new(), Vec::new(), None);
    }

    /// The tick of the last frame.
    pub(crate) fn tick(&self) -> Option<Tick> {
        self.at
    }

    /// The next frame for those who have the one before: what changed. Everything, and whole, if
    /// there is none before.
    pub(crate) fn next(&mut self, now: &Now<'_>) -> Bytes {
        self.borders.follow(now);
        let mut frame = BytesMut::with_capacity(HEAD + 64 * OBJECT + 16 * now.touches.len());
        frame.resize(HEAD, 0);
        let mut before = std::mem::take(&mut self.told);
        let mut after = std::mem::take(&mut self.spare);
        after.clear();
        let (mut listed, mut gone) = (0, Vec::new());
        let mut left = before.iter().peekable();
        for object in now.objects.values() {
            while let Some(old) = left.next_if(|old| old.object.id < object.id) {
                gone.push(old.object.id);
            }
            let old = left.next_if(|old| old.object.id == object.id);
            let told = self.tell(object, old, now);
            if told.since == now.tick {
                listed += 1;
                put_object(&mut frame, object, &told);
            }
            after.push(told);
        }
        gone.extend(left.map(|old| old.object.id));
        for id in &gone {
            frame.put_u64_le(id.0);
        }
        finish(frame.as_mut(), now, [usize::from(self.at.is_none()), listed, gone.len()]);
        put_touches(&mut frame, now);
        before.clear();
        (self.told, self.spare, self.at) = (after, before, Some(now.tick));
        frame.freeze()
    }

    /// The whole picture of the tick that [`Frames::next`] was last called for.
    pub(crate) fn whole(&self, now: &Now<'_>) -> Bytes {
        let bytes = HEAD + OBJECT * now.objects.len() + 16 * now.touches.len();
        let mut frame = BytesMut::with_capacity(bytes);
        frame.resize(HEAD, 0);
        for (object, told) in now.objects.values().zip(&self.told) {
            put_object(&mut frame, object, told);
        }
        finish(frame.as_mut(), now, [1, now.objects.len(), 0]);
        put_touches(&mut frame, now);
        frame.freeze()
    }

    /// What is known of an object after this tick; told in this tick if it has to be.
    fn tell(&self, object: &Object, old: Option<&Told>, now: &Now<'_>) -> Told {
        let tick = now.tick;
        let home = home_mark(now.home(object));
        let guess = old.map_or(0, |old| old.region);
        let region = self.borders.region(object.state.position, guess).unwrap_or(0);
        let border = self.borders.regions.len() > 1
            && self.borders.reaches_out(&self.shapes.block(object), region);
        match old {
            Some(old)
                if (old.border, old.home) == (border, home) && self.goes_on(old, object, tick) =>
            {
                Told { region, ..*old }
            }
            _ => Told { object: *object, since: tick, border, region, home },
        }
    }

    /// Is it where it would be, and was it told not long ago?
    fn goes_on(&self, old: &Told, object: &Object, tick: Tick) -> bool {
        let (then, is) = (&old.object.state, &object.state);
        if old.object.class != object.class
            || old.object.shape != object.shape
            || then.velocity != is.velocity
            || then.spin != is.spin
            || tick <= old.since
            || self.is_its_turn(object, tick)
        {
            return false;
        }
        let ticks = if goes_on(object.class) { tick.0 - old.since.0 } else { 0 };
        let rate = i64::from(self.rate);
        let near = (0..3).all(|axis| {
            let way = i64::from(then.velocity[axis]) * PER_SECOND * ticks as i64 / rate;
            let there = i64::from(then.position[axis]) + way;
            (there - i64::from(is.position[axis])).abs() <= OFF
        });
        // What this group moves has turned by its spin. Another group's may have been corrected.
        let turns = ticks > 0 && then.spin != [0; 3];
        near && match (turns, object.class) {
            (false, _) => then.rotation == is.rotation,
            (true, class) if self.steady && class.elsewhere().is_none() => true,
            (true, _) => self.is_turned_so(then, is, ticks),
        }
    }

    fn is_turned_so(&self, then: &State, is: &State, ticks: u64) -> bool {
        let seconds = ticks as f64 / f64::from(self.rate);
        let spin = DVec3::from_array(per_second(then.spin));
        let turn =
            jostle_geom::rotation_from_scaled_axis(spin * seconds).unwrap_or(DQuat::IDENTITY);
        let there = turn * then.rotation.quaternion();
        1.0 - there.dot(is.rotation.quaternion()).abs() < TURNED
    }

    /// Each has its own moment, so that never all are told at once.
    fn is_its_turn(&self, object: &Object, tick: Tick) -> bool {
        let period = AGAIN * u64::from(self.rate);
        let moment = (object.id.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) % period;
        let last = self.at.map_or(0, |at| at.0);
        let turns = |tick: u64| tick.wrapping_add(moment) / period;
        turns(tick.0) != turns(last)
    }
}

/// A world that stands still, as a message of its own kind.
pub(crate) fn still(scene: &Scene, shapes: &Shapes) -> Bytes {
    let objects: Objects = scene.objects.iter().copied().collect();
    let mut frames = Frames::new(1, shapes.clone());
    let now = scene.now(&objects);
    let mut frame = BytesMut::from(frames.next(&now));
    if let Some(kind) = frame.first_mut() {
        *kind = STILL;
    }
    frame.freeze()
}

/// The head; kind, and how many objects there are and how many are gone.
fn finish(frame: &mut [u8], now: &Now<'_>, [whole, objects, gone]: [usize; 3]) {
    let Some((mut head, _)) = frame.split_at_mut_checked(HEAD) else { return };
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    head.put_u8(1);
    head.put_u8(u8::from(whole == 1));
    head.put_u16_le(u16::try_from(now.dilation).unwrap_or(u16::MAX));
    head.put_u32_le(count(objects));
    head.put_u64_le(now.tick.0);
    head.put_u32_le(count(gone));
    head.put_u32_le(count(now.touches.len()));
}

fn put_touches(frame: &mut BytesMut, now: &Now<'_>) {
    for touch in now.touches {
        frame.put_u64_le(touch.a.0);
        frame.put_u64_le(touch.b.0);
    }
}

/// Seven bits for a group: its number modulo 127, plus one; 0 if it is not known.
fn home_mark(home: Option<GroupId>) -> u8 {
    home.map_or(0, |home| (home.0 % 127) as u8 + 1)
}

fn put_object(frame: &mut BytesMut, object: &Object, told: &Told) {
    let mut bytes = [0; OBJECT];
    let mut out = &mut bytes[..];
    let State { position, rotation, velocity, spin } = object.state;
    // What never moves has no velocity, whatever was written down for it.
    let (velocity, spin) = if goes_on(object.class) { (velocity, spin) } else { ([0; 3], [0; 3]) };
    out.put_u64_le(object.id.0);
    position.iter().for_each(|along| out.put_i32_le(*along));
    velocity.iter().chain(&spin).for_each(|along| out.put_i16_le(*along));
    for part in rotation.quaternion().to_array() {
        out.put_i16_le((part * 32767.0).round() as i16);
    }
    out.put_u16_le(u16::try_from(object.shape.0).unwrap_or(u16::MAX));
    // What is on its way to another group is shown as that group's.
    out.put_u8(object.class.number().min(Class::Foreign(GroupId(0)).number()));
    out.put_u8(u8::from(told.border) | told.home << 1);
    frame.extend_from_slice(&bytes);
}
