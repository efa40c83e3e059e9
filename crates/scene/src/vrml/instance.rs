//! Copies of prototypes (ISO/IEC 14772-1, 4.8.3): the body is built anew for each instance, with
//! the values that IS brings in. Plain values and lists are shared, not copied.

use super::build::{Builder, Env, Trail};
use super::routes::{Ends, InstanceEnds};
use super::source::{Source, quoted};
use super::syntax::{Held, Made, Prototype, Size, What, has_value};
use crate::error::LoadError;
use crate::nodes::{FieldIndex, Kind};
use crate::scene::{NodeId, Value};
use std::rc::Rc;

/// The most nodes that prototypes may make, beyond those that stand in the file: a few lines of
/// prototypes that use each other twice ask for more than any memory holds.
const NODES_MAX: u64 = 1 << 20;

/// The same for fields, names and routes, which take time but little memory.
const PARTS_MAX: u64 = 1 << 23;

/// A copy of a body: the node that stands in the scene, the others, and what IS leads to.
struct Copied {
    nodes: Vec<NodeId>,
    ends: Vec<(usize, NodeId, FieldIndex)>,
}

impl Builder<'_> {
    /// Fills the instance `id`, and says where events to and from it go.
    pub(super) fn instance(
        &mut self,
        (id, at): (NodeId, u32),
        prototype: Rc<Prototype>,
        held: Vec<Held>,
        env: &mut Env,
    ) -> Result<Ends, LoadError> {
        let mut given = Vec::with_capacity(held.len());
        // Fields of the prototype around, and of this one, that IS makes the same.
        let mut same = Vec::new();
        for Held { field, what } in held {
            let Some(declared) = prototype.interface.fields.get(field) else { continue };
            let value = match what {
                What::Value(value) => Some(value),
                What::Nodes(items) => Some(self.nodes(items, declared.ty, env)?),
                What::Is(outer) => {
                    same.push((outer, field));
                    env.value_of(outer).filter(|_| has_value(declared.access))
                }
            };
            given.extend(value.map(|value| (field, value)));
        }
        let copied = match &prototype.made {
            Made::Inside(_) => Some(self.copy(&prototype, given, (&env.source, at))?),
            Made::Outside { .. } => self.copy_from_outside(&prototype, given, (&env.source, at))?,
        };
        let Some(Copied { nodes, ends }) = copied else { return Ok(Ends::Silent) };
        if let Kind::Instance(instance) = &mut self.scene.node_mut(id).kind {
            instance.root = nodes.first().copied();
            instance.others = nodes.get(1..).unwrap_or_default().to_vec();
        }
        let ends = InstanceEnds::new(prototype.interface.clone(), ends);
        for (outer, field) in same {
            let inner = ends.of(field);
            self.spend(Size { parts: inner.len() as u32, ..Size::default() }, &env.source, at)?;
            env.ends.extend(inner.iter().map(|&(_, node, field)| (outer, node, field)));
        }
        Ok(Ends::Instance(Rc::new(ends)))
    }

    /// Builds the body of a PROTO. `given` are values for its fields, `place` is the instance's.
    fn copy(
        &mut self,
        prototype: &Rc<Prototype>,
        mut given: Vec<(usize, Value)>,
        (source, at): (&Rc<Source>, u32),
    ) -> Result<Copied, LoadError> {
        let Made::Inside(inside) = &prototype.made else {
            return Ok(Copied { nodes: Vec::new(), ends: Vec::new() });
        };
        if self.expanding.iter().any(|open| Rc::ptr_eq(open, prototype)) {
            let what = format!("prototype {} is part of its own body", quoted(&prototype.name));
            return Err(source.refused(what, at));
        }
        self.spend(inside.size, source, at)?;
        self.expanding.push(prototype.clone());
        // Of a field that is given twice, the last value counts.
        given.reverse();
        given.sort_by_key(|&(field, _)| field);
        given.dedup_by_key(|&mut (field, _)| field);
        let mut env = Env::new(prototype.source.clone());
        env.prototype = Some(prototype.clone());
        env.given = given;
        self.node_defaults(prototype, &mut env)?;
        let mut nodes = Vec::with_capacity(inside.nodes.len());
        for item in &inside.nodes {
            nodes.extend(self.item(item.clone(), &mut env)?);
        }
        self.connect(&inside.routes, &mut env)?;
        self.expanding.pop();
        Ok(Copied { nodes, ends: env.ends })
    }

    /// Builds the nodes in the default values of fields that are not given: once per instance,
    /// however often IS uses them.
    fn node_defaults(&mut self, prototype: &Prototype, env: &mut Env) -> Result<(), LoadError> {
        let mut defaults = Vec::new();
        for (number, field) in prototype.interface.fields.iter().enumerate() {
            if let Some(What::Nodes(items)) = &field.default
                && env.given.binary_search_by_key(&number, |&(field, _)| field).is_err()
            {
                defaults.push((number, self.nodes(items.clone(), field.ty, env)?));
            }
        }
        env.given.append(&mut defaults);
        env.given.sort_by_key(|&(field, _)| field);
        Ok(())
    }

    /// Builds the body of the PROTO in another file that an EXTERNPROTO means; none if no such
    /// file can be had.
    fn copy_from_outside(
        &mut self,
        prototype: &Rc<Prototype>,
        given: Vec<(usize, Value)>,
        (source, at): (&Rc<Source>, u32),
    ) -> Result<Option<Copied>, LoadError> {
        let Some(found) = self.find_prototype(prototype)? else { return Ok(None) };
        let inner = |field: usize| found.fields.get(field).copied().flatten();
        let given = given.into_iter().filter_map(|(field, value)| Some((inner(field)?, value)));
        let given = given.collect();
        let file = found.prototype.source.name.clone();
        let place = source.place(at);
        let up = self.trail.take();
        self.trail = Some(Rc::new(Trail { place, file: file.clone(), up: up.clone() }));
        let copied =
            self.copy(&found.prototype, given, (&found.prototype.source, found.prototype.at));
        self.trail = up;
        let Copied { nodes, ends } = copied.map_err(|inside| inside.within(place, &file))?;
        let found_ends = InstanceEnds::new(found.prototype.interface.clone(), ends);
        let mut ends = Vec::new();
        for (outer, inner) in found.fields.iter().enumerate() {
            let inner = inner.map(|inner| found_ends.of(inner)).unwrap_or_default();
            self.spend(Size { parts: 1 + inner.len() as u32, ..Size::default() }, source, at)?;
            ends.extend(inner.iter().map(|&(_, node, field)| (outer, node, field)));
        }
        Ok(Some(Copied { nodes, ends }))
    }

    /// Counts what an instance takes.
    fn spend(&mut self, size: Size, source: &Source, at: u32) -> Result<(), LoadError> {
        self.spent.nodes += u64::from(size.nodes);
        self.spent.parts += u64::from(size.parts) + u64::from(size.slots);
        if self.spent.nodes > NODES_MAX || self.spent.parts > PARTS_MAX {
            let what = "prototypes make more than 1048576 nodes or 8388608 fields and routes";
            return Err(source.refused(what, at));
        }
        Ok(())
    }
}
