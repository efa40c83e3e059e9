//! Whose word counts when machines say different things about the same object.

use super::GroupId;
use crate::object::{NodeId, ObjectId};
use crate::state::{Rotation, State};
use glam::DQuat;

/// What a member says about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// Who says so.
    pub from: NodeId,
    /// How much it counts; nothing, for 0.
    pub weight: u32,
    /// What it says.
    pub state: State,
}

/// How far apart reports may be before one is corrected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Along any axis, in units of positions.
    pub position: u32,
    /// Between the quaternions; about half the angle in radians.
    pub rotation: f64,
}

impl Tolerance {
    /// Within a group: a millimetre, a tenth of a degree. Smaller than between groups, as the
    /// thesis advises (3.3.8.1).
    pub const WITHIN: Tolerance = Tolerance { position: 4, rotation: 0.001 };
    /// Between groups, which see each other late: a decimetre, five degrees.
    pub const BETWEEN: Tolerance = Tolerance { position: 410, rotation: 0.044 };

    /// Are two states as near to each other as this?
    #[must_use]
    pub fn holds(&self, a: &State, b: &State) -> bool {
        let near = |axis: usize| a.position[axis].abs_diff(b.position[axis]) <= self.position;
        let (p, q) = (a.rotation.quaternion(), b.rotation.quaternion());
        // Both signs of a quaternion are the same rotation. The same bits are not apart at all,
        // though the product of rounded numbers may not be 1.
        let chord = (2.0 - 2.0 * p.dot(q).abs()).max(0.0).sqrt();
        (0..3).all(near) && (a.rotation == b.rotation || chord <= self.rotation)
    }
}

/// What reports come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The state that counts from now on.
    pub state: State,
    /// Those whose report is another, to be corrected; none if all were within tolerance.
    pub corrected: Vec<NodeId>,
}

/// The leader settles what its members report (Storey 2006, 3.3.8.1). If all are within tolerance
/// of the one that counts most (the lowest id of equal ones), that one stays and none is corrected;
/// otherwise it is their weighted mean, and all with another report are corrected. The order of
/// reports does not matter. None if there is nothing to go by.
#[must_use]
pub fn settle(reports: &[Report], tolerance: &Tolerance) -> Option<Settled> {
    let mut reports: Vec<Report> = reports.iter().copied().filter(|it| it.weight > 0).collect();
    // The states too, so that the order does not matter even if one machine says two things.
    reports.sort_unstable_by_key(|report| {
        (std::cmp::Reverse(report.weight), report.from, report.state)
    });
    let first = reports.first()?.state;
    if reports.iter().all(|report| tolerance.holds(&first, &report.state)) {
        return Some(Settled { state: first, corrected: Vec::new() });
    }
    let state = mean(&reports);
    let mut corrected: Vec<NodeId> =
        reports.iter().filter(|it| it.state != state).map(|it| it.from).collect();
    corrected.sort_unstable();
    corrected.dedup();
    Some(Settled { state, corrected })
}

/// There is a first report, and no weight is 0.
fn mean(reports: &[Report]) -> State {
    let weights: i128 = reports.iter().map(|report| i128::from(report.weight)).sum();
    let average = |part: &dyn Fn(&State) -> i64| -> i64 {
        let sum: i128 = reports
            .iter()
            .map(|report| i128::from(report.weight) * i128::from(part(&report.state)))
            .sum();
        // To the nearest, halves upwards. Between the least and the largest, so it fits again.
        (2 * sum + weights).div_euclid(2 * weights) as i64
    };
    let reference = reports.first().map_or(DQuat::IDENTITY, |it| it.state.rotation.quaternion());
    let mut turned = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    for report in reports {
        let rotation = report.state.rotation.quaternion();
        let sign = if rotation.dot(reference) < 0.0 { -1.0 } else { 1.0 };
        turned += rotation * (sign * f64::from(report.weight));
    }
    // Rotations whose mean is nothing at all have none; each is as good.
    let rotation = if turned.length() > 1e-9 { turned } else { reference };
    State {
        position: [0, 1, 2].map(|at: usize| average(&|it| it.position[at].into()) as i32),
        rotation: Rotation::from_quaternion(rotation),
        velocity: [0, 1, 2].map(|at: usize| average(&|it| it.velocity[at].into()) as i16),
        spin: [0, 1, 2].map(|at: usize| average(&|it| it.spin[at].into()) as i16),
    }
}

/// Two objects that meet, and their home groups: those whose events about them count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opposing {
    /// Each object with its home.
    pub objects: [(ObjectId, GroupId); 2],
}

/// Whether an event of a group counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Standing {
    /// It is what happened.
    Canonical,
    /// It is a guess, until the decider says what happened.
    Predicted,
}

/// Which group decides about a pair: the home of the object with the lower id. All groups simulate
/// the whole world (Storey 2006, 3.3.8), so without this none of them would be right.
///
/// ```
/// use jostle_proto::{GroupId, ObjectId, Opposing, Standing, decider, standing};
///
/// let pair = Opposing { objects: [(ObjectId(7), GroupId(1)), (ObjectId(3), GroupId(2))] };
/// assert_eq!(decider(&pair), GroupId(2));
/// assert_eq!(standing(&pair, GroupId(2)), Standing::Canonical);
/// assert_eq!(standing(&pair, GroupId(1)), Standing::Predicted);
/// ```
#[must_use]
pub fn decider(pair: &Opposing) -> GroupId {
    let [a, b] = pair.objects;
    if a.0 <= b.0 { a.1 } else { b.1 }
}

/// What an event about the pair is worth that this group reports.
#[must_use]
pub fn standing(pair: &Opposing, group: GroupId) -> Standing {
    if decider(pair) == group { Standing::Canonical } else { Standing::Predicted }
}
