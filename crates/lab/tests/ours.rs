//! The interface itself: the default hierarchy, asked through it, and the exact test at its end.

use glam::DVec3;
use jostle_geom::{Pose, Quality, solids};
use jostle_lab::{Contender, Ours, Surfaces};

#[test]
fn ours_equals_all_triangles() {
    let a = solids::cuboid(DVec3::splat(2.0)).expect("a cube");
    let b = solids::sphere(1.0, 0.2).expect("a ball");
    let mut ours = Ours::new(&a, &b, Quality::Default);
    let mut surfaces = Surfaces::new(&a, &b);
    let mut seen = [false; 2];
    for step in 0..12 {
        let pose = Pose::from_translation(DVec3::new(f64::from(step) * 0.25, 0.1, 0.2));
        let pose = pose.expect("a finite place");
        surfaces.pose(&Pose::IDENTITY, &pose);
        let mut touching = Vec::new();
        for i in 0..a.triangle_count() as u32 {
            for j in 0..b.triangle_count() as u32 {
                if surfaces.touch(i, j) {
                    touching.push((i, j));
                }
            }
        }
        assert_eq!(ours.touches(&Pose::IDENTITY, &pose).0, !touching.is_empty());
        assert_eq!(ours.all_pairs(&Pose::IDENTITY, &pose).0, surfaces.face_pairs(&touching));
        seen[usize::from(touching.is_empty())] = true;
    }
    assert_eq!(seen, [true; 2], "both answers occur");
}
