//! What is written of each thing, and the thing that comes back from it.
//!
//! No `usize` and no numbers as text: the same bytes on every machine. Poses and boxes come back to
//! the bit. What comes back is checked by itself here; whether all fit together, `restore` checks.

use super::values::*;
use crate::bodies::{Member, State};
use crate::body::{Body, CollisionGroups, Mobility, Velocity};
use crate::broad_phase::BodyBounds;
use crate::contact::{Certainty, Change, Contact, ContactData, Event, PairDistance};
use crate::error::check_number;
use crate::id::{BodyId, Key};
use crate::interest::{InterestTarget, Policy, QueryKind};
use crate::report::{Counts, Limited, Report, Times};
use crate::respond::{GravityTarget, Response, VelocityResponse};
use crate::step::budget::Budget;
use glam::{DQuat, DVec3};
use jostle_geom::{Aabb, ContactPoint, Contacts, Distance, FacePair, Pose, Shape, Witness};
use serde::{Deserialize, Serialize};

/// What is wrong with a record.
pub(super) type Why = &'static str;

/// The name of a body or a group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Id(u32, u32);

impl From<Key> for Id {
    fn from(Key { slot, generation }: Key) -> Id {
        Id(slot, generation)
    }
}

impl From<Id> for Key {
    fn from(Id(slot, generation): Id) -> Key {
        Key { slot, generation }
    }
}

impl From<BodyId> for Id {
    fn from(BodyId(key): BodyId) -> Id {
        key.into()
    }
}

impl From<Id> for BodyId {
    fn from(id: Id) -> BodyId {
        BodyId(id.into())
    }
}

/// How the world is run, and what depends on that: not part of the hash.
#[derive(Serialize, Deserialize)]
pub(super) struct HowRecord {
    pub(super) structure: SavedStructure,
    pub(super) box_tests: u64,
    pub(super) structure_updates: u64,
}

/// What there is one of.
#[derive(Serialize, Deserialize)]
pub(super) struct HeadRecord {
    #[serde(with = "PolicyDef")]
    pub(super) policy: Policy,
    #[serde(with = "DVec3Def")]
    pub(super) gravity: DVec3,
    pub(super) gone: bool,
}

/// A slot, taken or free. Four bytes for the generation, however small it is: an empty slot has
/// room for a body, and a few bytes should not ask for much memory.
#[derive(Serialize, Deserialize)]
pub(super) struct SlotRecord<T> {
    #[serde(with = "postcard::fixint::le")]
    pub(super) generation: u32,
    pub(super) value: Option<T>,
}

