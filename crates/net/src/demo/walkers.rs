//! Avatars that walk about: real clients, each the state machine of [`jostle_proto::Client`], whose
//! letters go straight to the gateway, where they are judged like everybody's. One thread for all.

use crate::clock::Clock;
use crate::dice::Dice;
use crate::driver::Insiders;
use crate::process::{Process, SayFn, StartError};
use jostle_proto::{
    Address, Block, Client, ClientId, ClientSettings, GatewaySays, Message, Output, POSITION_UNIT,
    Shapes, Solid, Span, State, Time, VELOCITY_UNIT,
};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Hosts that walkers come from: addresses that no machine has, one each, so that what one does is
/// not counted against another.
const HOSTS: u32 = 0xf000_0000;

/// Letters that wait for the walkers; more are lost.
const LETTERS: usize = 4096;

/// How often each of them thinks.
const THINK: Span = Span::from_ms(250);

/// Somebody who has not come on for so long goes elsewhere.
const STUCK: Span = Span::from_ms(1000);

/// In metres per second: the slowest and the fastest.
const SPEEDS: [f64; 2] = [1.2, 3.2];

/// So near, in metres, is there.
const THERE: f64 = 1.0;

/// Radians per second, at most: less than is allowed.
const TURN: f64 = 5.0;

/// They need not say what they have seen as often as people do, and so are not told as often.
const SETTINGS: ClientSettings = ClientSettings {
    resend: Span::from_ms(500),
    patience: Span::from_ms(3000),
    close: Span::from_ms(250),
    apart: Span::from_ms(1000),
    within: 0.0,
    refresh: Span::from_ms(2000),
};

/// All walkers, until they are dropped.
pub(super) struct Walkers {
    stop: Arc<AtomicBool>,
    active: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Walkers {
    /// So many, on this ground.
    pub(super) fn start(
        world: &Process,
        count: u32,
        ground: Block,
        seed: u64,
    ) -> Result<Walkers, StartError> {
        let (told, letters) = sync_channel(LETTERS);
        let say = world.let_in(told);
        let say = say.ok_or_else(|| StartError::Other("nobody lets walkers in".into()))?;
        let known = world.known();
        // They keep out of each other's way by their boxes.
        let solids = known.shapes.solids().iter();
        let extents = solids.map(Solid::without_model).collect();
        let (stop, active) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let shapes = Shapes::new(extents);
        let mut dice = Dice::new(seed);
        let walker = |number: u32| Walker::new(number, known.charter.gate, &shapes, &mut dice);
        let crowd = Crowd {
            walkers: (0..count).map(walker).collect(),
            ground,
            clock: Clock::start(),
            letters,
            say,
            dice: Dice::new(seed ^ 1),
            stop: stop.clone(),
            active: active.clone(),
        };
        let thread = std::thread::Builder::new().name("walkers".into()).spawn(move || crowd.run());
        let thread = thread.map_err(|error| StartError::Other(error.to_string()))?;
        Ok(Walkers { stop, active, thread: Some(thread) })
    }

    /// How many are in the world.
    pub(super) fn active(&self) -> u64 {
        self.active.load(Relaxed)
    }
}

impl Drop for Walkers {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // That it panicked would have been said.
            let _ = thread.join();
        }
    }
}

struct Crowd {
    walkers: Vec<Walker>,
    ground: Block,
    clock: Clock,
    letters: Receiver<(ClientId, GatewaySays)>,
    say: SayFn,
    dice: Dice,
    stop: Arc<AtomicBool>,
    active: Arc<AtomicU64>,
}

