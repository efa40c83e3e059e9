//! From the syntax of a file to nodes of a scene.

use super::external::Outside;
use super::opening;
use super::parser::{Around, DEPTH_MAX, Parser, too_deep};
use super::routes::Ends;
use super::source::Source;
use super::syntax::{Body, Held, Item, NodeSyntax, Prototype, Script, What, has_value, lets_pass};
use crate::error::{LoadError, Place};
use crate::nodes::{FieldIndex, FieldSpec, Instance, Kind, Unknown, Way};
use crate::scene::{FieldType, NodeId, Scene, Value};
use std::rc::Rc;
use std::sync::Arc;

/// Builds one scene from one file and all that it brings in.
pub(super) struct Builder<'f> {
    pub(super) scene: Scene,
    pub(super) outside: Outside<'f>,
    pub(super) depth: usize,
    /// The prototypes whose bodies are being copied, the outermost first.
    pub(super) expanding: Vec<Rc<Prototype>>,
    pub(super) spent: Spent,
    /// Uses of nodes that are not complete: a node may contain itself only through these.
    pub(super) back_uses: Vec<BackUse>,
    /// The way from the first file to the one at work.
    pub(super) trail: Option<Rc<Trail>>,
}

/// What prototypes have made so far, which a short text may ask for without bounds.
#[derive(Default)]
pub(super) struct Spent {
    pub(super) nodes: u64,
    pub(super) parts: u64,
    pub(super) routes: u64,
}

/// A USE inside the node that it names.
pub(super) struct BackUse {
    pub(super) target: NodeId,
    pub(super) source: Rc<Source>,
    pub(super) at: u32,
    pub(super) trail: Option<Rc<Trail>>,
}

/// A file brought in another one.
pub(super) struct Trail {
    pub(super) place: Place,
    pub(super) file: Arc<str>,
    pub(super) up: Option<Rc<Trail>>,
}

/// One file, or one copy of a prototype's body: what names and IS mean in it.
pub(super) struct Env {
    pub(super) source: Rc<Source>,
    /// The nodes with DEF names.
    pub(super) slots: Vec<Option<Slot>>,
    pub(super) prototype: Option<Rc<Prototype>>,
    /// The values of the prototype's fields that are not plain defaults, sorted by field.
    pub(super) given: Vec<(usize, Value)>,
    /// What IS leads to, with the field of the prototype.
    pub(super) ends: Vec<(usize, NodeId, FieldIndex)>,
}

/// A node with a DEF name.
pub(super) struct Slot {
    pub(super) id: NodeId,
    /// The node is still being built.
    pub(super) open: bool,
    pub(super) ends: Ends,
}

impl Env {
    pub(super) fn new(source: Rc<Source>) -> Env {
        Env { source, slots: vec![], prototype: None, given: vec![], ends: vec![] }
    }

    /// The value of a field of the prototype around; none for events.
    pub(super) fn value_of(&self, field: usize) -> Option<Value> {
        if let Ok(found) = self.given.binary_search_by_key(&field, |(field, _)| *field) {
            return self.given.get(found).map(|(_, value)| value.clone());
        }
        match &self.prototype.as_ref()?.interface.fields.get(field)?.default {
            Some(What::Value(value)) => Some(value.clone()),
            _ => None,
        }
    }

    fn define(&mut self, number: Option<u32>, slot: Slot) {
        let Some(number) = number.map(|number| number as usize) else { return };
        if number >= self.slots.len() {
            self.slots.resize_with(number + 1, || None);
        }
        self.slots[number] = Some(slot);
    }

    pub(super) fn slot(&mut self, number: Option<u32>) -> Option<&mut Slot> {
        self.slots.get_mut(number? as usize)?.as_mut()
    }
}

