//! Filters against a plain list of interests.

use super::*;
use crate::Body;
use jostle_geom::{Pose, Shape};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) % limit as u64) as usize
    }
}

fn body() -> Body {
    Body::moving(Shape::sphere(1.0).expect("a radius"), Pose::IDENTITY)
}

/// Bodies and filters, and the same as a list that is searched from one end to the other.
struct Trial {
    bodies: Bodies,
    filters: Filters,
    ids: Vec<BodyId>,
    groups: Vec<GroupId>,
    interests: Vec<([InterestTarget; 2], QueryKind)>,
}

impl Trial {
    fn new() -> Trial {
        let mut filters = Filters::new(Policy::InterestsOnly, Groups::default());
        let mut groups = Vec::new();
        for parent in [None, Some(0), Some(1), None] {
            let parent = parent.map(|at: usize| groups[at]);
            groups.push(filters.new_group(parent).expect("the parent is there"));
        }
        let (bodies, ids) = (Bodies::default(), Vec::new());
        Trial { bodies, filters, ids, groups, interests: Vec::new() }
    }

    fn insert(&mut self) {
        let id = self.bodies.insert(body());
        self.filters.insert(id, None);
        self.ids.push(id);
    }

    fn remove(&mut self, at: usize) {
        let id = self.ids.remove(at);
        let group = self.bodies.get(id).expect("it is there").group;
        self.filters.remove(id, group);
        self.bodies.remove(id).expect("it is there");
        self.interests.retain(|(pair, _)| !pair.contains(&id.into()));
    }

    fn set_group(&mut self, id: BodyId, group: Option<GroupId>) {
        let body = self.bodies.get_mut(id).expect("it is there");
        let before = std::mem::replace(&mut body.group, group);
        self.filters.set_group(id, before, group);
    }

    fn set_interest(&mut self, a: InterestTarget, b: InterestTarget, kind: Option<QueryKind>) {
        let pair = [a.min(b), a.max(b)];
        let before = self.interests.len();
        self.interests.retain(|&(other, _)| other != pair);
        let there = self.interests.len() < before;
        self.interests.extend(kind.map(|kind| (pair, kind)));
        assert_eq!(self.filters.set_interest(a, b, kind), there);
    }

    fn target(&self, random: &mut Random) -> InterestTarget {
        if random.below(3) == 0 {
            self.groups[random.below(self.groups.len())].into()
        } else {
            self.ids[random.below(self.ids.len())].into()
        }
    }

    fn change(&mut self, random: &mut Random) {
        let kinds = [QueryKind::Distance, QueryKind::Distance, QueryKind::Touch];
        match random.below(12) {
            0 => self.insert(),
            1 if self.ids.len() > 2 => self.remove(random.below(self.ids.len())),
            2..5 => {
                let id = self.ids[random.below(self.ids.len())];
                let group = self.groups.get(random.below(self.groups.len() + 1)).copied();
                self.set_group(id, group);
            }
            5..9 => {
                let (a, b) = (self.target(random), self.target(random));
                if a != b || matches!(a, InterestTarget::Group(_)) {
                    self.set_interest(a, b, Some(kinds[random.below(3)]));
                }
            }
            _ => {
                let (a, b) = (self.target(random), self.target(random));
                self.set_interest(a, b, None);
            }
        }
    }

    /// The body, its group, and the groups around that.
    fn path(&self, id: BodyId) -> Vec<InterestTarget> {
        let mut path = vec![InterestTarget::Body(id)];
        let mut next = self.bodies.get(id).expect("it is there").group;
        while let Some(group) = next {
            path.push(InterestTarget::Group(group));
            next = self.filters.groups().get(group).expect("it is there").parent;
        }
        path
    }

    fn find(&self, a: InterestTarget, b: InterestTarget) -> Option<QueryKind> {
        let found = self.interests.iter().find(|(pair, _)| *pair == [a.min(b), a.max(b)]);
        found.map(|&(_, kind)| kind)
    }

    fn nearest(&self, a: BodyId, b: BodyId) -> Option<QueryKind> {
        for one in self.path(a) {
            for other in self.path(b) {
                if let Some(kind) = self.find(one, other) {
                    return Some(kind);
                }
            }
        }
        None
    }

