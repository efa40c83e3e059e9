//! Trees as machines come, go and are written down.

use super::random::Random;
use super::{A, B};
use jostle_proto::{Block, Knot, NodeId, Region, Splits, Tree, TreeError, VertexId};
use std::collections::BTreeSet;

/// The slow twin: every leaf is asked.
fn leaves_with(tree: &Tree, block: &Block) -> Vec<VertexId> {
    tree.leaves().filter(|&leaf| tree.region(leaf).unwrap().meets(block)).collect()
}

/// E4: leaves and owners cover the world once. Disjoint regions that together have as many points
/// as the world cover it.
fn check_partition(tree: &Tree, case: &str) {
    let volume = |vertex| -> u128 {
        let Region { min, max } = tree.region(vertex).unwrap();
        (0..3).map(|axis| u128::try_from(max[axis] - min[axis]).unwrap()).product()
    };
    let owners: Vec<_> = tree.owners().map(|(vertex, _)| vertex).collect();
    for vertices in [tree.leaves().collect(), owners] {
        assert_eq!(vertices.iter().map(|&vertex| volume(vertex)).sum::<u128>(), 1 << 96, "{case}");
        let regions: Vec<_> = vertices.iter().map(|&vertex| tree.region(vertex).unwrap()).collect();
        for (at, a) in regions.iter().enumerate() {
            for b in &regions[..at] {
                let apart = (0..3).any(|x| a.max[x] <= b.min[x] || b.max[x] <= a.min[x]);
                assert!(apart, "{case}: {a:?} {b:?}");
            }
        }
    }
    let nodes: BTreeSet<_> = tree.owners().map(|(_, node)| node).collect();
    assert_eq!(nodes.len(), tree.owners().count(), "{case}: one sub-tree each");
    for leaf in tree.leaves() {
        assert!(nodes.contains(&tree.owner(leaf).unwrap()), "{case}");
    }
}

fn check_everything(tree: &Tree, random: &mut Random, case: &str) {
    check_partition(tree, case);
    for _ in 0..20 {
        let block = random.block(tree);
        let leaves = leaves_with(tree, &block);
        assert_eq!(tree.leaves_meeting(&block).collect::<Vec<_>>(), leaves, "{case}");
        let owners: BTreeSet<_> = leaves.iter().map(|&leaf| tree.owner(leaf).unwrap()).collect();
        let found: Vec<_> = tree.owners_meeting(&block).collect();
        assert_eq!(found.len(), owners.len(), "{case}");
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), owners, "{case}");
        let leaf = tree.leaf_of(block.min);
        assert!(tree.region(leaf).unwrap().contains(block.min), "{case}");
        assert_eq!(tree.owner(leaf), Some(tree.owner_of(block.min)), "{case}");
    }
    let bytes = postcard::to_allocvec(tree).unwrap();
    assert_eq!(&postcard::from_bytes::<Tree>(&bytes).unwrap(), tree, "{case}");
}

#[test]
fn shares_are_as_equal_as_points_allow() {
    for nodes in 1..=40 {
        let names: Vec<_> = (0..nodes).map(NodeId).collect();
        let mut random = Random(u64::from(nodes));
        let mut place = || jostle_dice::bits(&mut random.0) as i32;
        let load: Vec<_> = (0..4000).map(|_| [place(), place(), place()]).collect();
        let tree = Tree::shared_among(&names, &load).unwrap();
        let fair = 4000 / nodes as usize;
        for node in names {
            let share = load.iter().filter(|&&point| tree.owner_of(point) == node).count();
            // A cut is off by less than one point, and there are at most six of them.
            assert!(share.abs_diff(fair) <= 6, "{nodes} nodes, {node:?}: {share} of {fair}");
        }
        let depth = tree.owners().map(|(vertex, _)| (vertex.0 + 1).ilog2()).max().unwrap();
        assert_eq!(depth, nodes.next_power_of_two().ilog2());
    }
}

