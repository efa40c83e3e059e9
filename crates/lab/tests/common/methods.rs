//! All trees of this crate, with every rule and re-alignment, as contenders for two meshes.

use super::Make;
use jostle_geom::Mesh;
use jostle_lab::Contender;
use jostle_lab::bsp::BspTrees;
use jostle_lab::dop::{BoundaryWay, DopTree, DopTrees, GivenHull, NormalSet, Realignment};
use jostle_lab::traverse::ByTree;
use jostle_lab::tree::{Aabb, Obb, Sphere, SplitRule, Splitting, Volume, VolumeTrees};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// What a group of contenders is called, and how it is made.
pub(crate) const METHODS: [(&str, Make); 9] = [
    ("boxes along the axes", trees::<Aabb>),
    ("spheres", trees::<Sphere>),
    ("oriented boxes", trees::<Obb>),
    ("DOPs by sums", affine),
    ("DOPs by coded correspondences", coded),
    ("DOPs by boundaries", boundaries),
    ("DOPs with different directions", mixed),
    ("DOPs with a hull", with_hull),
    ("BSP trees", bsp),
];

/// Every rule with leaves of one triangle, and one rule with leaves of three.
pub(crate) fn trees<'a, V: Volume + 'static>(
    a: &'a Mesh,
    b: &'a Mesh,
) -> Vec<Box<dyn Contender + 'a>> {
    let single = SplitRule::ALL.map(Splitting::single).into_iter();
    let all = single.chain(Splitting::new(SplitRule::Splatter, 3));
    let contender = |splitting| {
        let trees = VolumeTrees::<V>::new(a, b, splitting);
        Box::new(ByTree::new(a, b, trees)) as Box<dyn Contender + 'a>
    };
    all.map(contender).collect()
}

fn dops<'a>(
    a: &'a Mesh,
    b: &'a Mesh,
    settings: Vec<(NormalSet, Splitting, Realignment)>,
) -> Vec<Box<dyn Contender + 'a>> {
    let contender = |(normals, splitting, realignment)| {
        let trees = DopTrees::new(a, b, &normals, splitting, realignment);
        Box::new(ByTree::new(a, b, trees)) as Box<dyn Contender + 'a>
    };
    settings.into_iter().map(contender).collect()
}

/// Made once.
pub(crate) fn spread(k: usize) -> NormalSet {
    static SETS: OnceLock<BTreeMap<usize, NormalSet>> = OnceLock::new();
    let set = |k| NormalSet::spread(k, 1).expect("an even k from 6 to 32");
    SETS.get_or_init(|| (6..=32).step_by(2).map(|k| (k, set(k))).collect())[&k].clone()
}

pub(crate) fn affine<'a>(a: &'a Mesh, b: &'a Mesh) -> Vec<Box<dyn Contender + 'a>> {
    let single = SplitRule::ALL.map(Splitting::single).into_iter();
    let with = |normals: NormalSet, rule| (normals, Splitting::single(rule), Realignment::Affine);
    let rules = single.map(|splitting| (NormalSet::klosowski(), splitting, Realignment::Affine));
    let sets = [NormalSet::axes(), NormalSet::octahedron(), NormalSet::fourteen(), spread(24)];
    let sets = sets.into_iter().map(|normals| with(normals, SplitRule::AlternatingEnds));
    dops(a, b, rules.chain(sets).collect())
}

pub(crate) fn coded<'a>(a: &'a Mesh, b: &'a Mesh) -> Vec<Box<dyn Contender + 'a>> {
    let splitting = Splitting::single(SplitRule::AlternatingEnds);
    let sets = [NormalSet::axes(), spread(8), spread(10)];
    dops(a, b, sets.map(|normals| (normals, splitting, Realignment::Coded)).into())
}

pub(crate) fn boundaries<'a>(a: &'a Mesh, b: &'a Mesh) -> Vec<Box<dyn Contender + 'a>> {
    let ways = [BoundaryWay::Own, BoundaryWay::FromAbove];
    let splitting = Splitting::single(SplitRule::Splatter);
    let of = |way| (NormalSet::klosowski(), splitting, Realignment::Boundary(way));
    let other = (spread(12), splitting, Realignment::Boundary(BoundaryWay::FromAbove));
    dops(a, b, ways.into_iter().map(of).chain([other]).collect())
}

/// Other directions for each tree and for the comparison.
pub(crate) fn mixed<'a>(a: &'a Mesh, b: &'a Mesh) -> Vec<Box<dyn Contender + 'a>> {
    let tree = |mesh, normals: &NormalSet| {
        DopTree::build(mesh, normals, Splitting::single(SplitRule::LongestSide))
    };
    let sets = [
        (NormalSet::axes(), spread(20), NormalSet::axes()),
        (spread(10), NormalSet::axes(), NormalSet::klosowski()),
        (NormalSet::fourteen(), spread(32), spread(8)),
    ];
    let contender = |(first, second, common): (NormalSet, NormalSet, NormalSet)| {
        let trees = DopTrees::of([tree(a, &first), tree(b, &second)], common);
        Box::new(ByTree::new(a, b, trees)) as Box<dyn Contender + 'a>
    };
    sets.into_iter().map(contender).collect()
}

pub(crate) fn bsp<'a>(a: &'a Mesh, b: &'a Mesh) -> Vec<Box<dyn Contender + 'a>> {
    vec![Box::new(BspTrees::new(a, b))]
}

/// The second mesh with its hull, where it is convex and so its own.
pub(crate) fn with_hull<'a>(a: &'a Mesh, b: &'a Mesh) -> Vec<Box<dyn Contender + 'a>> {
    let normals = NormalSet::klosowski();
    let splitting = Splitting::single(SplitRule::MinSum);
    let Ok(hull) = GivenHull::new(b, b) else { return Vec::new() };
    let first = DopTree::build(a, &normals, splitting);
    let second = DopTree::build(b, &normals, splitting);
    let second = second.with_boundary(b, BoundaryWay::Own).with_hull(&hull);
    vec![Box::new(ByTree::new(a, b, DopTrees::of([first, second], normals)))]
}