    /// All pairs of bodies, one by one.
    fn distance_pairs(&self) -> Vec<[BodyId; 2]> {
        let mut pairs = Vec::new();
        for (i, &a) in self.ids.iter().enumerate() {
            for &b in self.ids.iter().skip(i + 1) {
                let wanted = |a, b| {
                    let later = |one, other| {
                        one <= other && self.find(one, other) == Some(QueryKind::Distance)
                    };
                    let mut path = self.path(a).into_iter();
                    self.nearest(a, b) == Some(QueryKind::Distance)
                        && path.any(|one| self.path(b).into_iter().any(|other| later(one, other)))
                };
                if wanted(a, b) || wanted(b, a) {
                    pairs.push(ordered(a, b));
                }
            }
        }
        pairs.sort_unstable();
        pairs
    }
}

#[test]
fn interests_are_those_of_a_plain_list() {
    let (mut wanted, mut unwanted) = (0, 0);
    for seed in 0..40 {
        let mut random = Random(seed);
        let mut trial = Trial::new();
        (0..8).for_each(|_| trial.insert());
        for turn in 0..60 {
            trial.change(&mut random);
            let expected = trial.distance_pairs();
            if random.below(2) == 0 {
                trial.filters.refresh_distance_pairs(&trial.bodies);
                assert!(trial.filters.distances.known().is_some());
            }
            let pairs = trial.filters.distance_pairs(&trial.bodies);
            assert_eq!(*pairs, *expected, "seed {seed}, turn {turn}");
            for &a in &trial.ids {
                for &b in trial.ids.iter().filter(|&&b| b != a) {
                    let kind = trial.filters.query_kind(&trial.bodies, a, b);
                    assert_eq!(kind, trial.nearest(a, b), "seed {seed}, turn {turn}");
                }
            }
            let mut all: Vec<_> = trial.filters.all_interests(&trial.bodies).collect();
            assert!(all.is_sorted_by_key(|&(pair, _)| pair));
            let mut plain = trial.interests.clone();
            plain.sort_by_key(|&(pair, _)| pair);
            assert_eq!(std::mem::take(&mut all), plain);
            let all_pairs = trial.ids.len() * (trial.ids.len() - 1) / 2;
            wanted += expected.len();
            unwanted += all_pairs - expected.len();
        }
    }
    assert!(wanted > 1000 && unwanted > 1000, "{wanted} wanted, {unwanted} not");
}

#[test]
fn setting_up_interests_looks_for_no_pairs_until_they_are_needed() {
    let mut trial = Trial::new();
    (0..101).for_each(|_| trial.insert());
    let ids = trial.ids.clone();
    trial.filters.refresh_distance_pairs(&trial.bodies);
    for pair in ids.windows(2) {
        trial.set_interest(pair[0].into(), pair[1].into(), Some(QueryKind::Distance));
        trial.set_group(pair[0], Some(trial.groups[0]));
        assert_eq!(trial.filters.distances.known(), None);
    }
    trial.filters.refresh_distance_pairs(&trial.bodies);
    assert_eq!(trial.filters.distances.known().map(<[_]>::len), Some(100));
    // What cannot matter to distances does not make them look again.
    let touch = Some(QueryKind::Touch);
    for pair in ids.windows(2) {
        trial.set_interest(pair[0].into(), pair[1].into(), touch);
    }
    trial.filters.refresh_distance_pairs(&trial.bodies);
    trial.set_interest(ids[0].into(), ids[5].into(), touch);
    trial.set_group(ids[3], None);
    assert_eq!(trial.filters.distances.known().map(<[_]>::len), Some(0));
}

#[test]
fn ignored_pairs_are_kept_on_both_sides() {
    let mut trial = Trial::new();
    (0..3).for_each(|_| trial.insert());
    let [a, b, c] = [trial.ids[0], trial.ids[1], trial.ids[2]];
    for (x, y, on) in [(b, a, true), (b, c, true), (b, a, true), (c, b, false), (a, c, false)] {
        trial.filters.set_ignored(x, y, on);
    }
    let ignored = |trial: &Trial| [0, 1, 2].map(|slot| trial.filters.ignored(slot).to_vec());
    assert_eq!(ignored(&trial), [vec![b], vec![a], vec![]]);
    trial.remove(0);
    assert!(ignored(&trial).iter().all(Vec::is_empty));
}
