//! What the parser makes of a text and the builder a scene of. Names are resolved: a prototype
//! is at hand, a field is a number, and a DEF name is the number of a slot of its scope.

use super::source::Source;
use crate::nodes::{Access, Kind, Way};
use crate::scene::{FieldType, Value};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A node, or another use of one.
#[derive(Clone)]
pub(super) enum Item {
    Node(Box<NodeSyntax>),
    Use { slot: u32, at: u32 },
}

/// A node as it is written.
#[derive(Clone)]
pub(super) struct NodeSyntax {
    pub(super) at: u32,
    pub(super) def: Option<Def>,
    pub(super) body: Body,
}

/// A name given to a node.
#[derive(Clone)]
pub(super) struct Def {
    pub(super) slot: u32,
    pub(super) name: Arc<str>,
}

#[derive(Clone)]
pub(super) enum Body {
    /// A node of a known kind. Plain values are in it already; nodes and IS are held.
    Known { kind: Kind, held: Vec<Held>, script: Option<Rc<Script>> },
    /// A prototype's instance, with the fields that are given.
    Instance { prototype: Rc<Prototype>, held: Vec<Held> },
    /// A node of an unknown kind, without its contents.
    Unknown(Arc<str>),
}

/// What a file says about a field: the number of the field and what it holds.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) field: usize,
    pub(super) what: What,
}

#[derive(Clone)]
pub(super) enum What {
    Value(Value),
    /// For SFNode and MFNode. SFNode has at most one.
    Nodes(Vec<Item>),
    /// The field of the prototype around it, by number.
    Is(usize),
}

/// What a Script declares for itself. It is never run, so only the names of its events matter,
/// and the nodes in its fields, which may be used elsewhere.
pub(super) struct Script {
    pub(super) events: HashMap<Box<str>, Access>,
    pub(super) nodes: Vec<Item>,
}

/// A ROUTE.
pub(super) struct RouteSyntax {
    pub(super) from: End,
    pub(super) to: End,
    pub(super) at: u32,
}

/// One end of a ROUTE.
pub(super) struct End {
    /// None if no node has the name.
    pub(super) slot: Option<u32>,
    /// The name, where it was not found when the ROUTE was read.
    pub(super) node: Box<str>,
    pub(super) event: Box<str>,
}

/// A declared prototype.
pub(super) struct Prototype {
    pub(super) name: Arc<str>,
    pub(super) source: Rc<Source>,
    pub(super) at: u32,
    pub(super) interface: Rc<Interface>,
    /// How deep nodes are nested in an instance, with all instances inside.
    pub(super) height: usize,
    pub(super) made: Made,
}

/// What an instance is made of.
pub(super) enum Made {
    /// PROTO.
    Inside(Inside),
    /// EXTERNPROTO.
    Outside { urls: Vec<Arc<str>>, found: OnceCell<Option<Found>> },
}

/// The body of a PROTO.
pub(super) struct Inside {
    pub(super) nodes: Vec<Item>,
    pub(super) routes: Vec<RouteSyntax>,
    pub(super) size: Size,
}

/// How much an instance takes.
#[derive(Clone, Copy, Default)]
pub(super) struct Size {
    /// Slots for DEF names.
    pub(super) slots: u32,
    /// Nodes, those in default values as well.
    pub(super) nodes: u32,
    /// Everything else: fields, routes.
    pub(super) parts: u32,
}

/// What an EXTERNPROTO turned out to be.
#[derive(Clone)]
pub(super) struct Found {
    pub(super) prototype: Rc<Prototype>,
    /// For each field of the EXTERNPROTO, the number of that of the PROTO.
    pub(super) fields: Rc<[Option<usize>]>,
}

/// The fields and events of a prototype.
#[derive(Default)]
pub(super) struct Interface {
    pub(super) fields: Vec<InterfaceField>,
    numbers: HashMap<Box<str>, usize>,
}

pub(super) struct InterfaceField {
    pub(super) name: Box<str>,
    pub(super) access: Access,
    pub(super) ty: FieldType,
    /// None for events and for everything in an EXTERNPROTO. Never an IS.
    pub(super) default: Option<What>,
}

impl Interface {
    /// False if the name is there already.
    pub(super) fn add(&mut self, field: InterfaceField) -> bool {
        let fresh = self.numbers.insert(field.name.clone(), self.fields.len()).is_none();
        self.fields.push(field);
        fresh
    }

    /// The field or event with this very name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }

    /// The field through which events with this name go, as [`Kind::event`] has it.
    pub(super) fn event(&self, name: &str, way: Way) -> Option<usize> {
        let short = match way {
            Way::In => name.strip_prefix("set_"),
            Way::Out => name.strip_suffix("_changed"),
        };
        let exposed = |&number: &usize| self.access(number) == Some(Access::ExposedField);
        self.find(name)
            .filter(|&number| self.access(number).is_some_and(|access| lets_pass(access, way)))
            .or_else(|| short.and_then(|short| self.find(short)).filter(exposed))
    }

    fn access(&self, number: usize) -> Option<Access> {
        self.fields.get(number).map(|field| field.access)
    }
}

/// Returns true if a field has events in this direction.
pub(super) fn lets_pass(access: Access, way: Way) -> bool {
    match access {
        Access::ExposedField => true,
        Access::EventIn => way == Way::In,
        Access::EventOut => way == Way::Out,
        Access::Field | Access::Internal => false,
    }
}

/// Returns true if a file may have a value for the field.
pub(super) fn has_value(access: Access) -> bool {
    matches!(access, Access::Field | Access::ExposedField)
}

/// The word for it in a file.
pub(super) fn access_word(access: Access) -> &'static str {
    match access {
        Access::Field | Access::Internal => "field",
        Access::ExposedField => "exposedField",
        Access::EventIn => "eventIn",
        Access::EventOut => "eventOut",
    }
}

/// The access with this word.
pub(super) fn access_from(word: &[u8]) -> Option<Access> {
    match word {
        b"field" => Some(Access::Field),
        b"exposedField" => Some(Access::ExposedField),
        b"eventIn" => Some(Access::EventIn),
        b"eventOut" => Some(Access::EventOut),
        _ => None,
    }
}
