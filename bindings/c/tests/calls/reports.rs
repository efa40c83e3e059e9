//! Faces, distances, rebuilding and round solids.

use crate::handle::{Draw, Handle, TETRAHEDRON};
use glam::{DVec3, Vec3};
use jostle_c::col_status::*;
use jostle_c::*;
use jostle_geom::{Mesh, Model, Pair, Pose, Quality};

/// A triangle across the z axis, at this height.
fn flat(z: f64) -> [f64; 9] {
    [-1.0, -1.0, z, 1.0, -1.0, z, 0.0, 1.0, z]
}

/// A triangle in the plane x = 0, from `low` to `high` around the z axis.
fn upright(low: f64, high: f64) -> [f64; 9] {
    [0.0, -0.1, low, 0.0, 0.1, low, 0.0, 0.0, high]
}

#[test]
fn faces_have_the_callers_numbers() {
    let world = Handle::open();
    let stack = world.object();
    // Two triangles of one face, one of another, and one that is not reached.
    for (z, face) in [(0.0, 70), (3.0, 50), (1.0, 70), (2.0, 60)] {
        world.ok(world.add_triangle(stack, &flat(z), face));
    }
    world.ok(world.finish(stack));
    let needle = world.object();
    world.ok(world.add_triangle(needle, &upright(-0.5, 2.5), u32::MAX));
    world.ok(world.finish(needle));
    world.ok(world.test());
    assert_eq!(world.collisions(), [[stack, needle]]);
    assert_eq!(world.faces(stack, needle), Ok(vec![[60, u32::MAX], [70, u32::MAX]]));
    assert_eq!(world.faces(needle, stack), Ok(vec![[u32::MAX, 60], [u32::MAX, 70]]));
}

#[test]
fn faces_are_those_of_the_last_test() {
    let world = Handle::open();
    let [stack, needle] = [world.object_of(&[flat(0.0), flat(1.0)]), world.object()];
    world.ok(world.add_triangle(needle, &upright(-0.5, 0.5), 7));
    world.ok(world.finish(needle));
    assert_eq!(world.faces(stack, needle), Err(COL_NOT_REPORTED), "nothing was tested yet");
    world.ok(world.test());
    let seen = Ok(vec![[0, 7]]);
    assert_eq!(world.faces(stack, needle), seen);

    world.ok(world.move_to(needle, [0.0, 0.0, 1.0]));
    world.ok(world.move_to(needle, [0.0, 0.0, 2.0]));
    assert_eq!(world.faces(stack, needle), seen, "it moved since");
    world.ok(world.clear(stack));
    assert_eq!(world.faces(needle, stack), Ok(vec![[7, 0]]), "it was cleared since");
    world.ok(world.add_triangle(stack, &flat(2.0), 9));
    world.ok(world.finish(stack));
    world.ok(world.set_active(stack, false));
    assert_eq!(world.faces(stack, needle), seen, "it was rebuilt since");

    world.ok(world.set_active(stack, true));
    world.ok(world.test());
    assert_eq!(world.faces(stack, needle), Ok(vec![[9, 7]]));
    world.ok(world.test());
    assert_eq!(world.faces(stack, needle), Ok(vec![[9, 7]]), "nothing changed");
    world.ok(world.delete(needle));
    assert_eq!(world.collisions(), [[stack, needle]], "the report stays");
    assert_eq!(world.faces(stack, needle), Err(COL_UNKNOWN_OBJECT));
    world.ok(world.test());
    assert_eq!(world.collisions(), [[0; 2]; 0]);
}

