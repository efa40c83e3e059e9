//! Table 2 of the paper, in its order, and what goes beyond the paper. The comments become those of
//! the header.

use crate::border::{Room, col_world, enter, enter_for, read};
use crate::database::Database;
use crate::failure::Failure;
use crate::types::{
    col_clearing, col_collision, col_contact, col_id, col_round, col_separation, col_status,
};

/// Estimates the distance of two objects where they are now, from a few box tests: they are not
/// closer than that. 0 if they touch or nearly do, infinite if one has no triangles. Whether the
/// two are active does not matter; they must be finished.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_est_distance(
    world: *mut col_world,
    id1: col_id,
    id2: col_id,
    distance: *mut f64,
) -> col_status {
    // SAFETY: the contract of the crate, for both.
    unsafe { enter_for(world, distance, |database| database.distance_lower_bound(id1, id2)) }
}

/// Sets how far the triangles of spheres, cylinders and cones that are added from now on may be
/// from the true surface, anywhere. There is no default.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_set_tolerance(world: *mut col_world, tolerance: f64) -> col_status {
    // SAFETY: the contract of the crate.
    unsafe { enter(world, |database| database.set_tolerance(tolerance)) }
}

/// Adds the triangles of a sphere to an object, all with the caller's number face. As with
/// col_add_triangle, the object is then unfinished, and may have other parts.
/// cbindgen:ptrs-as-arrays=[[centre;3]]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_add_sphere(
    world: *mut col_world,
    object: col_id,
    centre: *const f64,
    radius: f64,
    face: u32,
) -> col_status {
    // SAFETY: the contract of the crate, for both.
    unsafe {
        enter(world, |database| {
            let centre = read("the pointer to the centre", centre.cast::<[f64; 3]>())?;
            database.add_sphere(object, centre, radius, face)
        })
    }
}

/// Adds the triangles of a cylinder with flat ends to an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_add_cylinder(
    world: *mut col_world,
    object: col_id,
    cylinder: *const col_round,
) -> col_status {
    // SAFETY: the contract of the crate, for both.
    unsafe {
        add_round(world, object, ("the pointer to the cylinder", cylinder), Database::add_cylinder)
    }
}

/// Adds the triangles of a cone with a flat bottom to an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_add_cone(
    world: *mut col_world,
    object: col_id,
    cone: *const col_round,
) -> col_status {
    // SAFETY: the contract of the crate, for both.
    unsafe { add_round(world, object, ("the pointer to the cone", cone), Database::add_cone) }
}

/// # Safety
/// As the functions that call it: both pointers come from the caller.
unsafe fn add_round(
    world: *mut col_world,
    object: col_id,
    (what, round): (&'static str, *const col_round),
    add: fn(&mut Database, col_id, &col_round) -> Result<(), Failure>,
) -> col_status {
    // SAFETY: the contract of the crate, for both.
    unsafe {
        enter(world, |database| {
            let round = read(what, round)?;
            add(database, object, &round)
        })
    }
}

/// Adds a switch or level of detail: active, without children, nothing chosen. Of everything below
/// a switch only what is below the chosen child takes part.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_create_switch(
    world: *mut col_world,
    switch_id: *mut col_id,
) -> col_status {
    // SAFETY: the contract of the crate.
    unsafe { enter_for(world, switch_id, |database| database.create_switch()) }
}

/// Makes an object or a switch the last child of a switch, or of none if switch_id is 0. It leaves
/// the switch it was a child of; if it was chosen there, nothing is chosen then. A child of the
/// same switch stays where it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_parent_object(
    world: *mut col_world,
    child: col_id,
    switch_id: col_id,
) -> col_status {
    let parent = Some(switch_id).filter(|&id| id != 0);
    // SAFETY: the contract of the crate.
    unsafe { enter(world, |database| database.set_parent(child, parent)) }
}

/// Lets one child of a switch take part, by its index from 0 in the order in which the children
/// came, or none with -1. Children keep what col_activate and col_deactivate said of them, and the
/// choice keeps its child when others leave.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_choose_child(
    world: *mut col_world,
    switch_id: col_id,
    child_index: i32,
) -> col_status {
    // SAFETY: the contract of the crate.
    unsafe { enter(world, |database| database.choose_child(switch_id, child_index)) }
}

/// Reports where two objects touch or are closer than reach, where they are now: few contacts that
/// keep the nearest and the extremes, the nearest or deepest first. Room as for
/// col_report_collision. Whether the two are active does not matter; they must be finished.
///
/// Objects that overlap have depths if both are closed, which means that each of their edges has an
/// even number of triangles. COL_NO_CONTACTS if one that is not closed passes through the other, or
/// if two faces lie in one plane and nothing shows on which side the objects are.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_report_contacts(
    world: *mut col_world,
    collision: *const col_collision,
    reach: f64,
    contacts: *mut col_contact,
    room: usize,
    total: *mut usize,
) -> col_status {
    let out = Room { first: contacts, room, total };
    // SAFETY: the contract of the crate, for all.
    unsafe {
        enter(world, |database| {
            out.check()?;
            let pair = read("the pointer to the objects", collision)?;
            out.fill(&database.contacts(pair.id1, pair.id2, reach)?)
        })
    }
}

/// Do the insides of two objects share a point, where they are now? Writes 1 or 0. Objects that
/// only touch, be it along whole faces, do not overlap. Exact. What has no triangles overlaps
/// nothing.
/// Whether the two are active does not matter; they must be finished.
///
/// COL_NO_INSIDE if one of them is not closed; closed means that each edge has an even number of
/// triangles. The same holds for the two calls below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_report_overlap(
    world: *mut col_world,
    collision: *const col_collision,
    overlaps: *mut i32,
) -> col_status {
    // SAFETY: the contract of the crate, for both.
    unsafe {
        enter_for(world, overlaps, |database| {
            let pair = read("the pointer to the objects", collision)?;
            database.overlaps(pair.id1, pair.id2).map(i32::from)
        })
    }
}

/// Reports how deep two objects are in each other, where they are now: the shortest move of the
/// second one after which they do not overlap. For objects that are not convex it lies between
/// two proved bounds. Both are 0 if they do not overlap.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_report_separation(
    world: *mut col_world,
    collision: *const col_collision,
    separation: *mut col_separation,
) -> col_status {
    // SAFETY: the contract of the crate, for both.
    unsafe {
        enter_for(world, separation, |database| {
            let pair = read("the pointer to the objects", collision)?;
            database.separation(pair.id1, pair.id2)
        })
    }
}

/// Reports how far the second of two objects must move along a direction, of any length but 0, so
/// that they do not overlap.
/// cbindgen:ptrs-as-arrays=[[direction;3]]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_report_clearing(
    world: *mut col_world,
    collision: *const col_collision,
    direction: *const f64,
    clearing: *mut col_clearing,
) -> col_status {
    // SAFETY: the contract of the crate, for all.
    unsafe {
        enter_for(world, clearing, |database| {
            let pair = read("the pointer to the objects", collision)?;
            let direction = read("the pointer to the direction", direction.cast::<[f64; 3]>())?;
            database.clearing(pair.id1, pair.id2, direction)
        })
    }
}
