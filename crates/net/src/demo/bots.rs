//! Bots: avatars controlled by real client state machines ([`jostle_proto::Client`]), whose
//! messages go straight to the gateway and are validated there like those of other clients. One
//! thread drives all of them.

use crate::clock::Clock;
use crate::dice::Dice;
use crate::driver::LocalClients;
use crate::process::{Process, SendFn, StartError};
use jostle_proto::{
    Address, Block, Client, ClientId, ClientSettings, GatewayMessage, Message, Output,
    POSITION_UNIT, Shapes, Solid, Span, State, Time, VELOCITY_UNIT,
};
use std::f64::consts::{PI, TAU};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Host numbers of bots: addresses that no machine has, one each, so that rate limits per host
/// apply to each bot alone.
const HOSTS: u32 = 0xf000_0000;

/// Messages that wait for the bots; more are dropped.
const MESSAGES_MAX: usize = 4096;

/// Interval of decisions.
const THINK: Span = Span::from_ms(250);

/// A bot without progress for so long chooses another target.
const STUCK: Span = Span::from_ms(1000);

/// Slowest and fastest speed in metres per second.
const SPEEDS: [f64; 2] = [1.2, 3.2];

/// Within this distance of its target, in metres, a bot has arrived.
const THERE: f64 = 1.0;

/// Radians per second, at most: less than the limit of avatars.
const TURN: f64 = 5.0;

/// Bots acknowledge updates less often than people, and so receive fewer.
const SETTINGS: ClientSettings = ClientSettings {
    resend: Span::from_ms(500),
    patience: Span::from_ms(3000),
    close: Span::from_ms(250),
    apart: Span::from_ms(1000),
    within: 0.0,
    refresh: Span::from_ms(2000),
};

/// All bots, until they are dropped.
pub(super) struct Bots {
    stop: Arc<AtomicBool>,
    active: Arc<AtomicU64>,
    thread: Option<JoinHandle<()>>,
}

impl Bots {
    /// Starts so many bots on this area.
    pub(super) fn start(
        world: &Process,
        count: u32,
        ground: Block,
        seed: u64,
    ) -> Result<Bots, StartError> {
        let (sender, messages) = sync_channel(MESSAGES_MAX);
        let send_all = world.connect_local(sender);
        let send_all = send_all.ok_or_else(|| StartError::Other("bots need a gateway".into()))?;
        let known = world.known();
        // Bounding boxes are enough to avoid each other.
        let solids = known.shapes.solids().iter();
        let extents = solids.map(Solid::without_model).collect();
        let (stop, active) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let shapes = Shapes::new(extents);
        let mut dice = Dice::new(seed);
        let bot = |number: u32| Bot::new(number, known.manifest.gate, &shapes, &mut dice);
        let bots_thread = BotThread {
            bots: (0..count).map(bot).collect(),
            ground,
            clock: Clock::start(),
            messages,
            send_all,
            dice: Dice::new(seed ^ 1),
            stop: stop.clone(),
            active: active.clone(),
        };
        let thread =
            std::thread::Builder::new().name("walkers".into()).spawn(move || bots_thread.run());
        let thread = thread.map_err(|error| StartError::Other(error.to_string()))?;
        Ok(Bots { stop, active, thread: Some(thread) })
    }

    /// Bots that are in the world.
    pub(super) fn active(&self) -> u64 {
        self.active.load(Relaxed)
    }
}

impl Drop for Bots {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic was reported by the panic hook.
            let _ = thread.join();
        }
    }
}

struct BotThread {
    bots: Vec<Bot>,
    ground: Block,
    clock: Clock,
    messages: Receiver<(ClientId, GatewayMessage)>,
    send_all: SendFn,
    dice: Dice,
    stop: Arc<AtomicBool>,
    active: Arc<AtomicU64>,
}

