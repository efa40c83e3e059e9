//! Every kind of node, as tables that read like the standard's (ISO/IEC 14772-1, clause 6).
//!
//! A table becomes a struct with typed fields for the code that uses the node, and a list of
//! [`FieldSpec`] for the reader and for events, which meet fields by name and number.

mod appearance;
mod collision;
mod geometry;
mod grouping;
mod interpolators;
mod sensors;
mod surroundings;

pub use appearance::*;
pub use collision::*;
pub use geometry::*;
pub use grouping::*;
pub use interpolators::*;
pub use sensors::*;
pub use surroundings::*;

use crate::scene::{FieldType, NodeId, Value};
use jostle_geom::Mesh;
use std::sync::Arc;

/// The access types of fields: whether events write them, and whether they send events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Written in the file only.
    Field,
    /// Written in the file and by events `set_…`; sends events `…_changed`.
    ExposedField,
    /// An event that the node receives.
    EventIn,
    /// An event that the node sends.
    EventOut,
    /// Filled by a reader, not by the text of a file: the contents of an `Inline`.
    Internal,
}

/// The name, access and type of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldSpec {
    /// The name in a VRML file.
    pub name: &'static str,
    /// Its access type.
    pub access: Access,
    /// The type of its values.
    pub ty: FieldType,
}

/// The number of a field in its node's list, see [`Kind::fields`].
pub type FieldIndex = usize;

/// A table of node kinds: fields that are stored, then events that are not.
macro_rules! node_tables {
    ($(
        $(#[$doc:meta])*
        $name:ident {
            $($access:ident $vrml:literal $field:ident: $ty:ty = $default:expr;)*
        }
        events { $($way:ident $event:literal $event_ty:ty;)* }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name { $(#[doc = concat!("The field `", $vrml, "`.")] pub $field: $ty,)* }

        impl Default for $name {
            fn default() -> $name {
                $name { $($field: $default,)* }
            }
        }

        impl $name {
            pub(super) const FIELDS: &'static [crate::nodes::FieldSpec] = &[
                $(crate::nodes::FieldSpec {
                    name: $vrml,
                    access: crate::nodes::Access::$access,
                    ty: <$ty as crate::scene::FieldValue>::TYPE,
                },)*
                $(crate::nodes::FieldSpec {
                    name: $event,
                    access: crate::nodes::Access::$way,
                    ty: <$event_ty as crate::scene::FieldValue>::TYPE,
                },)*
            ];

            #[allow(unused, reason = "a table may have no stored field")]
            pub(super) fn get(&self, index: usize) -> Option<crate::scene::Value> {
                let mut at = 0;
                $(
                    if index == at {
                        return Some(crate::scene::FieldValue::to_value(&self.$field));
                    }
                    at += 1;
                )*
                None
            }

            #[allow(unused, reason = "a table may have no stored field")]
            pub(super) fn set(&mut self, index: usize, value: crate::scene::Value) -> bool {
                let mut at = 0;
                $(
                    if index == at {
                        return match crate::scene::FieldValue::from_value(value) {
                            Some(value) => {
                                self.$field = value;
                                true
                            }
                            None => false,
                        };
                    }
                    at += 1;
                )*
                false
            }
        }
    )*};
}
use node_tables;

/// The name of a kind in a file: that of its struct, unless Rust has taken that one.
macro_rules! vrml_name {
    ($name:ident) => {
        stringify!($name)
    };
    ($name:ident $vrml:literal) => {
        $vrml
    };
}

macro_rules! kinds {
    ($($name:ident $(= $vrml:literal)?)*) => {
        /// A node: one variant per kind.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Kind {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name(Box<$name>),)*
            /// A shape's geometry that came as a mesh: from glTF, OBJ, STL or PLY.
            Mesh(Arc<Mesh>),
            /// See [`Instance`].
            Instance(Box<Instance>),
            /// See [`Unknown`].
            Unknown(Unknown),
        }

        impl Kind {
            /// A node of the kind that has this name in a VRML file, with the values that it has
            /// when the file says nothing.
            ///
            /// ```
            /// use jostle_scene::nodes::Kind;
            ///
            /// assert!(matches!(Kind::from_name("Box"), Some(Kind::Cuboid(_))));
            /// assert!(Kind::from_name("box").is_none());
            /// ```
            #[must_use]
            pub fn from_name(name: &str) -> Option<Kind> {
                $(if name == vrml_name!($name $($vrml)?) {
                    return Some(Kind::$name(Box::default()));
                })*
                None
            }

            /// The name of the kind in a VRML file; of a prototype's instance, the prototype's.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Kind::$name(_) => vrml_name!($name $($vrml)?),)*
                    Kind::Mesh(_) => "mesh",
                    Kind::Instance(node) => &node.prototype,
                    Kind::Unknown(node) => &node.kind,
                }
            }

            /// The fields and events, in the order of their numbers.
            #[must_use]
            pub fn fields(&self) -> &'static [FieldSpec] {
                match self {
                    $(Kind::$name(_) => $name::FIELDS,)*
                    Kind::Mesh(_) | Kind::Instance(_) | Kind::Unknown(_) => &[],
                }
            }

            /// The value of a field; none for an event and for a number that is not there.
            #[must_use]
            pub fn get(&self, index: FieldIndex) -> Option<Value> {
                match self {
                    $(Kind::$name(node) => node.get(index),)*
                    Kind::Mesh(_) | Kind::Instance(_) | Kind::Unknown(_) => None,
                }
            }

            /// Changes a field. False, and nothing done, if there is no such field or if the
            /// value has another type.
            pub(crate) fn set(&mut self, index: FieldIndex, value: Value) -> bool {
                match self {
                    $(Kind::$name(node) => node.set(index, value),)*
                    Kind::Mesh(_) | Kind::Instance(_) | Kind::Unknown(_) => false,
                }
            }
        }

        $(impl From<$name> for Kind {
            fn from(node: $name) -> Kind {
                Kind::$name(Box::new(node))
            }
        })*
    };
}

