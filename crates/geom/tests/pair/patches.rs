//! Patches of boxes, by formula. Patches of polycubes are counted in `jostle-oracle`.

use crate::cases::{self, shift};
use crate::soup::{QUALITIES, own_corners};
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{
    FacePair, Mesh, Model, Pair, Patch, PatchExtent, PatchesError, Pose, Quality, Shape,
};

/// The unit cube from zero with `cells` by `cells` squares on each side, each of two triangles.
pub(crate) fn grid_cube(cells: u32) -> Mesh {
    let mut corners = Vec::new();
    let step = 1.0 / cells as f32;
    for axis in 0..3 {
        for (side, k) in (0..cells * cells).flat_map(|k| [(0.0, k), (1.0, k)]) {
            let (i, j) = ((k % cells) as f32, (k / cells) as f32);
            let at = |x: f32, y: f32| {
                let mut p = Vec3::splat(side);
                (p[(axis + 1) % 3], p[(axis + 2) % 3]) = ((i + x) * step, (j + y) * step);
                p
            };
            let quad = [at(0.0, 0.0), at(1.0, 0.0), at(1.0, 1.0), at(0.0, 1.0)];
            let [p, q, r, s] = if side > 0.5 { quad } else { [quad[0], quad[3], quad[2], quad[1]] };
            corners.extend([p, q, r, p, r, s]);
        }
    }
    own_corners(corners)
}

pub(crate) fn solid_cube(cells: u32, quality: Quality) -> Model {
    Model::build(grid_cube(cells).into_solid().unwrap(), quality)
}

fn patches(pair: &Pair<'_>) -> Vec<Patch> {
    pair.patches().unwrap()
}

#[test]
fn boxes_face_to_face_share_one_area_however_fine_they_are() {
    for cells in [1, 4, 16] {
        for quality in QUALITIES {
            let [a, b] = [cells, cells].map(|cells| solid_cube(cells, quality));
            assert_eq!(a.mesh().triangle_count() as u32, 12 * cells * cells);
            let pose = shift(DVec3::new(1.0, 0.375, -0.25));
            let found = patches(&Pair::new(&b, &pose, &a, &Pose::IDENTITY));
            assert_eq!(found.len(), 1, "{cells}");
            let PatchExtent::Area { area } = found[0].extent else { panic!("{:?}", found[0]) };
            assert!((area - 0.625 * 0.75).abs() < 1e-14, "{area}");
            let centre = DVec3::new(1.0, 0.375 + 0.3125, 0.375);
            assert!(found[0].centre.distance(centre) < 1e-14, "{}", found[0].centre);
            assert_eq!(found[0].normal, Some(DVec3::X));
            let pair = Pair::new(&b, &pose, &a, &Pose::IDENTITY);
            assert_eq!(found[0].faces, pair.all_pairs());
        }
    }
}

#[test]
fn turned_boxes_share_what_formulas_say() {
    // On its bottom, turned by 45°, on a plate: the whole square.
    let turn = DQuat::from_rotation_z(std::f64::consts::FRAC_PI_4);
    let (cube, plate) = (solid_cube(1, Quality::Default), solid_cube(4, Quality::Default));
    let upright = Pose::new(turn, DVec3::new(0.5, 0.0, 1.0)).unwrap();
    let found = patches(&Pair::new(&cube, &upright, &plate, &Pose::IDENTITY));
    assert_eq!(found.len(), 1);
    let PatchExtent::Area { area } = found[0].extent else { panic!("{:?}", found[0]) };
    // A square with the diagonal √2 over one of edge 1, its lowest corner at (0.5, 0): it sticks
    // out left and right by 0.207 each, and above by what is beyond y = 1.
    let half = std::f64::consts::FRAC_1_SQRT_2;
    let beside = (half - 0.5) * (half - 0.5);
    let above = (2.0 * half - 1.0) * (2.0 * half - 1.0);
    assert!((area - (1.0 - 2.0 * beside - above)).abs() < 1e-12, "{area}");
    assert_eq!(found[0].normal, Some(DVec3::Z));
}

