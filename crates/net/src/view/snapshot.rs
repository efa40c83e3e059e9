//! The world at a tick, for viewers and queries.

use glam::DVec3;
use jostle_geom::{Model, Pose, Quality, solids};
use jostle_proto::{
    Block, Class, GroupId, NodeId, Object, ObjectId, Objects, POSITION_UNIT, Rotation, Shapes,
    State, Tick, Touch, VELOCITY_UNIT, View,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What is known of groups other than the followed one.
#[derive(Clone, Debug, Default)]
pub(crate) struct OtherGroups {
    /// Their regions and members, by group.
    pub(crate) views: BTreeMap<GroupId, View>,
    /// The home groups of their objects.
    pub(crate) homes: BTreeMap<ObjectId, GroupId>,
}

/// No other groups.
pub(crate) static NO_OTHER_GROUPS: OtherGroups =
    OtherGroups { views: BTreeMap::new(), homes: BTreeMap::new() };

/// The world at a tick, borrowed from its follower.
#[derive(Clone, Copy)]
pub(crate) struct WorldRef<'a> {
    pub(crate) tick: Tick,
    /// Duration of ticks, in thousandths of the nominal one.
    pub(crate) dilation: u32,
    pub(crate) objects: &'a Objects,
    /// Sorted.
    pub(crate) touches: &'a [Touch],
    /// The view with the regions; a recording has none.
    pub(crate) view: Option<&'a View>,
    pub(crate) others: &'a OtherGroups,
}

impl WorldRef<'_> {
    /// The home group of a foreign object, if known.
    pub(crate) fn home(&self, object: &Object) -> Option<GroupId> {
        self.others.home(object)
    }
}

impl OtherGroups {
    fn home(&self, object: &Object) -> Option<GroupId> {
        let foreign = object.class.elsewhere().is_some();
        self.homes.get(&object.id).copied().filter(|_| foreign)
    }
}

/// An owned copy, for queries.
#[derive(Clone, Debug)]
pub(crate) struct WorldSnapshot {
    pub(crate) tick: Tick,
    dilation: u32,
    /// Sorted by id.
    pub(crate) objects: Vec<Object>,
    /// Smaller id first; sorted.
    pub(crate) touches: Vec<Touch>,
    pub(crate) view: Option<View>,
    pub(crate) others: OtherGroups,
}

impl WorldSnapshot {
    pub(crate) fn of(now: &WorldRef<'_>) -> WorldSnapshot {
        WorldSnapshot {
            tick: now.tick,
            dilation: now.dilation,
            objects: now.objects.values().copied().collect(),
            touches: now.touches.to_vec(),
            view: now.view.cloned(),
            others: now.others.clone(),
        }
    }

    /// The owner of an object: its group, and the node whose region contains it; `None` in a
    /// recording, and for an unknown group.
    pub(crate) fn owner(&self, object: &Object) -> Option<(GroupId, NodeId)> {
        let view = match (object.class, self.others.home(object)) {
            (Class::Foreign(_) | Class::Leaving(..), Some(home)) => self.others.views.get(&home),
            (Class::Foreign(_) | Class::Leaving(..), None) => None,
            _ => self.view.as_ref(),
        }?;
        Some((view.group, view.owner(object.state.position)))
    }

    /// Borrows the snapshot; `objects` are its objects as a map.
    pub(crate) fn now<'a>(&'a self, objects: &'a Objects) -> WorldRef<'a> {
        let WorldSnapshot { tick, dilation, touches, view, others, .. } = self;
        WorldRef { tick: *tick, dilation: *dilation, objects, touches, view: view.as_ref(), others }
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

/// Models of all shapes; cuboids are triangulated.
pub(crate) struct Forms {
    shapes: Shapes,
    models: Vec<Option<Arc<Model>>>,
    /// Exact poses of immovable objects, where known: object positions are rounded to 1/4096 m.
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

    /// The model and pose of an object; `None` for an unknown shape.
    pub(crate) fn placed(&self, object: &Object) -> Option<(&Model, Pose)> {
        let model = self.models.get(object.shape.0 as usize)?.as_deref()?;
        if object.class == Class::Immovable
            && let Some(pose) = self.poses.get(&object.id)
        {
            return Some((model, *pose));
        }
        let boxed = self.shapes.get(object.shape)?.model.is_none();
        // Cuboid shapes are axis-aligned.
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

/// Returns true if this group moves the object. Only such objects are tested against others.
pub(crate) fn is_moved(object: &Object) -> bool {
    matches!(object.class, Class::Dynamic | Class::Avatar)
}

/// Returns true if objects of this class move by their velocity.
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