impl<'f> Builder<'f> {
    pub(super) fn new(outside: Outside<'f>) -> Builder<'f> {
        Builder {
            scene: Scene::default(),
            outside,
            depth: 0,
            expanding: Vec::new(),
            spent: Spent::default(),
            back_uses: Vec::new(),
            trail: None,
        }
    }

    /// Adds the nodes of a file, and returns those that stand in its world.
    pub(super) fn file(
        &mut self,
        source_name: &str,
        bytes: &[u8],
        progress: Option<&mut dyn FnMut(usize)>,
    ) -> Result<(Vec<NodeId>, Rc<Source>), LoadError> {
        let text = match self.trail.is_some() {
            true => self.outside.open(bytes)?,
            false => opening::open(bytes, false)?,
        };
        let source = text.source(source_name)?;
        let around = Around { extensions: self.outside.extensions, progress, depth: self.depth };
        let mut parser = Parser::new(&text.bytes, text.start, source.clone(), around);
        let mut env = Env::new(source.clone());
        let mut roots = Vec::new();
        while let Some(item) = parser.next_node()? {
            roots.extend(self.item(item, &mut env)?);
        }
        let (routes, _) = parser.finish()?;
        self.connect(&routes, &mut env)?;
        Ok((roots, source))
    }

    /// A node, or the one that a USE means.
    pub(super) fn item(&mut self, item: Item, env: &mut Env) -> Result<Option<NodeId>, LoadError> {
        let (slot, at) = match item {
            Item::Node(node) => return self.node(*node, env).map(Some),
            Item::Use { slot, at } => (slot, at),
        };
        let Some(slot) = env.slot(Some(slot)) else {
            // In a default value that this instance does not have.
            env.source.mended("USE of a node that is not there read as nothing", at);
            return Ok(None);
        };
        let (target, open) = (slot.id, slot.open);
        if open {
            let (source, trail) = (env.source.clone(), self.trail.clone());
            self.back_uses.push(BackUse { target, source, at, trail });
        }
        Ok(Some(target))
    }

    fn node(&mut self, node: NodeSyntax, env: &mut Env) -> Result<NodeId, LoadError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(too_deep(&env.source, node.at));
        }
        let NodeSyntax { at, def, body } = node;
        let (kind, ends, rest) = match body {
            Body::Known { kind, held, script } => {
                let ends = script.clone().map_or(Ends::Own, Ends::Script);
                (kind, ends, Rest::Known(held, script))
            }
            Body::Instance { prototype, held } => {
                let name = prototype.name.clone();
                let kind = Instance { prototype: name, root: None, others: Vec::new() };
                (Kind::Instance(Box::new(kind)), Ends::Silent, Rest::Instance(prototype, held))
            }
            Body::Unknown(kind) => (Kind::Unknown(Unknown { kind }), Ends::Silent, Rest::Nothing),
        };
        let inline = matches!(kind, Kind::Inline(_));
        let slot = def.as_ref().map(|def| def.slot);
        let name = def.map(|def| def.name);
        let id = self.scene.add_at(kind, name, env.source.place(at));
        env.define(slot, Slot { id, open: true, ends });
        match rest {
            Rest::Known(held, script) => self.fill(id, held, script, env)?,
            Rest::Instance(prototype, held) => {
                let ends = self.instance((id, at), prototype, held, env)?;
                if let Some(slot) = env.slot(slot) {
                    slot.ends = ends;
                }
            }
            Rest::Nothing => {}
        }
        if inline {
            self.inline(id, &env.source, at)?;
        }
        if let Some(slot) = env.slot(slot) {
            slot.open = false;
        }
        self.depth -= 1;
        Ok(id)
    }

    /// The nodes and the IS of a node from a table.
    fn fill(
        &mut self,
        id: NodeId,
        held: Vec<Held>,
        script: Option<Rc<Script>>,
        env: &mut Env,
    ) -> Result<(), LoadError> {
        for Held { field, what } in held {
            let fields = self.scene.node(id).kind.fields();
            let Some(&FieldSpec { access, ty, .. }) = fields.get(field) else { continue };
            let value = match what {
                What::Value(value) => Some(value),
                What::Nodes(items) => Some(self.nodes(items, ty, env)?),
                What::Is(outer) => {
                    if lets_pass(access, Way::In) || lets_pass(access, Way::Out) {
                        env.ends.push((outer, id, field));
                    }
                    env.value_of(outer).filter(|_| has_value(access))
                }
            };
            if let Some(value) = value {
                self.scene.node_mut(id).kind.set(field, value);
            }
        }
        // The nodes in a script's fields are in no field here, but USE may name them.
        for item in script.iter().flat_map(|script| &script.nodes) {
            self.item(item.clone(), env)?;
        }
        Ok(())
    }

    /// The value of an SFNode or MFNode field.
    pub(super) fn nodes(
        &mut self,
        items: Vec<Item>,
        ty: FieldType,
        env: &mut Env,
    ) -> Result<Value, LoadError> {
        let mut ids = Vec::with_capacity(items.len());
        for item in items {
            ids.extend(self.item(item, env)?);
        }
        Ok(match ty {
            FieldType::Node => Value::Node(ids.first().copied()),
            _ => Value::Nodes(Arc::new(ids)),
        })
    }
}

/// What is left of a node when its kind is in the scene.
enum Rest {
    Known(Vec<Held>, Option<Rc<Script>>),
    Instance(Rc<Prototype>, Vec<Held>),
    Nothing,
}
