//! Where a client's own avatar is: its last known state in the world, moved on to the tick in which
//! the present input will be followed.
//!
//! The motion is the one that the group computes ([`State::moved`]), so as long as nothing is run
//! into, and wants are followed in the tick that was expected, the prediction is what the world
//! will say, bit by bit. When it says something else, the prediction begins there and the wants
//! that were not followed yet are tried again on top of it.

use crate::input::ClientInput;
use crate::object::Class;
use crate::reckon::predict::Surroundings;
use crate::reckon::{Convergence, Motion, Place, Rates, Receiver, Update, UpdateData};
use crate::state::{POSITION_UNIT, State, VELOCITY_UNIT};
use crate::time::{Span, Tick, Time};
use glam::DVec3;
use std::collections::VecDeque;

/// Wants that were not followed yet; more are forgotten, oldest first.
pub(super) const PENDING_MAX: usize = 64;

/// Ticks that are predicted, at most.
const AHEAD_MAX: u64 = 120;

/// A difference between expected and true arrival that is not made up for little by little.
const SNAP: Span = Span::from_ms(500);

/// What is shown goes to where it should be within this time.
const CONVERGE: Span = Span::from_ms(100);

/// When ticks are, as seen from here: those that come earliest count, for others were held up.
#[derive(Clone, Copy, Debug)]
struct Clock {
    tick: Tick,
    at: Time,
    /// From one tick to the next, in microseconds.
    period: u64,
}

impl Clock {
    /// A tick has come.
    fn came(&mut self, now: Time, tick: Tick, period: u64) {
        let expected = self.time_of(tick);
        self.period = period;
        self.tick = tick;
        let late = now - expected;
        self.at = if now <= expected || late > SNAP {
            now
        } else {
            // A way that has become longer is believed little by little.
            Time(expected.0 + late.0 / 16)
        };
    }

    fn time_of(&self, tick: Tick) -> Time {
        let ahead = tick.0.saturating_sub(self.tick.0).saturating_mul(self.period);
        let behind = self.tick.0.saturating_sub(tick.0).saturating_mul(self.period);
        Time(self.at.0.saturating_add(ahead).saturating_sub(behind))
    }

    /// The tick that has come by now, or should have.
    fn tick_at(&self, now: Time) -> Tick {
        Tick(self.tick.0 + (now - self.at).0 / self.period.max(1))
    }
}

#[derive(Clone, Copy, Debug)]
struct Pending {
    want: ClientInput,
    /// The tick that had come when it was said.
    sent: Tick,
    /// The tick in which it is expected to be followed.
    expected: Tick,
}

/// A client's own avatar.
#[derive(Clone, Debug)]
pub(super) struct Own {
    rate: u32,
    received: Option<(Tick, Class, State)>,
    clock: Option<Clock>,
    pending: VecDeque<Pending>,
    /// From the tick that has come when something is said to the tick that follows it; measured.
    lag: Option<u64>,
    shown: Receiver,
    updates: u64,
    corrections: u64,
}

impl Own {
    pub(super) fn new(rate: u32) -> Own {
        Own {
            rate,
            received: None,
            clock: None,
            pending: VecDeque::new(),
            lag: None,
            shown: Receiver::new(Convergence::Line(CONVERGE)),
            updates: 0,
            corrections: 0,
        }
    }

    /// The tick that the avatar is shown in: the one in which what is said now will be followed.
    pub(super) fn present(&self, now: Time) -> Option<Tick> {
        let clock = self.clock.as_ref()?;
        let (received, ..) = self.received?;
        let tick = clock.tick_at(now).0.saturating_add(self.lag.unwrap_or(0));
        Some(Tick(tick.clamp(received.0, received.0.saturating_add(AHEAD_MAX))))
    }

    /// When a tick is present.
    pub(super) fn time_of(&self, tick: Tick) -> Option<Time> {
        let clock = self.clock.as_ref()?;
        let lag = self.lag.unwrap_or(0).saturating_mul(clock.period);
        Some(Time(clock.time_of(tick).0.saturating_sub(lag)))
    }

    /// Something is wanted.
    pub(super) fn want(&mut self, now: Time, want: ClientInput) {
        let sent = self.clock.as_ref().map_or(Tick(0), |clock| clock.tick_at(now));
        let last = self.pending.back().map_or(Tick(0), |last| last.expected);
        let expected = self.present(now).unwrap_or(sent).max(last);
        if self.pending.len() >= PENDING_MAX {
            self.pending.pop_front();
        }
        self.pending.push_back(Pending { want, sent, expected });
        self.show_anew(now);
    }

