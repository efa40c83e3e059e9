//! Every tree answers as geom does, and as all triangles one by one. `examples/agree.rs` does the
//! same with many more poses.

mod common;

use common::agree;
use common::methods::{self, trees};
use jostle_lab::tree::{Aabb, Obb, Sphere};

#[test]
fn boxes_along_the_axes() {
    agree(trees::<Aabb>, 24, 1);
}

#[test]
fn spheres() {
    agree(trees::<Sphere>, 24, 2);
}

#[test]
fn oriented_boxes() {
    agree(trees::<Obb>, 24, 3);
}

#[test]
fn dops_by_sums() {
    agree(methods::affine, 24, 4);
}

#[test]
fn dops_by_coded_correspondences() {
    agree(methods::coded, 60, 5);
}

#[test]
fn dops_by_boundaries() {
    agree(methods::boundaries, 24, 6);
}

#[test]
fn dops_with_different_directions() {
    agree(methods::mixed, 24, 7);
}

#[test]
fn dops_with_a_hull() {
    agree(methods::with_hull, 60, 8);
}

#[test]
fn bsp_trees() {
    agree(methods::bsp, 60, 9);
}
