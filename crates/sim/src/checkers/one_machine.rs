//! C1, C3: what is published is what one machine would have found, tick by tick, without gaps; a
//! tick that is published again is published in the same words.

use jostle_proto::{
    Commit, Detector, Object, Objects, Shapes, Tick, Touch, advance, apply, digest,
};
use std::collections::BTreeMap;

/// A tick as one machine has it.
pub(super) struct Truth {
    /// Before anything is done to them.
    pub(super) objects: Objects,
    /// Pairs that it had to decide about.
    pub(super) compared: u64,
}

pub(super) struct OneMachine {
    objects: Objects,
    detector: Detector,
    rate: u32,
    last: Tick,
    /// The newest ticks as they were published.
    published_ticks: BTreeMap<Tick, Commit>,
    collisions: u64,
    /// How many ticks there were, also of worlds before this one was restored.
    ever: u64,
}

impl OneMachine {
    pub(super) fn new(objects: &[Object], shapes: &Shapes, rate: u32) -> OneMachine {
        OneMachine {
            objects: objects.iter().copied().collect(),
            detector: Detector::new(shapes.clone(), rate),
            rate,
            last: Tick(0),
            published_ticks: BTreeMap::new(),
            collisions: 0,
            ever: 0,
        }
    }

    /// The objects are those after this tick.
    pub(super) fn begin_at(&mut self, tick: Tick) {
        self.last = tick;
    }

    /// The same of a restored world, after so many ticks of those before it.
    pub(super) fn begin_after(&mut self, tick: Tick, ever: u64) {
        (self.last, self.ever) = (tick, ever);
    }

    pub(super) fn published_ever(&self) -> u64 {
        self.ever
    }

    pub(super) fn ticks(&self) -> u64 {
        self.last.0
    }

    /// The world after the last tick.
    pub(super) fn objects(&self) -> &Objects {
        &self.objects
    }

    pub(super) fn collisions(&self) -> u64 {
        self.collisions
    }

    /// The truth about a new tick; none about one that is not.
    pub(super) fn published(
        &mut self,
        commit: &Commit,
        violations: &mut Vec<(&'static str, String)>,
    ) -> Option<Truth> {
        let tick = commit.tick;
        if tick == Tick(0) {
            return None;
        }
        if tick <= self.last {
            let same = self.published_ticks.get(&tick).is_none_or(|published_ticks| {
                Commit { epoch: commit.epoch, ..published_ticks.clone() } == *commit
            });
            if !same {
                violations.push(("C3", format!("tick {} was published in other words", tick.0)));
            }
            return None;
        }
        if tick != self.last.next() {
            violations.push(("C3", format!("tick {} came after {}", tick.0, self.last.0)));
            self.last = tick;
            return None;
        }
        advance(&mut self.objects, self.last, self.rate);
        let truth = self.objects.clone();
        let right = self.detector.touches(truth.as_slice());
        if right != commit.touches {
            violations.push(("C1", difference(tick, &right, &commit.touches)));
        }
        if digest(truth.values()) != commit.digest {
            violations.push(("C1", format!("tick {}: the objects are others", tick.0)));
        }
        self.collisions += right.len() as u64;
        apply(&mut self.objects, commit, |_| true);
        self.last = tick;
        self.ever += 1;
        self.published_ticks.insert(tick, commit.clone());
        if self.published_ticks.len() > 4 {
            self.published_ticks.pop_first();
        }
        Some(Truth { objects: truth, compared: self.detector.pairs_tested() })
    }
}

fn difference(tick: Tick, right: &[Touch], found: &[Touch]) -> String {
    let missing = right.iter().find(|touch| !found.contains(touch));
    let extra = found.iter().find(|touch| !right.contains(touch));
    let doubled = found.windows(2).find(|pair| pair[0] == pair[1]);
    format!(
        "tick {}: {} pairs instead of {}; missing {missing:?}, too many {extra:?}, \
         twice {doubled:?}",
        tick.0,
        found.len(),
        right.len()
    )
}
