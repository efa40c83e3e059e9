//! The calls with Rust's types, for tests that are not about pointers.

use jostle_c::*;
use std::ffi::CStr;
use std::ptr;

/// An open world; closed at the end.
pub(crate) struct Handle(pub(crate) *mut col_world);

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: from `open`, and closed only here.
        assert_eq!(unsafe { col_close(self.0) }, col_status::COL_OK);
    }
}

impl Handle {
    pub(crate) fn open() -> Handle {
        let mut world = ptr::null_mut();
        // SAFETY: room for a pointer.
        assert_eq!(unsafe { col_open(&mut world) }, col_status::COL_OK);
        Handle(world)
    }

    /// Fails the test with the library's own words unless the call went well.
    #[track_caller]
    pub(crate) fn ok(&self, status: col_status) {
        assert_eq!(status, col_status::COL_OK, "{}", self.error());
    }

    pub(crate) fn error(&self) -> String {
        // SAFETY: the world is open; the text is copied before the next call.
        unsafe { CStr::from_ptr(col_error_text(self.0)) }.to_string_lossy().into_owned()
    }

    pub(crate) fn object(&self) -> col_id {
        let mut id = 0;
        // SAFETY: an open world, room for an id.
        self.ok(unsafe { col_create_object(self.0, &mut id) });
        id
    }

    pub(crate) fn switch(&self) -> col_id {
        let mut id = 0;
        // SAFETY: an open world, room for an id.
        self.ok(unsafe { col_create_switch(self.0, &mut id) });
        id
    }

    /// A finished object with these triangles, numbered from 0.
    pub(crate) fn object_of(&self, triangles: &[[f64; 9]]) -> col_id {
        let id = self.object();
        for (face, corners) in triangles.iter().enumerate() {
            self.ok(self.add_triangle(id, corners, face as u32));
        }
        self.ok(self.finish(id));
        id
    }

    pub(crate) fn add_triangle(&self, id: col_id, corners: &[f64; 9], face: u32) -> col_status {
        // SAFETY: an open world, nine numbers.
        unsafe { col_add_triangle(self.0, id, corners.as_ptr(), face) }
    }

    pub(crate) fn finish(&self, id: col_id) -> col_status {
        // SAFETY: an open world.
        unsafe { col_finish_object(self.0, id) }
    }

    pub(crate) fn clear(&self, id: col_id) -> col_status {
        // SAFETY: an open world.
        unsafe { col_clear_object(self.0, id) }
    }

    pub(crate) fn delete(&self, id: col_id) -> col_status {
        // SAFETY: an open world.
        unsafe { col_delete_object(self.0, id) }
    }

    pub(crate) fn set_active(&self, id: col_id, active: bool) -> col_status {
        let call = if active { col_activate } else { col_deactivate };
        // SAFETY: an open world.
        unsafe { call(self.0, id) }
    }

    pub(crate) fn set_pair(&self, a: col_id, b: col_id, active: bool) -> col_status {
        let call = if active { col_activate_pair } else { col_deactivate_pair };
        // SAFETY: an open world.
        unsafe { call(self.0, a, b) }
    }

    pub(crate) fn transform(&self, id: col_id, transform: &[f64; 16]) -> col_status {
        // SAFETY: an open world, sixteen numbers.
        unsafe { col_update_transform(self.0, id, transform.as_ptr()) }
    }

    pub(crate) fn move_to(&self, id: col_id, [x, y, z]: [f64; 3]) -> col_status {
        let rows = [1.0, 0.0, 0.0, x, 0.0, 1.0, 0.0, y, 0.0, 0.0, 1.0, z, 0.0, 0.0, 0.0, 1.0];
        self.transform(id, &rows)
    }

    pub(crate) fn parent(&self, child: col_id, switch: col_id) -> col_status {
        // SAFETY: an open world.
        unsafe { col_parent_object(self.0, child, switch) }
    }

    pub(crate) fn choose(&self, switch: col_id, index: i32) -> col_status {
        // SAFETY: an open world.
        unsafe { col_choose_child(self.0, switch, index) }
    }

    pub(crate) fn test(&self) -> col_status {
        // SAFETY: an open world.
        unsafe { col_test(self.0) }
    }

    pub(crate) fn collisions(&self) -> Vec<[col_id; 2]> {
        let mut total = 0;
        // SAFETY: an open world, room for a number.
        self.ok(unsafe { col_report_collision(self.0, ptr::null_mut(), 0, &mut total) });
        let mut found = vec![col_collision::default(); total];
        // SAFETY: an open world, room for as many as is said.
        let status = unsafe { col_report_collision(self.0, found.as_mut_ptr(), total, &mut total) };
        self.ok(status);
        found.iter().map(|pair| [pair.id1, pair.id2]).collect()
    }

