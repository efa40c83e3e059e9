//! A round solid against one model: which triangles may be near it?

use super::{AXIS_SLACK, ClosestPoint, LaneBox, PosedModel, ROUNDING};
use crate::shape::round::PosedRound;
use crate::tree::FramedNode;
use std::ops::ControlFlow;

impl PosedModel<'_> {
    /// Calls `look` with every triangle that may be within `reach` of a round solid, near ones
    /// first, until it breaks.
    pub(crate) fn look_near_round(
        &self,
        round: &PosedRound,
        reach: f64,
        look: &mut impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (local, slack) = self.local_round(round);
        self.look_near_by(|node, lane| at_least(&local, node, lane, slack), reach, look)
    }

    /// Calls `look` with every triangle in lanes whose least distance from a round solid passes,
    /// near ones first.
    pub(crate) fn look_near_round_while(
        &self,
        round: &PosedRound,
        passes: impl Fn(f64) -> bool,
        look: &mut impl FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (local, slack) = self.local_round(round);
        let distance = |node: &FramedNode<'_>, lane: usize| {
            let distance = at_least(&local, node, lane, slack);
            if passes(distance) { distance } else { f64::INFINITY }
        };
        self.look_near_by(distance, f64::MAX, look)
    }

    /// As [`PosedModel::nearest`], with distances from a round solid.
    pub(crate) fn nearest_to_round(
        &self,
        round: &PosedRound,
        within: f64,
        candidate: impl Fn(usize) -> Option<ClosestPoint>,
    ) -> Option<ClosestPoint> {
        let (local, slack) = self.local_round(round);
        let bound = |node: &FramedNode<'_>, lane: usize| at_least(&local, node, lane, slack);
        self.nearest_by(bound, within, candidate).map(|(found, _)| found)
    }

    /// A distance that no triangle is closer than.
    pub(crate) fn round_distance_at_least(&self, round: &PosedRound) -> f64 {
        let Some((root, lane)) = self.root() else { return f64::INFINITY };
        let (local, slack) = self.local_round(round);
        at_least(&local, &root, lane, slack).max(0.0)
    }

    /// In the frame of the tree.
    fn local_round(&self, round: &PosedRound) -> (PosedRound, f64) {
        let centre = self.in_tree_frame(round.centre);
        let axis = self.pose.inverse_transform_vector(round.axis);
        let slack = self.slack_at(round.centre) + 2.0 * ROUNDING * round.reach();
        (PosedRound { round: round.round, centre, axis }, slack)
    }
}

/// A lower bound of the distance from a round solid, in the frame of the tree, to the triangles of
/// a lane: that of the boxes around both along the axes of the lane, which is good for large
/// lanes, or from the sphere around the lane to the solid, for small ones.
fn at_least(round: &PosedRound, node: &FramedNode<'_>, lane: usize, slack: f64) -> f64 {
    let bounds = LaneBox::of(node, lane);
    let from = round.centre - bounds.center;
    let mut squared = 0.0;
    for k in 0..3 {
        // Of length 1 but for rounding that `axis_slack` is for.
        let along = bounds.axes[k].normalize_or_zero();
        let high = along.dot(from + round.support(along));
        let low = along.dot(from + round.support(-along));
        let beyond = (low - bounds.half[k]).max(-high - bounds.half[k]).max(0.0);
        squared += beyond * beyond;
    }
    let boxes = squared.sqrt() * (1.0 - AXIS_SLACK) - bounds.axis_slack();
    let ball = bounds.half.length() * (1.0 + AXIS_SLACK) + bounds.axis_slack();
    let bound = boxes.max(round.height(bounds.center) - ball) - 2.0 * slack;
    if bound.is_nan() { 0.0 } else { bound }
}
