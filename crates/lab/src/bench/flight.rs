//! Something that flies about in a room, turns, and bounces off its walls.

use super::Random;
use glam::{DQuat, DVec3};
use jostle_geom::Pose;

/// In which room, and how fast at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Air {
    /// Middles stay in a cube of this half side.
    pub(crate) room: f64,
    /// The largest motion in a step along an axis, and the largest turn in radians.
    pub(crate) speed: f64,
    pub(crate) turn: f64,
}

/// Where something is, and where it goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flight {
    at: DVec3,
    velocity: DVec3,
    turn: DQuat,
    spin: DQuat,
}

impl Flight {
    pub(crate) fn new(air: Air, random: &mut Random) -> Flight {
        let spin = DQuat::from_axis_angle(random.direction(), random.between(-air.turn, air.turn));
        let at = random.point() * air.room;
        Flight { at, velocity: random.point() * air.speed, turn: random.rotation(), spin }
    }

    pub(crate) fn step(&mut self, air: Air) {
        self.turn = (self.spin * self.turn).normalize();
        self.at += self.velocity;
        for axis in 0..3 {
            if self.at[axis].abs() > air.room {
                self.at[axis] = self.at[axis].clamp(-air.room, air.room);
                self.velocity[axis] = -self.velocity[axis];
            }
        }
    }

    /// Two that touch fly apart, each as fast as it was.
    pub(crate) fn bounce(pair: &mut [Flight; 2]) {
        let away = (pair[1].at - pair[0].at).try_normalize().unwrap_or(DVec3::X);
        for (flight, sign) in pair.iter_mut().zip([-1.0, 1.0]) {
            flight.velocity = away * (sign * flight.velocity.length());
        }
    }

    pub(crate) fn pose(&self) -> Pose {
        Pose::new(self.turn, self.at).expect("places in a room and turns of length 1 are poses")
    }
}
