//! The traversal itself: what a budget does, which pairs go first, how often nodes are brought into
//! the common frame, and trees with empty nodes (rows Z5 and O6).

mod common;

use common::{Random, brute_pairs, cases, pose, poses, soup};
use glam::DVec3;
use jostle_geom::{Mesh, Pose};
use jostle_lab::dop::{DopTrees, NormalSet, Realignment};
use jostle_lab::traverse::{
    ByTree, End, Method, Node, Order, Relative, Schedule, Search, Side, traverse,
};
use jostle_lab::tree::{Aabb, Obb, Sphere, SplitRule, Splitting, Volume, VolumeTrees};
use jostle_lab::{Contender, Count, Verdict};
use std::collections::HashSet;
use std::ops::ControlFlow;

fn boxes<'a>(a: &'a Mesh, b: &'a Mesh) -> ByTree<'a, VolumeTrees<Aabb>> {
    ByTree::new(a, b, VolumeTrees::new(a, b, Splitting::single(SplitRule::Splatter)))
}

/// Whatever the budget: a search that was cut short never says that something is apart, or touches,
/// that does not; and a budget that was enough once is enough with more.
#[test]
fn a_search_that_was_cut_short_says_nothing_wrong() {
    let mut seen = HashSet::new();
    for case in cases() {
        let mut trees = boxes(&case.a, &case.b);
        for (pose_a, pose_b) in poses(&case, &mut Random(1), 8) {
            let exact = trees.touches(&pose_a, &pose_b).0;
            let mut decided = false;
            for budget in [0, 1, 2, 5, 10, 20, 50, 100, 1000, u64::MAX] {
                let (verdict, count) = trees.touches_within(&pose_a, &pose_b, budget);
                match verdict {
                    Verdict::Touch => assert!(exact, "{}", case.name),
                    Verdict::Apart => assert!(!exact, "{}", case.name),
                    Verdict::MayTouch => assert!(!decided, "{}: less was enough", case.name),
                }
                decided |= verdict != Verdict::MayTouch;
                // One pair of leaves, of one triangle each, is the most that it exceeds.
                let spent = count.visits + count.triangle_tests;
                assert!(spent <= budget.saturating_add(1), "{spent} of {budget}");
                seen.insert(verdict);
            }
            assert!(decided, "{}: all of it is enough", case.name);
        }
    }
    assert_eq!(seen.len(), 3, "all verdicts occur");
}

#[test]
fn pairs_that_were_cheap_go_first() {
    let mut random = Random(2);
    let meshes: Vec<Mesh> =
        [200, 3, 40].iter().map(|&count| soup(&mut random, count, 0.2)).collect();
    let mut pairs: Vec<_> = meshes.iter().map(|mesh| boxes(mesh, mesh)).collect();
    // Half a triangle away, so that all of them have to search.
    let away = pose(glam::DQuat::from_xyzw(0.1, 0.2, 0.3, 0.9), DVec3::splat(0.05));
    let mut schedule = Schedule::new(3);
    assert_eq!(schedule.order(), [0, 1, 2]);
    let mut asked = Vec::new();
    let whole = schedule.run(u64::MAX, |pair, left| {
        asked.push(pair);
        pairs[pair].touches_within(&Pose::IDENTITY, &away, left)
    });
    assert_eq!(asked, [0, 1, 2]);
    assert!(whole.iter().all(|verdict| *verdict != Verdict::MayTouch));
    let costs: Vec<u64> = (0..3)
        .map(|pair| pairs[pair].touches_within(&Pose::IDENTITY, &away, u64::MAX).1)
        .map(|count| count.visits + count.triangle_tests)
        .collect();
    let mut by_cost = vec![0, 1, 2];
    by_cost.sort_by_key(|&pair| costs[pair]);
    assert_ne!(by_cost, [0, 1, 2], "{costs:?}");
    assert_eq!(schedule.order(), by_cost);
    // With a budget for the two cheap ones, the dear one is not decided.
    let budget = costs[by_cost[0]] + costs[by_cost[1]];
    let some =
        schedule.run(budget, |pair, left| pairs[pair].touches_within(&Pose::IDENTITY, &away, left));
    assert_eq!(some[by_cost[0]], whole[by_cost[0]]);
    assert_eq!(some[by_cost[1]], whole[by_cost[1]]);
    assert_eq!(some[by_cost[2]], Verdict::MayTouch);
    assert_eq!(Schedule::new(0).run(9, |_, _| unreachable!()), []);
}