    /// A gateway has made something else of what was wanted.
    pub(super) fn correct(&mut self, now: Time, made: ClientInput) {
        for pending in &mut self.pending {
            if pending.want.number == made.number {
                pending.want = made;
            }
        }
        self.show_anew(now);
    }

    /// A state update: the avatar at a tick, the last input that was followed and when.
    pub(super) fn receive(
        &mut self,
        now: Time,
        (tick, class, state): (Tick, Class, State),
        dilation: u32,
        (followed, followed_at): (u64, Tick),
    ) {
        let period = 1000 * u64::from(dilation.max(1000)) / u64::from(self.rate.max(1));
        match &mut self.clock {
            Some(clock) => clock.came(now, tick, period),
            None => self.clock = Some(Clock { tick, at: now, period }),
        }
        let expected = self.predicted(tick);
        if expected.is_some_and(|expected| expected != state) {
            self.corrections += 1;
        }
        self.received = Some((tick, class, state));
        while let Some(pending) = self.pending.front().copied()
            && pending.want.number <= followed
        {
            self.pending.pop_front();
            if pending.want.number == followed {
                self.measure(followed_at.0.saturating_sub(pending.sent.0));
            }
        }
        // What should have been followed by now will be.
        for pending in &mut self.pending {
            pending.expected = pending.expected.max(tick.next());
        }
        self.show_anew(now);
    }

    /// The first measurement counts whole; after that one tick at a time, for ways vary.
    fn measure(&mut self, lag: u64) {
        let lag = lag.min(AHEAD_MAX);
        self.lag = Some(match self.lag {
            None => lag,
            Some(before) if before < lag => before + 1,
            Some(before) if before > lag => before - 1,
            Some(before) => before,
        });
    }

    /// The avatar at a tick, as it is expected.
    pub(super) fn predicted(&self, at: Tick) -> Option<State> {
        let (received, class, mut state) = self.received?;
        if class != Class::Avatar {
            return Some(state);
        }
        let mut waiting = self.pending.iter().peekable();
        let mut tick = received;
        let end = at.0.min(received.0.saturating_add(AHEAD_MAX));
        while tick.0 < end {
            state = state.moved(tick, self.rate);
            tick = tick.next();
            while let Some(pending) = waiting.next_if(|pending| pending.expected <= tick) {
                (state.velocity, state.spin) = (pending.want.velocity, pending.want.spin);
            }
        }
        Some(state)
    }

    /// The newest known state of the avatar, and its tick.
    pub(super) fn last_received(&self) -> Option<(Tick, State)> {
        self.received.map(|(tick, _, state)| (tick, state))
    }

    /// The avatar in the present, as whole numbers.
    pub(super) fn now(&self, now: Time) -> Option<State> {
        self.predicted(self.present(now)?)
    }

    /// Between two ticks too.
    fn motion(&self, now: Time) -> Option<Motion> {
        let present = self.present(now)?;
        let since = now - self.time_of(present)?;
        let period = Span(self.clock.map_or(0, |clock| clock.period));
        Some(motion(&self.predicted(present)?).after(since.min(period).as_seconds()))
    }

    fn show_anew(&mut self, now: Time) {
        let Some(Motion { place, speed, .. }) = self.motion(now) else { return };
        self.updates += 1;
        let update =
            Update { seq: self.updates, stamp: now, data: UpdateData::First(place, speed) };
        // One in the same microsecond is not needed.
        let _ = self.shown.receive(now, &update, &Surroundings::default());
    }

    /// The avatar for the eye: where it was wrong it is led to where it should be.
    pub(super) fn shown(&mut self, now: Time) -> Option<Place> {
        self.shown.show(now, &Surroundings::default())
    }

    pub(super) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// How often the world said something else than was predicted.
    pub(super) fn corrections(&self) -> u64 {
        self.corrections
    }

    /// A new connection: what was not followed will not be.
    pub(super) fn reconnect(&mut self) {
        self.pending.clear();
        self.lag = None;
        self.clock = None;
    }
}

/// A state as dead reckoning has it.
pub(super) fn motion(state: &State) -> Motion {
    let metres = |part: i32| f64::from(part) * POSITION_UNIT;
    let speed =
        |parts: [i16; 3]| DVec3::from_array(parts.map(|part| f64::from(part) * VELOCITY_UNIT));
    let place = Place {
        position: DVec3::from_array(state.position.map(metres)),
        rotation: state.rotation.quaternion(),
    };
    let rates = Rates { linear: speed(state.velocity), angular: speed(state.spin) };
    Motion { place, speed: rates, change: Rates::default() }
}
