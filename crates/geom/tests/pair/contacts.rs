//! Few contacts that keep the extremes.

use crate::cases::{self, shift};
use crate::patches::{grid_cube, solid_cube};
use crate::soup::{QUALITIES, Random, own_corners};
use glam::{DQuat, DVec3, Vec3};
use jostle_geom::solids::{BumpyTorus, cuboid, sphere};
use jostle_geom::{
    ContactPoint, Contacts, ContactsError, Mesh, Model, Pair, Pose, Quality, Shape, Spacing,
};

fn contacts(pair: &Pair<'_>, reach: f64) -> Contacts {
    pair.contacts(reach).unwrap_or_else(|error| panic!("{error}"))
}

/// The points on the first shape, sorted.
fn places(found: &Contacts) -> Vec<[f64; 3]> {
    let rounded = |x: f64| (x * 1e9).round() / 1e9 + 0.0;
    let mut places: Vec<[f64; 3]> =
        found.points.iter().map(|c| c.points[0].to_array().map(rounded)).collect();
    places.sort_by(|p, q| p.partial_cmp(q).unwrap());
    places
}

/// What holds for every contact.
fn check(contact: &ContactPoint, place: &str) {
    let ContactPoint { normal, points, spacing, .. } = contact;
    assert!((normal.length() - 1.0).abs() < 1e-9, "{place}: {contact:?}");
    let between = (points[0] - points[1]).dot(*normal);
    let size = points[0].abs().max(points[1].abs()).max_element();
    let along = spacing.along_normal();
    assert!((between - along).abs() <= 1e-9 * (size + along.abs()), "{place}: {contact:?}");
}

#[test]
fn a_box_above_a_plate_has_its_four_corners_however_fine_both_are() {
    for (cells, others) in [(1, 1), (1, 16), (4, 4), (4, 16), (16, 1)] {
        let cube = solid_cube(cells, Quality::Default);
        let plate: Vec<Vec3> = grid_cube(others)
            .vertices()
            .iter()
            .map(|v| (*v * Vec3::new(4.0, 4.0, 1.0)) - Vec3::new(1.5, 1.5, 1.0))
            .collect();
        let plate = Model::build(own_corners(plate).into_solid().unwrap(), Quality::Default);
        for z in [0.25, 0.0, -0.125] {
            let pose = shift(DVec3::Z * z);
            let pair = Pair::new(&cube, &pose, &plate, &Pose::IDENTITY);
            let found = contacts(&pair, 0.5);
            let corners = [[0.0, 0.0, z], [0.0, 1.0, z], [1.0, 0.0, z], [1.0, 1.0, z]];
            assert_eq!(places(&found), corners, "{cells}, {others}, {z}");
            for contact in &found.points {
                check(contact, "box");
                assert_eq!(contact.normal, DVec3::Z);
                let along = contact.spacing.along_normal();
                assert!((along - z).abs() < 1e-12, "{cells}, {others}: {along}");
                let kind = match contact.spacing {
                    Spacing::Gap(_) => 0.25,
                    Spacing::Touching => 0.0,
                    Spacing::Depth(_) => -0.125,
                };
                assert_eq!(kind, z);
            }
            assert_eq!(found.way_out.is_some(), z < 0.0);
            // Seen from the other side.
            let swapped = contacts(&Pair::new(&plate, &Pose::IDENTITY, &cube, &pose), 0.5);
            assert_eq!(swapped.points.len(), 4);
            assert!(swapped.points.iter().all(|contact| contact.normal == -DVec3::Z));
        }
    }
}

#[test]
fn boxes_that_overlap_by_a_half_are_a_half_deep_at_any_fineness() {
    for cells in [1, 4, 16] {
        let cube = solid_cube(cells, Quality::Default);
        let pair = Pair::new(&cube, &shift(DVec3::X * 0.5), &cube, &Pose::IDENTITY);
        let found = contacts(&pair, 0.0);
        assert_eq!(found.points.len(), 4, "{cells}: {found:?}");
        for contact in &found.points {
            let Spacing::Depth(depth) = contact.spacing else { panic!("{contact:?}") };
            assert!((depth - 0.5).abs() < 1e-12, "{cells}: {depth}");
            assert_eq!(contact.normal, DVec3::X);
        }
        let way = found.way_out.unwrap();
        let pose = shift(DVec3::X * 0.5 + way);
        assert!(!Pair::new(&cube, &pose, &cube, &Pose::IDENTITY).touches());
        assert!((way.length() - 0.5).abs() < 1e-5, "{way}");
    }
}

