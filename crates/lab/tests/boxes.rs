//! BoxTrees, the box pipeline and the methods of negative results, for rigid meshes: they answer
//! as geom does, and count what they claim to count.

mod common;

use common::{Random, agree};
use glam::DVec3;
use jostle_geom::solids::BumpyTorus;
use jostle_geom::{Mesh, Pose};
use jostle_lab::{
    BoxPipeline, BoxTree, BoxTreeSettings, BracketSort, ClippedBoxTrees, Contender, Count,
    Criterion, DopPairs, GrowShrink, Keep, LinkedDops, NearContact, RealignedBoxTrees,
    boxtree_criteria,
};

fn settings() -> Vec<BoxTreeSettings> {
    let default = BoxTreeSettings::default();
    let criteria = Criterion::ALL.map(|criterion| BoxTreeSettings { criterion, ..default });
    let empty = [0.01, 0.5, 1.0].map(|empty_share| BoxTreeSettings { empty_share, ..default });
    let thick = [0.0, 0.03].map(|thickness| BoxTreeSettings { thickness, ..default });
    criteria.into_iter().chain(empty).chain(thick).collect()
}

fn realigned<'a>(a: &'a Mesh, b: &'a Mesh) -> Vec<Box<dyn Contender + 'a>> {
    let made = |s: BoxTreeSettings| Box::new(RealignedBoxTrees::new(a, b, &s)) as _;
    settings().into_iter().map(made).collect()
}

fn clipped<'a>(a: &'a Mesh, b: &'a Mesh) -> Vec<Box<dyn Contender + 'a>> {
    let made = |s: BoxTreeSettings| Box::new(ClippedBoxTrees::new(a, b, &s)) as _;
    settings().into_iter().map(made).collect()
}

fn flexible<'a>(a: &'a Mesh, b: &'a Mesh) -> Vec<Box<dyn Contender + 'a>> {
    vec![
        Box::new(BoxPipeline::new(a, b)),
        Box::new(GrowShrink::new(a, b)),
        Box::new(BracketSort::new(a, b)),
    ]
}

fn linked<'a>(a: &'a Mesh, b: &'a Mesh) -> Vec<Box<dyn Contender + 'a>> {
    vec![
        Box::new(DopPairs::new(a, b, Keep::Nothing)),
        Box::new(DopPairs::new(a, b, Keep::Aligned)),
        Box::new(LinkedDops::new(a, b)),
    ]
}

#[test]
fn realigned_box_trees() {
    agree(realigned, 24, 21);
}

#[test]
fn clipped_box_trees() {
    agree(clipped, 24, 22);
}

#[test]
fn pipeline_grow_shrink_and_brackets() {
    agree(flexible, 32, 23);
}

#[test]
fn dops_with_and_without_links() {
    agree(linked, 40, 24);
}

fn torus() -> Mesh {
    let bumpy = BumpyTorus { amplitude: 0.3, waves: 4.0, ..BumpyTorus::plain(1.0, 0.4, [40, 20]) };
    bumpy.mesh().expect("a torus")
}

/// Zachmann 2000, 3.5.6: three values and three comparisons for a child of the tumbled tree, one
/// comparison for a child of the other; in a step to 2 × 2 children 6 multiplications, 8 additions
/// and 10 comparisons at most.
#[test]
fn re_alignment_takes_three_comparisons_per_child() {
    let torus = torus();
    let mut trees = RealignedBoxTrees::new(&torus, &torus, &BoxTreeSettings::default());
    let approach = NearContact { turns: 12, step: 0.05 };
    let poses = approach.poses(&torus);
    assert_eq!(poses.len(), 60);
    let mut steps = 0;
    for pose in &poses {
        let count = trees.all_pairs(&Pose::IDENTITY, pose).1;
        // The roots: one box enclosed from its corners, six comparisons.
        let enclosed = count.alignments - 1;
        let aligned = count.volume_tests - count.alignments;
        assert_eq!(count.comparisons, 6 + 3 * enclosed + aligned);
        // Two additions where a node of the first tree is opened, six operations for a child.
        let opened = (count.operations - 6 * enclosed) / 2;
        assert_eq!(count.operations, 6 * enclosed + 2 * opened);
        let worst = 14 * count.visits;
        assert!(count.operations <= worst && count.comparisons <= 6 + 10 * count.visits);
        steps += count.visits;
    }
    assert!(steps > 1000, "{steps}");
}

