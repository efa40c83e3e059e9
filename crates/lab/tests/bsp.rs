//! BSP trees that are cut off (Storey 2006, 4.3.2.3) may say "near" and are never wrong otherwise.

mod common;

use common::Random;
use glam::DVec3;
use jostle_geom::solids::{self, BumpyTorus};
use jostle_geom::{Mesh, Model, Pair, Pose, Quality};
use jostle_lab::Verdict;
use jostle_lab::bsp::{BspTrees, Detail};
use std::num::NonZeroUsize;

fn meshes() -> [Mesh; 2] {
    let torus = BumpyTorus::plain(1.0, 0.3, [24, 12]).mesh().expect("a torus");
    [torus, solids::sphere(0.5, 0.01).expect("a ball")]
}

fn poses(count: usize) -> Vec<Pose> {
    let mut random = Random(1);
    let mut pose = || Pose::new(random.rotation(), random.vector() * 1.5).expect("a good pose");
    (0..count).map(|_| pose()).collect()
}

#[test]
fn deeper_walks_have_fewer_false_contacts_and_never_miss_one() {
    let [a, b] = meshes();
    let models = [&a, &b].map(|mesh| Model::build(mesh.clone(), Quality::Default));
    let mut trees = BspTrees::new(&a, &b);
    let most = trees.depth();
    let mut wrong = Vec::new();
    for depth in [0, 2, 4, 8, 12, most] {
        let detail = Detail { depth: Some(depth), contacts: None };
        let (mut near, mut seen) = (0, [0; 2]);
        for (at, pose) in poses(100).iter().enumerate() {
            let touches = Pair::new(&models[0], &Pose::IDENTITY, &models[1], pose).touches();
            seen[usize::from(touches)] += 1;
            let (found, _) = trees.contacts(&Pose::IDENTITY, pose, detail);
            match found.verdict() {
                Verdict::Touch => assert!(touches, "pose {at}, depth {depth}"),
                Verdict::Apart => assert!(!touches, "pose {at}, depth {depth}"),
                Verdict::MayTouch => near += usize::from(!touches),
            }
        }
        assert!(seen.iter().all(|&seen| seen > 10), "{seen:?}");
        wrong.push(near);
    }
    assert!(wrong.is_sorted_by(|more, fewer| more >= fewer), "{wrong:?}");
    assert!(wrong[1] > 10 && wrong[5] == 0, "{wrong:?}");
}

#[test]
fn a_walk_ends_with_as_many_contacts_as_are_wanted() {
    let [a, b] = meshes();
    let mut trees = BspTrees::new(&a, &b);
    let across = Pose::from_translation(DVec3::X).expect("a good pose");
    let (all, cost) = trees.contacts(&Pose::IDENTITY, &across, Detail::ALL);
    assert!(all.touching.len() > 10 && all.near.is_empty());
    for most in [1, 3, 10] {
        let detail = Detail { depth: None, contacts: NonZeroUsize::new(most) };
        let (some, less) = trees.contacts(&Pose::IDENTITY, &across, detail);
        assert_eq!(some.touching, all.touching[..most]);
        assert!(less.visits < cost.visits);
    }
}