#[test]
fn edges_and_corners_give_two_contacts_and_one() {
    let cube = Model::build(cuboid(DVec3::ONE).unwrap(), Quality::Default);
    let plate = Model::build(cuboid(DVec3::new(9.0, 9.0, 2.0)).unwrap(), Quality::Default);
    let on_edge = DQuat::from_rotation_x(std::f64::consts::FRAC_PI_4);
    let on_corner = DQuat::from_rotation_arc(DVec3::ONE.normalize(), DVec3::Z);
    for (turn, low, count) in [(on_edge, 0.5f64.sqrt(), 2), (on_corner, 0.75f64.sqrt(), 1)] {
        let pose = Pose::new(turn, DVec3::new(0.3, 0.2, 1.0 + low + 0.01)).unwrap();
        let found = contacts(&Pair::new(&cube, &pose, &plate, &Pose::IDENTITY), 0.02);
        assert_eq!(found.points.len(), count, "{found:?}");
        for contact in &found.points {
            check(contact, "turned box");
            assert_eq!(contact.normal, DVec3::Z);
            assert!((contact.spacing.along_normal() - 0.01).abs() < 1e-12, "{contact:?}");
        }
    }
}

#[test]
fn a_tilted_box_keeps_the_corners_that_are_within_reach() {
    // By 2°, its far edge 0.035 above the near one.
    let (cube, plate) = (cuboid(DVec3::ONE).unwrap(), cuboid(DVec3::new(9.0, 9.0, 2.0)).unwrap());
    let [cube, plate] = [cube, plate].map(|mesh| Model::build(mesh, Quality::Default));
    let tilt = DQuat::from_rotation_y(2f64.to_radians());
    let low = 0.5 * 2f64.to_radians().cos() + 0.5 * 2f64.to_radians().sin();
    let pose = Pose::new(tilt, DVec3::Z * (1.0 + low + 0.01)).unwrap();
    let pair = Pair::new(&cube, &pose, &plate, &Pose::IDENTITY);
    assert_eq!(contacts(&pair, 0.02).points.len(), 2);
    let found = contacts(&pair, 0.1);
    assert_eq!(found.points.len(), 4, "{found:?}");
    assert!((found.points[3].spacing.along_normal() - 0.01 - 2f64.to_radians().sin()).abs() < 1e-9);
    assert!(contacts(&pair, 0.001).points.is_empty());
}

#[test]
fn no_contact_is_made_up_at_edges_inside_a_surface_or_behind_one() {
    // A fine floor far wider than the box, and a reach far larger than the gap and the floor's
    // thickness: slanted pairs and pairs with its bottom are near, too.
    let cube = solid_cube(4, Quality::Default);
    let wide = Vec3::new(8.0, 8.0, 0.25);
    let floor = grid_cube(16).vertices().iter().map(|v| (*v - 0.5) * wide).collect();
    let floor = Model::build(own_corners(floor), Quality::Default);
    let pose = shift(DVec3::new(0.1, 0.2, 0.125 + 0.05));
    let pair = Pair::new(&cube, &pose, &floor, &Pose::IDENTITY);
    assert!(pair.near(0.5).len() > 100);
    let found = contacts(&pair, 0.5);
    assert!(found.points.len() == 4, "{found:?}");
    assert!(found.points.iter().all(|contact| contact.normal == DVec3::Z), "{found:?}");
}

#[test]
fn contacts_of_anything_hold_what_they_promise() {
    let (mut free, mut touching, mut refused, mut none) = (0, 0, 0, 0);
    for case in cases::mixed() {
        case.each(|pair, twin, place| {
            let distance = twin.distance().unwrap_or(0.0);
            let reach = distance * 1.5 + 1e-3;
            match pair.contacts(reach) {
                Ok(found) => {
                    let least = found.points.first().map(|c| c.spacing.along_normal());
                    if distance > 0.0 {
                        // The closest points are a contact.
                        let least = least.unwrap_or(f64::INFINITY);
                        let slack = 1e-2 * distance + 1e3 * twin.rounding();
                        assert!((least - distance).abs() <= slack, "{least}: {place}");
                        free += 1;
                    } else if let Some(least) = least {
                        assert!(least <= 0.0, "{place}");
                        touching += 1;
                    } else {
                        none += 1;
                    }
                    let ordered = found.points.is_sorted_by_key(|c| c.spacing.along_normal());
                    assert!(ordered, "{place}");
                    for contact in &found.points {
                        check(contact, place);
                        let off =
                            twin.off_faces(contact.faces, contact.points[0], contact.points[1]);
                        let moved = found.way_out.map_or(0.0, |way| way.length());
                        let slack = 1e-7 * (twin.size + reach + moved);
                        assert!(off <= slack, "{off}: {contact:?}: {place}");
                    }
                }
                Err(ContactsError::NoDepth | ContactsError::UnknownSide { .. }) => {
                    assert!(distance == 0.0, "{place}");
                    refused += 1;
                }
                Err(error) => panic!("{error}: {place}"),
            }
        });
    }
    let seen = [free, touching, refused, none];
    assert!(seen.iter().all(|&count| count > 5), "{seen:?}");
}