/// Zachmann 2000, 3.5.5: at most 72 multiplications and 72 additions to split a box.
#[test]
fn clipping_takes_at_most_144_operations_per_split() {
    let torus = torus();
    let mut trees = ClippedBoxTrees::new(&torus, &torus, &BoxTreeSettings::default());
    for pose in (NearContact { turns: 6, step: 0.05 }).poses(&torus) {
        let count = trees.all_pairs(&Pose::IDENTITY, &pose).1;
        // Of what was visited only pairs of leaves were not split.
        assert!(count.operations <= 144 * count.visits);
        assert!(2 * count.operations >= 136 * (count.volume_tests - 1));
    }
}

#[test]
fn box_trees_are_small_and_split_empty_space_off() {
    let torus = BumpyTorus::plain(1.0, 0.3, [60, 30]).mesh().expect("a torus");
    let default = BoxTreeSettings::default();
    let never = BoxTreeSettings { empty_share: 1.0, ..default };
    let plain = BoxTree::new(&torus, &never);
    // A leaf is no node, so there is one node less than triangles, of 16 bytes each.
    assert_eq!(plain.node_count(), torus.triangle_count() - 1);
    assert_eq!(plain.bytes(), plain.node_count() * 16);
    assert_eq!(plain.empty_volume(), 0.0);
    let tree = BoxTree::new(&torus, &default);
    // Zachmann: 40 to 60 percent of the volume of a torus' box; about what it leaves empty.
    let share = BoxTree::partition(&torus, &default).empty_volume();
    assert!((0.4..0.8).contains(&share), "{share}");
    assert!(tree.depth() < 80 && plain.depth() < 50, "{} {}", tree.depth(), plain.depth());
}

#[test]
fn bad_splits_end() {
    // Long slivers that all cross each other, and one triangle many times.
    let mut random = Random(5);
    let mut vertices = Vec::new();
    for _ in 0..500 {
        let end = random.vector().as_vec3();
        vertices.extend([end, -end, -end * 0.999]);
    }
    vertices.extend([[DVec3::X.as_vec3(), DVec3::Y.as_vec3(), DVec3::Z.as_vec3()]; 500].concat());
    let triangles = (0..1000).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let mesh = Mesh::from_triangles(vertices, triangles).expect("slivers");
    for settings in settings() {
        let tree = BoxTree::new(&mesh, &settings);
        assert!(tree.depth() < 500, "{settings:?}: {}", tree.depth());
        let tree = BoxTree::partition(&mesh, &settings);
        assert!(tree.bytes() < 1_000_000, "{settings:?}: {}", tree.bytes());
    }
}

/// Zachmann 2000, 3.5.7: criterion 1 is better than 2, and splitting off empty boxes pays.
#[test]
fn criterion_1_beats_2_and_empty_boxes_pay() {
    let default = BoxTreeSettings::default();
    let mut all = Criterion::ALL.map(|criterion| BoxTreeSettings { criterion, ..default }).to_vec();
    all.push(BoxTreeSettings { empty_share: 1.0, ..default });
    let near = NearContact { turns: 8, step: 0.05 };
    let rows = boxtree_criteria("torus", &torus(), &near, &all);
    let numbers: Vec<u32> = rows.iter().map(|row| row.settings.criterion.number()).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 1]);
    let cost: Vec<f64> = rows.iter().map(|row| row.cost()).collect();
    assert!(cost[0] < cost[1], "{cost:?}");
    assert!(2.0 * cost[0] < cost[12], "{cost:?}");
    assert_eq!(rows[0].questions, 5 * 8);
}

/// Zachmann 2000, 3.5.11: for a slowly turning copy, links save most alignments.
#[test]
fn links_save_alignments_and_tests() {
    let torus = torus();
    let mut plain = DopPairs::new(&torus, &torus, Keep::Nothing);
    let mut linked = LinkedDops::new(&torus, &torus);
    let (mut from_top, mut with_links, mut seen) = (Count::default(), Count::default(), [0; 2]);
    for place in (NearContact { turns: 200, step: 0.02 }).poses(&torus) {
        let (expected, count) = plain.touches(&Pose::IDENTITY, &place);
        from_top += count;
        let (touches, count) = linked.touches(&Pose::IDENTITY, &place);
        with_links += count;
        assert_eq!(touches, expected);
        seen[usize::from(touches)] += 1;
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    assert!(2 * with_links.alignments < from_top.alignments, "{with_links:?} {from_top:?}");
    assert!(with_links.volume_tests < from_top.volume_tests, "{with_links:?} {from_top:?}");
}
