//! The distribution tree: a partition of the world whatever happens, and one reporter per pair.

mod random;
mod tree;

use jostle_proto::{Block, Content, Form, Knot, NodeId, Rule, Solid, Tree, is_wide, reports};
use random::Random;

const A: NodeId = NodeId(1);
const B: NodeId = NodeId(2);

/// Cut across all axes at 0: eight leaves around one corner.
fn octants() -> Tree {
    let cut = |axis| Knot { cut: Some((axis, 0)), owner: None };
    let leaf = |node| Knot { cut: None, owner: Some(NodeId(node)) };
    let quarter = |first| [cut(2), leaf(first), leaf(first + 1)];
    let half = |first| [&[cut(1)][..], &quarter(first), &quarter(first + 2)].concat();
    Tree::from_knots(&[&[cut(0)][..], &half(0), &half(4)].concat()).unwrap()
}

fn holders(tree: &Tree, block: &Block) -> Vec<NodeId> {
    tree.owners_meeting(block).collect()
}

#[test]
fn the_midpoint_of_the_thesis_loses_a_pair() {
    let knots = [
        Knot { cut: Some((0, 5 * 4096)), owner: None },
        Knot { cut: None, owner: Some(A) },
        Knot { cut: None, owner: Some(B) },
    ];
    let tree = Tree::from_knots(&knots).unwrap();
    // In metres: one with centre 0 and half edge 8, one with centre 8.5 and half edge 1.
    let large = Block { min: [-8 * 4096; 3], max: [8 * 4096; 3] };
    let small = Block { min: [7 * 4096 + 2048, -4096, -4096], max: [9 * 4096 + 2048, 4096, 4096] };
    assert!(large.meets(&small));
    assert_eq!((holders(&tree, &large), holders(&tree, &small)), (vec![A, B], vec![B]));
    let midpoint = reports(&large, &small, Rule::Midpoint);
    assert_eq!(midpoint[0], 4 * 4096 + 1024);
    assert_eq!(tree.owner_of(midpoint), A, "which does not know the small one");
    assert_eq!(tree.owner_of(reports(&large, &small, Rule::ReferencePoint)), B);
}

#[test]
fn midpoints_of_the_largest_numbers_stay_in_the_world() {
    let ends = [i32::MIN, i32::MAX].map(|end| Block { min: [end; 3], max: [end; 3] });
    let all = Block { min: [i32::MIN; 3], max: [i32::MAX; 3] };
    for (a, b, middle) in [
        (ends[0], ends[0], i32::MIN),
        (ends[1], ends[1], i32::MAX),
        (ends[0], ends[1], -1),
        (all, all, -1),
    ] {
        assert_eq!(reports(&a, &b, Rule::Midpoint), [middle; 3]);
    }
}

/// Exactly one leaf, and exactly one machine, has the point; it knows both.
fn check_reporter(tree: &Tree, a: &Block, b: &Block, case: &str) {
    let point = reports(a, b, Rule::ReferencePoint);
    let with_point = |leaf: &_| tree.region(*leaf).unwrap().contains(point);
    let leaves: Vec<_> = tree.leaves().filter(with_point).collect();
    assert_eq!(leaves, [tree.leaf_of(point)], "{case}");
    let owner = tree.owner_of(point);
    assert_eq!(tree.owner(leaves[0]), Some(owner), "{case}");
    for block in [a, b] {
        assert!(tree.leaves_meeting(block).any(|leaf| leaf == leaves[0]), "{case}: {block:?}");
        assert!(holders(tree, block).contains(&owner), "{case}: {block:?}");
    }
}

#[test]
fn exactly_one_owner_reports_a_pair_and_knows_both() {
    let (mut overlapping, mut apart, mut across, mut lost) = (0, 0, 0, 0);
    for seed in 0..400 {
        let mut random = Random(seed);
        let nodes = random.nodes(20);
        let count = random.below(60);
        let load = random.points(count);
        let tree = Tree::shared_among(&nodes, &load).unwrap();
        for _ in 0..50 {
            let (a, b) = (random.block(&tree), random.block(&tree));
            if !a.meets(&b) {
                apart += 1;
                continue;
            }
            overlapping += 1;
            check_reporter(&tree, &a, &b, &format!("seed {seed}: {a:?} {b:?}"));
            across += usize::from(holders(&tree, &a).len() > 1 && holders(&tree, &b).len() > 1);
            let middle = tree.owner_of(reports(&a, &b, Rule::Midpoint));
            lost +=
                usize::from([a, b].iter().any(|block| !holders(&tree, block).contains(&middle)));
        }
    }
    assert!(overlapping > 1000 && apart > 1000 && across > 500, "{overlapping} {apart} {across}");
    assert!(lost > 100, "the thesis' rule loses some of the same pairs: {lost}");
}

#[test]
fn a_corner_of_eight_regions_has_one_owner() {
    let tree = octants();
    let corner = Block { min: [0; 3], max: [0; 3] };
    let around = Block { min: [-1; 3], max: [0; 3] };
    let below = Block { min: [-1; 3], max: [-1; 3] };
    let all = Block { min: [i32::MIN; 3], max: [i32::MAX; 3] };
    assert_eq!(holders(&tree, &corner), [NodeId(7)]);
    assert_eq!(holders(&tree, &below), [NodeId(0)]);
    assert_eq!(holders(&tree, &around).len(), 8);
    assert_eq!(tree.leaves_meeting(&all).count(), 8);
    for (a, b) in [(corner, around), (around, below), (around, all), (all, all), (corner, all)] {
        check_reporter(&tree, &a, &b, "corner");
    }
    assert_eq!(tree.owner_of(reports(&around, &around, Rule::ReferencePoint)), NodeId(0));
}

#[test]
fn wide_is_what_may_reach_farther_than_the_largest_however_it_is_turned() {
    assert!(!is_wide(5, 5));
    assert!(is_wide(6, 5));
    let cube = Solid::cuboid([5; 3]);
    assert!(!is_wide(cube.reach(), 5), "a box is never turned");
    let form = Form { half: [5; 3], content: Some(Content { sum: 0, length: 0 }) };
    assert!(
        is_wide(Solid::outline(&form).reach(), 8) && !is_wide(Solid::outline(&form).reach(), 10)
    );
}
