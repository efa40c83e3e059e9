//! Overlaps, separations and clearings.

use crate::handle::{Handle, TETRAHEDRON};
use crate::reports::block;
use jostle_c::col_status::*;
use jostle_c::*;
use std::ptr;

#[test]
fn objects_that_overlap_have_a_depth_and_a_way_out() {
    let world = Handle::open();
    let plate = world.object_of(&block([4.0, 4.0, 1.0]));
    let cube = world.object_of(&block([0.5; 3]));
    for (z, depth) in [(1.75, 0.0), (1.5, 0.0), (1.375, 0.125), (-1.25, 0.25)] {
        world.ok(world.move_to(cube, [0.0, 0.0, z]));
        assert_eq!(world.overlap(plate, cube), Ok(i32::from(depth > 0.0)), "{z}");
        let found = world.separation(plate, cube).unwrap();
        let way = if z < 0.0 { -depth } else { depth };
        assert!((found.at_most - depth).abs() < 1e-12, "{z}: {found:?}");
        assert!(found.at_least <= found.at_most, "{z}: {found:?}");
        assert!((found.at_least - depth).abs() < 1e-12, "{z}: {found:?}");
        assert!((found.way[2] - way).abs() < 1e-12, "{z}: {found:?}");
        // The second moves, whichever that is.
        let swapped = world.separation(cube, plate).unwrap();
        assert!((swapped.way[2] + way).abs() < 1e-12, "{z}: {swapped:?}");
        // After the move they do not overlap.
        world.ok(world.move_to(cube, [found.way[0], found.way[1], z + found.way[2]]));
        assert_eq!(world.overlap(plate, cube), Ok(0), "{z}");
    }
}

#[test]
fn a_direction_has_a_first_and_a_last_distance() {
    let world = Handle::open();
    let fork = block([2.0, 2.0, 0.25]);
    let at =
        |z: f64| fork.iter().map(move |t| std::array::from_fn(|i| t[i] + [0.0, 0.0, z][i % 3]));
    // Two plates, one above the other.
    let fork = world.object_of(&at(0.0).chain(at(3.0)).collect::<Vec<[f64; 9]>>());
    let cube = world.object_of(&block([0.5; 3]));
    let near = |found: col_clearing, first: f64, last: f64| {
        assert!((found.first - first).abs() < 1e-9, "{found:?}");
        assert!((found.last - last).abs() < 1e-9, "{found:?}");
    };
    near(world.clearing(fork, cube, [0.0, 0.0, 7.0]).unwrap(), 0.75, 3.75);
    near(world.clearing(fork, cube, [0.0, 0.0, -1.0]).unwrap(), 0.75, 0.75);
    world.ok(world.move_to(cube, [0.0, 0.0, 1.5]));
    near(world.clearing(fork, cube, [0.0, 0.0, 1.0]).unwrap(), 0.0, 2.25);
    near(world.clearing(fork, cube, [1.0, 0.0, 0.0]).unwrap(), 0.0, 0.0);
}

#[test]
fn what_has_no_depth_has_a_status() {
    let world = Handle::open();
    let solid = world.object_of(&TETRAHEDRON);
    let sheet = world.object_of(&[[-9.0, -9.0, 0.5, 9.0, -9.0, 0.5, 0.0, 9.0, 0.5]]);
    for (first, second) in [(solid, sheet), (sheet, solid)] {
        assert_eq!(world.overlap(first, second), Err(COL_NO_INSIDE));
        assert_eq!(world.separation(first, second), Err(COL_NO_INSIDE));
        assert_eq!(world.clearing(first, second, [1.0, 0.0, 0.0]), Err(COL_NO_INSIDE));
        let text =
            if first == sheet { "the first is not closed" } else { "the second is not closed" };
        assert!(world.error().contains(text), "{}", world.error());
    }
    assert_eq!(world.overlap(solid, solid), Err(COL_SAME_OBJECT));
    assert_eq!(world.separation(solid, 77), Err(COL_UNKNOWN_OBJECT));
    let other = world.object_of(&TETRAHEDRON);
    assert_eq!(world.clearing(solid, other, [f64::NAN, 0.0, 0.0]), Err(COL_NOT_FINITE));
    assert_eq!(world.clearing(solid, other, [0.0; 3]), Err(COL_OUT_OF_RANGE));
    assert!(world.error().contains("not zero"), "{}", world.error());
    let empty = world.object();
    assert_eq!(world.overlap(solid, empty), Ok(0));
    assert_eq!(world.separation(empty, solid), Ok(col_separation::default()));
    assert_eq!(world.clearing(empty, solid, [1.0, 0.0, 0.0]), Ok(col_clearing::default()));
    world.ok(world.add_triangle(other, &TETRAHEDRON[0], 0));
    assert_eq!(world.overlap(solid, other), Err(COL_UNFINISHED));

    let pair = col_collision { id1: solid, id2: empty };
    let (mut found, mut overlaps) = (col_clearing { first: 7.0, last: 7.0 }, 7);
    // SAFETY: an open world; pointers that are null or valid.
    unsafe {
        let status = col_report_clearing(world.0, &pair, ptr::null(), &mut found);
        assert_eq!((status, found.first), (COL_NULL_POINTER, 7.0));
        let status = col_report_separation(world.0, &pair, ptr::null_mut());
        assert_eq!(status, COL_NULL_POINTER);
        let status = col_report_overlap(world.0, ptr::null(), &mut overlaps);
        assert_eq!((status, overlaps), (COL_NULL_POINTER, 7));
    }
}
