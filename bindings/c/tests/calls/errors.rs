//! Everything that can be refused is refused, says why, and changes nothing.

use crate::handle::{Handle, TETRAHEDRON};
use jostle_c::col_status::*;
use jostle_c::*;
use std::ffi::CStr;
use std::ptr::{null, null_mut};

const STILL: [f64; 16] =
    [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];
const ROUND: col_round =
    col_round { centre: [0.0; 3], axis: [0.0, 0.0, 1.0], radius: 0.5, face: 0 };

#[test]
fn a_null_world_is_refused_by_every_call() {
    let world = null_mut();
    let (mut id, mut distance, mut total) = (7, 7.0, 7);
    let pair = col_collision::default();
    // SAFETY: null is allowed for the world; everything else is valid.
    let answers = unsafe {
        [
            col_close(world),
            col_create_object(world, &mut id),
            col_add_triangle(world, 1, TETRAHEDRON[0].as_ptr(), 0),
            col_finish_object(world, 1),
            col_clear_object(world, 1),
            col_delete_object(world, 1),
            col_activate(world, 1),
            col_deactivate(world, 1),
            col_activate_pair(world, 1, 2),
            col_deactivate_pair(world, 1, 2),
            col_update_transform(world, 1, STILL.as_ptr()),
            col_test(world),
            col_report_collision(world, null_mut(), 0, &mut total),
            col_report_faces(world, &pair, null_mut(), 0, &mut total),
            col_est_distance(world, 1, 2, &mut distance),
            col_set_tolerance(world, 0.1),
            col_add_sphere(world, 1, [0.0; 3].as_ptr(), 1.0, 0),
            col_add_cylinder(world, 1, &ROUND),
            col_add_cone(world, 1, &ROUND),
            col_create_switch(world, &mut id),
            col_parent_object(world, 1, 2),
            col_choose_child(world, 1, 0),
            col_report_contacts(world, &pair, 0.0, null_mut(), 0, &mut total),
            col_report_overlap(world, &pair, &mut 0),
            col_report_separation(world, &pair, &mut col_separation::default()),
            col_report_clearing(world, &pair, STILL.as_ptr(), &mut col_clearing::default()),
        ]
    };
    assert_eq!(answers, [COL_BAD_HANDLE; 26]);
    assert_eq!((id, distance, total), (7, 7.0, 7), "nothing is written");
    // SAFETY: null is allowed; the texts are constants.
    let texts = unsafe { [col_error_text(null()), col_version()].map(|text| CStr::from_ptr(text)) };
    assert_eq!(texts, [c"the world is NULL", c"0.1.0"]);
}

#[test]
fn other_null_pointers_are_refused() {
    let world = Handle::open();
    let id = world.object_of(&TETRAHEDRON);
    let before = world.object();
    let mut total = 7;
    // SAFETY: an open world; null is allowed and refused.
    let answers = unsafe {
        [
            col_open(null_mut()),
            col_create_object(world.0, null_mut()),
            col_create_switch(world.0, null_mut()),
            col_add_triangle(world.0, id, null(), 0),
            col_update_transform(world.0, id, null()),
            col_report_collision(world.0, null_mut(), 1, &mut total),
            col_report_collision(world.0, null_mut(), 0, null_mut()),
            col_report_faces(world.0, null(), null_mut(), 0, &mut total),
            col_report_faces(world.0, &col_collision::default(), null_mut(), 0, null_mut()),
            col_report_faces(world.0, &col_collision::default(), null_mut(), 1, &mut total),
            col_est_distance(world.0, id, before, null_mut()),
            col_add_sphere(world.0, id, null(), 1.0, 0),
            col_add_cylinder(world.0, id, null()),
            col_add_cone(world.0, id, null()),
        ]
    };
    assert_eq!(answers, [COL_NULL_POINTER; 14]);
    assert_eq!(world.error(), "the pointer to the cone is NULL");
    assert_eq!(total, 7);
    assert_eq!(world.object(), before + 1, "nothing was created without a place for its id");
    world.ok(world.test());
}