#[test]
fn geometry_is_added_to_cleared_and_rebuilt_while_the_world_runs() {
    let world = Handle::open();
    let [stack, needle] = [world.object(), world.object_of(&[upright(-0.5, 0.5)])];
    world.ok(world.test());
    assert_eq!(world.collisions(), [[0; 2]; 0], "no triangles, no collision");
    world.ok(world.finish(stack));
    for (count, z) in [5.0, 0.0, 0.25, 6.0].into_iter().enumerate() {
        world.ok(world.add_triangle(stack, &flat(z), count as u32));
        world.ok(world.finish(stack));
        world.ok(world.test());
        let expected: &[[u32; 2]] =
            [&[][..], &[[1, 0]], &[[1, 0], [2, 0]], &[[1, 0], [2, 0]]][count];
        assert_eq!(world.faces(stack, needle).unwrap_or_default(), expected, "{count}");
    }
    // Once more without a change.
    world.ok(world.finish(stack));
    world.ok(world.test());
    assert_eq!(world.collisions().len(), 1);
    // The pose survives.
    world.ok(world.move_to(stack, [0.0, 0.0, -5.0]));
    world.ok(world.clear(stack));
    world.ok(world.test());
    assert_eq!(world.collisions(), [[0; 2]; 0]);
    world.ok(world.add_triangle(stack, &flat(5.0), 3));
    world.ok(world.finish(stack));
    world.ok(world.test());
    assert_eq!(world.faces(stack, needle), Ok(vec![[3, 0]]));
}

#[test]
fn worlds_know_nothing_of_each_other() {
    let [one, two] = [Handle::open(), Handle::open()];
    let [a, b] = [one.object_of(&TETRAHEDRON), two.object_of(&TETRAHEDRON)];
    assert_eq!(a, b);
    one.ok(one.test());
    assert_eq!(one.collisions(), [[0; 2]; 0]);
    let c = one.object_of(&TETRAHEDRON);
    assert_eq!(two.delete(c), COL_UNKNOWN_OBJECT);
    assert_eq!(one.error(), "");
}

#[test]
fn the_estimate_is_never_more_than_the_distance() {
    let world = Handle::open();
    let [a, b] = [world.object_of(&TETRAHEDRON), world.object_of(&TETRAHEDRON)];
    let vertices = TETRAHEDRON.as_flattened().chunks(3);
    let vertices = vertices.map(|v| DVec3::from_slice(v).as_vec3()).collect::<Vec<Vec3>>();
    let triangles = (0..4).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    let mesh = Mesh::from_triangles(vertices, triangles).expect("a good mesh");
    let model = Model::build(mesh, Quality::Default);
    let seed = 5;
    let mut draw = Draw(seed);
    let mut seen = [0; 2];
    for case in 0..200 {
        let place = [0; 3].map(|_| 1.5 * draw.unit());
        world.ok(world.move_to(b, place));
        let pose = Pose::from_translation(DVec3::from_array(place)).expect("a good pose");
        let exact = Pair::new(&model, &Pose::IDENTITY, &model, &pose).distance();
        let exact = exact.expect("no empty meshes").distance;
        let estimate = world.distance(a, b).expect("two objects");
        let message = format!("seed {seed}, case {case}: {estimate} of {exact}");
        assert!((0.0..=exact * (1.0 + 1e-12)).contains(&estimate), "{message}");
        assert!(exact < 0.5 || estimate > 0.0, "{message}");
        seen[usize::from(exact > 0.0)] += 1;
    }
    assert!(seen.iter().all(|&count| count > 20), "{seen:?}");
    assert_eq!(world.distance(a, world.object()), Ok(f64::INFINITY));
}

