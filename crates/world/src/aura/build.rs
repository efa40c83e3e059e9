//! The parts that methods of finding relations are made of: [`super::Finder`], and the paper's
//! methods in `crates/lab/src/aura`.
//!
//! ```
//! use glam::DVec3;
//! use jostle_world::aura::{Aura, build::RelationBuilder};
//!
//! let auras = [0.0, 1.5, 3.0].map(|x| Aura::new(DVec3::new(x, 0.0, 0.0), 1.0));
//! let auras = auras.into_iter().collect::<Result<Vec<_>, _>>()?;
//! let mut builder = RelationBuilder::default();
//! builder.begin(auras.len(), 100);
//! for object in 0..3 {
//!     builder.consider(object);
//!     (0..object).for_each(|other| builder.compare(&auras, other));
//!     builder.join().expect("fewer than 100 relations");
//! }
//! let relations = builder.relations();
//! assert_eq!(relations.iter().collect::<Vec<_>>(), [&[0, 1][..], &[1, 2]]);
//! # Ok::<(), jostle_world::aura::AuraError>(())
//! ```

pub use super::axis::{Active, Axis, EndPoint};
pub use super::groups::{Full, RelationBuilder};
pub use super::sort::insertion_sort;
