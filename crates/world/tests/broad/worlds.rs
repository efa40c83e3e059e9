//! Kinds of worlds that hurt one structure or another.

use super::judge::Judge;
use super::random::Random;
use glam::Vec3;
use jostle_geom::Aabb;

const SEEDS: u64 = 3;

/// Inserts `count` boxes, then lets `step` move what it wants, `steps` times.
fn run(
    kind: &str,
    (count, steps): (u32, u32),
    place: impl Fn(&mut Random) -> Aabb,
    step: impl Fn(&mut Random, &mut Judge),
) {
    for seed in 0..SEEDS {
        let mut random = Random(seed);
        let mut judge = Judge::new(format!("{kind}, seed {seed}"));
        for slot in 0..count {
            judge.insert(slot, place(&mut random));
        }
        judge.check();
        for _ in 0..steps {
            step(&mut random, &mut judge);
            judge.check();
        }
        // Half of them go, new ones come into some of the freed slots.
        for slot in (0..count).filter(|slot| slot % 4 < 2) {
            judge.remove(slot);
        }
        judge.check();
        for slot in (0..count).filter(|slot| slot % 8 < 2) {
            judge.insert(slot, place(&mut random));
        }
        judge.check();
        assert!(judge.seen[0] > 0, "{kind}: none ever overlap");
        assert!(judge.seen[1] > 0 || kind == "all overlap", "{kind}: all always overlap");
    }
}

fn shifted(bounds: Aabb, by: Vec3) -> Aabb {
    Aabb::around(bounds.min() + by, bounds.max() + by)
}

/// One in `of` boxes moves by up to `by` along every axis.
fn drift(of: u32, by: f32) -> impl Fn(&mut Random, &mut Judge) {
    move |random, judge| {
        for slot in judge.slots() {
            if random.below(of) == 0 {
                let bounds = judge.get(slot).unwrap();
                judge.update(slot, shifted(bounds, random.point(-by, by)));
            }
        }
    }
}

/// One in `of` boxes is replaced.
fn jump(of: u32, place: impl Fn(&mut Random) -> Aabb) -> impl Fn(&mut Random, &mut Judge) {
    move |random, judge| {
        for slot in judge.slots() {
            if random.below(of) == 0 {
                judge.update(slot, place(random));
            }
        }
    }
}

#[test]
fn random_boxes_that_all_move_a_little() {
    run("all drift", (300, 20), |random| random.unit_cube(12.0), drift(1, 0.1));
}

#[test]
fn random_boxes_of_which_few_move() {
    run("few drift", (300, 30), |random| random.unit_cube(12.0), drift(40, 0.5));
}

#[test]
fn teleporting_boxes() {
    run("all jump", (300, 10), |random| random.unit_cube(12.0), jump(1, |r| r.unit_cube(12.0)));
    run("few jump", (300, 20), |random| random.unit_cube(12.0), jump(30, |r| r.unit_cube(12.0)));
}

#[test]
fn clusters_far_apart() {
    let place = |random: &mut Random| {
        let centre = Vec3::splat(1000.0) * Vec3::new(random.below(3) as f32, 7.0, 0.0);
        shifted(random.unit_cube(5.0), centre)
    };
    run("clusters", (300, 15), place, drift(2, 0.3));
}

#[test]
fn boxes_that_all_overlap() {
    let identical = |_: &mut Random| Aabb::around(Vec3::splat(3.0), Vec3::splat(5.0));
    run("all overlap", (80, 6), identical, drift(2, 0.2));
}

#[test]
fn points_and_flat_boxes() {
    // On few places, so that equal ones occur.
    let place = |random: &mut Random| {
        let corner = Vec3::from_array([0; 3].map(|_| random.below(6) as f32));
        let size =
            Vec3::from_array([0; 3].map(|_| random.below(4) as f32 - 2.0).map(|x| x.max(0.)));
        Aabb::around(corner, corner + size)
    };
    run("points and flat boxes", (200, 10), place, jump(3, place));
    let point = |random: &mut Random| {
        let corner = Vec3::from_array([0; 3].map(|_| random.below(8) as f32));
        Aabb::around(corner, corner)
    };
    run("points", (300, 10), point, jump(3, point));
}