impl Crowd {
    fn run(mut self) {
        let mut out = Vec::new();
        // A little time passes between rounds, so that much is done at once.
        let pause = Duration::from_millis(5);
        while !self.stop.load(Relaxed) {
            match self.letters.recv_timeout(pause) {
                Ok(letter) => {
                    self.hear(letter, &mut out);
                    while let Ok(letter) = self.letters.try_recv() {
                        self.hear(letter, &mut out);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let now = self.clock.now();
            for walker in &mut self.walkers {
                if walker.think_at <= now {
                    walker.think(now, &self.ground, &mut self.dice);
                }
                if walker.client.wake_at() <= now {
                    walker.client.wake(now, &mut out);
                    say(&self.say, walker.client.id(), &mut out);
                }
            }
            let active = self.walkers.iter().filter(|walker| walker.client.is_active()).count();
            self.active.store(active as u64, Relaxed);
            std::thread::sleep(pause);
        }
    }

    fn hear(&mut self, (client, says): (ClientId, GatewaySays), out: &mut Vec<Output>) {
        let number = client.host.wrapping_sub(HOSTS) as usize;
        let Some(walker) = self.walkers.get_mut(number) else { return };
        let from = Address::Gate(walker.client.gate());
        walker.client.receive(self.clock.now(), from, says, out);
        say(&self.say, client, out);
    }
}

fn say(say: &SayFn, client: ClientId, out: &mut Vec<Output>) {
    for output in out.drain(..) {
        if let Output::Send(_, Message::Asked(says)) = output {
            say(client, says);
        }
    }
}

/// One of them.
struct Walker {
    client: Client,
    speed: f64,
    target: Option<[f64; 2]>,
    think_at: Time,
    /// Where it was, and when: whoever is still there is stuck.
    marked: ([f64; 2], Time),
    /// Velocity and spin, as it last wished.
    wish: ([i16; 3], [i16; 3]),
}

impl Walker {
    fn new(number: u32, gate: u32, shapes: &Shapes, dice: &mut Dice) -> Walker {
        let me = ClientId { host: HOSTS + number, connection: Insiders::CONNECTION };
        Walker {
            client: Client::new(me, vec![gate], shapes.clone(), SETTINGS),
            speed: dice.between(SPEEDS[0], SPEEDS[1]),
            target: None,
            think_at: Time(dice.below(THINK.0)),
            marked: ([0.0; 2], Time(0)),
            wish: ([0; 3], [0; 3]),
        }
    }

    /// Towards its target, with its face first.
    fn think(&mut self, now: Time, ground: &Block, dice: &mut Dice) {
        self.think_at = now + THINK;
        let Some(own) = self.client.own(now) else { return };
        let here = [own.position[0], own.position[2]].map(|along| f64::from(along) * POSITION_UNIT);
        let way = |to: [f64; 2]| [to[0] - here[0], to[1] - here[1]];
        let far = |[x, z]: [f64; 2]| x.hypot(z);
        let stuck = now - self.marked.1 > STUCK;
        let still = stuck && far(way(self.marked.0)) < 0.3 * self.speed;
        if stuck {
            self.marked = (here, now);
        }
        let arrived = self.target.is_some_and(|target| far(way(target)) < THERE);
        if self.target.is_none() || arrived || still {
            let reach = if still { 6.0 } else { f64::INFINITY };
            self.target = Some(draw(here, reach, ground, dice));
        }
        let Some(target) = self.target else { return };
        let [x, z] = way(target);
        let part = self.speed / far([x, z]).max(1e-3);
        let turn = turn_towards(&own, [x, z]);
        let wish = ([units(x * part), 0, units(z * part)], [0, units(turn), 0]);
        // Something in the way has stopped it: it says again what it wants.
        let stopped = own.velocity != wish.0;
        if differs(wish, self.wish) || (stopped && own.velocity.contains(&0)) {
            self.wish = wish;
            self.client.steer(now, wish.0, wish.1);
        }
    }
}

/// Somewhere on the ground, not farther than this along each axis.
fn draw(here: [f64; 2], reach: f64, ground: &Block, dice: &mut Dice) -> [f64; 2] {
    let mut along = |axis: usize, here: f64| {
        let low = (f64::from(ground.min[axis]) * POSITION_UNIT).max(here - reach);
        let high = (f64::from(ground.max[axis]) * POSITION_UNIT).min(here + reach);
        dice.between(low, high.max(low))
    };
    [along(0, here[0]), along(2, here[1])]
}

/// How fast to turn about the vertical so that the front, -z, will be where it goes.
fn turn_towards(own: &State, [x, z]: [f64; 2]) -> f64 {
    let [_, y, _, w] = own.rotation.quaternion().to_array();
    let (is, wanted) = (2.0 * y.atan2(w), (-x).atan2(-z));
    let off = (wanted - is + PI).rem_euclid(TAU) - PI;
    // Not all of it before it thinks again, or it would swing to and fro.
    let turn = (off / 0.4).clamp(-TURN, TURN);
    if off.abs() < 0.05 { 0.0 } else { turn }
}

fn units(per_second: f64) -> i16 {
    (per_second / VELOCITY_UNIT).round() as i16
}

/// Is this worth saying?
fn differs(a: ([i16; 3], [i16; 3]), b: ([i16; 3], [i16; 3])) -> bool {
    let apart = |a: [i16; 3], b: [i16; 3]| {
        a.iter().zip(b).map(|(a, b)| i32::from(*a) - i32::from(b)).map(i32::abs).max()
    };
    apart(a.0, b.0) > Some(40) || apart(a.1, b.1) > Some(60) || (a.1 == [0; 3]) != (b.1 == [0; 3])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_faces_where_it_goes_does_not_turn_and_others_turn_the_short_way() {
        let own = State::default();
        assert_eq!(turn_towards(&own, [0.0, -1.0]), 0.0);
        assert!(turn_towards(&own, [-1.0, -1.0]) > 0.0, "to the left");
        assert!(turn_towards(&own, [1.0, -1.0]) < 0.0, "to the right");
        assert_eq!(turn_towards(&own, [0.001, 1.0]).abs(), TURN);
    }

    #[test]
    fn targets_are_on_the_ground_and_within_reach() {
        let ground = Block { min: [-40960, 0, 0], max: [40960, 0, 8192] };
        let mut dice = Dice::new(3);
        for _ in 0..1000 {
            let [x, z] = draw([9.0, 1.0], 2.0, &ground, &mut dice);
            assert!((7.0..=10.0).contains(&x) && (0.0..=2.0).contains(&z), "{x} {z}");
            let [x, z] = draw([90.0, 90.0], 2.0, &ground, &mut dice);
            assert!(x.is_finite() && z.is_finite(), "{x} {z}");
        }
    }
}
