//! Table 1 of the paper, in its order, and what C needs around it: closing a world, faces, the text
//! of an error, the version. The comments become those of the header.

use crate::border::{self, Room, col_world, enter, enter_for, read};
use crate::types::{col_collision, col_face_pair, col_id, col_status};
use std::ffi::{CStr, c_char};

/// Makes a world without objects. Several worlds can be open; they know nothing of each other.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_open(world: *mut *mut col_world) -> col_status {
    // SAFETY: the contract of the crate.
    unsafe { border::open(world) }
}

/// Ends a world and frees all its memory. The pointer must not be used afterwards; that it is
/// cannot be noticed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_close(world: *mut col_world) -> col_status {
    // SAFETY: the contract of the crate.
    unsafe { border::close(world) }
}

/// Adds an object: active, without triangles, at the origin. An object without triangles collides
/// with nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_create_object(
    world: *mut col_world,
    object: *mut col_id,
) -> col_status {
    // SAFETY: the contract of the crate.
    unsafe { enter_for(world, object, |database| database.create_object()) }
}

/// Adds a triangle to an object: x, y, z of three corners, in the coordinates of the object,
/// rounded to float, each at most 1e30 in size. face is the caller's own number for
/// col_report_faces; several triangles may have the same. A triangle without area is the segment or
/// point that it is.
///
/// The object is then unfinished until col_finish_object.
/// cbindgen:ptrs-as-arrays=[[corners;9]]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_add_triangle(
    world: *mut col_world,
    object: col_id,
    corners: *const f64,
    face: u32,
) -> col_status {
    // SAFETY: the contract of the crate, for both.
    unsafe {
        enter(world, |database| {
            let corners = read("the pointer to the corners", corners.cast::<[f64; 9]>())?;
            database.add_triangle(object, &corners, face)
        })
    }
}

/// Builds the hierarchy of an object from all triangles since its creation or the last
/// col_clear_object. To be called again after further triangles.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_finish_object(world: *mut col_world, object: col_id) -> col_status {
    // SAFETY: the contract of the crate.
    unsafe { enter(world, |database| database.finish_object(object)) }
}

/// Removes all triangles of an object, finished or not. Transform, activation and pairs stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_clear_object(world: *mut col_world, object: col_id) -> col_status {
    // SAFETY: the contract of the crate.
    unsafe { enter(world, |database| database.clear_object(object)) }
}

/// Deletes an object or a switch, with its pairs. The children of a switch stay, without a parent.
/// The last report stays too, and may name what is deleted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_delete_object(world: *mut col_world, object: col_id) -> col_status {
    // SAFETY: the contract of the crate.
    unsafe { enter(world, |database| database.delete(object)) }
}

/// Lets an object, or what a switch chooses, take part in tests again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_activate(world: *mut col_world, object: col_id) -> col_status {
    // SAFETY: the contract of the crate.
    unsafe { enter(world, |database| database.set_active(object, true)) }
}

/// Takes an object, or everything below a switch, out of all tests. It can still be changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_deactivate(world: *mut col_world, object: col_id) -> col_status {
    // SAFETY: the contract of the crate.
    unsafe { enter(world, |database| database.set_active(object, false)) }
}

/// Takes col_deactivate_pair back. All pairs are active at first.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_activate_pair(
    world: *mut col_world,
    id1: col_id,
    id2: col_id,
) -> col_status {
    // SAFETY: the contract of the crate.
    unsafe { enter(world, |database| database.activate_pair(id1, id2)) }
}

/// Never tests two objects with each other. A switch stands for everything below it, now and later:
/// a pair is tested if neither it nor any pair above it was deactivated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_deactivate_pair(
    world: *mut col_world,
    id1: col_id,
    id2: col_id,
) -> col_status {
    // SAFETY: the contract of the crate.
    unsafe { enter(world, |database| database.deactivate_pair(id1, id2)) }
}

/// Puts an object somewhere else. The 4 x 4 matrix comes row by row and is multiplied by columns
/// (x, y, z, 1): the translation stands in transform[3], [7] and [11], the last row is 0 0 0 1. The
/// upper left 3 x 3 must be a rotation within 1e-3; small errors are taken out.
/// cbindgen:ptrs-as-arrays=[[transform;16]]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_update_transform(
    world: *mut col_world,
    object: col_id,
    transform: *const f64,
) -> col_status {
    // SAFETY: the contract of the crate, for both.
    unsafe {
        enter(world, |database| {
            let transform = read("the pointer to the transform", transform.cast::<[f64; 16]>())?;
            database.update_transform(object, &transform)
        })
    }
}

/// Finds all collisions of objects that take part. Objects are surfaces: they collide if their
/// triangles share a point, which is decided exactly. Only what changed is looked at again.
///
/// COL_UNFINISHED if an object that takes part is unfinished; the last report then stays. To change
/// an object over several tests, deactivate it meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_test(world: *mut col_world) -> col_status {
    // SAFETY: the contract of the crate.
    unsafe { enter(world, |database| database.test()) }
}

/// Reports the collisions of the last col_test, sorted by id1, then id2: the number of collisions
/// to total, and up to room of them to collisions. COL_TRUNCATED if there are more.
///
/// With room 0 it only counts; collisions may then be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_report_collision(
    world: *mut col_world,
    collisions: *mut col_collision,
    room: usize,
    total: *mut usize,
) -> col_status {
    let out = Room { first: collisions, room, total };
    // SAFETY: the contract of the crate, for all.
    unsafe { enter(world, |database| out.fill(database.collisions())) }
}

/// Reports the faces of the two objects of a collision that touched in the last col_test, sorted by
/// face1, then face2, each pair once; face1 belongs to collision->id1, whichever comes first. They
/// are only computed here. Room as for col_report_collision.
///
/// COL_NOT_REPORTED if the last col_test did not report the two.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_report_faces(
    world: *mut col_world,
    collision: *const col_collision,
    faces: *mut col_face_pair,
    room: usize,
    total: *mut usize,
) -> col_status {
    let out = Room { first: faces, room, total };
    // SAFETY: the contract of the crate, for all.
    unsafe {
        enter(world, |database| {
            out.check()?;
            let collision = read("the pointer to the collision", collision)?;
            out.fill(database.faces(collision)?)
        })
    }
}

/// Says in words why the last call failed that did; empty if none did. The text is valid until the
/// next call with this world.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn col_error_text(world: *const col_world) -> *const c_char {
    // SAFETY: the contract of the crate.
    unsafe { border::error_text(world) }
}

/// The version of the library, like "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn col_version() -> *const c_char {
    const VERSION: &CStr = {
        let text = concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes();
        match CStr::from_bytes_with_nul(text) {
            Ok(version) => version,
            Err(_) => c"",
        }
    };
    VERSION.as_ptr()
}
