//! Where states will be some ticks later if nothing happens, faster than tick by tick.
//!
//! [`State::moved`] says what the world does; this says the same in one step, as a reference that
//! both ends of a wire have. Where it is wrong, the wire carries the difference.

use crate::object::Class;
use crate::state::{Rotation, State, VELOCITY_UNIT};
use crate::time::Tick;
use glam::DVec3;

/// Over more ticks than this nothing is predicted: no object flies freely for so long.
const FORESIGHT: u64 = 1024;

/// Over so many ticks turns are rounded tick by tick, as the world does; over more, once.
const TURNS: u64 = 2;

/// Units of position per unit of velocity and second.
const PER_SECOND: i64 = 16;

/// From one tick to another at so many ticks per second.
pub(super) struct Forecast {
    ticks: u64,
    rate: i64,
    /// Whole seconds between the two, as the world counts them since it began.
    seconds: i64,
    /// Ticks into the second, before and after.
    before: i64,
    after: i64,
}

impl Forecast {
    pub(super) fn new(from: Tick, to: Tick, rate: u32) -> Forecast {
        let ticks = to.0.checked_sub(from.0).filter(|&ticks| ticks <= FORESIGHT).unwrap_or(0);
        let rate = u64::from(rate.max(1));
        let to = from.0 + ticks;
        Forecast {
            ticks,
            rate: rate as i64,
            seconds: (to / rate - from.0 / rate) as i64,
            before: (from.0 % rate) as i64,
            after: (to % rate) as i64,
        }
    }

    pub(super) fn of(&self, class: Class, state: &State) -> State {
        let mut state = *state;
        // These stay where they are, whatever their velocity (see `advance`).
        if self.ticks == 0 || matches!(class, Class::Immovable | Class::Absent | Class::Leaving(..))
        {
            return state;
        }
        for (along, &velocity) in state.position.iter_mut().zip(&state.velocity) {
            if velocity != 0 {
                // At most 2^19 times 2^32: far from overflow.
                let way = i64::from(velocity) * PER_SECOND;
                let by = way * self.seconds + (way * self.after).div_euclid(self.rate)
                    - (way * self.before).div_euclid(self.rate);
                let end = i64::from(*along) + by;
                *along = end.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
            }
        }
        if state.spin != [0; 3] {
            self.turn(&mut state);
        }
        state
    }

    fn turn(&self, state: &mut State) {
        let spin = DVec3::from_array(state.spin.map(|part| f64::from(part) * VELOCITY_UNIT));
        let (times, share) =
            if self.ticks <= TURNS { (self.ticks, 1.0) } else { (1, self.ticks as f64) };
        let Some(turn) = jostle_geom::rotation_from_scaled_axis(spin / self.rate as f64 * share)
        else {
            return;
        };
        for _ in 0..times {
            state.rotation = Rotation::from_quaternion(turn * state.rotation.quaternion());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn a_forecast_is_tick_by_tick(
            position: [i32; 3], velocity: [i16; 3], spin: [i16; 3], bits: u64,
            from in prop_oneof![0..1000u64, Just(u64::MAX - 2000)],
            ticks in 0..=TURNS,
            rate in prop_oneof![Just(0u32), Just(60), Just(u32::MAX), 1..200u32],
        ) {
            let position = position.map(|along| along / 2);
            let rotation = Rotation::from_bits(bits);
            let state = State { position, rotation, velocity, spin };
            let slow = (0..ticks).fold(state, |state, tick| state.moved(Tick(from + tick), rate));
            let forecast = Forecast::new(Tick(from), Tick(from + ticks), rate);
            let fast = forecast.of(Class::Dynamic, &state);
            prop_assert_eq!(fast, slow);
        }

        #[test]
        fn any_ticks_are_taken(
            position: [i32; 3], spin: [i16; 3], from: u64, to: u64,
            rate in prop_oneof![0..100u32, any::<u32>()],
        ) {
            let state = State { position, velocity: spin, spin, ..State::default() };
            Forecast::new(Tick(from), Tick(to), rate).of(Class::Avatar, &state);
        }
    }
}