#[test]
fn worlds_that_are_hard_to_cut_are_shared() {
    let cases: [&[[i32; 3]]; 5] = [
        &[],
        &[[7; 3]; 30],
        &[[i32::MIN; 3]; 30],
        &[[i32::MAX; 3], [i32::MAX, i32::MAX, i32::MAX - 1]],
        &[[i32::MIN; 3], [i32::MIN, i32::MIN + 1, i32::MIN], [i32::MAX; 3]],
    ];
    for (case, load) in cases.into_iter().enumerate() {
        for nodes in [1, 2, 3, 7, 64, 100] {
            let names: Vec<_> = (0..nodes).map(NodeId).collect();
            let tree = Tree::shared_among(&names, load).unwrap();
            assert_eq!(tree.owners().count(), names.len());
            check_everything(&tree, &mut Random(1), &format!("case {case}, {nodes} nodes"));
        }
    }
}

/// Parts of one point cannot be cut: those who are to share a part must find room in it.
#[test]
fn a_crowd_in_a_corner_leaves_room_for_everybody() {
    for end in [i32::MIN, i32::MAX - 2] {
        let cells = (0..27).map(|at| [at % 3, at / 3 % 3, at / 9].map(|part| end + part));
        let load: Vec<[i32; 3]> = cells.collect();
        for nodes in [27, 64, 333, 1024] {
            let names: Vec<_> = (0..nodes).map(NodeId).collect();
            let tree = Tree::shared_among(&names, &load).unwrap();
            assert_eq!(tree.owners().count(), names.len());
            check_partition(&tree, &format!("{nodes} nodes at {end}"));
        }
        let splits = Splits { split: 1, merge: 0, side_min: 2, ..Splits::default() };
        let mut tree = Tree::whole(A);
        tree.adapt(&load, &splits).unwrap();
        for leaf in tree.leaves() {
            let Region { min, max } = tree.region(leaf).unwrap();
            assert!((0..3).all(|axis| max[axis] - min[axis] >= 2), "{min:?} {max:?}");
        }
        assert_eq!(tree.leaves().count(), 8);
    }
}

#[test]
fn whoever_comes_and_goes_only_what_must_move_moves() {
    let (mut joined, mut left, mut refused) = (0, 0, 0);
    for seed in 0..60 {
        let mut random = Random(seed);
        let nodes = random.nodes(9);
        let load = random.points(80);
        let mut tree = Tree::shared_among(&nodes, &load).unwrap();
        for step in 0..25 {
            let case = format!("seed {seed}, step {step}");
            let before = tree.clone();
            let node = NodeId(random.below(120) as u32);
            let load = random.points(40);
            let probes = random.points(200);
            let owners = |tree: &Tree| -> Vec<NodeId> {
                probes.iter().chain(&load).map(|&point| tree.owner_of(point)).collect()
            };
            if before.share_of(node).is_none() && random.below(5) > 0 {
                joined += 1;
                tree.join(node, &load).unwrap();
                let count = |node| load.iter().filter(|&&at| before.owner_of(at) == node).count();
                let most = before.owners().map(|(_, node)| count(node)).max().unwrap();
                let mut from = BTreeSet::new();
                for (was, is) in owners(&before).into_iter().zip(owners(&tree)) {
                    assert!(was == is || is == node, "{case}");
                    if was != is {
                        from.insert(was);
                    }
                }
                assert!(from.iter().all(|&from| count(from) == most), "{case}");
                assert!(from.len() <= 1, "{case}");
            } else {
                let leaving = random.pick(&before.owners().collect::<Vec<_>>()).1;
                if before.owners().count() == 1 {
                    refused += 1;
                    assert_eq!(tree.leave(leaving), Err(TreeError::NoNodes));
                } else {
                    left += 1;
                    tree.leave(leaving).unwrap();
                    for (was, is) in owners(&before).into_iter().zip(owners(&tree)) {
                        assert!(was == is || was == leaving, "{case}");
                    }
                    assert_eq!(tree.share_of(leaving), None, "{case}");
                }
            }
            check_everything(&tree, &mut random, &case);
        }
    }
    assert!(joined > 100 && left > 100 && refused > 0, "{joined} {left} {refused}");
}

