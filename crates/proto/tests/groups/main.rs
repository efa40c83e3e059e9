//! Consistency groups against the thesis' own way, which is 2^n.

mod delays;
mod random;
mod settle;

use jostle_proto::{
    Formation, Matrix, NodeId, Sizes, Span, Thresholds, TooManyNodes, form, thresholds,
};
use random::Random;

fn formation(inclusion: u64, rejection: u64, size_max: usize) -> Formation {
    let [inclusion, rejection] = [inclusion, rejection].map(Span);
    let thresholds = Thresholds { inclusion, rejection };
    Formation { thresholds, size_max, sizes: Sizes::Largest }
}

/// Storey 2006, 3.3.7: all sets are written down and those kept that may be a group; the largest is
/// taken, its members leave, and so on.
fn slow_groups(
    matrix: &Matrix,
    current: &[Vec<NodeId>],
    formation: &Formation,
) -> Vec<Vec<NodeId>> {
    let Thresholds { inclusion, rejection } = formation.thresholds;
    // Members that have gone do not count.
    let stayed = |group: &Vec<NodeId>| -> Vec<NodeId> {
        group.iter().copied().filter(|node| matrix.nodes().contains(node)).collect()
    };
    let current: Vec<Vec<NodeId>> = current.iter().map(stayed).collect();
    let near = |a: NodeId, b: NodeId| {
        let together = current.iter().any(|group| group.contains(&a) && group.contains(&b));
        matrix
            .mutual(a, b)
            .is_some_and(|delay| (delay < inclusion || together) && delay <= rejection)
    };
    let mut rest = matrix.nodes().to_vec();
    let mut groups = Vec::new();
    while !rest.is_empty() {
        let mut candidates: Vec<Vec<NodeId>> = Vec::new();
        for set in 1u32..1 << rest.len() {
            let members: Vec<NodeId> =
                (0..rest.len()).filter(|at| set >> at & 1 == 1).map(|at| rest[at]).collect();
            let all_near = members
                .iter()
                .enumerate()
                .all(|(at, &a)| members[..at].iter().all(|&b| near(a, b)));
            if all_near && members.len() <= formation.size_max.max(1) {
                candidates.push(members);
            }
        }
        let most = candidates.iter().map(Vec::len).max().unwrap();
        let size = match formation.sizes {
            Sizes::Largest => most,
            Sizes::PowersOfTwo => {
                (0..).map(|power| 1 << power).take_while(|&s| s <= most).last().unwrap()
            }
        };
        candidates.retain(|group| group.len() == size);
        candidates.sort_by_key(|group| (!current.contains(group), group.clone()));
        let group = candidates.swap_remove(0);
        rest.retain(|node| !group.contains(node));
        groups.push(group);
    }
    groups
}

#[test]
fn groups_are_those_of_the_thesis_way() {
    let (mut several, mut capped, mut ties) = (0, 0, 0);
    for seed in 0..250 {
        let mut random = Random(seed);
        let n = 1 + random.below(if seed % 10 == 0 { 14 } else { 9 });
        let matrix = random.matrix(n);
        let limit = [0, 4_000, 10_000, 15_000, 18_000, 30_000][random.below(6) as usize];
        let size_max = [1, 2, 3, 8, 64][random.below(5) as usize];
        let mut formation = formation(limit, limit + random.below(6_000), size_max);
        if random.below(3) == 0 {
            formation.sizes = Sizes::PowersOfTwo;
        }
        let groups = form(&matrix, &[], &formation);
        assert_eq!(groups, slow_groups(&matrix, &[], &formation), "seed {seed}");
        several += usize::from(groups.len() > 1 && groups[0].len() > 1);
        capped += usize::from(groups[0].len() == size_max && size_max > 1);
        ties += usize::from(groups.windows(2).any(|two| two[0].len() == two[1].len()));

        // Delays and some of the machines change, and groups are formed again.
        let later = random.matrix(n);
        let again = form(&later, &groups, &formation);
        assert_eq!(again, slow_groups(&later, &groups, &formation), "seed {seed}, later");
    }
    assert!(several > 50 && capped > 20 && ties > 50, "{several} {capped} {ties}");
}

#[test]
fn sixty_four_machines_are_grouped_completely() {
    for seed in 0..30 {
        let mut random = Random(seed);
        let matrix = random.matrix(64);
        let formation = formation(14_000 + random.below(6_000), 20_000, 8);
        let groups = form(&matrix, &[], &formation);
        let mut all: Vec<NodeId> = groups.concat();
        all.sort_unstable();
        assert_eq!(all, matrix.nodes(), "seed {seed}: each node once");
        assert!(groups.is_sorted_by_key(|group| std::cmp::Reverse(group.len())), "seed {seed}");
        for group in &groups {
            assert!(group.is_sorted() && group.len() <= 8);
            for (at, &a) in group.iter().enumerate() {
                let near = |&b: &NodeId| {
                    matrix.mutual(a, b).is_some_and(|delay| delay < formation.thresholds.inclusion)
                };
                assert!(group[..at].iter().all(near), "seed {seed}");
            }
        }
    }
}

