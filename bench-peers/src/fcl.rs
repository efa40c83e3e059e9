//! FCL's side: the calls into `fcl/shim.cpp`, and the only `unsafe` of this program.
//!
//! Why it is sound: every pointer given to C++ comes from the C++ function that made it, is owned
//! by one Rust value, is freed once when that value is dropped, and is never used from two threads
//! (raw pointers make the types neither `Send` nor `Sync`). Lengths travel with their slices, and
//! the C++ side reads exactly that many numbers.
#![allow(unsafe_code)]

use crate::soup::Soup;
use anyhow::{Result, ensure};
use glam::DVec3;
use jostle_geom::Pose;
use std::ffi::{CStr, c_char, c_void};
use std::ptr::NonNull;

unsafe extern "C" {
    fn bench_fcl_version() -> *const c_char;
    fn bench_fcl_soup(
        xyz: *const f32,
        vertices: usize,
        corners: *const u32,
        triangles: usize,
    ) -> *mut c_void;
    fn bench_fcl_free_soup(soup: *mut c_void);
    fn bench_fcl_build(soup: *const c_void, for_distance: bool) -> *mut c_void;
    fn bench_fcl_free_model(model: *mut c_void);
    fn bench_fcl_touch(a: *const c_void, b: *const c_void, pose: *const f64) -> bool;
    fn bench_fcl_pairs(a: *const c_void, b: *const c_void, pose: *const f64) -> usize;
    fn bench_fcl_distance(a: *const c_void, b: *const c_void, pose: *const f64) -> f64;
    fn bench_fcl_boxes(sweep: bool, xyz: *const f64, number: usize) -> *mut c_void;
    fn bench_fcl_boxes_step(boxes: *mut c_void, xyz: *const f64) -> usize;
    fn bench_fcl_free_boxes(boxes: *mut c_void);
}

/// A pose in FCL's numbers: nine of the rotation, row by row, then the translation.
pub(crate) type FclPose = [f64; 12];

/// Exactly the numbers that we place vertices with.
pub(crate) fn pose(pose: &Pose) -> FclPose {
    let ([x, y, z], t) = (pose.rows(), pose.translation());
    [x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z, t.x, t.y, t.z]
}

/// Which FCL, and how it was compiled.
pub(crate) fn version() -> Option<String> {
    // SAFETY: the function returns a string literal, which ends in 0 and lives for ever.
    let version = unsafe { CStr::from_ptr(bench_fcl_version()) };
    Some(format!(
        "{} (Debian's library; our door: {})",
        version.to_string_lossy(),
        env!("FCL_FLAGS")
    ))
}

/// Triangles in FCL's own types, so that the time of building counts no conversion.
pub(crate) struct Parts(NonNull<c_void>);

impl Parts {
    pub(crate) fn new(soup: &Soup) -> Result<Parts> {
        let vertices = soup.vertices.len();
        let fits = soup.triangles.iter().flatten().all(|&v| (v as usize) < vertices);
        ensure!(fits, "a triangle names a missing vertex");
        let (xyz, corners) = (soup.vertices.as_flattened(), soup.triangles.as_flattened());
        // SAFETY: both slices hold three numbers per vertex and per triangle, as the callee reads.
        let parts = unsafe {
            bench_fcl_soup(xyz.as_ptr(), vertices, corners.as_ptr(), soup.triangles.len())
        };
        Ok(Parts(checked(parts)?))
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        // SAFETY: made by `bench_fcl_soup`, owned by `self`, freed only here.
        unsafe { bench_fcl_free_soup(self.0.as_ptr()) }
    }
}

/// One model with one tree.
pub(crate) struct Tree(NonNull<c_void>);

impl Tree {
    pub(crate) fn build(parts: &Parts, for_distance: bool) -> Result<Tree> {
        // SAFETY: `parts` is alive; the callee copies what it keeps and checked indices are valid.
        let model = unsafe { bench_fcl_build(parts.0.as_ptr(), for_distance) };
        Ok(Tree(checked(model)?))
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // SAFETY: made by `bench_fcl_build`, owned by `self`, freed only here.
        unsafe { bench_fcl_free_model(self.0.as_ptr()) }
    }
}

fn checked(pointer: *mut c_void) -> Result<NonNull<c_void>> {
    let pointer = NonNull::new(pointer);
    pointer.ok_or_else(|| anyhow::anyhow!("FCL refuses the mesh"))
}

/// Two models, each with the tree that is best for collision and the one for distance.
pub(crate) struct Fcl {
    collision: [Tree; 2],
    distance: [Tree; 2],
}

impl Fcl {
    /// `None` if FCL was left out of this build.
    pub(crate) fn build(a: &Soup, b: &Soup) -> Result<Option<Fcl>> {
        let (a, b) = (Parts::new(a)?, Parts::new(b)?);
        let trees = |way| Ok::<_, anyhow::Error>([Tree::build(&a, way)?, Tree::build(&b, way)?]);
        Ok(Some(Fcl { collision: trees(false)?, distance: trees(true)? }))
    }

    pub(crate) fn touch(&self, pose: &FclPose) -> bool {
        let [a, b] = &self.collision;
        // SAFETY: both trees live as long as `self`; the pose has the twelve numbers read.
        unsafe { bench_fcl_touch(a.0.as_ptr(), b.0.as_ptr(), pose.as_ptr()) }
    }

    /// Collects all pairs; returns their number.
    pub(crate) fn pairs(&self, pose: &FclPose) -> usize {
        let [a, b] = &self.collision;
        // SAFETY: as in `touch`.
        unsafe { bench_fcl_pairs(a.0.as_ptr(), b.0.as_ptr(), pose.as_ptr()) }
    }

    pub(crate) fn distance(&self, pose: &FclPose) -> f64 {
        let [a, b] = &self.distance;
        // SAFETY: as in `touch`.
        unsafe { bench_fcl_distance(a.0.as_ptr(), b.0.as_ptr(), pose.as_ptr()) }
    }
}

/// Boxes of side 1 in one of FCL's broad phases.
pub(crate) struct Boxes {
    boxes: NonNull<c_void>,
    number: usize,
}

/// The callee reads places as numbers, three for each.
const _: () = assert!(size_of::<DVec3>() == 3 * size_of::<f64>());

impl Boxes {
    /// In the tree, or in the sweep along an axis. `None` if FCL was left out of this build.
    pub(crate) fn new(sweep: bool, places: &[DVec3]) -> Result<Option<Boxes>> {
        let number = places.len();
        // SAFETY: a `DVec3` is three numbers in a row, as the callee reads for each box.
        let boxes = unsafe { bench_fcl_boxes(sweep, places.as_ptr().cast(), number) };
        Ok(Some(Boxes { boxes: checked(boxes)?, number }))
    }

    /// How many pairs overlap now that the boxes are here.
    pub(crate) fn step(&mut self, places: &[DVec3]) -> usize {
        assert_eq!(places.len(), self.number, "boxes neither come nor go");
        // SAFETY: `boxes` lives as long as `self`; the places are as in `new`, and as many.
        unsafe { bench_fcl_boxes_step(self.boxes.as_ptr(), places.as_ptr().cast()) }
    }
}

impl Drop for Boxes {
    fn drop(&mut self) {
        // SAFETY: made by `bench_fcl_boxes`, owned by `self`, freed only here.
        unsafe { bench_fcl_free_boxes(self.boxes.as_ptr()) }
    }
}
