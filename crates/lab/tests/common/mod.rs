//! What several tests need: random numbers, mesh pairs that are hard, poses at the border between
//! touching and not, and the comparison of a contender with what geom says and with all triangles.

#![allow(dead_code, unused_imports, reason = "not every test uses all of it")]

mod cases;
pub(crate) mod methods;

pub(crate) use cases::{Case, cases, one_triangle, soup};
pub(crate) use jostle_dice::Random;

use glam::{DQuat, DVec3};
use jostle_geom::{FacePair, Mesh, Model, Pair, Pose, Quality};
use jostle_lab::{Contender, Surfaces};

/// Turns that map the axes to the axes.
pub(crate) fn quarter_turn(random: &mut Random) -> DQuat {
    let turns = [
        DQuat::IDENTITY,
        DQuat::from_xyzw(0.0, 0.0, 1.0, 1.0),
        DQuat::from_xyzw(1.0, 0.0, 0.0, 1.0),
        DQuat::from_xyzw(0.0, 1.0, 0.0, -1.0),
        DQuat::from_xyzw(1.0, 1.0, 1.0, 1.0),
        DQuat::from_xyzw(0.0, 1.0, 0.0, 0.0),
    ];
    turns[random.below(turns.len())]
}

pub(crate) fn pose(rotation: DQuat, translation: DVec3) -> Pose {
    Pose::new(rotation, translation).expect("a pose from numbers that are well away from any limit")
}

/// Poses of a case: some at random, some at multiples of the case's unit (so that what is made of
/// whole numbers touches in faces, edges and corners), some at the border of touching and apart.
pub(crate) fn poses(case: &Case, random: &mut Random, count: usize) -> Vec<(Pose, Pose)> {
    let build = |mesh: &Mesh| Model::build(mesh.clone(), Quality::Default);
    let (a, b) = (build(&case.a), build(&case.b));
    let mut poses = Vec::with_capacity(count + 1);
    while poses.len() < count {
        let place = random.vector() * case.reach;
        match poses.len() % 4 {
            0 => poses.push((
                pose(random.rotation(), random.vector() * case.reach),
                pose(random.rotation(), place),
            )),
            1 => {
                let whole = (place / case.unit).round() * case.unit;
                poses.push((
                    pose(quarter_turn(random), DVec3::ZERO),
                    pose(quarter_turn(random), whole),
                ));
            }
            _ => poses.extend(border(case, random, &a, &b)),
        }
    }
    poses.truncate(count);
    poses
}

/// Two poses, next to each other, of which one touches and one does not; one pose if the models do
/// not touch in the middle.
fn border(case: &Case, random: &mut Random, a: &Model, b: &Model) -> Vec<(Pose, Pose)> {
    let first = pose(random.rotation(), random.vector() * case.unit);
    let (rotation, away) = (random.rotation(), random.vector().normalize_or(DVec3::X));
    let offset = random.vector() * case.unit * 0.3;
    let at = |distance: f64| pose(rotation, first.translation() + offset + away * distance);
    let touches = |distance: f64| Pair::new(a, &first, b, &at(distance)).touches();
    let (mut near, mut far) = (0.0, 4.0 * case.reach);
    if !touches(near) || touches(far) {
        return vec![(first, at(0.7 * case.reach))];
    }
    for _ in 0..60 {
        let middle = near + (far - near) * 0.5;
        if touches(middle) { near = middle } else { far = middle }
    }
    vec![(first, at(near)), (first, at(far))]
}

/// Every triangle against every triangle.
pub(crate) fn brute_pairs(a: &Mesh, b: &Mesh, poses: &(Pose, Pose)) -> Vec<FacePair> {
    let mut surfaces = Surfaces::new(a, b);
    surfaces.pose(&poses.0, &poses.1);
    let mut touching = Vec::new();
    for i in 0..a.triangle_count() as u32 {
        for j in 0..b.triangle_count() as u32 {
            if surfaces.touch(i, j) {
                touching.push((i, j));
            }
        }
    }
    surfaces.face_pairs(&touching)
}

/// More pairs of triangles than this are not compared one by one, only with geom.
const BRUTE_MAX: usize = 3000;

/// How often the answer was yes and no.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) touching: usize,
    pub(crate) apart: usize,
}

impl Tally {
    pub(crate) fn both_answers_occur(&self) {
        assert!(self.touching > 0 && self.apart > 0, "{self:?}");
    }
}

/// Contenders for two meshes.
pub(crate) type Make = for<'a> fn(&'a Mesh, &'a Mesh) -> Vec<Box<dyn Contender + 'a>>;

/// Asks contenders at poses of one case, and stops at the first answer that is not the exact one.
pub(crate) fn agree_on(case: &Case, poses: &[(Pose, Pose)], make: Make) -> Tally {
    let build = |mesh: &Mesh| Model::build(mesh.clone(), Quality::Default);
    let (a, b) = (build(&case.a), build(&case.b));
    let mut contenders = make(&case.a, &case.b);
    let mut tally = Tally::default();
    for poses in poses {
        let expected = Pair::new(&a, &poses.0, &b, &poses.1).all_pairs();
        if case.a.triangle_count() * case.b.triangle_count() <= BRUTE_MAX {
            assert_eq!(expected, brute_pairs(&case.a, &case.b, poses), "geom, {}", case.name);
        }
        *if expected.is_empty() { &mut tally.apart } else { &mut tally.touching } += 1;
        for contender in &mut contenders {
            let place = format!("{}, {}, {poses:?}", contender.name(), case.name);
            let touches = contender.touches(&poses.0, &poses.1).0;
            assert_eq!(touches, !expected.is_empty(), "{place}");
            assert_eq!(contender.all_pairs(&poses.0, &poses.1).0, expected, "{place}");
        }
    }
    tally
}

/// Asks contenders at so many poses of every case.
pub(crate) fn agree(make: Make, count: usize, seed: u64) {
    let mut tally = Tally::default();
    for case in cases() {
        let mut random = Random(seed);
        let found = agree_on(&case, &poses(&case, &mut random, count), make);
        tally.touching += found.touching;
        tally.apart += found.apart;
    }
    tally.both_answers_occur();
}
