//! DOPs in another frame: never too small, in exactly 6k operations, with the correspondences that
//! the thesis found (rows O2, Z7, Z8).

mod common;

use common::{Random, pose, quarter_turn, soup};
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{Mesh, Pose, solids};
use jostle_lab::Contender;
use jostle_lab::dop::{
    BoundaryWay, DopTree, DopTrees, GenericDop, GivenHull, GivenHullError, NormalSet,
    NormalSetError, Realignment, octants, realisable,
};
use jostle_lab::traverse::{ByTree, Relative, reach};
use jostle_lab::tree::{SplitRule, Splitting};
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::OnceLock;

/// Sets for every even k, made once.
fn sets() -> &'static [NormalSet] {
    static SETS: OnceLock<Vec<NormalSet>> = OnceLock::new();
    SETS.get_or_init(|| {
        let spread = (6..=32).step_by(2).map(|k| NormalSet::spread(k, 1).expect("an even k"));
        let standard = [
            NormalSet::axes(),
            NormalSet::octahedron(),
            NormalSet::fourteen(),
            NormalSet::klosowski(),
        ];
        spread.chain(standard).collect()
    })
}

/// One triangle per three points.
fn mesh_of(points: &[Vec3]) -> Mesh {
    let corners = points.iter().copied().cycle().take(points.len().div_ceil(3) * 3).collect();
    let triangles = (0..points.len().div_ceil(3) as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]);
    Mesh::from_triangles(corners, triangles.collect()).expect("finite points")
}

/// Points that are spread, flat, on a line, one, tiny, huge, or far from zero.
fn points() -> impl Strategy<Value = Vec<Vec3>> {
    let kind = 0..7u8;
    (kind, 3usize..30, any::<u64>()).prop_map(|(kind, count, seed)| {
        let mut random = Random(seed);
        let (base, one) = (random.vector(), random.vector());
        let mut point = || {
            let p = random.vector();
            match kind {
                0 => p,
                1 => DVec3::new(p.x, p.y, 0.5),
                2 => base + one * p.x,
                3 => base,
                4 => p * 1e-40,
                5 => p * 2e38,
                _ => p + base * 1e6,
            }
        };
        (0..count).map(|_| point().as_vec3()).collect()
    })
}

