//! The largest set of machines that are all linked with each other, on the bits of a word.
//!
//! The thesis (3.3.7) writes down all 2^n sets. Here sets grow one member at a time, and a branch
//! is given up when its colours show that it cannot win: no two linked members have the same
//! colour, so a set with c colours has no clique of more than c (Tomita and Seki 2003; for bits San
//! Segundo et al. 2011).

/// Sets that are looked at in one search. Random links between 64 machines need fewer (see the
/// tests); a machine that sends false delays could make it very many, and then the best so far has
/// to do.
pub(super) const STEPS_MAX: u32 = 1 << 16;

/// Which machines are linked.
#[derive(Clone, Debug)]
pub(super) struct Graph([u64; 64]);

impl Default for Graph {
    fn default() -> Graph {
        Graph([0; 64])
    }
}

struct Search<'a> {
    graph: &'a Graph,
    /// The size at which the search ends.
    enough: u32,
    steps: u32,
    best: u64,
}

impl Graph {
    /// Both below 64.
    pub(super) fn link(&mut self, a: usize, b: usize) {
        self.0[a] |= 1 << b;
        self.0[b] |= 1 << a;
    }

    /// Are all of them linked with each other?
    pub(super) fn is_clique(&self, set: u64) -> bool {
        members(set).all(|member| set & !self.0[member] == 1 << member)
    }

    /// All that are linked with all of them.
    pub(super) fn linked_with_all(&self, set: u64) -> u64 {
        members(set).fold(u64::MAX, |all, member| all & self.0[member])
    }

    /// A largest clique of at most `most` members, or the best within so many steps.
    pub(super) fn largest(&self, among: u64, most: u32, steps: u32) -> u64 {
        let mut search = Search { graph: self, enough: most, steps, best: 0 };
        search.grow(0, among);
        search.best
    }

    /// The first clique of that size, in the order of its lowest member, then its next one. None if
    /// there is none, or it is not found in so many steps.
    pub(super) fn first_of_size(&self, among: u64, size: u32, mut steps: u32) -> Option<u64> {
        self.first(among, size, &mut steps)
    }

    fn first(&self, mut among: u64, size: u32, steps: &mut u32) -> Option<u64> {
        if size == 0 {
            return Some(0);
        }
        *steps = steps.checked_sub(1)?;
        if among.count_ones() < size || self.colours(among).1 < size {
            return None;
        }
        while among.count_ones() >= size {
            let lowest = among.trailing_zeros() as usize;
            among &= among - 1;
            if let Some(rest) = self.first(among & self.0[lowest], size - 1, steps) {
                return Some(rest | 1 << lowest);
            }
        }
        None
    }

    /// Members in the order of their colours, each with the number of colours up to it; and how
    /// many colours there are.
    fn colours(&self, set: u64) -> ([(u8, u8); 64], u32) {
        let mut order = [(0, 0); 64];
        let (mut rest, mut colour, mut count) = (set, 0, 0);
        while rest != 0 {
            colour += 1;
            let mut same = rest;
            while same != 0 {
                let member = same.trailing_zeros();
                same &= !self.0[member as usize] & (same - 1);
                rest &= !(1 << member);
                order[count] = (member as u8, colour);
                count += 1;
            }
        }
        (order, u32::from(colour))
    }
}

impl Search<'_> {
    /// Tries to add members of `among`, all linked with all of `set`.
    fn grow(&mut self, set: u64, mut among: u64) {
        let size = set.count_ones();
        if size > self.best.count_ones() {
            self.best = set;
        }
        let Some(steps) = self.steps.checked_sub(1) else { return };
        self.steps = steps;
        let (order, _) = self.graph.colours(among);
        for &(member, colours) in order[..among.count_ones() as usize].iter().rev() {
            let best = self.best.count_ones();
            if size + u32::from(colours) <= best || best >= self.enough || self.steps == 0 {
                return;
            }
            let linked = self.graph.0[usize::from(member)];
            self.grow(set | 1 << member, among & linked);
            among &= !(1 << member);
        }
    }
}

fn members(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lowest = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(lowest)
    })
}

#[cfg(test)]
mod tests {
    use super::{Graph, STEPS_MAX, members};

    /// SplitMix64 (Steele, Lea, Flood 2014).
    struct Random(u64);

    impl Random {
        fn graph(&mut self, n: usize, percent: u64) -> Graph {
            let mut graph = Graph::default();
            for a in 0..n {
                for b in 0..a {
                    if jostle_dice::below(&mut self.0, 100) < percent {
                        graph.link(a, b);
                    }
                }
            }
            graph
        }
    }

    #[test]
    fn random_links_between_64_machines_stay_within_the_steps() {
        for seed in 0..60 {
            let percent = [10, 50, 70, 80, 90, 97][seed as usize % 6];
            let graph = Random(seed).graph(64, percent);
            let found = graph.largest(u64::MAX, 64, STEPS_MAX);
            let surely = graph.largest(u64::MAX, 64, u32::MAX);
            assert_eq!(found, surely, "seed {seed}");
            assert!(graph.is_clique(found));
            let first = graph.first_of_size(u64::MAX, found.count_ones(), STEPS_MAX).unwrap();
            assert!(graph.is_clique(first) && first.count_ones() == found.count_ones());
            // Nothing can be added.
            let more = |member: usize| first >> member & 1 == 0 && first & !graph.0[member] == 0;
            assert!(!(0..64).any(more), "seed {seed}");
        }
    }

    /// Twelve rings of five, all linked with all others: colours allow 36, the truth is 24, and
    /// there are 5^12 sets of that size.
    #[test]
    fn a_search_that_would_take_too_long_is_given_up() {
        let mut graph = Graph::default();
        for a in 0..60usize {
            for b in 0..a {
                let apart = (a % 5).abs_diff(b % 5);
                if a / 5 != b / 5 || apart == 1 || apart == 4 {
                    graph.link(a, b);
                }
            }
        }
        let found = graph.largest((1 << 60) - 1, 64, STEPS_MAX);
        assert!(graph.is_clique(found));
        assert_eq!(found.count_ones(), 24, "two of each ring are found at once");
        assert_eq!(graph.first_of_size((1 << 60) - 1, 25, STEPS_MAX), None);
        assert_eq!(graph.largest((1 << 60) - 1, 8, STEPS_MAX).count_ones(), 8);
    }

    #[test]
    fn members_ascend() {
        assert_eq!(members(0).count(), 0);
        assert_eq!(members(1 << 63 | 0b101).collect::<Vec<_>>(), [0, 2, 63]);
    }
}
