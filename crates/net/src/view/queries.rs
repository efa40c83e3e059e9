//! Queries about the world at a tick: ray casts, contacts and clearance. All answers are exact for
//! the triangles at their positions in that tick.

use super::snapshot::{Forms, WorldSnapshot, is_moved};
use glam::DVec3;
use jostle_geom::{FacePair, Pair, Placed, Ray, RayHit, SharedSegment};
use jostle_proto::{Block, Class, Object, ObjectId, POSITION_UNIT};
use jostle_world::Aabb;
use jostle_world::broad::{Broad, Structure};
use std::time::{Duration, Instant};

/// Faces, segments, and objects in an answer about one object, at most.
pub(crate) const CONTACTS_MAX: usize = 200;

/// Pairs in an answer about all objects, at most: the closest.
pub(crate) const NEAR_MAX: usize = 4096;

/// Candidate pairs, at most.
const CANDIDATES_MAX: usize = 200_000;

/// The first hit of a ray.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RayPick {
    pub(crate) object: Object,
    pub(crate) hit: RayHit,
    pub(crate) faces: usize,
}

/// A ray query. The ray ignores immovable objects with one of the shapes in `through`: walls that a
/// page shows from inside.
#[derive(Clone, Debug)]
pub(crate) struct RayQuery {
    pub(crate) ray: Ray,
    pub(crate) through: Vec<u32>,
    /// Objects hidden on the page.
    pub(crate) hidden: Vec<ObjectId>,
    /// The only objects shown on the page; all if empty.
    pub(crate) only: Vec<ObjectId>,
}

impl RayQuery {
    fn sees(&self, object: &Object) -> bool {
        let isolated_away = !self.only.is_empty() && !self.only.contains(&object.id);
        if isolated_away || self.hidden.contains(&object.id) {
            return false;
        }
        match object.class {
            Class::Absent => false,
            Class::Immovable => !self.through.contains(&object.shape.0),
            Class::Dynamic | Class::Avatar | Class::Foreign(_) | Class::Leaving(..) => true,
        }
    }
}

/// The first visible object on the ray.
pub(crate) fn pick(scene: &WorldSnapshot, forms: &Forms, ray_query: &RayQuery) -> Option<RayPick> {
    let ray = &ray_query.ray;
    let mut first: Option<RayPick> = None;
    for object in scene.objects.iter().filter(|object| ray_query.sees(object)) {
        let Some((model, pose)) = forms.placed(object) else { continue };
        let best = first.as_ref().map_or(f64::INFINITY, |picked| picked.hit.distance);
        if !may_meet(ray, pose.translation(), model.radius(), best) {
            continue;
        }
        if let Some(hit) = Placed::new(model, &pose).ray(ray)
            && hit.distance < best
        {
            first = Some(RayPick { object: *object, hit, faces: model.mesh().face_count() });
        }
    }
    first
}

/// Conservative test whether the ray reaches the bounding sphere before `best`.
fn may_meet(ray: &Ray, centre: DVec3, radius: f64, best: f64) -> bool {
    let to = centre - ray.origin();
    let along = to.dot(ray.direction());
    let beside = (to - along * ray.direction()).length();
    // Far more than the rounding of these few steps.
    let slack = radius + 1e-9 * (to.length() + radius) + 1e-6;
    // Written so that NaN counts as a hit.
    !(beside > slack || along < -slack || along - slack > best)
}

/// A touching pair: faces and segments, those of the queried object first.
#[derive(Clone, Debug)]
pub(crate) struct Contact {
    pub(crate) other: ObjectId,
    pub(crate) faces: Vec<FacePair>,
    pub(crate) segments: Vec<SharedSegment>,
}

/// Two objects that are close to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NearPair {
    pub(crate) pair: [ObjectId; 2],
    pub(crate) distance: f64,
    /// The closest points, in the order of the pair.
    pub(crate) points: [DVec3; 2],
}

/// Contacts of an object. With very many contacts each is truncated.
pub(crate) fn contacts(scene: &WorldSnapshot, forms: &Forms, id: ObjectId) -> Vec<Contact> {
    let Some((model, pose)) = scene.get(id).and_then(|object| forms.placed(object)) else {
        return Vec::new();
    };
    let others = scene.touches.iter().filter_map(|touch| match () {
        () if touch.a == id => Some(touch.b),
        () if touch.b == id => Some(touch.a),
        () => None,
    });
    let others: Vec<&Object> =
        others.filter_map(|other| scene.get(other)).take(CONTACTS_MAX).collect();
    let each = CONTACTS_MAX / others.len().max(1);
    let contact = |other: &&Object| {
        let (mut faces, mut segments) = (Vec::new(), Vec::new());
        if let Some((other, there)) = forms.placed(other) {
            let pair = Pair::new(model, &pose, other, &there);
            faces = pair.all_pairs();
            segments = pair.all_segments();
            faces.truncate(each);
            segments.truncate(each);
        }
        Contact { other: other.id, faces, segments }
    };
    others.iter().map(contact).collect()
}