#[test]
fn an_edge_on_a_face_is_a_curve_and_a_corner_a_point() {
    // A prism that stands on an edge, and a corner, with whole numbers.
    let p = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
    let ridge = |from: f32, to: f32| {
        let [a, b] = [from, to].map(|x| [p(x, 2.0, 4.0), p(x, 3.0, 5.0), p(x, 1.0, 5.0)]);
        let mut corners = vec![a[0], a[1], a[2], b[0], b[2], b[1]];
        for (i, j) in [(0, 1), (1, 2), (2, 0)] {
            corners.extend([a[i], b[i], b[j], a[i], b[j], a[j]]);
        }
        own_corners(corners).into_solid().unwrap()
    };
    for cells in [1, 4, 16] {
        let scaled: Vec<Vec3> = grid_cube(cells).vertices().iter().map(|v| *v * 4.0).collect();
        let table = own_corners(scaled).into_solid().unwrap();
        let table = Model::build(table, Quality::Default);
        let ask = |mesh: Mesh, pose: &Pose| {
            let model = Model::build(mesh, Quality::Default);
            let swapped = patches(&Pair::new(&table, &Pose::IDENTITY, &model, pose));
            let found = patches(&Pair::new(&model, pose, &table, &Pose::IDENTITY));
            assert_eq!(found.len(), swapped.len());
            for (one, other) in found.iter().zip(&swapped) {
                assert_eq!(one.normal, other.normal.map(|n| -n));
                assert_eq!(one.faces.len(), other.faces.len());
            }
            found
        };
        let found = ask(ridge(1.0, 3.5), &Pose::IDENTITY);
        assert_eq!(found.len(), 1, "{cells}");
        assert_eq!(found[0].extent, PatchExtent::Curve { length: 2.5 });
        assert!(found[0].centre.distance(DVec3::new(2.25, 2.0, 4.0)) < 1e-14);
        assert_eq!(found[0].normal, Some(DVec3::Z));
        // Beyond the table.
        let found = ask(ridge(3.0, 9.0), &Pose::IDENTITY);
        assert_eq!(found[0].extent, PatchExtent::Curve { length: 1.0 });
        // At its very edge: a point.
        let found = ask(ridge(4.0, 9.0), &Pose::IDENTITY);
        assert_eq!((found.len(), found[0].extent), (1, PatchExtent::Point));
        assert_eq!(found[0].centre, DVec3::new(4.0, 2.0, 4.0));
        // A tip.
        let corners = [p(2.0, 1.0, 4.0), p(3.0, 1.0, 5.0), p(1.0, 3.0, 5.0), p(1.0, 0.0, 5.0)];
        let sides = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let tip = Mesh::from_triangles(corners.to_vec(), sides.to_vec()).unwrap();
        let found = ask(tip.into_solid().unwrap(), &Pose::IDENTITY);
        assert_eq!((found.len(), found[0].extent), (1, PatchExtent::Point));
        assert_eq!(found[0].normal, Some(DVec3::Z));
    }
}

#[test]
fn edges_that_cross_have_the_normal_of_both() {
    // Two roofs, ridge across ridge.
    let p = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
    let roof = |tip: [Vec3; 2], foot: [Vec3; 4]| {
        let [a, b] = tip;
        let [c, d, e, f] = foot;
        own_corners(vec![a, b, d, a, d, c, b, a, e, b, e, f])
    };
    let below = roof(
        [p(-2.0, 0.0, 0.0), p(2.0, 0.0, 0.0)],
        [p(-2.0, -1.0, -1.0), p(2.0, -1.0, -1.0), p(-2.0, 1.0, -1.0), p(2.0, 1.0, -1.0)],
    );
    let above = roof(
        [p(0.0, -3.0, 0.0), p(0.0, 1.0, 0.0)],
        [p(-1.0, -3.0, 1.0), p(-1.0, 1.0, 1.0), p(1.0, -3.0, 1.0), p(1.0, 1.0, 1.0)],
    );
    let [below, above] = [below, above].map(|mesh| Model::build(mesh, Quality::Default));
    let found = patches(&Pair::new(&above, &Pose::IDENTITY, &below, &Pose::IDENTITY));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].extent, found[0].centre), (PatchExtent::Point, DVec3::ZERO));
    assert_eq!(found[0].normal, Some(DVec3::Z));
}

#[test]
fn surfaces_show_their_sides_by_what_stands_beside() {
    let cube = Model::build(grid_cube(4), Quality::Default);
    let sheet = own_corners(vec![Vec3::ZERO, Vec3::X * 9.0, Vec3::new(-1.0, 9.0, 0.0)]);
    let sheet = Model::build(sheet, Quality::Default);
    let above = Pair::new(&cube, &Pose::IDENTITY, &sheet, &Pose::IDENTITY);
    assert_eq!(patches(&above)[0].normal, Some(DVec3::Z));
    let below = shift(-DVec3::Z);
    let below = Pair::new(&cube, &below, &sheet, &Pose::IDENTITY);
    assert_eq!(patches(&below)[0].normal, Some(-DVec3::Z));
    // Two sheets show nothing.
    let found = patches(&Pair::new(&sheet, &Pose::IDENTITY, &sheet, &Pose::IDENTITY));
    assert_eq!((found.len(), found[0].normal), (1, None));
    assert_eq!(found[0].extent, PatchExtent::Area { area: 40.5 });
}

#[test]
fn patches_hold_each_touching_pair_and_nothing_else() {
    let (mut several, mut none) = (0, 0);
    for case in cases::mixed() {
        case.each(|pair, twin, place| {
            let found = patches(pair);
            let mut faces: Vec<FacePair> =
                found.iter().flat_map(|patch| patch.faces.iter().copied()).collect();
            faces.sort_unstable();
            faces.dedup();
            let mut expected = twin.touching();
            expected.dedup();
            assert_eq!(faces, expected, "{place}");
            for patch in &found {
                assert!(patch.centre.is_finite(), "{place}: {patch:?}");
                let unit = |n: DVec3| (n.length() - 1.0).abs() < 1e-9;
                assert!(patch.normal.is_none_or(unit), "{place}: {patch:?}");
            }
            several += usize::from(found.len() > 1);
            none += usize::from(found.is_empty());
        });
    }
    assert!(several > 20 && none > 20, "{several} with several, {none} without");
}

#[test]
fn a_sphere_has_no_patches() {
    let ball = Shape::sphere(1.0).unwrap();
    let pair = Pair::new(&ball, &Pose::IDENTITY, &ball, &Pose::IDENTITY);
    assert_eq!(pair.patches(), Err(PatchesError::Sphere));
}