#[test]
fn what_has_no_answer_is_an_error() {
    let sheet = own_corners(vec![Vec3::ZERO, Vec3::X * 9.0, Vec3::Y * 9.0]);
    let sheet = Model::build(sheet, Quality::Default);
    let at = |pose: &Pose| Pair::new(&sheet, pose, &sheet, &Pose::IDENTITY).contacts(1.0);
    assert!(matches!(at(&shift(DVec3::X)), Err(ContactsError::UnknownSide { .. })));
    let upright = Pose::new(DQuat::from_rotation_x(1.0), DVec3::new(1.0, 1.0, -1.0)).unwrap();
    assert_eq!(at(&upright), Err(ContactsError::NoDepth));
    assert_eq!(at(&shift(DVec3::Z * 9.0)), Ok(Contacts::default()));
    let pair = Pair::new(&sheet, &Pose::IDENTITY, &sheet, &Pose::IDENTITY);
    assert!(matches!(pair.contacts(f64::NAN), Err(ContactsError::Reach(_))));
    assert_eq!(pair.contacts(-1.0), Err(ContactsError::Reach(-1.0)));
    // One is solid, and the other passes through its surface.
    let cube = solid_cube(1, Quality::Default);
    let inside = Pair::new(&cube, &shift(DVec3::Z * -0.5), &sheet, &Pose::IDENTITY);
    assert_eq!(inside.contacts(0.0), Err(ContactsError::NoDepth));
}

#[test]
fn spheres_have_the_contacts_of_formulas() {
    let (ball, small) = (Shape::sphere(1.0).unwrap(), Shape::sphere(0.5).unwrap());
    let along = |x: f64| {
        let pair = Pair::new(&ball, &shift(DVec3::X * x), &small, &Pose::IDENTITY);
        let found = contacts(&pair, 1.0);
        found.points.iter().map(|c| (c.normal, c.spacing)).collect::<Vec<_>>()
    };
    assert_eq!(along(2.0), [(DVec3::X, Spacing::Gap(0.5))]);
    assert_eq!(along(-1.5), [(-DVec3::X, Spacing::Touching)]);
    assert_eq!(along(1.25), [(DVec3::X, Spacing::Depth(0.25))]);
    assert_eq!(along(0.0), [(DVec3::Z, Spacing::Depth(1.5))]);
    assert_eq!(along(2.75), []);
    // In a corner of two walls, each of many triangles.
    let cube = Model::build(grid_cube(16).into_solid().unwrap(), Quality::Default);
    let centre = DVec3::new(1.25, 0.5, 0.5);
    let pair = Pair::new(&small, &shift(centre), &cube, &Pose::IDENTITY);
    let found = contacts(&pair, 0.0);
    assert_eq!(found.points.len(), 1, "{found:?}");
    assert_eq!((found.points[0].normal, found.points[0].spacing), (DVec3::X, Spacing::Depth(0.25)));
    let pair = Pair::new(&cube, &Pose::IDENTITY, &small, &shift(DVec3::new(0.9, 0.5, 0.5)));
    let found = contacts(&pair, 0.0);
    assert_eq!(found.points.len(), 1);
    let depth = -found.points[0].spacing.along_normal();
    assert!(found.points[0].normal == -DVec3::X && (depth - 0.6).abs() < 1e-7, "{found:?}");
}

#[test]
fn solids_in_each_other_come_free_by_the_way_out() {
    let mut random = Random(4);
    let solid = |mesh: Mesh| Model::build(mesh.into_solid().unwrap(), Quality::Default);
    let ring = solid(BumpyTorus::plain(1.0, 0.3, [24, 12]).mesh().unwrap());
    let shapes = [solid(sphere(0.7, 0.05).unwrap()), ring, solid_cube(2, Quality::Default)];
    let (mut deep, mut free) = (0, 0);
    for step in 0..36 {
        let (a, b) = (&shapes[step % 3], &shapes[step / 3 % 3]);
        let (pose_a, pose_b) = (random.pose(1.0), random.pose(0.3));
        let pair = Pair::new(a, &pose_a, b, &pose_b);
        let found = contacts(&pair, 0.01);
        let Some(way) = found.way_out else {
            free += 1;
            assert!(!pair.overlaps().unwrap(), "{step}");
            continue;
        };
        deep += 1;
        assert!(pair.overlaps().unwrap(), "{step}");
        let moved = Pose::new(pose_a.rotation(), pose_a.translation() + way).unwrap();
        assert!(!Pair::new(a, &moved, b, &pose_b).touches(), "{step}");
        let first = found.points.first().unwrap();
        check(first, "deep");
        assert!(matches!(first.spacing, Spacing::Depth(d) if d > 0.0 && d < way.length() * 1.001));
    }
    assert!(deep > 5 && free > 2, "{deep} deep, {free} free");
}

#[test]
fn contacts_are_the_same_in_every_run_and_for_every_quality() {
    let mut random = Random(9);
    let ball = sphere(0.7, 0.01).unwrap().into_solid().unwrap();
    let (pose_a, pose_b) = (random.pose(0.1), shift(DVec3::X * 1.5));
    let ask = |quality| {
        let model = Model::build(ball.clone(), quality);
        let found = contacts(&Pair::new(&model, &pose_a, &model, &pose_b), 0.3);
        assert_eq!(found, contacts(&Pair::new(&model, &pose_a, &model, &pose_b), 0.3));
        found
    };
    let first = ask(QUALITIES[0]);
    assert!(!first.points.is_empty() && first.points.len() < 60, "{}", first.points.len());
    for quality in QUALITIES {
        assert_eq!(ask(quality), first);
    }
}