    pub(crate) fn faces(&self, id1: col_id, id2: col_id) -> Result<Vec<[u32; 2]>, col_status> {
        let pair = col_collision { id1, id2 };
        let mut total = 0;
        // SAFETY: an open world, a pair, room for a number.
        let status = unsafe { col_report_faces(self.0, &pair, ptr::null_mut(), 0, &mut total) };
        if status != col_status::COL_OK {
            return Err(status);
        }
        let mut found = vec![col_face_pair::default(); total];
        // SAFETY: an open world, a pair, room for as many as is said.
        let status =
            unsafe { col_report_faces(self.0, &pair, found.as_mut_ptr(), total, &mut total) };
        self.ok(status);
        Ok(found.iter().map(|pair| [pair.face1, pair.face2]).collect())
    }

    pub(crate) fn contacts(
        &self,
        id1: col_id,
        id2: col_id,
        reach: f64,
    ) -> Result<Vec<col_contact>, col_status> {
        let pair = col_collision { id1, id2 };
        let mut found = vec![col_contact::default(); 64];
        let mut total = 0;
        let room = found.len();
        // SAFETY: an open world, a pair, room for as many as is said.
        let status = unsafe {
            col_report_contacts(self.0, &pair, reach, found.as_mut_ptr(), room, &mut total)
        };
        found.truncate(total);
        if status == col_status::COL_OK { Ok(found) } else { Err(status) }
    }

    pub(crate) fn overlap(&self, id1: col_id, id2: col_id) -> Result<i32, col_status> {
        let (pair, mut overlaps) = (col_collision { id1, id2 }, -1);
        // SAFETY: an open world, a pair, room for a number.
        match unsafe { col_report_overlap(self.0, &pair, &mut overlaps) } {
            col_status::COL_OK => Ok(overlaps),
            status => Err(status),
        }
    }

    pub(crate) fn separation(
        &self,
        id1: col_id,
        id2: col_id,
    ) -> Result<col_separation, col_status> {
        let (pair, mut found) = (col_collision { id1, id2 }, col_separation::default());
        // SAFETY: an open world, a pair, room for the result.
        match unsafe { col_report_separation(self.0, &pair, &mut found) } {
            col_status::COL_OK => Ok(found),
            status => Err(status),
        }
    }

    pub(crate) fn clearing(
        &self,
        id1: col_id,
        id2: col_id,
        direction: [f64; 3],
    ) -> Result<col_clearing, col_status> {
        let (pair, mut found) = (col_collision { id1, id2 }, col_clearing::default());
        // SAFETY: an open world, a pair, three numbers, room for the result.
        let status = unsafe { col_report_clearing(self.0, &pair, direction.as_ptr(), &mut found) };
        if status == col_status::COL_OK { Ok(found) } else { Err(status) }
    }

    pub(crate) fn distance(&self, a: col_id, b: col_id) -> Result<f64, col_status> {
        let mut distance = f64::NAN;
        // SAFETY: an open world, room for a number.
        match unsafe { col_est_distance(self.0, a, b, &mut distance) } {
            col_status::COL_OK => Ok(distance),
            status => Err(status),
        }
    }

    pub(crate) fn set_tolerance(&self, tolerance: f64) -> col_status {
        // SAFETY: an open world.
        unsafe { col_set_tolerance(self.0, tolerance) }
    }

    pub(crate) fn add_sphere(&self, id: col_id, centre: [f64; 3], radius: f64) -> col_status {
        // SAFETY: an open world, three numbers.
        unsafe { col_add_sphere(self.0, id, centre.as_ptr(), radius, 0) }
    }

    pub(crate) fn add_cylinder(&self, id: col_id, cylinder: &col_round) -> col_status {
        // SAFETY: an open world, a cylinder.
        unsafe { col_add_cylinder(self.0, id, cylinder) }
    }

    pub(crate) fn add_cone(&self, id: col_id, cone: &col_round) -> col_status {
        // SAFETY: an open world, a cone.
        unsafe { col_add_cone(self.0, id, cone) }
    }
}

/// Numbers from a seed.
pub(crate) struct Draw(pub(crate) u32);

impl Draw {
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % limit
    }

    /// From -1 to 1, in steps that need few digits.
    pub(crate) fn unit(&mut self) -> f64 {
        f64::from(self.below(2049)) / 1024.0 - 1.0
    }
}

/// The faces of a tetrahedron with corners of the unit cube.
pub(crate) const TETRAHEDRON: [[f64; 9]; 4] = {
    const A: [f64; 3] = [0.0, 0.0, 0.0];
    const B: [f64; 3] = [1.0, 1.0, 0.0];
    const C: [f64; 3] = [1.0, 0.0, 1.0];
    const D: [f64; 3] = [0.0, 1.0, 1.0];
    const fn face(a: [f64; 3], b: [f64; 3], c: [f64; 3]) -> [f64; 9] {
        [a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]]
    }
    [face(A, B, C), face(A, D, B), face(A, C, D), face(B, D, C)]
};
