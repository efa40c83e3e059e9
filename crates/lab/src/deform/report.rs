//! What a method takes for a deforming scene.

use super::{DeformScene, Deforming, Which};
use crate::Count;
use jostle_geom::MeshError;
use std::time::Duration;

/// What a method took, all frames together.
#[derive(Clone, Debug)]
pub struct DeformRow {
    /// Of the method.
    pub name: String,
    /// How many frames.
    pub frames: u32,
    /// New positions: fitting, sorting, building.
    pub update: Duration,
    /// Do they touch?
    pub touches: Duration,
    /// All pairs of faces that touch, asked after that.
    pub all_pairs: Duration,
    /// What the update and the first of the two questions took.
    pub count: Count,
    /// Frames in which they touch.
    pub touching: u32,
    /// Pairs of faces, all frames together: the same for every method.
    pub pairs: usize,
}

/// Plays a scene from its first frame. `now` reads a clock, and `frame_done` hears of each frame.
///
/// # Errors
/// Vertices that the method refuses: another number than its meshes have.
pub fn deform_row(
    scene: &DeformScene,
    frames: u32,
    method: &mut dyn Deforming,
    now: &mut dyn FnMut() -> Duration,
    frame_done: &mut dyn FnMut(u32),
) -> Result<DeformRow, MeshError> {
    let mut row = DeformRow {
        name: method.name(),
        frames,
        update: Duration::ZERO,
        touches: Duration::ZERO,
        all_pairs: Duration::ZERO,
        count: Count::default(),
        touching: 0,
        pairs: 0,
    };
    for frame in 0..frames {
        let state = scene.frame(frame);
        let begin = now();
        for (which, positions) in [Which::A, Which::B].into_iter().zip(&state.positions) {
            if let Some(positions) = positions {
                row.count += method.set_vertices(which, positions)?;
            }
        }
        let [pose_a, pose_b] = &state.poses;
        let updated = now();
        let (touches, count) = method.touches(pose_a, pose_b);
        let asked = now();
        let (pairs, _) = method.all_pairs(pose_a, pose_b);
        row.all_pairs += now().saturating_sub(asked);
        row.touches += asked.saturating_sub(updated);
        row.update += updated.saturating_sub(begin);
        row.count += count;
        row.touching += u32::from(touches);
        row.pairs += pairs.len();
        frame_done(frame + 1);
    }
    Ok(row)
}