kinds! {
    Anchor Appearance AudioClip Background Billboard Cuboid = "Box" Collision Color
    ColorInterpolator Cone Coordinate CoordinateInterpolator Cylinder CylinderSensor
    DirectionalLight ElevationGrid Extrusion Fog FontStyle Group ImageTexture IndexedFaceSet
    IndexedLineSet Inline Lod = "LOD" Material MovieTexture NavigationInfo Normal
    NormalInterpolator OrientationInterpolator PixelTexture PlaneSensor PointLight PointSet
    PositionInterpolator ProximitySensor ScalarInterpolator Script Shape Sound Sphere SphereSensor
    SpotLight Switch Text TextureCoordinate TextureTransform TimeSensor TouchSensor Transform
    Viewpoint VisibilitySensor WorldInfo
    CollisionObject CollisionInterest CollisionResponse KeySensor
}

/// A use of a prototype (ISO/IEC 14772-1, 4.8). Events to and from it were routed to the nodes
/// inside when the file was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// The name of the prototype.
    pub prototype: Arc<str>,
    /// The first node of its body: the one that stands in the scene. None for a prototype with
    /// an empty body.
    pub root: Option<NodeId>,
    /// The other nodes of its body, which work but are not part of the scene.
    pub others: Vec<NodeId>,
}

/// A node of an unknown kind, without its contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The name of its kind.
    pub kind: Arc<str>,
}

/// Which way an event goes through a field, seen from its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// The node receives it: `set_…`, or the name itself.
    In,
    /// The node sends it: `…_changed`, or the name itself.
    Out,
}

impl Kind {
    /// The index of the field with this name, whatever its access.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<FieldIndex> {
        self.fields().iter().position(|field| field.name == name)
    }

    /// The number of the field through which events with this name go.
    ///
    /// ```
    /// use jostle_scene::nodes::{Kind, Transform, Way};
    ///
    /// let node = Kind::from(Transform::default());
    /// let at = node.field("translation");
    /// assert_eq!(node.event("set_translation", Way::In), at);
    /// assert_eq!(node.event("translation_changed", Way::Out), at);
    /// assert_eq!(node.event("translation", Way::Out), at);
    /// assert_eq!(node.event("bboxSize", Way::Out), None);
    /// ```
    #[must_use]
    pub fn event(&self, name: &str, way: Way) -> Option<FieldIndex> {
        self.fields().iter().position(|field| match (field.access, way) {
            (Access::EventIn, Way::In) | (Access::EventOut, Way::Out) => field.name == name,
            (Access::ExposedField, _) => {
                let short = match way {
                    Way::In => name.strip_prefix("set_"),
                    Way::Out => name.strip_suffix("_changed"),
                };
                field.name == name || short == Some(field.name)
            }
            _ => false,
        })
    }
}