#[test]
fn boxes_that_touch_exactly() {
    // Unit steps of unit boxes: faces, edges and corners coincide all the time, also with the
    // borders of cells.
    let place = |random: &mut Random| {
        let corner = Vec3::from_array([0; 3].map(|_| random.below(12) as f32 - 6.0));
        Aabb::around(corner, corner + 1.0)
    };
    let step = |random: &mut Random, judge: &mut Judge| {
        for slot in judge.slots().into_iter().filter(|slot| slot % 3 == 0) {
            let by = Vec3::from_array([0; 3].map(|_| random.below(3) as f32 - 1.0));
            let bounds = judge.get(slot).unwrap();
            judge.update(slot, shifted(bounds, by));
        }
    };
    run("lattice", (300, 20), place, step);
}

#[test]
fn minus_zero_is_zero() {
    let place = |random: &mut Random| {
        let side = if random.below(2) == 0 { 1.0 } else { -1.0 };
        let zero = if random.below(2) == 0 { 0.0 } else { -0.0 };
        let corner = Vec3::new(zero, random.point(0.0, 4.0).y, zero);
        Aabb::around(corner, corner + Vec3::new(side, 1.0, side))
    };
    run("zeros", (60, 10), place, jump(2, place));
}

#[test]
fn huge_coordinates() {
    let place = |random: &mut Random| {
        let corner = random.point(-1e30, 1e30);
        Aabb::around(corner, corner + random.point(0.0, 3e29))
    };
    run("huge", (200, 10), place, jump(3, place));
    let far_or_near = move |random: &mut Random| match random.below(4) {
        0 => place(random),
        1 => Aabb::around(Vec3::MIN, Vec3::splat(1e38 * random.unit())),
        _ => random.unit_cube(6.0),
    };
    run("far and near", (200, 10), far_or_near, jump(3, far_or_near));
}

#[test]
fn mixed_scales() {
    let place = |random: &mut Random| {
        let at = random.magnitude(-6.0, 6.0);
        let corner = random.point(-at, at);
        let side = random.magnitude(-6.0, 6.0);
        Aabb::around(corner, corner + random.point(0.0, side))
    };
    run("mixed scales", (300, 10), place, jump(2, place));
    run("mixed scales, drifting", (300, 10), place, drift(2, 1e-3));
}

#[test]
fn one_huge_box_among_small_ones() {
    let place = |random: &mut Random| match random.below(60) {
        0 => Aabb::around(random.point(-50.0, 0.0), random.point(10.0, 90.0)),
        _ => random.unit_cube(14.0),
    };
    run("one huge box", (240, 10), place, drift(1, 0.2));
    run("few move, one huge box", (240, 10), place, drift(20, 0.2));
}

#[test]
fn a_world_that_changes_its_scale() {
    // Cells chosen for the first boxes do not suit the later ones.
    let step = |random: &mut Random, judge: &mut Judge| {
        let factor = [1.3, 3.0, 0.1][random.below(3) as usize];
        for slot in judge.slots() {
            let bounds = judge.get(slot).unwrap();
            judge.update(slot, Aabb::around(bounds.min() * factor, bounds.max() * factor));
        }
    };
    run("changing scale", (200, 60), |random| random.unit_cube(9.0), step);
}

#[test]
fn a_swarm_that_wanders_off() {
    let step = |random: &mut Random, judge: &mut Judge| {
        let by = Vec3::new(40.0, -25.0, 3.0) + random.point(-0.2, 0.2);
        for slot in judge.slots() {
            let bounds = judge.get(slot).unwrap();
            judge.update(slot, shifted(bounds, by));
        }
    };
    run("wandering", (200, 40), |random| random.unit_cube(9.0), step);
}

#[test]
fn worlds_that_grow_and_shrink() {
    for seed in 0..SEEDS {
        let mut random = Random(seed);
        let mut judge = Judge::new(format!("growing, seed {seed}"));
        let mut next = 0;
        // Few and many at a time, into the few and into the many.
        for count in [1, 1, 30, 3, 200, 10, 2, 60, 9] {
            for _ in 0..count {
                judge.insert(next, random.unit_cube(9.0));
                next += 1;
            }
            drift(7, 0.2)(&mut random, &mut judge);
            judge.check();
        }
        for share in [300, 100, 50, 3, 3, 2, 1] {
            for slot in judge.slots() {
                if random.below(share) == 0 {
                    judge.remove(slot);
                }
            }
            drift(7, 0.2)(&mut random, &mut judge);
            judge.check();
        }
        assert!(judge.slots().is_empty());
        judge.insert(2, random.unit_cube(1.0));
        judge.insert(1, random.unit_cube(1.0));
        judge.check();
        assert!(judge.seen.iter().all(|&seen| seen > 0));
    }
}