/// Hysteresis: what stays between the thresholds changes nothing.
#[test]
fn groups_stay_while_delays_move_between_the_thresholds() {
    let (inclusion, rejection) = (10_000, 14_000);
    let (mut stayed, mut without) = (0, 0);
    for seed in 0..200 {
        let mut random = Random(seed);
        let formation = formation(inclusion, rejection, 8);
        let matrix = random.matrix(20);
        let groups = form(&matrix, &[], &formation);
        assert_eq!(form(&matrix, &groups, &formation), groups, "seed {seed}: again");
        let mut later = Matrix::new(matrix.nodes()).unwrap();
        for &a in matrix.nodes() {
            for &b in matrix.nodes() {
                let together = groups.iter().any(|group| group.contains(&a) && group.contains(&b));
                let delay = match matrix.mutual(a, b) {
                    _ if together => Some(random.below(rejection + 1)),
                    Some(Span(delay)) if delay < inclusion => Some(random.below(30_000)),
                    Some(_) => Some(inclusion + random.below(30_000)),
                    None => None,
                };
                if let Some(delay) = delay {
                    later.set(a, b, Span(delay));
                }
            }
        }
        assert_eq!(form(&later, &groups, &formation), groups, "seed {seed}");
        stayed += usize::from(groups[0].len() > 1);
        without += usize::from(form(&later, &[], &formation) != groups);
    }
    assert!(stayed > 100 && without > 100, "it matters: {stayed} {without}");
}

/// Storey 2006, 4.3.1.4: lists of candidates, of which only mutual ones count.
#[test]
fn the_example_of_five_machines() {
    let [a, b, c, d, e] = [1, 2, 3, 4, 5].map(NodeId);
    let lists =
        [(a, vec![b, c, d]), (b, vec![a, c, e]), (c, vec![a, d]), (d, vec![a, c, e]), (e, vec![d])];
    let mut matrix = Matrix::new(&[a, b, c, d, e]).unwrap();
    for (from, list) in lists {
        list.into_iter().for_each(|to| matrix.set(from, to, Span(1)));
    }
    let groups = form(&matrix, &[], &formation(2, 2, 64));
    assert_eq!(groups, [vec![a, c, d], vec![b], vec![e]]);
}

/// "Less than T", and "both of these values" (3.3.7).
#[test]
fn the_longer_delay_must_be_below_the_threshold() {
    let [a, b] = [NodeId(1), NodeId(2)];
    let mut matrix = Matrix::new(&[a, b]).unwrap();
    matrix.set(a, b, Span(4));
    assert_eq!(matrix.mutual(a, b), None, "measured one way only");
    matrix.set(b, a, Span(5));
    assert_eq!((matrix.mutual(a, b), matrix.mutual(b, a)), (Some(Span(5)), Some(Span(5))));
    assert_eq!(form(&matrix, &[], &formation(5, 9, 8)), [[a], [b]]);
    assert_eq!(form(&matrix, &[], &formation(6, 9, 8)), [[a, b]]);
    // Together already: up to the other threshold.
    assert_eq!(form(&matrix, &[vec![a, b]], &formation(3, 5, 8)), [[a, b]]);
    assert_eq!(form(&matrix, &[vec![a, b]], &formation(3, 4, 8)), [[a], [b]]);
}

#[test]
fn few_or_too_many_machines() {
    assert!(form(&Matrix::new(&[]).unwrap(), &[], &formation(5, 5, 8)).is_empty());
    let one = Matrix::new(&[NodeId(9), NodeId(9)]).unwrap();
    assert_eq!(form(&one, &[], &formation(5, 5, 0)), [[NodeId(9)]]);
    let many: Vec<_> = (0..65).map(NodeId).collect();
    assert_eq!(Matrix::new(&many), Err(TooManyNodes { found: 65 }));
    // Machines that have gone do not hold a group together.
    let gone = vec![NodeId(8), NodeId(9)];
    assert_eq!(form(&one, &[gone], &formation(5, 5, 8)), [[NodeId(9)]]);
}

/// 60 Hz with 5 ms of work allow 7.7 ms there and back, 30 Hz 18 ms.
#[test]
fn thresholds_follow_from_the_rate() {
    let ms = |ms| Span::from_ms(ms);
    assert_eq!(thresholds(60, ms(5), ms(0)).inclusion, Span(7_777));
    assert_eq!(thresholds(30, ms(5), ms(0)).inclusion, Span(18_888));
    let found = thresholds(30, ms(5), ms(3));
    assert_eq!((found.inclusion, found.rejection), (Span(16_888), Span(23_643)));
    for (rate, compute) in [(0, ms(2000)), (u32::MAX, ms(0)), (60, Span(u64::MAX))] {
        assert_eq!(thresholds(rate, compute, ms(0)).inclusion, Span(0));
    }
}