/// O6: a node of the second tree is brought over when it is visited, and once per question.
fn lazily<M: Method>(a: &Mesh, b: &Mesh, method: M, nodes: usize) {
    let mut trees = ByTree::new(a, b, Watched { method, visited: HashSet::new(), asked: 0 });
    let mut fewer = false;
    for turn in 0..20 {
        let pose = Random(turn);
        let pose = { pose }.vector() * 1.5;
        let placed = Pose::from_translation(pose).expect("near");
        // Twice the same question: nothing is kept from one to the next, so it costs the same.
        let first = trees.all_pairs(&Pose::IDENTITY, &placed).1;
        let (visited, asked) = (trees.method().visited.len(), trees.method().asked);
        let second = trees.all_pairs(&Pose::IDENTITY, &placed).1;
        assert_eq!(first, second);
        assert_eq!(first.alignments as usize, visited, "each visited node once");
        assert!(visited <= nodes);
        fewer |= asked > visited && visited < nodes / 2;
    }
    assert!(fewer, "some question visits nodes often, and few of them");
}

/// Counts which nodes of the second tree a method is asked for.
struct Watched<M> {
    method: M,
    visited: HashSet<u32>,
    asked: usize,
}

impl<M: Method> Method for Watched<M> {
    type Volume = M::Volume;
    type Meeting = M::Meeting;

    fn name(&self) -> String {
        self.method.name()
    }

    fn bytes(&self) -> usize {
        self.method.bytes()
    }

    fn begin(&mut self, relative: &Relative, count: &mut Count) {
        self.visited.clear();
        self.asked = 0;
        self.method.begin(relative, count);
    }

    fn node(&self, side: Side, node: u32) -> Node<'_> {
        self.method.node(side, node)
    }

    fn volume(
        &mut self,
        side: Side,
        node: u32,
        above: Option<&M::Volume>,
        count: &mut Count,
    ) -> M::Volume {
        if side == Side::B {
            self.visited.insert(node);
            self.asked += 1;
        }
        self.method.volume(side, node, above, count)
    }

    fn meet(
        &mut self,
        a: &M::Volume,
        b: &M::Volume,
        above: Option<&M::Meeting>,
        count: &mut Count,
    ) -> Option<M::Meeting> {
        self.method.meet(a, b, above, count)
    }
}

#[test]
fn nodes_are_brought_over_when_visited_and_once() {
    fn of<V: Volume>(a: &Mesh, b: &Mesh) {
        let trees = VolumeTrees::<V>::new(a, b, Splitting::single(SplitRule::Splatter));
        let nodes = trees.trees()[1].shape().node_count();
        lazily(a, b, trees, nodes);
    }
    let (a, b) = (soup(&mut Random(1), 300, 0.1), soup(&mut Random(2), 300, 0.1));
    of::<Aabb>(&a, &b);
    of::<Sphere>(&a, &b);
    of::<Obb>(&a, &b);
    let splitting = Splitting::single(SplitRule::Splatter);
    let trees = DopTrees::new(&a, &b, &NormalSet::klosowski(), splitting, Realignment::Affine);
    let nodes = trees.trees()[1].shape().node_count();
    lazily(&a, &b, trees, nodes);
}

/// Intervals of numbers as volumes, some nodes empty: what a method without meshes sees.
struct Intervals {
    /// First and last of what is below each node, in both trees.
    triangles: Vec<u32>,
    meetings: usize,
}

/// Nodes 1 and 2 are below 0, 3 and 4 below 1, 5 and 6 below 2; 4 is empty.
const TREE: [Option<[u32; 2]>; 7] =
    [Some([1, 2]), Some([3, 4]), Some([5, 6]), None, None, None, None];
const BOUNDS: [[u32; 2]; 7] = [[0, 9], [0, 3], [5, 9], [0, 3], [0, 0], [5, 7], [8, 9]];

impl Method for Intervals {
    type Volume = [u32; 2];
    /// How deep the two are.
    type Meeting = u32;

