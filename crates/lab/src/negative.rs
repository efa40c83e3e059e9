//! Methods that Zachmann tried or proposed and found no better (2000, 3.5.11, 3.6 and 3.7), so that
//! it can be measured whether that still holds.

mod brackets;
mod dops;
mod grow_shrink;
mod links;
mod report;
mod voxels;

pub use brackets::BracketSort;
pub use grow_shrink::GrowShrink;
pub use links::{DopPairs, Keep, LinkedDops};
pub use report::{LinkRow, VoxelRow, link_row, voxel_row};
pub use voxels::{Fineness, PointsInVoxels};