#[test]
fn the_owner_of_the_sibling_takes_over() {
    let mut tree = Tree::whole(A);
    tree.join(B, &[[0; 3], [10, 0, 0], [20, 0, 0]]).unwrap();
    assert_eq!(tree.owners().collect::<Vec<_>>(), [(VertexId(1), B), (VertexId(2), A)]);
    assert_eq!((tree.owner_of([0; 3]), tree.owner_of([10, 0, 0])), (B, A));
    tree.leave(A).unwrap();
    assert_eq!(tree, Tree::whole(B));
    assert_eq!(tree.join(B, &[]), Err(TreeError::Twice { node: B }));
    assert_eq!(tree.leave(A), Err(TreeError::Unknown { node: A }));
    assert_eq!(Tree::shared_among(&[], &[]), Err(TreeError::NoNodes));
    let many: Vec<_> = (0..2000).map(NodeId).collect();
    assert_eq!(Tree::shared_among(&many, &[]), Err(TreeError::TooManyNodes { found: 2000 }));
    assert_eq!(Tree::shared_among(&[A, A, A], &[]), Ok(Tree::whole(A)));
}

#[test]
fn two_hundred_machines_can_crowd_into_one_place() {
    let mut tree = Tree::whole(NodeId(0));
    for node in 1..200 {
        tree.join(NodeId(node), &[[3; 3]; 10]).unwrap();
    }
    assert_eq!(tree.owners().count(), 200);
    check_partition(&tree, "one place");
}

#[test]
fn leaves_follow_the_population_with_hysteresis() {
    let splits = Splits { side_min: 1, ..Splits::default() };
    let row = |n: i32| -> Vec<[i32; 3]> { (0..n).map(|x| [x * 10, 0, 0]).collect() };
    let leaves = |tree: &Tree| tree.leaves().count();
    let mut tree = Tree::whole(A);
    // Thesis 3.2.3: cut above 6, merge below 4.
    for (objects, expected) in [(6, 1), (7, 2), (6, 2), (4, 2), (3, 1), (4, 1), (6, 1), (28, 8)] {
        let changed = tree.adapt(&row(objects), &splits).unwrap();
        assert_eq!(leaves(&tree), expected, "{objects} objects");
        assert_eq!(tree.adapt(&row(objects), &splits), Ok(false), "{objects}: {changed}");
    }
    assert_eq!(tree.adapt(&[], &splits), Ok(true));
    assert_eq!(tree, Tree::whole(A));
    // What is in one place cannot be cut, and the limits hold.
    assert_eq!(tree.adapt(&[[5; 3]; 100], &splits), Ok(false));
    tree.adapt(&row(100), &Splits { leaves_max: 5, ..splits }).unwrap();
    assert_eq!(leaves(&tree), 5);
    let mut tree = Tree::whole(A);
    tree.adapt(&row(100), &Splits { depth_max: 3, ..splits }).unwrap();
    assert_eq!(leaves(&tree), 8);
}

#[test]
fn adapting_changes_no_owner() {
    let (mut grew, mut shrank) = (0, 0);
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut tree = Tree::shared_among(&random.nodes(6), &random.points(50)).unwrap();
        let splits = Splits { side_min: 1 + random.below(100) as u32, ..Splits::default() };
        for step in 0..6 {
            let case = format!("seed {seed}, step {step}");
            let count = random.below(200);
            let load = random.points(count);
            let before = tree.clone();
            let changed = tree.adapt(&load, &splits).unwrap();
            assert_eq!(changed, tree != before, "{case}");
            assert_eq!(tree.adapt(&load, &splits), Ok(false), "{case}");
            assert!(before.owners().eq(tree.owners()), "{case}");
            check_everything(&tree, &mut random, &case);
            let [was, is] = [&before, &tree].map(|tree| tree.leaves().count());
            grew += usize::from(is > was);
            shrank += usize::from(is < was);
        }
    }
    assert!(grew > 20 && shrank > 20, "{grew} {shrank}");
}