/// Objects within the clearance of an object that do not touch it, closest first.
pub(crate) fn near(
    scene: &WorldSnapshot,
    forms: &Forms,
    id: ObjectId,
    clearance: f64,
) -> Vec<NearPair> {
    let Some(object) = scene.get(id).filter(|object| object.class != Class::Absent) else {
        return Vec::new();
    };
    let block = forms.block(object);
    let candidate = |other: &&Object| {
        other.id != id
            && other.class != Class::Absent
            && (is_moved(object) || is_moved(other))
            && gap(&block, &forms.block(other)) <= clearance
    };
    let others = scene.objects.iter().filter(candidate);
    let mut near: Vec<NearPair> =
        others.filter_map(|other| closeness(scene, forms, [object, other], clearance)).collect();
    near.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.pair.cmp(&b.pair)));
    near.truncate(CONTACTS_MAX);
    near
}

/// All pairs within the clearance that do not touch, sorted by ids. Pairs with the closest boxes
/// are tested first, in case there are too many or the budget is exceeded.
pub(crate) fn all_near(
    scene: &WorldSnapshot,
    forms: &Forms,
    clearance: f64,
    budget: Option<Duration>,
) -> Vec<NearPair> {
    let begin = Instant::now();
    let mut found: Vec<NearPair> = Vec::new();
    for (_, [a, b]) in candidates(scene, forms, clearance, Candidates::Moved).0 {
        if budget.is_some_and(|budget| begin.elapsed() > budget) {
            break;
        }
        let (a, b) = if a.id < b.id { (a, b) } else { (b, a) };
        found.extend(closeness(scene, forms, [a, b], clearance));
    }
    if found.len() > NEAR_MAX {
        found.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.pair.cmp(&b.pair)));
        found.truncate(NEAR_MAX);
    }
    found.sort_by_key(|near| near.pair);
    found
}

/// Which pairs are tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Candidates {
    /// At least one of the two is moved by this group, as in the world's own tests.
    Moved,
    /// Both are immovable.
    Immovable,
}

/// Two objects, and the gap between their boxes.
type CandidatePair<'a> = (f64, [&'a Object; 2]);

/// Pairs whose boxes are within the clearance, with their gap, closest first; and whether the list
/// is complete.
pub(crate) fn candidates<'a>(
    scene: &'a WorldSnapshot,
    forms: &Forms,
    clearance: f64,
    of: Candidates,
) -> (Vec<CandidatePair<'a>>, bool) {
    let asks = |object: &Object| match of {
        Candidates::Moved => is_moved(object),
        Candidates::Immovable => object.class == Class::Immovable,
    };
    let mut complete = true;
    let present: Vec<(&Object, Block)> = scene
        .objects
        .iter()
        .filter(|object| object.class != Class::Absent)
        .map(|object| (object, forms.block(object)))
        .collect();
    let corner = |of: [i32; 3]| DVec3::from_array(of.map(f64::from));
    let bounds = |block: &Block, more: f64| {
        let more = DVec3::splat(more / POSITION_UNIT);
        Aabb::around_wide(corner(block.min) - more, corner(block.max) + more)
    };
    let mut broad = Broad::new(Structure::Cells);
    for (slot, (_, block)) in present.iter().enumerate() {
        broad.insert(slot as u32, bounds(block, 0.0));
    }
    let (mut pairs, mut met) = (Vec::new(), Vec::new());
    for (slot, (object, block)) in present.iter().enumerate() {
        if !asks(object) {
            continue;
        }
        if pairs.len() >= CANDIDATES_MAX {
            complete = false;
            break;
        }
        broad.query(&bounds(block, clearance), &mut met);
        for (other, at) in met.iter().filter_map(|&at| Some((present.get(at as usize)?, at))) {
            // Two querying objects meet twice, and each meets itself.
            let twice = asks(other.0) && (at as usize) < slot;
            let wanted = of == Candidates::Moved || asks(other.0);
            if at as usize == slot || twice || !wanted {
                continue;
            }
            let apart = gap(block, &other.1);
            if apart <= clearance {
                pairs.push((apart, [*object, other.0]));
            }
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    (pairs, complete)
}

/// The distance of two boxes in metres.
fn gap(a: &Block, b: &Block) -> f64 {
    let along = |axis: usize| {
        let after = i64::from(b.min[axis]) - i64::from(a.max[axis]);
        let before = i64::from(a.min[axis]) - i64::from(b.max[axis]);
        after.max(before).max(0) as f64 * POSITION_UNIT
    };
    DVec3::new(along(0), along(1), along(2)).length()
}

/// The exact distance of two objects, if within the clearance and not touching.
fn closeness(
    scene: &WorldSnapshot,
    forms: &Forms,
    [a, b]: [&Object; 2],
    clearance: f64,
) -> Option<NearPair> {
    if scene.touch(a.id, b.id) {
        return None;
    }
    let ((model_a, pose_a), (model_b, pose_b)) = (forms.placed(a)?, forms.placed(b)?);
    let pair = Pair::new(model_a, &pose_a, model_b, &pose_b);
    if !pair.within(clearance) {
        return None;
    }
    let found = pair.distance().filter(|found| found.distance > 0.0)?;
    Some(NearPair {
        pair: [a.id, b.id],
        distance: found.distance,
        points: [found.point_a, found.point_b],
    })
}