#[test]
fn round_solids_are_where_they_should_be() {
    const TOLERANCE: f64 = 0.01;
    let world = Handle::open();
    world.ok(world.set_tolerance(TOLERANCE));
    let place = [3.0, -2.0, 1.0];
    let axis = [0.0, 4.0, 0.0];
    let round = col_round { centre: place, axis, radius: 1.0, face: 0 };
    let [sphere, cylinder, cone] = [0; 3].map(|_| world.object());
    world.ok(world.add_sphere(sphere, place, 1.0));
    world.ok(world.add_cylinder(cylinder, &round));
    world.ok(world.add_cone(cone, &round));
    for solid in [sphere, cylinder, cone] {
        world.ok(world.finish(solid));
        world.ok(world.set_active(solid, false));
    }
    // Points of each surface with the direction outward, from the centre.
    let slope = (1.0f64 / 17.0).sqrt();
    let points = [
        (sphere, DVec3::X, DVec3::X),
        (sphere, DVec3::new(0.0, -0.6, 0.8), DVec3::new(0.0, -0.6, 0.8)),
        (cylinder, DVec3::new(-1.0, 1.9, 0.0), DVec3::NEG_X),
        (cylinder, DVec3::new(0.3, 2.0, 0.4), DVec3::Y),
        (cylinder, DVec3::new(0.3, -2.0, 0.4), DVec3::NEG_Y),
        (cone, DVec3::new(0.0, -2.0, 0.9), DVec3::NEG_Y),
        (cone, DVec3::new(0.5, 0.0, 0.0), DVec3::new(4.0, 1.0, 0.0) * slope),
        (cone, DVec3::new(0.0, 1.0, -0.25), DVec3::new(0.0, 1.0, -4.0) * slope),
    ];
    for (solid, point, outward) in points {
        let centre = DVec3::from(place);
        // A line through the surface touches it, those that end before it do not.
        for (from, to, touches) in [(-1.5, 1.5, true), (1.5, 9.0, false), (-9.0, -1.5, false)] {
            let [p, q] = [from, to].map(|side| centre + point + outward * side * TOLERANCE);
            let line = world.object_of(&[[p.x, p.y, p.z, q.x, q.y, q.z, q.x, q.y, q.z]]);
            world.ok(world.set_active(solid, true));
            world.ok(world.test());
            let expected = if touches { vec![[solid, line]] } else { vec![] };
            assert_eq!(world.collisions(), expected, "at {point} from {from} to {to}");
            world.ok(world.set_active(solid, false));
            world.ok(world.delete(line));
        }
    }
}

/// A closed box around the origin.
pub(crate) fn block(half: [f64; 3]) -> Vec<[f64; 9]> {
    let mesh = jostle_geom::solids::cuboid(DVec3::from_array(half) * 2.0).unwrap();
    let corner = |v: u32| mesh.vertices()[v as usize].as_dvec3();
    let numbers = |t: &[u32; 3]| {
        let [p, q, r] = t.map(corner);
        [p.x, p.y, p.z, q.x, q.y, q.z, r.x, r.y, r.z]
    };
    mesh.triangles().iter().map(numbers).collect()
}

#[test]
fn contacts_have_points_normals_and_gaps() {
    let world = Handle::open();
    let cube = world.object_of(&block([0.5; 3]));
    let plate = world.object_of(&block([4.0, 4.0, 1.0]));
    for (z, gap) in [(1.75, 0.25), (1.5, 0.0), (1.375, -0.125)] {
        world.ok(world.move_to(cube, [0.0, 0.0, z]));
        let found = world.contacts(cube, plate, 0.5).unwrap();
        assert_eq!(found.len(), 4, "{found:?}");
        let mut places: Vec<_> = found.iter().map(|c| c.point1.map(|x| x.to_bits())).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), 4);
        for contact in &found {
            assert_eq!(contact.normal, [0.0, 0.0, 1.0]);
            assert!((contact.gap - gap).abs() < 1e-12, "{contact:?}");
            assert!((contact.point1[2] - (z - 0.5)).abs() < 1e-12, "{contact:?}");
            assert!(contact.point1[..2].iter().all(|x| (x.abs() - 0.5).abs() < 1e-9));
        }
        let swapped = world.contacts(plate, cube, 0.5).unwrap();
        assert!(swapped.iter().all(|contact| contact.normal == [0.0, 0.0, -1.0]));
    }
    assert_eq!(world.contacts(cube, plate, f64::NAN), Err(COL_NOT_FINITE));
    assert_eq!(world.contacts(cube, plate, -1.0), Err(COL_OUT_OF_RANGE));
    assert_eq!(world.contacts(cube, cube, 0.0), Err(COL_SAME_OBJECT));
    // A surface that passes through another has no depth.
    let [sheet, needle] = [world.object_of(&[flat(9.0)]), world.object_of(&[upright(8.0, 10.0)])];
    assert_eq!(world.contacts(sheet, needle, 0.0), Err(COL_NO_CONTACTS));
    assert!(world.error().contains("only solids have a depth"), "{}", world.error());
    assert_eq!(world.contacts(sheet, cube, 0.0), Ok(Vec::new()));
    assert_eq!(world.contacts(world.object(), cube, 1.0), Ok(Vec::new()));
}
