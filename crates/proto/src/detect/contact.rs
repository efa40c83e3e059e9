//! Where two objects touch: the normal of their contact, and how far one that ran into something
//! immovable is set back.
//!
//! Against something immovable the last tick's straight way counts (rotation as it is now): the
//! normal is the direction between the closest points just before the two met. So it does not
//! depend on how deep the object is by now, nor on the triangles that a face is made of, and what
//! went all the way through is found. For what touched before that way began, and between two that
//! both move, the normal is the area vector of the curve in which the surfaces cross. That is the
//! direction in which the common volume shrinks fastest; seams between triangles do not show in it,
//! and the two in the other order give its opposite.

use crate::normal::{Normal, narrow};
use crate::state::{Block, POSITION_UNIT};
use glam::DVec3;
use jostle_geom::{
    Distance, Model, Motion, Pair, Pose, PosedModel, TimeOfImpact, TimeOfImpactLimits,
    time_of_impact,
};

/// How far from something immovable an object is set down, in units of positions. More than what
/// rounding to whole numbers can take away, so that it is free there.
const GAP: f64 = 3.0;

/// The closest points are taken so far before the contact, in metres: enough for the direction
/// between them to have many digits.
const BEFORE: f64 = 4.0 * POSITION_UNIT;

/// Directions between points closer than this, in metres, have too few digits.
const DIRECTION_MIN: f64 = 1e-9;

/// The area of a curve is nothing if it is less than this part of the sum of its parts.
const AREA_MIN: f64 = 1e-9;

/// How exactly the time of a contact is found, and after how many steps it is left open.
const LIMITS: TimeOfImpactLimits = TimeOfImpactLimits { time: 1e-6, distance: 0.0, steps_max: 100 };

/// A contact of two objects, the one with the smaller id first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    /// From the first to the second.
    pub(super) normal: Normal,
    /// Added to the position of the one that moves, if one does not.
    pub(super) shift: [i16; 3],
}

/// Two models where they are, and how far each came in the last tick if the other is immovable.
pub(super) struct Meeting<'a> {
    pub(super) models: [&'a Model; 2],
    pub(super) poses: [Pose; 2],
    pub(super) steps: [[i32; 3]; 2],
    /// Both enclose volumes and face outward.
    pub(super) closed: bool,
    /// The one that moves may leave the other from the inside: an avatar that came into the world
    /// there gets out.
    pub(super) leaves: bool,
}

fn metres(units: [i32; 3]) -> DVec3 {
    DVec3::from_array(units.map(f64::from)) * POSITION_UNIT
}

fn moved_by(pose: &Pose, way: DVec3) -> Pose {
    // Cannot fail: positions of 32 bits are far from the end of the range.
    Pose::new(pose.rotation(), pose.translation() + way).unwrap_or(*pose)
}

impl<'a> Meeting<'a> {
    pub(super) fn pair(&self) -> Pair<'a> {
        self.pair_at(&self.poses)
    }

    fn pair_at(&self, [pose_a, pose_b]: &[Pose; 2]) -> Pair<'a> {
        Pair::new(self.models[0], pose_a, self.models[1], pose_b)
    }

    /// The contact of two that touch where they are.
    fn hit_here(&self) -> Hit {
        let centres = self.placed().map(|placed| placed.centre());
        let between = centres[1] - centres[0];
        let area = self.crossing_area();
        // Open surfaces do not define which side is out.
        let area =
            area.map(|area| if self.closed || area.dot(between) >= 0.0 { area } else { -area });
        let direction = area.unwrap_or(between);
        let direction = if direction == DVec3::ZERO { DVec3::Z } else { direction };
        Hit { normal: Normal::of(direction), shift: [0; 3] }
    }

    fn placed(&self) -> [PosedModel<'a>; 2] {
        [0, 1].map(|at: usize| PosedModel::new(self.models[at], &self.poses[at]))
    }

    /// The area vector of the curve in which the surfaces cross, from the first to the second: half
    /// the sum of r × dr, where the curve runs along the product of the two normals.
    fn crossing_area(&self) -> Option<DVec3> {
        let [a, b] = self.placed();
        let (mut area, mut size, mut origin) = (DVec3::ZERO, 0.0, None);
        for segment in self.pair().all_segments() {
            let [from, to] = segment.ends;
            let origin = *origin.get_or_insert(from);
            let middle = from.midpoint(to);
            let normals =
                (a.face_normal(segment.faces.a, middle), b.face_normal(segment.faces.b, middle));
            let (Some(normal_a), Some(normal_b)) = normals else { continue };
            let way = to - from;
            let along = normal_a.cross(normal_b).dot(way);
            let part = (middle - origin).cross(way) * if along < 0.0 { -1.0 } else { 1.0 };
            if along != 0.0 {
                area += part;
                size += part.length();
            }
        }
        (area.length() > AREA_MIN * size).then_some(area)
    }

    /// The contact, if they `touch` now, or if one moves, the other does not, and they met in the
    /// last tick.
    pub(super) fn hit(&self, touch: bool) -> Option<Hit> {
        let here = || touch.then(|| self.hit_here());
        if self.steps == [[0; 3]; 2] {
            return here();
        }
        let ways = self.steps.map(metres);
        let motions = [0, 1].map(|at: usize| {
            let start = moved_by(&self.poses[at], -ways[at]);
            Motion::linear(&start, &self.poses[at])
        });
        let [motion_a, motion_b] = &motions;
        let found = time_of_impact(self.models[0], motion_a, self.models[1], motion_b, &LIMITS);
        let free = match found {
            TimeOfImpact::Never => return None,
            TimeOfImpact::During { free, .. } => free,
            TimeOfImpact::AtStart | TimeOfImpact::Unknown { .. } => return here(),
        };
        // As seen from the second.
        let way = ways[0] - ways[1];
        let before = (free - BEFORE / way.length()).max(0.0);
        let closest = self.pair_at(&[motion_a.at(before), motion_b.at(before)]).distance();
        let between = closest.filter(|closest| closest.distance > DIRECTION_MIN);
        let inside = |closest: &Distance| self.leaves && self.is_from_inside(closest);
        if between.as_ref().is_some_and(inside) {
            return here();
        }
        let between = between.map_or(way, |closest| closest.point_b - closest.point_a);
        let unit = between.normalize_or_zero();
        Some(Hit { normal: Normal::of(unit), shift: self.set_back(way * (1.0 - free), unit) })
    }

    /// Is the one that moves behind the face of the other that it is close to?
    fn is_from_inside(&self, closest: &Distance) -> bool {
        let toward_b = closest.point_b - closest.point_a;
        let [a, b] = self.placed();
        let (other, face, point, toward) = match self.steps[0] != [0; 3] {
            true => (b, closest.faces.b, closest.point_b, toward_b),
            false => (a, closest.faces.a, closest.point_a, -toward_b),
        };
        other.face_normal(face, point).is_some_and(|normal| normal.dot(toward) > 0.0)
    }

    /// What takes the one that moves out of the one that does not: the part along the normal of
    /// the `rest` of its way after they met, or, if that is not enough, all of it.
    fn set_back(&self, rest: DVec3, unit: DVec3) -> [i16; 3] {
        let first_moves = self.steps[0] != [0; 3];
        let side = if first_moves { 1.0 } else { -1.0 };
        let aside = unit * (GAP * POSITION_UNIT);
        let deep = rest.dot(unit).max(0.0);
        let shift = |back: DVec3| narrow((back + aside) * (-side / POSITION_UNIT));
        let along = shift(unit * deep);
        let mut poses = self.poses;
        let mover = usize::from(!first_moves);
        poses[mover] = moved_by(&poses[mover], metres(along.map(i32::from)));
        if self.pair_at(&poses).touches() { shift(rest) } else { along }
    }
}

