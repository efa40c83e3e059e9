//! Which faults exist in a run, and how strong. The seed draws both (TigerBeetle's swarm): a run
//! with few kinds of faults finds what a run with all of them hides.

use crate::dice::Dice;

/// How much goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultProfile {
    /// Nothing: messages take a little while.
    None,
    /// Delay, jitter and a little loss.
    Calm,
    /// Everything, as the seed draws it.
    Campaign,
}

/// The faults of a run. Chances are parts of a million: per message, or per millisecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// The least time that a message takes, in microseconds.
    pub delay: u64,
    /// How much longer it may take.
    pub jitter: u64,
    /// Messages that are lost.
    pub loss: u32,
    /// Messages that come twice.
    pub doubled: u32,
    /// Messages that are held back for up to a second.
    pub clogged: u32,
    /// A link in one direction fails for up to two seconds, per millisecond.
    pub cut: u32,
    /// A node is cut off from all others for up to two seconds, per millisecond.
    pub parted: u32,
    /// A node dies and comes back later with nothing, per millisecond.
    pub crash: u32,
    /// A node stands still for up to two seconds, per millisecond.
    pub pause: u32,
    /// The directory stands still for up to a second, per millisecond.
    pub directory_pause: u32,
    /// Clocks run faster or slower by up to so many parts of a million.
    pub drift: u32,
    /// New nodes come, per millisecond.
    pub join: u32,
    /// Some nodes need up to so many microseconds for a message.
    pub slow: u32,
    /// Frames of which bits are flipped, in fault campaigns in which messages go through their
    /// bytes.
    pub corrupt: u32,
}

impl Faults {
    /// What a seed draws.
    #[must_use]
    pub fn draw(fault_profile: FaultProfile, dice: &mut Dice) -> Faults {
        match fault_profile {
            FaultProfile::None => Faults { delay: 500, jitter: 500, ..Faults::default() },
            FaultProfile::Calm => {
                Faults { delay: 500, jitter: 4_000, loss: 5_000, join: 300, ..Faults::default() }
            }
            FaultProfile::Campaign => Faults::campaign(dice),
        }
    }

    fn campaign(dice: &mut Dice) -> Faults {
        // One in twenty has everything, the others each kind with an even chance.
        let all = dice.below(20) == 0;
        let mut pick = |most: u64| {
            let strength = dice.below(most + 1);
            if all || dice.coin() { strength } else { 0 }
        };
        Faults {
            delay: 100 + pick(20_000),
            jitter: pick(30_000),
            loss: pick(200_000) as u32,
            doubled: pick(100_000) as u32,
            clogged: pick(10_000) as u32,
            cut: pick(2_000) as u32,
            parted: pick(1_000) as u32,
            crash: pick(3_000) as u32,
            pause: pick(1_000) as u32,
            directory_pause: pick(500) as u32,
            drift: pick(20_000) as u32,
            join: pick(1_000) as u32,
            slow: pick(6_000) as u32,
            corrupt: 0,
        }
    }

    /// The same network when everything that breaks is mended.
    #[must_use]
    pub fn healed(self) -> Faults {
        Faults { delay: self.delay, jitter: self.jitter, drift: self.drift, ..Faults::default() }
    }
}