/// Calls that take one id, each with otherwise good arguments.
fn calls_with_one_id(world: &Handle, id: col_id) -> [(&'static str, col_status); 13] {
    [
        ("add_triangle", world.add_triangle(id, &TETRAHEDRON[0], 0)),
        ("finish", world.finish(id)),
        ("clear", world.clear(id)),
        ("transform", world.transform(id, &STILL)),
        ("add_sphere", world.add_sphere(id, [0.0; 3], 1.0)),
        ("add_cylinder", world.add_cylinder(id, &ROUND)),
        ("add_cone", world.add_cone(id, &ROUND)),
        // From here on switches are welcome too.
        ("activate", world.set_active(id, true)),
        ("deactivate", world.set_active(id, false)),
        ("parent", world.parent(id, 0)),
        ("choose", world.choose(id, -1)),
        ("delete", world.delete(id)),
        ("delete again", world.delete(id)),
    ]
}

#[test]
fn ids_that_are_unknown_or_stale_are_refused_by_every_call() {
    let world = Handle::open();
    world.ok(world.set_tolerance(0.1));
    let [known, gone] = [world.object_of(&TETRAHEDRON), world.object_of(&TETRAHEDRON)];
    world.ok(world.delete(gone));
    let reused = world.object_of(&TETRAHEDRON);
    assert_eq!(gone as u32, reused as u32, "the slot is used again");
    for bad in [0, gone, 3, known | 1 << 32, u64::MAX, u64::from(u32::MAX)] {
        for (call, status) in calls_with_one_id(&world, bad) {
            assert_eq!(status, COL_UNKNOWN_OBJECT, "{call} of {bad:#x}");
            let expected = "is neither an object nor a switch of this world";
            let message = world.error();
            assert!(message.starts_with(&format!("id {bad:#x} {expected}")), "{call}: {message}");
        }
        for [a, b] in [[bad, known], [known, bad]] {
            for active in [false, true] {
                assert_eq!(world.set_pair(a, b, active), COL_UNKNOWN_OBJECT);
            }
            assert_eq!(world.distance(a, b), Err(COL_UNKNOWN_OBJECT));
            assert_eq!(world.faces(a, b), Err(COL_UNKNOWN_OBJECT));
        }
        if bad != 0 {
            assert_eq!(world.parent(known, bad), COL_UNKNOWN_OBJECT);
        }
    }
    world.ok(world.test());
    assert_eq!(world.collisions(), [[known, reused]]);
}

#[test]
fn switches_are_no_objects_and_objects_are_no_switches() {
    let world = Handle::open();
    world.ok(world.set_tolerance(0.1));
    let switch = world.switch();
    for (call, status) in &calls_with_one_id(&world, switch)[..7] {
        assert_eq!(*status, COL_NOT_AN_OBJECT, "{call}");
    }
    let [switch, object, other] = [world.switch(), world.object(), world.object()];
    assert_eq!(world.distance(switch, object), Err(COL_NOT_AN_OBJECT));
    assert_eq!(world.choose(object, -1), COL_NOT_A_SWITCH);
    assert_eq!(world.parent(other, object), COL_NOT_A_SWITCH);
    assert_eq!(world.error(), format!("id {object:#x} is an object; this call takes a switch"));
}

#[test]
fn an_object_cannot_be_paired_with_itself() {
    let world = Handle::open();
    let id = world.object();
    assert_eq!(world.set_pair(id, id, false), COL_SAME_OBJECT);
    assert_eq!(world.set_pair(id, id, true), COL_SAME_OBJECT);
    assert_eq!(world.distance(id, id), Err(COL_SAME_OBJECT));
    assert_eq!(world.faces(id, id), Err(COL_SAME_OBJECT));
}

#[test]
fn numbers_that_are_not_finite_or_too_large_are_refused_at_every_place() {
    let world = Handle::open();
    world.ok(world.set_tolerance(0.1));
    let [id, other] = [world.object_of(&TETRAHEDRON), world.object_of(&TETRAHEDRON)];
    let bad = [
        (f64::NAN, COL_NOT_FINITE),
        (f64::INFINITY, COL_NOT_FINITE),
        (f64::NEG_INFINITY, COL_NOT_FINITE),
        (1e31, COL_OUT_OF_RANGE),
        (-1e300, COL_OUT_OF_RANGE),
    ];
    for (value, status) in bad {
        for at in 0..9 {
            let mut corners = TETRAHEDRON[0];
            corners[at] = value;
            assert_eq!(world.add_triangle(id, &corners, 0), status, "{value} at {at}");
            let message = world.error();
            assert!(message.starts_with("the triangle contains "), "{message}");
        }
        for at in 0..16 {
            let mut transform = STILL;
            transform[at] = value;
            let translation = at % 4 == 3 && at < 12;
            let expected =
                if value.abs() < f64::INFINITY && !translation { COL_NOT_RIGID } else { status };
            assert_eq!(world.transform(id, &transform), expected, "{value} at {at}");
        }
        for at in 0..3 {
            let mut centre = [0.0; 3];
            centre[at] = value;
            assert_eq!(world.add_sphere(id, centre, 1.0), status, "{value} at {at}");
            let round = col_round { centre, ..ROUND };
            assert_eq!(world.add_cylinder(id, &round), status, "{value} at {at}");
            let round = col_round { axis: centre, ..ROUND };
            assert_eq!(world.add_cone(id, &round), status, "{value} at {at}");
        }
        assert_eq!(world.add_sphere(id, [0.0; 3], value), status);
        assert_eq!(world.add_cone(id, &col_round { radius: value, ..ROUND }), status);
    }
    // Nothing of that got in.
    world.ok(world.test());
    assert_eq!(world.collisions(), [[id, other]]);
    assert_eq!(world.distance(id, other), Ok(0.0));
}

#[test]
fn the_largest_numbers_that_are_allowed_work() {
    let world = Handle::open();
    let huge = TETRAHEDRON.map(|corners| corners.map(|x| x * 1e30));
    let [id, other] = [world.object_of(&huge), world.object_of(&huge)];
    let turn = {
        let s = 0.5f64.sqrt();
        let far = 1.2e30;
        [s, -s, 0.0, far, s, s, 0.0, -far, 0.0, 0.0, 1.0, far, 0.0, 0.0, 0.0, 1.0]
    };
    world.ok(world.transform(id, &turn));
    world.ok(world.test());
    assert_eq!(world.collisions(), [[0; 2]; 0]);
    world.ok(world.transform(other, &turn));
    world.ok(world.test());
    assert_eq!(world.collisions(), [[id, other]]);
}

#[test]
fn transforms_that_are_not_rigid_are_refused() {
    let world = Handle::open();
    let id = world.object();
    let with = |changes: &[(usize, f64)]| {
        let mut transform = STILL;
        changes.iter().for_each(|&(at, value)| transform[at] = value);
        world.transform(id, &transform)
    };
    assert_eq!(with(&[(0, 2.0)]), COL_NOT_RIGID, "scaled");
    let message = world.error();
    assert!(
        message.starts_with("the first three columns of the transform, [2, 0, 0]"),
        "{message}"
    );
    assert_eq!(with(&[(0, -1.0)]), COL_NOT_RIGID, "mirrored");
    assert_eq!(with(&[(1, 0.1)]), COL_NOT_RIGID, "sheared");
    assert_eq!(with(&[(0, 0.0), (5, 0.0), (10, 0.0)]), COL_NOT_RIGID, "nothing left");
    // The translation at the end: the mistake of giving columns instead of rows.
    assert_eq!(with(&[(12, 5.0)]), COL_NOT_RIGID);
    let message = world.error();
    assert!(message.contains("[5.0, 0.0, 0.0, 1.0]; expected 0 0 0 1"), "{message}");
    assert_eq!(with(&[(15, 2.0)]), COL_NOT_RIGID);
    world.ok(with(&[(0, 0.9999), (3, 5.0)]));
}

#[test]
fn unfinished_objects_stop_a_test_only_if_they_take_part() {
    let world = Handle::open();
    let [first, second] = [world.object_of(&TETRAHEDRON), world.object_of(&TETRAHEDRON)];
    world.ok(world.test());
    assert_eq!(world.collisions().len(), 1);

    let late = world.object();
    world.ok(world.add_triangle(late, &TETRAHEDRON[0], 0));
    world.ok(world.move_to(first, [9.0; 3]));
    assert_eq!(world.test(), COL_UNFINISHED);
    assert!(world.error().starts_with(&format!("object {late:#x} has triangles")));
    assert_eq!(world.collisions(), [[first, second]], "the last report stays");
    assert_eq!(world.distance(second, late), Err(COL_UNFINISHED));

    world.ok(world.set_active(late, false));
    world.ok(world.test());
    assert_eq!(world.collisions(), [[0; 2]; 0]);
    world.ok(world.set_active(late, true));
    assert_eq!(world.test(), COL_UNFINISHED);
    world.ok(world.finish(late));
    world.ok(world.test());
    assert_eq!(world.collisions(), [[second, late]]);

    // More triangles for a finished object; clearing takes them back too.
    world.ok(world.add_triangle(late, &TETRAHEDRON[1], 1));
    assert_eq!(world.test(), COL_UNFINISHED);
    world.ok(world.clear(late));
    world.ok(world.test());
    assert_eq!(world.collisions(), [[0; 2]; 0]);

    // Not chosen, so not looked at.
    let switch = world.switch();
    world.ok(world.add_triangle(late, &TETRAHEDRON[1], 1));
    world.ok(world.parent(late, switch));
    world.ok(world.test());
    world.ok(world.choose(switch, 0));
    assert_eq!(world.test(), COL_UNFINISHED);
    world.ok(world.delete(late));
    world.ok(world.test());
}

#[test]
fn a_buffer_that_is_too_small_gets_what_fits() {
    let world = Handle::open();
    let ids = [0; 4].map(|_| world.object_of(&TETRAHEDRON));
    world.ok(world.test());
    let all = world.collisions();
    assert_eq!(all.len(), 6);
    for room in 1..9 {
        let mut found = [col_collision { id1: 77, id2: 88 }; 9];
        let mut total = 0;
        // SAFETY: an open world, room for nine.
        let status = unsafe { col_report_collision(world.0, found.as_mut_ptr(), room, &mut total) };
        assert_eq!(status, if room < 6 { COL_TRUNCATED } else { COL_OK });
        assert_eq!(total, 6);
        for (at, pair) in found.iter().enumerate() {
            let written = at < room.min(6);
            assert_eq!([pair.id1, pair.id2], if written { all[at] } else { [77, 88] });
        }
    }
    let faces = world.faces(ids[0], ids[1]).expect("they collide");
    let mut found = [col_face_pair::default(); 2];
    let mut total = 0;
    let pair = col_collision { id1: ids[0], id2: ids[1] };
    // SAFETY: an open world, room for two.
    let status = unsafe { col_report_faces(world.0, &pair, found.as_mut_ptr(), 2, &mut total) };
    assert_eq!(status, COL_TRUNCATED);
    assert_eq!(
        world.error(),
        format!("the buffer holds 2 of {total} results; the first 2 were written")
    );
    assert_eq!(total, faces.len());
    assert_eq!(found.map(|pair| [pair.face1, pair.face2]), faces[..2]);
}

#[test]
fn tolerances_must_be_set_and_make_sense() {
    let world = Handle::open();
    let id = world.object();
    assert_eq!(world.add_sphere(id, [0.0; 3], 1.0), COL_NO_TOLERANCE);
    assert_eq!(world.add_cylinder(id, &ROUND), COL_NO_TOLERANCE);
    assert_eq!(world.add_cone(id, &ROUND), COL_NO_TOLERANCE);
    for (tolerance, status) in [
        (0.0, COL_OUT_OF_RANGE),
        (-1.0, COL_OUT_OF_RANGE),
        (f64::NAN, COL_NOT_FINITE),
        (f64::INFINITY, COL_NOT_FINITE),
    ] {
        assert_eq!(world.set_tolerance(tolerance), status, "{tolerance}");
    }
    assert_eq!(world.add_sphere(id, [0.0; 3], 1.0), COL_NO_TOLERANCE);
    world.ok(world.set_tolerance(1e-12));
    assert_eq!(world.add_sphere(id, [0.0; 3], 1.0), COL_OUT_OF_RANGE, "floats are too coarse");
    world.ok(world.set_tolerance(2e-2));
    assert_eq!(world.add_sphere(id, [0.0; 3], 1e9), COL_OUT_OF_RANGE, "floats are too coarse");
    for radius in [0.0, -1.0, 1e-35] {
        assert_eq!(world.add_sphere(id, [0.0; 3], radius), COL_OUT_OF_RANGE, "{radius}");
    }
    let flat = col_round { axis: [0.0; 3], ..ROUND };
    assert_eq!(world.add_cylinder(id, &flat), COL_OUT_OF_RANGE);
    assert_eq!(world.add_cone(id, &flat), COL_OUT_OF_RANGE);
    world.ok(world.add_sphere(id, [0.0; 3], 1.0));
    world.ok(world.finish(id));
}

#[test]
fn switches_refuse_circles_and_children_that_are_not_there() {
    let world = Handle::open();
    let [top, middle, bottom] = [0; 3].map(|_| world.switch());
    let object = world.object();
    world.ok(world.parent(middle, top));
    world.ok(world.parent(bottom, middle));
    world.ok(world.parent(object, bottom));
    for [child, parent] in [[top, top], [top, middle], [top, bottom], [middle, bottom]] {
        assert_eq!(world.parent(child, parent), COL_CIRCLE);
    }
    world.ok(world.parent(bottom, top));
    for index in [-2, 2, 3, i32::MIN, i32::MAX] {
        assert_eq!(world.choose(top, index), COL_OUT_OF_RANGE, "{index}");
    }
    assert!(world.error().contains("has no child 2147483647: it has 2"), "{}", world.error());
    for index in [-1, 0, 1] {
        world.ok(world.choose(top, index));
    }
}