/// The blocks of two objects of which one has no triangles, and how far each came in the
/// last tick if the other is immovable.
pub(super) struct Blocks {
    pub(super) blocks: [Block; 2],
    pub(super) steps: [[i32; 3]; 2],
}

impl Blocks {
    /// The contact, if there is one: two that both move, or touched before the last tick's way,
    /// part along the axis on which they overlap least; others along the one on which they met
    /// last.
    pub(super) fn hit(&self) -> Option<Hit> {
        let [a, b] = &self.blocks;
        let here = || a.meets(b).then(|| self.least_overlap());
        let [step_a, step_b] = self.steps;
        let moves = self.steps.map(|step| step != [0; 3]);
        if moves[0] == moves[1] {
            return here();
        }
        // As seen from the second.
        let way = [0, 1, 2].map(|axis: usize| f64::from(step_a[axis]) - f64::from(step_b[axis]));
        let back = |step: [i32; 3]| step.map(|along| -along);
        let [was_a, was_b] = [a.shifted(back(step_a)), b.shifted(back(step_b))];
        if was_a.meets(&was_b) {
            return here();
        }
        let (mut enter, mut leave, mut axis) = (f64::NEG_INFINITY, f64::INFINITY, 0);
        for (at, &way) in way.iter().enumerate() {
            let gap = |from: i32, to: i32| f64::from(to) - f64::from(from);
            let ahead = gap(was_a.max[at], was_b.min[at]);
            let behind = gap(was_a.min[at], was_b.max[at]);
            if way == 0.0 {
                if ahead > 0.0 || behind < 0.0 {
                    return None;
                }
                continue;
            }
            let (from, to) = if way > 0.0 { (ahead, behind) } else { (behind, ahead) };
            if from / way > enter {
                (enter, axis) = (from / way, at);
            }
            leave = leave.min(to / way);
        }
        (enter <= leave && enter <= 1.0).then(|| self.set_back(axis, way[axis] > 0.0, moves[0]))
    }

    /// Out of the other one, against the way that it came.
    fn set_back(&self, axis: usize, up: bool, first_moves: bool) -> Hit {
        let [a, b] = &self.blocks;
        // By how much the first must go back, or the second, to be next to the other.
        let deep = if up {
            i64::from(a.max[axis]) - i64::from(b.min[axis]) + 1
        } else {
            i64::from(a.min[axis]) - i64::from(b.max[axis]) - 1
        };
        let by = if first_moves { -deep } else { deep };
        let mut shift = [0; 3];
        shift[axis] = by.clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16;
        Hit { normal: Normal::along(axis, up), shift }
    }

    /// The axis on which they overlap least, from one middle to the other; one on top of the other
    /// counts as before it.
    pub(super) fn least_overlap(&self) -> Hit {
        let [a, b] = &self.blocks;
        let overlap = |axis: usize| {
            let high = i64::from(a.max[axis].min(b.max[axis]));
            high - i64::from(a.min[axis].max(b.min[axis]))
        };
        let axis = [0, 1, 2].into_iter().min_by_key(|&axis| (overlap(axis), axis)).unwrap_or(0);
        let middle = |block: &Block| i64::from(block.min[axis]) + i64::from(block.max[axis]);
        Hit { normal: Normal::along(axis, middle(a) <= middle(b)), shift: [0; 3] }
    }
}
