//! The types of the header. They have C's names, so that both languages speak of the same things.
#![allow(non_camel_case_types)]

/// The name of an object or a switch. 0 is never one. The name of something deleted is not given
/// again.
pub type col_id = u64;

/// What became of a call. Every value but COL_OK, COL_TRUNCATED and COL_PANIC means that nothing
/// was done; col_error_text says more.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum col_status {
    /// Done.
    COL_OK = 0,
    /// The world is a null pointer.
    COL_BAD_HANDLE = 1,
    /// Another pointer is null that must not be.
    COL_NULL_POINTER = 2,
    /// No object or switch of this world has this id (any more).
    COL_UNKNOWN_OBJECT = 3,
    /// The id of a switch was given where only an object will do.
    COL_NOT_AN_OBJECT = 4,
    /// The id of an object was given where only a switch will do.
    COL_NOT_A_SWITCH = 5,
    /// The same id was given twice where two different ones are needed.
    COL_SAME_OBJECT = 6,
    /// A number is NaN or infinite.
    COL_NOT_FINITE = 7,
    /// A number is too large or too small.
    COL_OUT_OF_RANGE = 8,
    /// The transform is not a rotation and a translation.
    COL_NOT_RIGID = 9,
    /// An object that takes part has triangles that col_finish_object has not seen yet.
    COL_UNFINISHED = 10,
    /// col_set_tolerance was not called before a sphere, cylinder or cone was added.
    COL_NO_TOLERANCE = 11,
    /// More triangles or objects than can be numbered.
    COL_TOO_MANY = 12,
    /// A switch cannot be below itself.
    COL_CIRCLE = 13,
    /// The two objects are not a collision of the last col_test.
    COL_NOT_REPORTED = 14,
    /// There are more results than room for them. As many as fit were written.
    COL_TRUNCATED = 15,
    /// The library failed inside, by a mistake of ours. This world takes no further calls except
    /// col_error_text and col_close.
    COL_PANIC = 16,
    /// The two objects pass through each other and are not both closed, or lie in one plane so that
    /// nothing shows their sides: it is not defined at which points they touch.
    COL_NO_CONTACTS = 17,
    /// One of the two objects is not closed, so that it has no inside: depths are not defined.
    COL_NO_INSIDE = 18,
}

/// Two objects that collide. id1 is less than id2 in reports.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct col_collision {
    /// The first object.
    pub id1: col_id,
    /// The second object.
    pub id2: col_id,
}

/// Two faces that touch, by the numbers that the caller gave when adding them.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct col_face_pair {
    /// A face of id1.
    pub face1: u32,
    /// A face of id2.
    pub face2: u32,
}

/// Where two objects are in each other's way.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct col_contact {
    /// A face of the first object, by the number that the caller gave.
    pub face1: u32,
    /// A face of the second object.
    pub face2: u32,
    /// From the second object towards the first, of length 1.
    pub normal: [f64; 3],
    /// A point of the first object.
    pub point1: [f64; 3],
    /// A point of the second object.
    pub point2: [f64; 3],
    /// How far apart they are here, along the normal: 0 where they touch, exactly; below 0 where
    /// they overlap, and then the depth.
    pub gap: f64,
}

/// How far the second of two objects must move so that the insides do not overlap.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct col_separation {
    /// No shorter move in any direction is enough. 0 if they do not overlap.
    pub at_least: f64,
    /// The length of way. For convex objects the same as at_least but for rounding.
    pub at_most: f64,
    /// A move of the second object that is enough.
    pub way: [f64; 3],
}

/// How far the second of two objects must move along a direction.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct col_clearing {
    /// The least distance after which the insides do not overlap. 0 if they do not now.
    pub first: f64,
    /// The least distance beyond which they never overlap again. 0 if they never do.
    pub last: f64,
}

/// A cylinder or a cone, in the coordinates of its object.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct col_round {
    /// The middle between bottom and top.
    pub centre: [f64; 3],
    /// From the middle of the bottom to the middle of the top, or to the tip. Its length is the
    /// height.
    pub axis: [f64; 3],
    /// The radius of the bottom.
    pub radius: f64,
    /// The caller's number for the whole surface, for col_report_faces.
    pub face: u32,
}