    fn name(&self) -> String {
        "intervals".to_owned()
    }

    fn bytes(&self) -> usize {
        0
    }

    fn begin(&mut self, _: &Relative, _: &mut Count) {}

    fn node(&self, _: Side, node: u32) -> Node<'_> {
        match TREE[node as usize] {
            Some(children) => Node::Inner(children),
            None if node == 4 => Node::Empty,
            None => Node::Leaf(&self.triangles[node as usize..][..1]),
        }
    }

    fn volume(&mut self, _: Side, node: u32, above: Option<&[u32; 2]>, _: &mut Count) -> [u32; 2] {
        assert_ne!(node, 4, "an empty node has no volume");
        let volume = BOUNDS[node as usize];
        assert_eq!(above.is_none(), node == 0);
        assert!(above.is_none_or(|above| above[0] <= volume[0] && volume[1] <= above[1]));
        volume
    }

    fn meet(
        &mut self,
        a: &[u32; 2],
        b: &[u32; 2],
        above: Option<&u32>,
        _: &mut Count,
    ) -> Option<u32> {
        self.meetings += 1;
        (a[0] <= b[1] && b[0] <= a[1]).then_some(above.map_or(0, |above| above + 1))
    }
}

#[test]
fn both_orders_reach_the_same_leaves() {
    let mut found = Vec::new();
    for order in [Order::DepthFirst, Order::BreadthFirst] {
        let mut intervals = Intervals { triangles: (0..7).collect(), meetings: 0 };
        let (mut leaves, mut count) = (Vec::new(), Count::default());
        let search = Search { order, budget: u64::MAX };
        let end = traverse(&mut intervals, search, &mut count, |a, b, _| {
            leaves.push((a[0], b[0]));
            ControlFlow::Continue(())
        });
        assert_eq!(end, End::Complete);
        // The roots, four pairs below them, one pair below (1, 1), four below (2, 2).
        assert_eq!((count.visits, count.volume_tests, intervals.meetings), (6, 10, 10));
        leaves.sort_unstable();
        found.push(leaves);
        let stopped =
            traverse(&mut intervals, search, &mut count, |_, _, _| ControlFlow::Break(()));
        assert_eq!(stopped, End::Stopped);
        let search = Search { order, budget: 2 };
        let cut = traverse(&mut intervals, search, &mut count, |_, _, _| ControlFlow::Break(()));
        assert_ne!(cut, End::Complete);
    }
    assert_eq!(found, [[(3, 3), (5, 5), (6, 6)], [(3, 3), (5, 5), (6, 6)]]);
}

/// Leaves of up to 20 triangles: fewer nodes, more pairs of triangles, the same answers.
#[test]
fn larger_leaves_make_smaller_trees() {
    let (a, b) = (soup(&mut Random(1), 150, 0.3), soup(&mut Random(2), 100, 0.3));
    let placed = (Pose::IDENTITY, pose(glam::DQuat::IDENTITY, DVec3::splat(0.3)));
    let expected = brute_pairs(&a, &b, &placed);
    assert!(!expected.is_empty());
    for rule in SplitRule::ALL {
        let mut before = (usize::MAX, 0);
        for leaf_max in [1, 2, 4, 8, 20] {
            let splitting = Splitting::new(rule, leaf_max).expect("at least one");
            let trees = VolumeTrees::<Aabb>::new(&a, &b, splitting);
            let shape = trees.trees()[0].shape();
            assert_eq!(shape.node_count(), 2 * shape.leaf_count() - 1);
            assert!(shape.node_count() < before.0, "{splitting}");
            let mut seen: Vec<u32> = shape.triangles().to_vec();
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..150));
            for node in 0..shape.node_count() as u32 {
                if let Node::Leaf(triangles) = shape.node(node) {
                    assert!((1..=leaf_max).contains(&triangles.len()));
                }
            }
            let nodes = shape.node_count();
            let (pairs, count) = ByTree::new(&a, &b, trees).all_pairs(&placed.0, &placed.1);
            assert_eq!(pairs, expected, "{splitting}");
            assert!(count.triangle_tests >= before.1, "{splitting}");
            before = (nodes, count.triangle_tests);
        }
    }
}
