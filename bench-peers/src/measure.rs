//! The clock, and the one way in which everything is measured.
//!
//! Thread-CPU time of the queries alone, one thread. The engines take turns, a block of poses each,
//! so that whatever else the machine does hits all alike. No engine sees a pose of a query twice:
//! what is measured is a first pass, with caches as cold as in use.

use rustix::time::{ClockId, clock_gettime};
use std::hint::black_box;

/// CPU time of this thread in nanoseconds.
pub(crate) fn thread_nanos() -> u64 {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// CPU time of this thread that `f` takes, in nanoseconds, and its result.
pub(crate) fn timed<T>(f: impl FnOnce() -> T) -> (u64, T) {
    let start = thread_nanos();
    let result = black_box(f());
    (thread_nanos() - start, result)
}

/// Who answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    Us,
    Fcl,
    Parry,
}

impl Engine {
    pub(crate) const ALL: [Engine; 3] = [Engine::Us, Engine::Fcl, Engine::Parry];
    pub(crate) const PEERS: [Engine; 2] = [Engine::Fcl, Engine::Parry];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Engine::Us => "Jostle",
            Engine::Fcl => "FCL",
            Engine::Parry => "parry",
        }
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Query {
    Touch,
    Pairs,
    Distance,
    Within(f64),
}

impl Query {
    pub(crate) fn name(self) -> String {
        match self {
            Query::Touch => "touch".into(),
            Query::Pairs => "all pairs".into(),
            Query::Distance => "distance".into(),
            Query::Within(d) => format!("within {d}"),
        }
    }
}

/// Consecutive poses, measured as one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) queries: usize,
    pub(crate) nanos: u64,
}

impl Block {
    fn mean_us(&self) -> f64 {
        self.nanos as f64 / 1e3 / self.queries as f64
    }
}

/// What one engine answered to one query, and how long it took.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) engine: Engine,
    pub(crate) blocks: Vec<Block>,
    /// One number per pose: 0 or 1, the number of pairs, or the distance.
    pub(crate) answers: Vec<f64>,
}

/// A figure with its spread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    pub(crate) mean: f64,
    pub(crate) median: f64,
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Figure {
    /// The spread of `samples` around a mean computed elsewhere.
    pub(crate) fn new(mean: f64, mut samples: Vec<f64>) -> Figure {
        samples.sort_by(f64::total_cmp);
        let at = |i: usize| samples.get(i).copied().unwrap_or(f64::NAN);
        let last = samples.len().saturating_sub(1);
        Figure {
            mean,
            median: (at(last / 2) + at(last.div_ceil(2))) / 2.0,
            min: at(0),
            max: at(last),
        }
    }
}

impl Series {
    pub(crate) fn queries(&self) -> usize {
        self.blocks.iter().map(|b| b.queries).sum()
    }

    fn nanos(&self) -> u64 {
        self.blocks.iter().map(|b| b.nanos).sum()
    }

    /// Microseconds per query; the spread is that of the means of the blocks.
    pub(crate) fn micros(&self) -> Figure {
        let mean = self.nanos() as f64 / 1e3 / self.queries() as f64;
        Figure::new(mean, self.blocks.iter().map(Block::mean_us).collect())
    }

    pub(crate) fn hits(&self) -> usize {
        self.answers.iter().filter(|&&answer| answer > 0.0).count()
    }

    pub(crate) fn sum(&self) -> f64 {
        self.answers.iter().sum()
    }

    /// How much longer `self` took than `us`, over the blocks that both did; the spread is that of
    /// the ratios of the blocks, which hold the same poses for both.
    pub(crate) fn times_slower_than(&self, us: &Series) -> Figure {
        let both = || self.blocks.iter().zip(&us.blocks);
        let ratio = |peer: u64, us: u64| peer as f64 / us.max(1) as f64;
        let (peer, ours) = both().fold((0, 0), |s, (p, u)| (s.0 + p.nanos, s.1 + u.nanos));
        Figure::new(ratio(peer, ours), both().map(|(p, u)| ratio(p.nanos, u.nanos)).collect())
    }

    /// Appends what the same engine did on further poses.
    pub(crate) fn extend(&mut self, more: Series) {
        self.blocks.extend(more.blocks);
        self.answers.extend(more.answers);
    }
}

/// An engine with the query it is to answer, by the number of the pose.
pub(crate) struct Runner<'a> {
    pub(crate) engine: Engine,
    /// It answers only so many of the first poses.
    pub(crate) limit: usize,
    pub(crate) ask: Box<dyn FnMut(usize) -> f64 + 'a>,
}

/// Asks all engines about `poses` poses, in turns of `block` poses.
pub(crate) fn interleave(runners: &mut [Runner<'_>], poses: usize, block: usize) -> Vec<Series> {
    let mut series: Vec<Series> = runners
        .iter()
        .map(|r| Series { engine: r.engine, blocks: Vec::new(), answers: Vec::new() })
        .collect();
    // Also cut where an engine stops, so that ratios compare the same poses.
    let mut cuts: Vec<usize> = (0..poses).step_by(block.max(1)).collect();
    cuts.extend(runners.iter().map(|r| r.limit.min(poses)).chain([poses]));
    cuts.sort_unstable();
    cuts.dedup();
    for (turn, cut) in cuts.windows(2).enumerate() {
        for k in 0..runners.len() {
            // The order rotates: the first of a block finds the caches of another.
            let who = (turn + k) % runners.len();
            let runner = &mut runners[who];
            if cut[0] >= runner.limit {
                continue;
            }
            let series = &mut series[who];
            series.answers.reserve(cut[1] - cut[0]);
            let (nanos, ()) = timed(|| {
                for pose in cut[0]..cut[1] {
                    series.answers.push(black_box((runner.ask)(black_box(pose))));
                }
            });
            series.blocks.push(Block { queries: cut[1] - cut[0], nanos });
        }
    }
    series
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    #[test]
    fn every_engine_sees_every_pose_once_and_blocks_match() {
        let seen = [RefCell::new(Vec::new()), RefCell::new(Vec::new())];
        let mut runners: Vec<Runner<'_>> = [(Engine::Us, 47), (Engine::Parry, 5)]
            .into_iter()
            .zip(&seen)
            .map(|((engine, limit), seen)| {
                let ask = move |pose: usize| {
                    seen.borrow_mut().push(pose);
                    pose as f64
                };
                Runner { engine, limit, ask: Box::new(ask) }
            })
            .collect();
        let series = interleave(&mut runners, 47, 10);
        assert_eq!(*seen[0].borrow(), (0..47).collect::<Vec<_>>());
        assert_eq!(*seen[1].borrow(), (0..5).collect::<Vec<_>>());
        assert_eq!(series[0].queries(), 47);
        // The ratio to the slow engine compares the same five poses.
        assert_eq!(series[0].blocks[0].queries, series[1].blocks[0].queries);
        assert_eq!(series[1].blocks.len(), 1);
        assert_eq!(series[0].answers[46], 46.0);
    }

    #[test]
    fn a_figure_has_the_middle_and_the_ends() {
        let figure = Figure::new(2.5, vec![4.0, 1.0, 3.0, 2.0]);
        assert_eq!((figure.min, figure.median, figure.max), (1.0, 2.5, 4.0));
    }
}
