//! ROUTE statements become routes of the scene. An event to or from a prototype's instance goes
//! to or comes from every field inside that IS leads to, so the scene needs no prototypes.

use super::build::{Builder, Env};
use super::source::quoted;
use super::syntax::{End, Interface, RouteSyntax, Script, has_value, lets_pass};
use crate::error::LoadError;
use crate::nodes::{FieldIndex, Way};
use crate::scene::{FieldType, NodeId};
use std::rc::Rc;

/// The most routes that may arise beyond one per ROUTE: one ROUTE between two instances stands
/// for as many as the product of the fields that IS leads to.
const ROUTES_MAX: u64 = 1 << 22;

/// Where the events of a named node go.
#[derive(Clone)]
pub(super) enum Ends {
    /// Its own fields.
    Own,
    /// Its own fields, and the events that the script declares, which are not run.
    Script(Rc<Script>),
    /// Fields of the nodes inside.
    Instance(Rc<InstanceEnds>),
    /// Nowhere, and a warning was given: a node that is unknown or could not be read.
    Silent,
}

/// Where the events of an instance go.
pub(super) struct InstanceEnds {
    interface: Rc<Interface>,
    /// Field of the interface, node inside and its field; sorted by the first.
    ends: Vec<(usize, NodeId, FieldIndex)>,
}

impl InstanceEnds {
    pub(super) fn new(
        interface: Rc<Interface>,
        mut ends: Vec<(usize, NodeId, FieldIndex)>,
    ) -> InstanceEnds {
        ends.sort_by_key(|&(field, ..)| field);
        InstanceEnds { interface, ends }
    }

    /// What a field of the interface leads to.
    pub(super) fn of(&self, field: usize) -> &[(usize, NodeId, FieldIndex)] {
        let start = self.ends.partition_point(|&(f, ..)| f < field);
        let end = self.ends.partition_point(|&(f, ..)| f <= field);
        self.ends.get(start..end).unwrap_or_default()
    }
}

/// One end of a route.
enum Found {
    /// The type of the event, and the fields that give or take it.
    Fields(FieldType, Vec<(NodeId, FieldIndex)>),
    /// Nothing, and a warning was given.
    Silent,
    /// Why not.
    No(String),
}

impl Builder<'_> {
    /// Adds routes. Those that do not fit are left out with a warning: the nodes are as good
    /// without them.
    pub(super) fn connect(
        &mut self,
        routes: &[RouteSyntax],
        env: &mut Env,
    ) -> Result<(), LoadError> {
        for route in routes {
            let from = self.end(&route.from, Way::Out, env);
            let to = self.end(&route.to, Way::In, env);
            let why = match (from, to) {
                (Found::No(why), _) | (_, Found::No(why)) => why,
                (Found::Silent, _) | (_, Found::Silent) => continue,
                (Found::Fields(given, from), Found::Fields(taken, to)) if given == taken => {
                    let count = (from.len() as u64).saturating_mul(to.len() as u64);
                    self.spent.routes = self.spent.routes.saturating_add(count.saturating_sub(1));
                    if self.spent.routes > ROUTES_MAX {
                        let what = "ROUTEs between prototypes make more than 4194304 routes";
                        return Err(env.source.refused(what, route.at));
                    }
                    for &from in &from {
                        to.iter().for_each(|&to| self.scene.connect_fields(from, to));
                    }
                    continue;
                }
                (Found::Fields(given, _), Found::Fields(taken, _)) => {
                    let (from, to) = (quoted(&route.from.event), quoted(&route.to.event));
                    format!("{from} gives {given}, {to} takes {taken}")
                }
            };
            env.source.ignored(&format!("ROUTE ({why})"), route.at);
        }
        Ok(())
    }

    fn end(&self, end: &End, way: Way, env: &mut Env) -> Found {
        let Some(slot) = env.slot(end.slot) else {
            let name = if end.node.is_empty() { String::new() } else { quoted(&end.node) };
            return Found::No(format!("there is no node {name}").trim_end().to_string());
        };
        let id = slot.id;
        let kind = &self.scene.node(id).kind;
        match &slot.ends {
            Ends::Silent => return Found::Silent,
            Ends::Instance(instance) => return self.instance_end(instance, end, way, kind.name()),
            Ends::Own | Ends::Script(_) => {}
        }
        let own = kind.event(&end.event, way).and_then(|n| Some((n, kind.fields().get(n)?)));
        if let Some((number, field)) = own {
            return Found::Fields(field.ty, vec![(id, number)]);
        }
        if let Ends::Script(script) = &slot.ends
            && script
                .events
                .get(&end.event)
                .is_some_and(|&access| lets_pass(access, way) || has_value(access))
        {
            return Found::Silent;
        }
        no_event(kind.name(), &end.event, way)
    }

    fn instance_end(&self, instance: &InstanceEnds, end: &End, way: Way, name: &str) -> Found {
        let number = instance.interface.event(&end.event, way);
        let declared = number.and_then(|n| Some((n, instance.interface.fields.get(n)?)));
        let Some((number, field)) = declared else { return no_event(name, &end.event, way) };
        let lets = |&(_, node, field): &(usize, NodeId, FieldIndex)| {
            let spec = self.scene.node(node).kind.fields().get(field);
            spec.is_some_and(|spec| lets_pass(spec.access, way)).then_some((node, field))
        };
        Found::Fields(field.ty, instance.of(number).iter().filter_map(lets).collect())
    }
}

fn no_event(kind: &str, event: &str, way: Way) -> Found {
    let what = match way {
        Way::In => "eventIn",
        Way::Out => "eventOut",
    };
    Found::No(format!("{} has no {what} {}", quoted(kind), quoted(event)))
}
