//! The world at a tick, as those who watch are shown it and ask about it.

use glam::DVec3;
use jostle_geom::{Model, Pose, Quality, solids};
use jostle_proto::{
    Block, Class, GroupId, NodeId, Object, ObjectId, Objects, POSITION_UNIT, Rotation, Shapes,
    State, Tick, Touch, VELOCITY_UNIT, View,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is known of groups besides the one that is followed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Others {
    /// Their regions and members, by group.
    pub(crate) views: BTreeMap<GroupId, View>,
    /// Where objects of theirs are at home.
    pub(crate) homes: BTreeMap<ObjectId, GroupId>,
}

/// There are none.
pub(crate) static NO_OTHERS: Others = Others { views: BTreeMap::new(), homes: BTreeMap::new() };

/// The world at a tick, borrowed from whoever follows it.
#[derive(Clone, Copy)]
pub(crate) struct Now<'a> {
    pub(crate) tick: Tick,
    /// How long ticks take, in thousandths of what they should.
    pub(crate) dilation: u32,
    pub(crate) objects: &'a Objects,
    /// Sorted.
    pub(crate) touches: &'a [Touch],
    /// Who owns what; a recording does not say.
    pub(crate) view: Option<&'a View>,
    pub(crate) others: &'a Others,
}

impl Now<'_> {
    /// The group that an object of another group belongs to, as far as is known.
    pub(crate) fn home(&self, object: &Object) -> Option<GroupId> {
        self.others.home(object)
    }
}

impl Others {
    fn home(&self, object: &Object) -> Option<GroupId> {
        let foreign = object.class.elsewhere().is_some();
        self.homes.get(&object.id).copied().filter(|_| foreign)
    }
}

/// The same, kept for those who ask about it.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) tick: Tick,
    dilation: u32,
    /// Sorted by id.
    pub(crate) objects: Vec<Object>,
    /// Smaller id first; sorted.
    pub(crate) touches: Vec<Touch>,
    pub(crate) view: Option<View>,
    pub(crate) others: Others,
}

impl Scene {
    pub(crate) fn of(now: &Now<'_>) -> Scene {
        Scene {
            tick: now.tick,
            dilation: now.dilation,
            objects: now.objects.values().copied().collect(),
            touches: now.touches.to_vec(),
            view: now.view.cloned(),
            others: now.others.clone(),
        }
    }

    /// Whose an object is: the group, and the node in whose region it is; none in a recording, and
    /// where that group is not known.
    pub(crate) fn owner(&self, object: &Object) -> Option<(GroupId, NodeId)> {
        let view = match (object.class, self.others.home(object)) {
            (Class::Foreign(_) | Class::Leaving(..), Some(home)) => self.others.views.get(&home),
            (Class::Foreign(_) | Class::Leaving(..), None) => None,
            _ => self.view.as_ref(),
        }?;
        Some((view.group, view.owner(object.state.position)))
    }

    /// The same with its objects in another order, to make a frame of.
    pub(crate) fn now<'a>(&'a self, objects: &'a Objects) -> Now<'a> {
        let Scene { tick, dilation, touches, view, others, .. } = self;
        Now { tick: *tick, dilation: *dilation, objects, touches, view: view.as_ref(), others }
    }

    pub(crate) fn get(&self, id: ObjectId) -> Option<&Object> {
        let at = self.objects.binary_search_by_key(&id, |object| object.id).ok()?;
        self.objects.get(at)
    }

    pub(crate) fn touch(&self, a: ObjectId, b: ObjectId) -> bool {
        let pair = (a.min(b), a.max(b));
        self.touches.binary_search_by_key(&pair, |touch| (touch.a, touch.b)).is_ok()
    }
}

/// The triangles of all forms; boxes have got some here.
pub(crate) struct Forms {
    shapes: Shapes,
    models: Vec<Option<Arc<Model>>>,
    /// Exact poses of immovable objects, where they are known: objects are rounded to 1/4096 m.
    poses: Arc<BTreeMap<ObjectId, Pose>>,
}

impl Forms {
    pub(crate) fn new(shapes: Shapes, poses: Arc<BTreeMap<ObjectId, Pose>>) -> Forms {
        let models = shapes.solids().iter().map(|solid| {
            let cuboid = || {
                let size = DVec3::from_array(solid.half().map(f64::from)) * (2.0 * POSITION_UNIT);
                Some(Arc::new(Model::build(solids::cuboid(size).ok()?, Quality::Default)))
            };
            solid.model.clone().or_else(cuboid)
        });
        Forms { models: models.collect(), shapes, poses }
    }

    /// An object's triangles and where they are; none of something without a form.
    pub(crate) fn placed(&self, object: &Object) -> Option<(&Model, Pose)> {
        let model = self.models.get(object.shape.0 as usize)?.as_deref()?;
        if object.class == Class::Immovable
            && let Some(pose) = self.poses.get(&object.id)
        {
            return Some((model, *pose));
        }
        let boxed = self.shapes.get(object.shape)?.model.is_none();
        // A box is never turned.
        let rotation = if boxed { Rotation::default() } else { object.state.rotation };
        let pose = State { rotation, ..object.state }.pose().ok()?;
        Some((model, pose))
    }

    pub(crate) fn shapes(&self) -> &Shapes {
        &self.shapes
    }

    pub(crate) fn block(&self, object: &Object) -> Block {
        self.shapes.block(object)
    }
}

/// Does this group decide how it moves? Only then is it compared with others.
pub(crate) fn is_moved(object: &Object) -> bool {
    matches!(object.class, Class::Dynamic | Class::Avatar)
}

/// Does it go on by its velocity?
pub(crate) fn goes_on(class: Class) -> bool {
    !matches!(class, Class::Immovable | Class::Absent | Class::Leaving(..))
}

/// In metres.
pub(crate) fn metres(units: [i32; 3]) -> [f64; 3] {
    units.map(|along| f64::from(along) * POSITION_UNIT)
}

/// In metres, or radians, per second.
pub(crate) fn per_second(units: [i16; 3]) -> [f64; 3] {
    units.map(|along| f64::from(along) * VELOCITY_UNIT)
}
