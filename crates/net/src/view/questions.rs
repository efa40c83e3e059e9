//! What those who watch ask about the world at a tick: what does this ray meet, what touches this,
//! what is too close? All answers are exact about the triangles where they are in that tick.

use super::scene::{Forms, Scene, is_moved};
use glam::DVec3;
use jostle_geom::{Aabb, FacePair, Pair, PosedModel, Ray, RayHit, SharedSegment};
use jostle_proto::{Block, Class, Object, ObjectId, POSITION_UNIT};
use jostle_world::broad::{Broad, Structure};
use std::time::{Duration, Instant};

/// Faces, segments, and objects in an answer about one object, at most.
pub(crate) const CONTACTS_MAX: usize = 200;

/// Pairs in an answer about all objects, at most: the closest.
pub(crate) const NEAR_MAX: usize = 4096;

/// Pairs whose boxes are close that are looked at, at most.
const CANDIDATES_MAX: usize = 200_000;

/// What a ray meets first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Picked {
    pub(crate) object: Object,
    pub(crate) hit: RayHit,
    pub(crate) faces: usize,
}

/// Somebody looks along a ray, through what never moves and has one of these forms: walls that a
/// page shows the inside of.
#[derive(Clone, Debug)]
pub(crate) struct Glance {
    pub(crate) ray: Ray,
    pub(crate) through: Vec<u32>,
    /// Objects that the page has hidden.
    pub(crate) hidden: Vec<ObjectId>,
    /// The only objects that the page shows; all if empty.
    pub(crate) only: Vec<ObjectId>,
}

impl Glance {
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

/// The first object on the ray that is seen.
pub(crate) fn pick(scene: &Scene, forms: &Forms, glance: &Glance) -> Option<Picked> {
    let ray = &glance.ray;
    let mut first: Option<Picked> = None;
    for object in scene.objects.iter().filter(|object| glance.sees(object)) {
        let Some((model, pose)) = forms.placed(object) else { continue };
        let best = first.as_ref().map_or(f64::INFINITY, |picked| picked.hit.distance);
        if !may_meet(ray, pose.translation(), model.radius(), best) {
            continue;
        }
        if let Some(hit) = PosedModel::new(model, &pose).ray(ray)
            && hit.distance < best
        {
            first = Some(Picked { object: *object, hit, faces: model.mesh().face_count() });
        }
    }
    first
}

/// Does the ray come to the ball before it is as long as `best`? May say yes too often.
fn may_meet(ray: &Ray, centre: DVec3, radius: f64, best: f64) -> bool {
    let to = centre - ray.origin();
    let along = to.dot(ray.direction());
    let beside = (to - along * ray.direction()).length();
    // Far beyond any rounding of these few steps.
    let slack = radius + 1e-9 * (to.length() + radius) + 1e-6;
    // Written so that what is no number counts as yes.
    !(beside > slack || along < -slack || along - slack > best)
}

/// Two that touch: faces and segments, those of the first one first.
#[derive(Clone, Debug)]
pub(crate) struct Contact {
    pub(crate) other: ObjectId,
    pub(crate) faces: Vec<FacePair>,
    pub(crate) segments: Vec<SharedSegment>,
}

/// Two that are close to each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Near {
    pub(crate) pair: [ObjectId; 2],
    pub(crate) distance: f64,
    /// The closest points, in the order of the pair.
    pub(crate) points: [DVec3; 2],
}

/// What touches an object, and where. Of very many contacts each is told in part.
pub(crate) fn contacts(scene: &Scene, forms: &Forms, id: ObjectId) -> Vec<Contact> {
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

/// What is within the clearance of an object without touching it, closest first.
pub(crate) fn near(scene: &Scene, forms: &Forms, id: ObjectId, clearance: f64) -> Vec<Near> {
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
    let mut near: Vec<Near> =
        others.filter_map(|other| closeness(scene, forms, [object, other], clearance)).collect();
    near.sort_by(|a, b| a.distance.total_cmp(&b.distance).then(a.pair.cmp(&b.pair)));
    near.truncate(CONTACTS_MAX);
    near
}

/// All pairs within the clearance that do not touch, sorted by ids; those whose boxes are closest
/// first if there are too many or it takes longer than the budget.
pub(crate) fn all_near(
    scene: &Scene,
    forms: &Forms,
    clearance: f64,
    budget: Option<Duration>,
) -> Vec<Near> {
    let begin = Instant::now();
    let mut found: Vec<Near> = Vec::new();
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

/// Which pairs are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Candidates {
    /// At least one of the two is moved by this group: what the world tests, too.
    Moved,
    /// Both are immovable.
    Immovable,
}

/// Two objects, and the gap between their boxes.
type CandidatePair<'a> = (f64, [&'a Object; 2]);

/// Pairs whose boxes are within the clearance, with the gap between them, closest first; and
/// whether these are all.
pub(crate) fn candidates<'a>(
    scene: &'a Scene,
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
        Aabb::around_f64(corner(block.min) - more, corner(block.max) + more)
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
            // Two that ask meet twice; and everything meets itself.
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

/// How far apart two boxes are, in metres.
fn gap(a: &Block, b: &Block) -> f64 {
    let along = |axis: usize| {
        let after = i64::from(b.min[axis]) - i64::from(a.max[axis]);
        let before = i64::from(a.min[axis]) - i64::from(b.max[axis]);
        after.max(before).max(0) as f64 * POSITION_UNIT
    };
    DVec3::new(along(0), along(1), along(2)).length()
}

/// How close two are, if they are within the clearance and do not touch.
fn closeness(scene: &Scene, forms: &Forms, [a, b]: [&Object; 2], clearance: f64) -> Option<Near> {
    if scene.touch(a.id, b.id) {
        return None;
    }
    let ((model_a, pose_a), (model_b, pose_b)) = (forms.placed(a)?, forms.placed(b)?);
    let pair = Pair::new(model_a, &pose_a, model_b, &pose_b);
    if !pair.within(clearance) {
        return None;
    }
    let found = pair.distance().filter(|found| found.distance > 0.0)?;
    Some(Near {
        pair: [a.id, b.id],
        distance: found.distance,
        points: [found.point_a, found.point_b],
    })
}