impl BotThread {
    fn run(mut self) {
        let mut out = Vec::new();
        // A short pause between rounds, so that each handles many messages.
        let pause = Duration::from_millis(5);
        while !self.stop.load(Relaxed) {
            match self.messages.recv_timeout(pause) {
                Ok(message) => {
                    self.receive(message, &mut out);
                    while let Ok(message) = self.messages.try_recv() {
                        self.receive(message, &mut out);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            let now = self.clock.now();
            for bot in &mut self.bots {
                if bot.think_at <= now {
                    bot.think(now, &self.ground, &mut self.dice);
                }
                if bot.client.wake_at() <= now {
                    bot.client.wake(now, &mut out);
                    send_all(&self.send_all, bot.client.id(), &mut out);
                }
            }
            let active = self.bots.iter().filter(|bot| bot.client.is_active()).count();
            self.active.store(active as u64, Relaxed);
            std::thread::sleep(pause);
        }
    }

    fn receive(&mut self, (client, message): (ClientId, GatewayMessage), out: &mut Vec<Output>) {
        let number = client.host.wrapping_sub(HOSTS) as usize;
        let Some(bot) = self.bots.get_mut(number) else { return };
        let from = Address::Gate(bot.client.gate());
        bot.client.receive(self.clock.now(), from, message, out);
        send_all(&self.send_all, client, out);
    }
}

fn send_all(send_all: &SendFn, client: ClientId, out: &mut Vec<Output>) {
    for output in out.drain(..) {
        if let Output::Send(_, Message::FromClient(message)) = output {
            send_all(client, message);
        }
    }
}

/// A bot.
struct Bot {
    client: Client,
    speed: f64,
    target: Option<[f64; 2]>,
    think_at: Time,
    /// Where it was last seen to make progress, and when.
    marked: ([f64; 2], Time),
    /// Velocity and spin of its last input.
    input: ([i16; 3], [i16; 3]),
}

impl Bot {
    fn new(number: u32, gate: u32, shapes: &Shapes, dice: &mut Dice) -> Bot {
        let me = ClientId { host: HOSTS + number, connection: LocalClients::CONNECTION };
        Bot {
            client: Client::new(me, vec![gate], shapes.clone(), SETTINGS),
            speed: dice.between(SPEEDS[0], SPEEDS[1]),
            target: None,
            think_at: Time(dice.below(THINK.0)),
            marked: ([0.0; 2], Time(0)),
            input: ([0; 3], [0; 3]),
        }
    }

    /// Moves towards the target, facing it.
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
        let input = ([units(x * part), 0, units(z * part)], [0, units(turn), 0]);
        // A collision has stopped it: the input is sent again.
        let stopped = own.velocity != input.0;
        if differs(input, self.input) || (stopped && own.velocity.contains(&0)) {
            self.input = input;
            self.client.steer(now, input.0, input.1);
        }
    }
}

/// A random point of the area, at most `reach` away along each axis.
fn draw(here: [f64; 2], reach: f64, ground: &Block, dice: &mut Dice) -> [f64; 2] {
    let mut along = |axis: usize, here: f64| {
        let low = (f64::from(ground.min[axis]) * POSITION_UNIT).max(here - reach);
        let high = (f64::from(ground.max[axis]) * POSITION_UNIT).min(here + reach);
        dice.between(low, high.max(low))
    };
    [along(0, here[0]), along(2, here[1])]
}

/// Spin about the vertical that turns the front, -z, into the direction of movement.
fn turn_towards(own: &State, [x, z]: [f64; 2]) -> f64 {
    let [_, y, _, w] = own.rotation.quaternion().to_array();
    let (is, wanted) = (2.0 * y.atan2(w), (-x).atan2(-z));
    let off = (wanted - is + PI).rem_euclid(TAU) - PI;
    // Less than the whole angle per decision, to avoid oscillation.
    let turn = (off / 0.4).clamp(-TURN, TURN);
    if off.abs() < 0.05 { 0.0 } else { turn }
}

fn units(per_second: f64) -> i16 {
    (per_second / VELOCITY_UNIT).round() as i16
}

/// Returns true if two inputs differ enough to send the new one.
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