fn realignments() -> impl Strategy<Value = Realignment> {
    prop_oneof![
        Just(Realignment::Affine),
        Just(Realignment::Coded),
        Just(Realignment::Boundary(BoundaryWay::Own)),
        Just(Realignment::Boundary(BoundaryWay::FromAbove)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// Every node of the turned tree reaches at least as far along every common direction as the
    /// vertices below it, where the pose puts them.
    #[test]
    fn a_realigned_dop_is_never_too_small(
        set in 0..18usize,
        points in points(),
        realignment in realignments(),
        rotation in any::<u64>(),
    ) {
        let normals = &sets()[set];
        let mesh = mesh_of(&points);
        let splitting = Splitting::single(SplitRule::LongestSide);
        let mut trees = DopTrees::new(&mesh, &mesh, normals, splitting, realignment);
        let mut random = Random(rotation);
        let turn = if rotation % 4 == 0 { quarter_turn(&mut random) } else { random.rotation() };
        let away = random.vector() * [0.0, 1.0, 1e6][(rotation % 3) as usize];
        let placed = pose(turn, away);
        let relative = Relative::new([reach(&mesh); 2], &Pose::IDENTITY, &placed);
        let aligned = trees.aligned(&relative);
        let tree = &trees.trees()[1];
        for (node, range) in tree.shape().ranges().into_iter().enumerate() {
            for &triangle in &tree.shape().triangles()[range] {
                for vertex in mesh.triangles()[triangle as usize] {
                    let place = placed.transform_point(mesh.vertices()[vertex as usize]);
                    for (i, &offset) in aligned[node].iter().enumerate() {
                        let along = normals.normal(i).dot(place);
                        prop_assert!(
                            along <= f64::from(offset) || offset.is_nan(),
                            "{realignment:?}, k {}, node {node}, direction {i}: {along} {offset}",
                            normals.k(),
                        );
                    }
                }
            }
        }
    }

    /// Coefficients are not negative, and make the direction.
    #[test]
    fn three_planes_make_a_direction(set in 0..18usize, seed in any::<u64>()) {
        static GENERIC: OnceLock<Vec<GenericDop>> = OnceLock::new();
        let generic = &GENERIC.get_or_init(|| sets().iter().map(GenericDop::new).collect())[set];
        let normals = &sets()[set];
        prop_assert_eq!(generic.vertex_count(), 2 * normals.k() - 4);
        let direction = Random(seed).vector().normalize();
        let row = generic.row(direction);
        let parts = row.planes.iter().zip(row.c).map(|(&plane, c)| normals.normal(plane) * c);
        let made: DVec3 = parts.sum();
        prop_assert!(row.c.iter().all(|&c| c >= 0.0));
        prop_assert!((made - direction).length() <= row.left_over);
        prop_assert!(row.left_over < 1e-13, "{}", row.left_over);
    }
}

#[test]
fn a_sum_of_three_takes_6k_operations_for_every_node() {
    let (a, b) = (soup(&mut Random(1), 200, 0.3), soup(&mut Random(2), 150, 0.3));
    for normals in sets() {
        for realignment in [Realignment::Affine, Realignment::Coded] {
            let splitting = Splitting::single(SplitRule::AlternatingEnds);
            let trees = DopTrees::new(&a, &b, normals, splitting, realignment);
            let mut trees = ByTree::new(&a, &b, trees);
            let turned = pose(DQuat::from_xyzw(0.1, 0.5, 0.3, 0.8), DVec3::new(0.4, 0.1, 0.2));
            let (_, count) = trees.all_pairs(&Pose::IDENTITY, &turned);
            assert!(count.alignments > 20, "{count:?}");
            assert_eq!(count.operations, 6 * normals.k() as u64 * count.alignments);
        }
    }
}

/// The vertices take more: 5 for each of 2k − 4 vertices and k/2 directions in the worst case.
#[test]
fn boundaries_take_more_operations_than_sums() {
    let (a, b) = (soup(&mut Random(1), 200, 0.3), soup(&mut Random(2), 150, 0.3));
    let cost = |realignment| {
        let splitting = Splitting::single(SplitRule::AlternatingEnds);
        let trees = DopTrees::new(&a, &b, &NormalSet::klosowski(), splitting, realignment);
        let count = ByTree::new(&a, &b, trees).all_pairs(&Pose::IDENTITY, &Pose::IDENTITY).1;
        count.operations as f64 / count.alignments as f64
    };
    let boundary = cost(Realignment::Boundary(BoundaryWay::Own));
    assert_eq!(cost(Realignment::Affine), 108.0);
    assert!(boundary > 500.0, "{boundary}");
}

/// Zachmann 2000, 3.5.9: 96 correspondences for k = 6.
#[test]
fn ninety_six_correspondences_for_six_directions() {
    let mut random = Random(6);
    let mut found = HashSet::new();
    for _ in 0..200_000 {
        let rows = pose(random.rotation(), DVec3::ZERO).rows();
        found.insert(octants(&rows));
    }
    let all = (0..512).map(|code| [code & 7, code >> 3 & 7, code >> 6]);
    let possible: HashSet<[usize; 3]> = all.filter(|&octants| realisable(octants)).collect();
    assert_eq!(possible.len(), 96);
    assert_eq!(found, possible);
}

#[test]
fn directions_are_spread_well_and_in_order() {
    for k in (6..=32).step_by(2) {
        let set = &sets()[(k - 6) / 2];
        assert_eq!(set.k(), k);
        assert_eq!(*set, NormalSet::spread(k, 1).expect("an even k"), "the same each time");
        let quality = set.quality();
        assert!((0.85..1.0 + 1e-9).contains(&quality), "k {k}: {quality}");
        // Each is at least as perpendicular to those before it as any that comes later.
        for i in 1..k / 2 {
            let (before, rest) = set.half().split_at(i);
            let nearest = |d: &DVec3| before.iter().map(|b| b.dot(*d).abs()).fold(0.0, f64::max);
            assert!(rest.iter().all(|later| nearest(&rest[0]) <= nearest(later)), "k {k}");
        }
    }
}

#[test]
fn bad_directions_are_refused() {
    let error = |half: &[DVec3]| NormalSet::new(half).err();
    assert_eq!(error(&[DVec3::X, DVec3::Y]), Some(NormalSetError::BadK { k: 4 }));
    assert_eq!(error(&[DVec3::X; 40]), Some(NormalSetError::BadK { k: 80 }));
    let none = [DVec3::X, DVec3::ZERO, DVec3::Z];
    assert_eq!(error(&none), Some(NormalSetError::NoDirection { index: 1 }));
    let nan = [DVec3::X, DVec3::Y, DVec3::NAN];
    assert_eq!(error(&nan), Some(NormalSetError::NoDirection { index: 2 }));
    let parallel = [DVec3::X, DVec3::Y, DVec3::Z, DVec3::NEG_X];
    assert_eq!(error(&parallel), Some(NormalSetError::Parallel { one: 0, other: 3 }));
    let flat = [DVec3::X, DVec3::Y, DVec3::new(1.0, 1.0, 1e-9)];
    assert_eq!(error(&flat), Some(NormalSetError::Flat));
    for k in [0, 4, 7, 34] {
        assert_eq!(NormalSet::spread(k, 1).err(), Some(NormalSetError::BadK { k }));
    }
    // Any others will do.
    let mut random = Random(3);
    let mut made = 0;
    for _ in 0..200 {
        let half: Vec<DVec3> = (0..3 + random.below(8)).map(|_| random.vector()).collect();
        if let Ok(set) = NormalSet::new(&half) {
            assert_eq!(GenericDop::new(&set).vertex_count(), 2 * set.k() - 4);
            made += 1;
        }
    }
    assert!(made > 20, "{made}");
}

#[test]
fn a_hull_is_checked() {
    let cube = solids::cuboid(DVec3::splat(2.0)).expect("a cube");
    let ball = solids::sphere(1.0, 0.1).expect("a ball");
    assert_eq!(GivenHull::new(&cube, &ball).map(|hull| hull.vertices().len()), Ok(8));
    assert!(matches!(GivenHull::new(&ball, &cube), Err(GivenHullError::Outside { .. })));
    let flake = solids::tetra_flake(1).expect("a tetra-flake");
    assert!(matches!(GivenHull::new(&flake, &flake), Err(GivenHullError::NotConvex { .. })));
    let open = soup(&mut Random(1), 3, 0.3);
    assert!(matches!(GivenHull::new(&open, &open), Err(GivenHullError::NotClosed(Some(_)))));
    let nothing = Mesh::from_triangles(Vec::new(), Vec::new()).expect("nothing is a mesh");
    assert_eq!(GivenHull::new(&nothing, &nothing), Err(GivenHullError::NotClosed(None)));
}

/// A hull makes the root tighter than the vertices of its DOP do.
#[test]
fn a_hull_makes_the_root_tighter() {
    let ball = solids::sphere(1.0, 0.05).expect("a ball");
    let hull = GivenHull::new(&ball, &ball).expect("a ball is convex");
    let normals = NormalSet::klosowski();
    let tree = DopTree::build(&ball, &normals, Splitting::single(SplitRule::Splatter));
    let tree = tree.with_boundary(&ball, BoundaryWay::Own);
    let turned = pose(DQuat::from_xyzw(0.1, 0.5, 0.3, 0.8), DVec3::ZERO);
    let relative = Relative::new([reach(&ball); 2], &Pose::IDENTITY, &turned);
    let root = |tree: &DopTree| {
        let mut trees = DopTrees::of([tree.clone(), tree.clone()], normals.clone());
        trees.aligned(&relative).swap_remove(0).iter().sum::<f32>()
    };
    let (plain, with_hull) = (root(&tree), root(&tree.clone().with_hull(&hull)));
    assert!(with_hull < plain * 0.95, "{with_hull} {plain}");
    assert!(with_hull > 17.0, "{with_hull}");
}

/// Ohlenburg 2003, 3.2.5: a volume that is where it was need not be brought over again.
#[test]
fn volumes_are_kept_while_their_placement_is_the_same_and_no_longer() {
    let (a, b) = (soup(&mut Random(1), 200, 0.3), soup(&mut Random(2), 150, 0.3));
    let splitting = Splitting::single(SplitRule::Splatter);
    let trees = || DopTrees::new(&a, &b, &NormalSet::klosowski(), splitting, Realignment::Affine);
    let mut by_counter = ByTree::new(&a, &b, trees());
    let mut by_placement = ByTree::new(&a, &b, trees().with_placements());
    let mut random = Random(3);
    let mut poses = vec![Pose::IDENTITY];
    poses.extend((0..30).map(|_| pose(random.rotation(), random.vector() * 0.3)));
    let mut saved = [0; 2];
    // Each pose twice; then back and forth, so that kept volumes are of an older question.
    let order = poses.iter().flat_map(|pose| [pose, pose]).chain(poses.iter().rev());
    let mut last = None;
    for turned in order {
        let (expected, all) = by_counter.all_pairs(&Pose::IDENTITY, turned);
        let (found, some) = by_placement.all_pairs(&Pose::IDENTITY, turned);
        assert_eq!(found, expected);
        let same = last == Some(*turned);
        assert!(some.alignments == 0 || !same, "{some:?}");
        saved[usize::from(same)] += all.alignments - some.alignments;
        last = Some(*turned);
    }
    // Of an older question too: what was not visited since is still where it was.
    assert!(saved[1] > 1000 && saved[0] > 0, "{saved:?}");
    assert!(by_placement.bytes() > by_counter.bytes());
}