#[test]
fn ids_are_those_of_the_thesis() {
    // Figure 4.3: 0 is cut into 1 and 2, those into 3, 4 and 5, 6.
    let names: Vec<_> = (1..5).map(NodeId).collect();
    let tree = Tree::shared_among(&names, &[]).unwrap();
    let owners: Vec<_> = tree.owners().map(|(vertex, _)| vertex.0).collect();
    assert_eq!(owners, [3, 4, 5, 6]);
    assert_eq!(VertexId(6).parent(), Some(VertexId(2)));
    assert_eq!(VertexId::ROOT.parent(), None);
    assert_eq!(tree.region(VertexId::ROOT), Some(Region::WORLD));
    assert_eq!(tree.owner(VertexId(1)), None, "shared by two");
    assert_eq!(tree.owner(VertexId(3)), Some(NodeId(1)));
    for missing in [7, 13, u64::MAX, u64::MAX - 1] {
        assert_eq!((tree.region(VertexId(missing)), tree.owner(VertexId(missing))), (None, None));
    }
}

#[test]
fn what_is_no_tree_is_refused() {
    let cut = |axis, at| Knot { cut: Some((axis, at)), owner: None };
    let leaf = |owner| Knot { cut: None, owner };
    let refused = |knots: &[Knot]| {
        let bytes = postcard::to_allocvec(knots).unwrap();
        assert!(postcard::from_bytes::<Tree>(&bytes).is_err());
        Tree::from_knots(knots).unwrap_err()
    };
    assert_eq!(refused(&[]), TreeError::Length { after: 0 });
    assert_eq!(refused(&[cut(0, 0), leaf(Some(A))]), TreeError::Length { after: 2 });
    assert_eq!(refused(&[leaf(Some(A)), leaf(Some(B))]), TreeError::Length { after: 1 });
    assert_eq!(refused(&[leaf(None)]), TreeError::Owners { vertex: VertexId(0) });
    assert_eq!(refused(&[cut(0, 0), leaf(Some(A)), leaf(Some(A))]), TreeError::Twice { node: A });
    let owned = Knot { cut: Some((0, 0)), owner: Some(A) };
    let inner = TreeError::Owners { vertex: VertexId(1) };
    assert_eq!(refused(&[owned, leaf(Some(B)), leaf(None)]), inner);
    for bad in [cut(3, 0), cut(255, 0), cut(0, i32::MIN)] {
        let knots = [bad, leaf(Some(A)), leaf(Some(B))];
        assert_eq!(refused(&knots), TreeError::Cut { vertex: VertexId(0) });
    }
    let twice = [cut(0, 9), cut(0, 9), leaf(Some(A)), leaf(Some(B)), leaf(Some(NodeId(3)))];
    assert_eq!(refused(&twice), TreeError::Cut { vertex: VertexId(1) });
    // Always the lower part: deeper than ids reach, and far from any end.
    let mut deep: Vec<_> = (0..70).map(|at| cut(0, 1000 - at)).collect();
    deep[0].owner = Some(A);
    deep.extend([leaf(None); 71]);
    assert!(matches!(refused(&deep), TreeError::Deep { .. }));
    let mut shallow: Vec<_> = (0..62).map(|at| cut(0, 1000 - at)).collect();
    shallow[0].owner = Some(A);
    shallow.extend([leaf(None); 63]);
    assert!(Tree::from_knots(&shallow).is_ok());
    let many = vec![leaf(None); jostle_proto::VERTICES_MAX + 1];
    assert_eq!(refused(&many), TreeError::TooManyVertices);
}

#[test]
fn any_bytes_are_refused_or_a_partition() {
    let (mut trees, mut refusals) = (0, 0);
    for seed in 0..3000 {
        let mut random = Random(seed);
        let tree = Tree::shared_among(&random.nodes(6), &random.points(20)).unwrap();
        let mut bytes = postcard::to_allocvec(&tree).unwrap();
        for _ in 0..random.below(4) {
            let at = random.below(bytes.len() as u64) as usize;
            bytes[at] = jostle_dice::bits(&mut random.0) as u8;
        }
        match postcard::from_bytes::<Tree>(&bytes) {
            Ok(tree) => {
                trees += 1;
                check_partition(&tree, &format!("seed {seed}"));
            }
            Err(_) => refusals += 1,
        }
    }
    assert!(trees > 500 && refusals > 500, "{trees} {refusals}");
}