/// A shape that bodies may share.
#[derive(Serialize, Deserialize)]
pub(super) enum SharedRecord<'a> {
    /// As `Model::to_bytes` gives it.
    Mesh(&'a [u8]),
    Cuboid {
        #[serde(with = "DVec3Def")]
        size: DVec3,
    },
    /// As `Model::to_bytes` gives it.
    ConvexHull(&'a [u8]),
}

/// The shape of a body. The number is that of the shared shape, or for the hash that of its model.
#[derive(Serialize, Deserialize)]
pub(super) enum ShapeRecord {
    Sphere { radius: f64 },
    Mesh(u64),
    Cuboid(u64),
    ConvexHull(u64),
    Capsule { radius: f64, height: f64 },
    Cylinder { radius: f64, height: f64 },
    Cone { radius: f64, height: f64 },
}

#[derive(Serialize, Deserialize)]
pub(super) enum PoseRecord {
    /// The rows follow from the rotation.
    Short {
        #[serde(with = "DQuatDef")]
        rotation: DQuat,
        #[serde(with = "DVec3Def")]
        translation: DVec3,
    },
    /// They come from a quaternion that was not normalised, and are a few bits off.
    Long {
        #[serde(with = "DQuatDef")]
        rotation: DQuat,
        #[serde(with = "DVec3Def")]
        translation: DVec3,
        rows: [[f64; 3]; 3],
    },
}

impl PoseRecord {
    fn of(pose: &Pose) -> PoseRecord {
        let (rotation, translation) = (pose.rotation(), pose.translation());
        let follows = Pose::new(rotation, translation);
        if follows.is_ok_and(|made| bits(&made) == bits(pose)) {
            PoseRecord::Short { rotation, translation }
        } else {
            PoseRecord::Long { rotation, translation, rows: pose.rows().map(|row| row.to_array()) }
        }
    }

    fn pose(self) -> Result<Pose, Why> {
        const WHY: Why = "its pose is none: expected a unit quaternion, its matrix, a translation";
        match self {
            PoseRecord::Short { rotation, translation } => {
                let pose = Pose::new(rotation, translation).map_err(|_| WHY)?;
                // Written short because nothing was rounded when the pose was made again.
                Pose::from_parts(rotation, pose.rows(), translation).map_err(|_| WHY)
            }
            PoseRecord::Long { rotation, translation, rows } => {
                Pose::from_parts(rotation, rows.map(DVec3::from), translation).map_err(|_| WHY)
            }
        }
    }
}

fn bits(pose: &Pose) -> [u64; 16] {
    let mut numbers = [0; 16];
    let rows = pose.rows();
    let parts = pose.rotation().to_array().into_iter().chain(pose.translation().to_array());
    let parts = parts.chain(rows.iter().flat_map(|row| row.to_array()));
    numbers.iter_mut().zip(parts).for_each(|(number, part)| *number = part.to_bits());
    numbers
}

#[derive(Serialize, Deserialize)]
struct ResponseRecord(#[serde(with = "ResponseDef")] Response);

/// A body and what the parts of a world know of it. Interests and ignored bodies are written by
/// pair.
#[derive(Serialize, Deserialize)]
pub(super) struct MemberRecord {
    pub(super) shape: ShapeRecord,
    pose: PoseRecord,
    #[serde(with = "MobilityDef")]
    mobility: Mobility,
    #[serde(with = "VelocityDef")]
    velocity: Velocity,
    #[serde(with = "CollisionGroupsDef")]
    layers: CollisionGroups,
    family: Option<u32>,
    group: Option<Id>,
    response: Option<ResponseRecord>,
    /// What is floor, sorted.
    fall: Option<Vec<InterestTargetRecord>>,
    continuous: bool,
    /// Low corner, high corner.
    bounds: Option<[[f32; 3]; 2]>,
    reach: f64,
    /// `None` if it is the pose.
    free_pose: Option<PoseRecord>,
    #[serde(with = "StateDef")]
    state: State,
    changed: bool,
    in_broad: bool,
}

impl MemberRecord {
    pub(super) fn of(
        member: &Member,
        bounds: &BodyBounds,
        free_pose: &Pose,
        shape_record: impl FnOnce(&Shape) -> ShapeRecord,
    ) -> Self {
        let Member { body, state, changed } = member;
        let BodyBounds { tight, reach, in_structure } = bounds;
        let Body {
            shape,
            pose,
            mobility,
            velocity,
            collision_groups,
            family,
            group,
            response,
            gravity,
            continuous,
        } = body;
        MemberRecord {
            shape: shape_record(shape),
            pose: PoseRecord::of(pose),
            mobility: *mobility,
            velocity: *velocity,
            layers: *collision_groups,
            family: *family,
            group: group.map(|group| group.0.into()),
            response: response.map(ResponseRecord),
            fall: gravity
                .as_ref()
                .map(|GravityTarget { floors }| floors.iter().map(|&f| f.into()).collect()),
            continuous: *continuous,
            bounds: tight.map(|b| [b.min().to_array(), b.max().to_array()]),
            reach: *reach,
            free_pose: (bits(free_pose) != bits(pose)).then(|| PoseRecord::of(free_pose)),
            state: *state,
            changed: *changed,
            in_broad: *in_structure,
        }
    }

    /// What the parts of a world know of the body, and its last free pose.
    pub(super) fn parts(self, shape: Shape) -> Result<(Member, BodyBounds, Pose), Why> {
        let pose = self.pose.pose()?;
        let corners = |[low, high]: [[f32; 3]; 2]| Aabb::from_corners(low.into(), high.into());
        let bounds = match self.bounds {
            Some(bounds) => Some(corners(bounds).ok_or("its box is none")?),
            None => None,
        };
        let response = self.response.map(|ResponseRecord(response)| response);
        check_motion(self.velocity, response)?;
        check_number("reach", self.reach).map_err(|_| "its reach is not a number from 0 on")?;
        let enabled = self.state == State::Enabled;
        if !enabled && (self.changed || self.in_broad) {
            return Err("it takes no part, but is compared");
        }
        if self.in_broad && bounds.is_none() {
            return Err("it has no box, but is compared");
        }
        if enabled && !self.changed && self.in_broad != bounds.is_some() {
            return Err("it has a box, but is not compared");
        }
        let body = Body {
            shape,
            pose,
            mobility: self.mobility,
            velocity: self.velocity,
            collision_groups: self.layers,
            family: self.family,
            group: self.group.map(|id| crate::GroupId(id.into())),
            response,
            gravity: self.fall.map(GravityTarget::onto),
            continuous: self.continuous,
        };
        let free_pose = self.free_pose.map_or(Ok(pose), PoseRecord::pose)?;
        let member = Member { body, state: self.state, changed: self.changed };
        let (reach, in_structure) = (self.reach, self.in_broad);
        Ok((member, BodyBounds { tight: bounds, reach, in_structure }, free_pose))
    }
}

fn check_motion(velocity: Velocity, response: Option<Response>) -> Result<(), Why> {
    if !velocity.is_finite() {
        return Err("its velocity is not finite");
    }
    match response.map(|response| response.velocity) {
        Some(VelocityResponse::Bounce { restitution }) => check_number("restitution", restitution)
            .map_err(|_| "its restitution is not a number from 0 on"),
        _ => Ok(()),
    }
}

/// A group. Its members name it, and not the other way round.
#[derive(Serialize, Deserialize)]
pub(super) struct GroupRecord {
    pub(super) parent: Option<Id>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) enum InterestTargetRecord {
    Body(Id),
    Group(Id),
}

impl From<InterestTarget> for InterestTargetRecord {
    fn from(target: InterestTarget) -> InterestTargetRecord {
        match target {
            InterestTarget::Body(id) => InterestTargetRecord::Body(id.into()),
            InterestTarget::Group(id) => InterestTargetRecord::Group(id.0.into()),
        }
    }
}

impl From<InterestTargetRecord> for InterestTarget {
    fn from(target: InterestTargetRecord) -> InterestTarget {
        match target {
            InterestTargetRecord::Body(id) => InterestTarget::Body(id.into()),
            InterestTargetRecord::Group(id) => InterestTarget::Group(crate::GroupId(id.into())),
        }
    }
}

/// An interest of two parties in each other, the smaller first.
#[derive(Serialize, Deserialize)]
pub(super) struct InterestRecord {
    pub(super) parties: [InterestTargetRecord; 2],
    #[serde(with = "QueryKindDef")]
    pub(super) ask: QueryKind,
}

#[derive(Serialize, Deserialize)]
enum FoundRecord {
    BoxesOverlap,
    Touching,
    Witness(#[serde(with = "WitnessDef")] Witness),
    Faces(Vec<[u32; 2]>),
    TooClose,
    Points(Vec<ContactPointRecord>, Option<[f64; 3]>),
}

#[derive(Serialize, Deserialize)]
struct ContactPointRecord(#[serde(with = "ContactPointDef")] ContactPoint);

#[derive(Serialize, Deserialize)]
pub(super) struct ContactRecord {
    a: Id,
    b: Id,
    found: FoundRecord,
    #[serde(with = "CertaintyDef")]
    certainty: Certainty,
}

impl ContactRecord {
    pub(super) fn of(Contact { a, b, data, certainty }: &Contact) -> ContactRecord {
        let found = match data {
            ContactData::BoxesOverlap => FoundRecord::BoxesOverlap,
            ContactData::Touching => FoundRecord::Touching,
            ContactData::Witness(witness) => FoundRecord::Witness(*witness),
            ContactData::Faces(pairs) => {
                FoundRecord::Faces(pairs.iter().map(|&FacePair { a, b }| [a, b]).collect())
            }
            ContactData::TooClose => FoundRecord::TooClose,
            ContactData::Points(found) => FoundRecord::Points(
                found.points.iter().copied().map(ContactPointRecord).collect(),
                found.way_out.map(|way| way.to_array()),
            ),
        };
        ContactRecord { a: (*a).into(), b: (*b).into(), found, certainty: *certainty }
    }

    pub(super) fn contact(self) -> Contact {
        let found = match self.found {
            FoundRecord::BoxesOverlap => ContactData::BoxesOverlap,
            FoundRecord::Touching => ContactData::Touching,
            FoundRecord::Witness(witness) => ContactData::Witness(witness),
            FoundRecord::Faces(pairs) => {
                ContactData::Faces(pairs.into_iter().map(|[a, b]| FacePair { a, b }).collect())
            }
            FoundRecord::TooClose => ContactData::TooClose,
            FoundRecord::Points(points, way_out) => ContactData::Points(Box::new(Contacts {
                points: points.into_iter().map(|record| record.0).collect(),
                way_out: way_out.map(DVec3::from_array),
            })),
        };
        Contact { a: self.a.into(), b: self.b.into(), data: found, certainty: self.certainty }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct PairDistanceRecord {
    a: Id,
    b: Id,
    #[serde(with = "DistanceDef")]
    distance: Distance,
}

impl PairDistanceRecord {
    pub(super) fn of(&PairDistance { a, b, distance }: &PairDistance) -> PairDistanceRecord {
        PairDistanceRecord { a: a.into(), b: b.into(), distance }
    }

    pub(super) fn measured(self) -> PairDistance {
        PairDistance { a: self.a.into(), b: self.b.into(), distance: self.distance }
    }
}

#[derive(Serialize, Deserialize)]
struct EventRecord {
    a: Id,
    b: Id,
    #[serde(with = "ChangeDef")]
    change: Change,
}

/// What the last step did, without times, and without what depends on the structure.
#[derive(Serialize, Deserialize)]
pub(super) struct ReportRecord {
    step: u64,
    events: Vec<EventRecord>,
    changed: u64,
    candidates: u64,
    tested: u64,
    contacts: u64,
    responses: u64,
    depth_max: Option<u32>,
    contacts_max: Option<u64>,
    conservative: Vec<[Id; 2]>,
}

impl ReportRecord {
    pub(super) fn of(report: &Report) -> ReportRecord {
        let Report { step, events, counts, times: _, limited } = report;
        let Counts {
            changed,
            box_tests: _,
            structure_updates: _,
            candidates,
            tested,
            contacts,
            responses,
        } = *counts;
        let Limited { depth_max, contacts_max, conservative } = limited;
        let event =
            |&Event { a, b, change }: &Event| EventRecord { a: a.into(), b: b.into(), change };
        ReportRecord {
            step: *step,
            events: events.iter().map(event).collect(),
            changed: changed as u64,
            candidates: candidates as u64,
            tested: tested as u64,
            contacts: contacts as u64,
            responses: responses as u64,
            depth_max: *depth_max,
            contacts_max: contacts_max.map(|most| most as u64),
            conservative: conservative.iter().map(|pair| pair.map(Id::from)).collect(),
        }
    }

    pub(super) fn report(self, how: &HowRecord) -> Result<Report, Why> {
        // Centuries of steps; so that counting on does not overflow.
        const STEP_MAX: u64 = u64::MAX / 2;
        if self.step > STEP_MAX {
            return Err("its number is too large");
        }
        let event =
            |EventRecord { a, b, change }: EventRecord| Event { a: a.into(), b: b.into(), change };
        let events: Vec<Event> = self.events.into_iter().map(event).collect();
        if !events.iter().all(|event| event.a < event.b)
            || !events.is_sorted_by(|a, b| a.pair() < b.pair())
        {
            return Err("its events are not sorted");
        }
        let count = |count: u64| usize::try_from(count).map_err(|_| "a count is too large");
        Ok(Report {
            step: self.step,
            events,
            counts: Counts {
                changed: count(self.changed)?,
                box_tests: how.box_tests,
                structure_updates: how.structure_updates,
                candidates: count(self.candidates)?,
                tested: count(self.tested)?,
                contacts: count(self.contacts)?,
                responses: count(self.responses)?,
            },
            times: Times::default(),
            limited: Limited {
                depth_max: self.depth_max,
                contacts_max: self.contacts_max.map(count).transpose()?,
                conservative: self
                    .conservative
                    .into_iter()
                    .map(|pair| pair.map(BodyId::from))
                    .collect(),
            },
        })
    }
}

/// What the clock did to the limits of a budget.
#[derive(Serialize, Deserialize)]
pub(super) struct BudgetRecord {
    depth_max: u32,
    /// `None` for no limit.
    contacts_max: Option<u64>,
    costs: Vec<([Id; 2], u32)>,
}

impl BudgetRecord {
    pub(super) fn of(Budget { depth_max, contacts_max, costs }: &Budget) -> BudgetRecord {
        BudgetRecord {
            depth_max: *depth_max,
            contacts_max: (*contacts_max != usize::MAX).then_some(*contacts_max as u64),
            costs: costs.iter().map(|&(pair, cost)| (pair.map(Id::from), cost)).collect(),
        }
    }

    pub(super) fn budget(self) -> Result<Budget, Why> {
        const WHY: Why = "its limits are none that a clock leads to";
        let contacts_max = match self.contacts_max {
            Some(most) => usize::try_from(most).map_err(|_| WHY)?,
            None => usize::MAX,
        };
        let costs = self.costs.into_iter();
        let costs = costs.map(|(pair, cost)| (pair.map(BodyId::from), cost)).collect();
        let budget = Budget { depth_max: self.depth_max, contacts_max, costs };
        if budget.is_possible() { Ok(budget) } else { Err(WHY) }
    }
}
