//! What shares the world: ids, classes, solids.

use crate::state::{Block, State};
use jostle_geom::Model;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A machine that computes collisions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct NodeId(pub u32);

/// Something in the world, for as long as the world lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ObjectId(pub u64);

/// One of the forms that objects have, by its place in the table that all machines share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ShapeId(pub u32);

/// How an object moves (Storey 2006, 3.2.1; row S3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Class {
    /// Never.
    Immovable,
    /// By its velocity and what it runs into: every machine can compute it.
    Dynamic,
    /// By somebody's will: only their machine knows what comes next.
    Avatar,
}

/// An object as machines hand it to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Object {
    /// Who.
    pub id: ObjectId,
    /// How it moves.
    pub class: Class,
    /// Its form.
    pub shape: ShapeId,
    /// Where it is and how fast it goes.
    pub state: State,
}

/// A form in the table that all machines share.
#[derive(Clone, Debug)]
pub struct Solid {
    /// Half the edges of a box around its origin that holds it however it is turned, in units of
    /// positions.
    pub half: [i32; 3],
    /// Its triangles; without them it is that box, and is never turned.
    pub model: Option<Arc<Model>>,
}

impl Solid {
    /// The block that an object with this form occupies.
    #[must_use]
    pub fn block(&self, state: &State) -> Block {
        let mut block = Block { min: state.position, max: state.position };
        for axis in 0..3 {
            block.min[axis] = block.min[axis].saturating_sub(self.half[axis]);
            block.max[axis] = block.max[axis].saturating_add(self.half[axis]);
        }
        block
    }
}
