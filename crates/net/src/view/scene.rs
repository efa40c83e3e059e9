//! The world at a tick, as those who watch are shown it and ask about it.

use glam::DVec3;
use jostle_geom::{Model, Pose, Quality, solids};
use jostle_proto::{
    Block, Class, Object, ObjectId, Objects, POSITION_UNIT, Rotation, Shapes, State, Tick, Touch,
    VELOCITY_UNIT, View,
};
use std::sync::Arc;

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
}

/// The same, kept for those who ask about it.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) tick: Tick,
    /// Sorted by id.
    pub(crate) objects: Vec<Object>,
    /// Smaller id first; sorted.
    pub(crate) touches: Vec<[ObjectId; 2]>,
    pub(crate) view: Option<View>,
}

impl Scene {
    pub(crate) fn of(now: &Now<'_>) -> Scene {
        Scene {
            tick: now.tick,
            objects: now.objects.values().copied().collect(),
            touches: now.touches.iter().map(|touch| [touch.a, touch.b]).collect(),
            view: now.view.cloned(),
        }
    }

    pub(crate) fn get(&self, id: ObjectId) -> Option<&Object> {
        let at = self.objects.binary_search_by_key(&id, |object| object.id).ok()?;
        self.objects.get(at)
    }

    pub(crate) fn touch(&self, a: ObjectId, b: ObjectId) -> bool {
        self.touches.binary_search(&[a.min(b), a.max(b)]).is_ok()
    }
}

/// The triangles of all forms; boxes have got some here.
pub(crate) struct Forms {
    shapes: Shapes,
    models: Vec<Option<Arc<Model>>>,
}

impl Forms {
    pub(crate) fn new(shapes: Shapes) -> Forms {
        let models = shapes.solids().iter().map(|solid| {
            let cuboid = || {
                let size = DVec3::from_array(solid.half.map(f64::from)) * (2.0 * POSITION_UNIT);
                Some(Arc::new(Model::build(solids::cuboid(size).ok()?, Quality::Default)))
            };
            solid.model.clone().or_else(cuboid)
        });
        Forms { models: models.collect(), shapes }
    }

    /// An object's triangles and where they are; none of something without a form.
    pub(crate) fn placed(&self, object: &Object) -> Option<(&Model, Pose)> {
        let model = self.models.get(object.shape.0 as usize)?.as_deref()?;
        let boxed = self.shapes.get(object.shape)?.model.is_none();
        // A box is never turned.
        let rotation = if boxed { Rotation::default() } else { object.state.rotation };
        let pose = State { rotation, ..object.state }.pose().ok()?;
        Some((model, pose))
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
    !matches!(class, Class::Immovable | Class::Absent)
}

/// In metres.
pub(crate) fn metres(units: [i32; 3]) -> [f64; 3] {
    units.map(|along| f64::from(along) * POSITION_UNIT)
}

/// In metres, or radians, per second.
pub(crate) fn per_second(units: [i16; 3]) -> [f64; 3] {
    units.map(|along| f64::from(along) * VELOCITY_UNIT)
}
