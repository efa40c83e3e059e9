//! The values that fields hold and events carry (ISO/IEC 14772-1, 4.8 and clause 5).

use super::NodeId;
use glam::{DQuat, DVec3, Vec2, Vec3};
use jostle_geom::rotation_from_scaled_axis;
use std::fmt;
use std::sync::Arc;

/// A list that many nodes may share: the copies of a prototype hold the same coordinates once.
pub type List<T> = Arc<Vec<T>>;

/// A colour: red, green, blue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rgb(pub Vec3);

/// A rotation by an angle in radians about an axis that need not have length 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rotation {
    /// The axis.
    pub axis: Vec3,
    /// The angle, right-handed.
    pub angle: f32,
}

impl Rotation {
    /// No rotation, in the words of the standard: `0 0 1 0`.
    pub const NONE: Rotation = Rotation { axis: Vec3::Z, angle: 0.0 };

    /// The unit quaternion, with the same bits on every machine. An axis without length, or numbers
    /// that are not finite, do not rotate.
    ///
    /// ```
    /// use glam::{DVec3, Vec3};
    /// use jostle_scene::Rotation;
    ///
    /// let quarter = Rotation { axis: Vec3::new(0.0, 0.0, 5.0), angle: 1.5707964 };
    /// assert!((quarter.quaternion() * DVec3::X - DVec3::Y).length() < 1e-6);
    /// assert_eq!(Rotation { axis: Vec3::ZERO, angle: 1.0 }.quaternion(), glam::DQuat::IDENTITY);
    /// ```
    #[must_use]
    pub fn quaternion(&self) -> DQuat {
        let axis: Option<DVec3> = self.axis.as_dvec3().try_normalize();
        axis.and_then(|axis| rotation_from_scaled_axis(axis * f64::from(self.angle)))
            .unwrap_or(DQuat::IDENTITY)
    }
}

impl Default for Rotation {
    fn default() -> Rotation {
        Rotation::NONE
    }
}

/// A picture inside a file. Collisions do not need its pixels, only that they were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// The number of columns.
    pub width: u32,
    /// The number of rows.
    pub height: u32,
    /// The bytes per pixel, 0 to 4.
    pub components: u32,
    /// The pixels, row by row, each in the low bytes.
    pub pixels: Vec<u32>,
}

/// What the impl blocks below say about each type.
pub(crate) trait FieldValue: Sized + Clone {
    const TYPE: FieldType;
    fn to_value(&self) -> Value;
    fn from_value(value: Value) -> Option<Self>;
}

macro_rules! field_types {
    ($($(#[$doc:meta])* $variant:ident $vrml:literal $ty:ty;)*) => {
        /// The types of fields, under their names in the standard without `SF` and `MF`: what
        /// is single there is singular here.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum FieldType { $($(#[$doc])* $variant,)* }

        impl FieldType {
            /// The name in a VRML file.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(FieldType::$variant => $vrml,)* }
            }

            /// The type with this name in a VRML file.
            #[must_use]
            pub fn from_name(name: &str) -> Option<FieldType> {
                match name { $($vrml => Some(FieldType::$variant),)* _ => None }
            }
        }

        /// A value of any of the types.
        #[derive(Clone, Debug, PartialEq)]
        pub enum Value { $($(#[$doc])* $variant($ty),)* }

        impl Value {
            /// The type of this value.
            #[must_use]
            pub fn field_type(&self) -> FieldType {
                match self { $(Value::$variant(_) => FieldType::$variant,)* }
            }
        }

        $(
            impl FieldValue for $ty {
                const TYPE: FieldType = FieldType::$variant;
                fn to_value(&self) -> Value {
                    Value::$variant(self.clone())
                }
                fn from_value(value: Value) -> Option<$ty> {
                    match value { Value::$variant(inside) => Some(inside), _ => None }
                }
            }

            impl From<$ty> for Value {
                fn from(inside: $ty) -> Value {
                    Value::$variant(inside)
                }
            }
        )*
    };
}

field_types! {
    /// `TRUE` or `FALSE`.
    Bool "SFBool" bool;
    /// A colour.
    Color "SFColor" Rgb;
    /// A number.
    Float "SFFloat" f32;
    /// A picture.
    Image "SFImage" Arc<Image>;
    /// A whole number.
    Int "SFInt32" i32;
    /// A node or `NULL`.
    Node "SFNode" Option<NodeId>;
    /// A rotation.
    Rotation "SFRotation" Rotation;
    /// A text.
    String "SFString" Arc<str>;
    /// Seconds.
    Time "SFTime" f64;
    /// A point or vector in the plane.
    Vec2 "SFVec2f" Vec2;
    /// A point or vector in space.
    Vec3 "SFVec3f" Vec3;
    /// Colours.
    Colors "MFColor" List<Rgb>;
    /// Numbers.
    Floats "MFFloat" List<f32>;
    /// Whole numbers.
    Ints "MFInt32" List<i32>;
    /// Nodes.
    Nodes "MFNode" List<NodeId>;
    /// Rotations.
    Rotations "MFRotation" List<Rotation>;
    /// Texts.
    Strings "MFString" List<Arc<str>>;
    /// Several times.
    Times "MFTime" List<f64>;
    /// Points or vectors in the plane.
    Vec2s "MFVec2f" List<Vec2>;
    /// Points or vectors in space.
    Vec3s "MFVec3f" List<Vec3>;
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FieldType {
    /// The default value of a field of this type: zero, empty, `NULL`.
    #[must_use]
    pub fn zero(self) -> Value {
        match self {
            FieldType::Bool => Value::Bool(false),
            FieldType::Color => Value::Color(Rgb::default()),
            FieldType::Float => Value::Float(0.0),
            FieldType::Image => Value::Image(Arc::default()),
            FieldType::Int => Value::Int(0),
            FieldType::Node => Value::Node(None),
            FieldType::Rotation => Value::Rotation(Rotation::NONE),
            FieldType::String => Value::String(Arc::from("")),
            FieldType::Time => Value::Time(0.0),
            FieldType::Vec2 => Value::Vec2(Vec2::ZERO),
            FieldType::Vec3 => Value::Vec3(Vec3::ZERO),
            FieldType::Colors => Value::Colors(List::default()),
            FieldType::Floats => Value::Floats(List::default()),
            FieldType::Ints => Value::Ints(List::default()),
            FieldType::Nodes => Value::Nodes(List::default()),
            FieldType::Rotations => Value::Rotations(List::default()),
            FieldType::Strings => Value::Strings(List::default()),
            FieldType::Times => Value::Times(List::default()),
            FieldType::Vec2s => Value::Vec2s(List::default()),
            FieldType::Vec3s => Value::Vec3s(List::default()),
        }
    }
}
