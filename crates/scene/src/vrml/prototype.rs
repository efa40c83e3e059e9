//! Declarations (ISO/IEC 14772-1, 4.8): PROTO, EXTERNPROTO, what names mean in which scope, IS,
//! and ROUTE, whose names are resolved in the same scopes.

use super::parser::{DEPTH_MAX, Parser, too_deep};
use super::source::{Source, quoted};
use super::syntax::{
    End, Inside, Interface, InterfaceField, Item, Made, Prototype, RouteSyntax, Size, access_from,
    access_word, has_value, lets_pass,
};
use crate::error::LoadError;
use crate::nodes::{Access, Kind, Way};
use crate::scene::FieldType;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The address under which browsers know the node itself (V-COLLIDE, figure 2).
const COLLISION_OBJECT: &str = "URN:edu.unc.cs:geom:CollisionObject:1";

/// What the name of a node's kind means.
#[derive(Clone)]
pub(super) enum Named {
    Kind(Kind),
    Prototype(Rc<Prototype>),
    Nothing,
}

/// A file or the body of a prototype: names of nodes and prototypes are known inside only.
#[derive(Default)]
pub(super) struct Scope<'s> {
    /// The slot of the last node with a name.
    pub(super) names: HashMap<&'s [u8], u32>,
    pub(super) routes: Vec<RouteSyntax>,
    pub(super) size: Size,
    /// The PROTO statements, in their order.
    pub(super) order: Vec<Rc<Prototype>>,
    prototypes: HashMap<&'s [u8], Named>,
    /// Of the body of a prototype: its name, and its interface as soon as that is complete.
    declares: Option<&'s [u8]>,
    interface: Option<Rc<Interface>>,
    /// How deep the scope itself is nested, and how deep nodes are nested in it.
    base: usize,
    height: usize,
    /// Which prototypes of this scope use which names in their bodies.
    uses: Vec<Use<'s>>,
}

/// The body of the prototype `user` has a node of the kind `used`.
struct Use<'s> {
    user: &'s [u8],
    used: &'s [u8],
    at: u32,
    /// The name was declared when it was used.
    known: bool,
}

impl<'s> Scope<'s> {
    /// A new slot for a name. The same name may be given again; USE means the last one.
    pub(super) fn define(&mut self, name: &'s [u8]) -> u32 {
        let slot = self.size.slots;
        self.size.slots += 1;
        self.names.insert(name, slot);
        slot
    }

    /// What is left to do when the scope ends. Routes may stand before the nodes that they name;
    /// the standard has it the other way round, but it is clear what is meant.
    pub(super) fn close(&mut self, source: &Source) -> Result<(), LoadError> {
        let names = &self.names;
        for route in &mut self.routes {
            for end in [&mut route.from, &mut route.to] {
                end.slot = end.slot.or_else(|| names.get(end.node.as_bytes()).copied());
            }
        }
        match self.circle() {
            Some(at) => Err(source.refused("the prototype is part of its own body", at)),
            None => Ok(()),
        }
    }

    /// The place in a body where a prototype comes back to itself through others. Only the use of
    /// a name before its declaration can lead to that.
    fn circle(&self) -> Option<u32> {
        let early = |u: &&Use<'_>| !u.known && self.prototypes.contains_key(u.used);
        self.uses.iter().find(early)?;
        let mut by_user: HashMap<&[u8], Vec<&Use<'_>>> = HashMap::new();
        for u in &self.uses {
            by_user.entry(u.user).or_default().push(u);
        }
        // Depth first without recursion: a name is on the way down, or done.
        let mut done: HashMap<&[u8], bool> = HashMap::new();
        for start in &self.uses {
            let mut way = vec![(start.user, 0)];
            while let Some((name, next)) = way.pop() {
                let uses = by_user.get(name).map(Vec::as_slice).unwrap_or_default();
                if done.get(name) == Some(&true) {
                    continue;
                }
                done.insert(name, next >= uses.len());
                let Some(u) = uses.get(next) else { continue };
                way.push((name, next + 1));
                match done.get(u.used) {
                    Some(false) => return Some(u.at),
                    Some(true) => {}
                    None => way.push((u.used, 0)),
                }
            }
        }
        None
    }
}

impl<'s> Parser<'s, '_> {
    /// What a name means here: the innermost prototype, else a node from the tables.
    pub(super) fn named(&mut self, name: &'s [u8], at: u32) -> Result<Named, LoadError> {
        let mut named = None;
        let built_in = self.built_in(name);
        for scope in self.scopes.iter().rev() {
            if let Some(found) = scope.prototypes.get(name) {
                named = Some(found.clone());
                break;
            }
            // A prototype that wraps the node whose name it takes means that node.
            if scope.declares == Some(name) && built_in.is_none() {
                let what = format!("prototype {} is part of its own body", lossy_quoted(name));
                return Err(self.source.refused(what, at));
            }
        }
        let named = match named {
            Some(named) => named,
            None => built_in.map_or(Named::Nothing, Named::Kind),
        };
        if !matches!(named, Named::Kind(_))
            && let [.., outer, inner] = self.scopes.as_mut_slice()
            && let Some(user) = inner.declares
        {
            let known = matches!(named, Named::Prototype(_));
            outer.uses.push(Use { user, used: name, at, known });
        }
        let inside = match &named {
            Named::Prototype(prototype) => prototype.height,
            Named::Kind(_) | Named::Nothing => 0,
        };
        self.stands(inside, at)?;
        Ok(named)
    }

    /// Takes note of a node and how deep nodes are nested in it. A chain of prototypes, each in
    /// the body of the next, is as deep when it is built, and when it is given up.
    fn stands(&mut self, inside: usize, at: u32) -> Result<(), LoadError> {
        let depth = self.depth;
        let scope = self.scope();
        let height = depth.saturating_sub(scope.base).saturating_add(inside);
        scope.height = scope.height.max(height);
        match height > DEPTH_MAX {
            true => Err(too_deep(&self.source, at)),
            false => Ok(()),
        }
    }

    /// PROTO, the word of which was read.
    pub(super) fn proto(&mut self, at: u32) -> Result<(), LoadError> {
        self.deeper(at)?;
        let name = self.name("the name of a prototype")?;
        let base = self.depth;
        self.scopes.push(Scope { declares: Some(name), base, ..Scope::default() });
        let interface = Rc::new(self.interface(true)?);
        self.scope().interface = Some(interface.clone());
        let open = self.opens(b'{', "{")?;
        let mut nodes: Vec<Item> = Vec::new();
        loop {
            match self.lexer.peek() {
                Some(b'}') => break,
                None => return Err(self.unclosed(open, "}")),
                _ => nodes.extend(self.statement("a node, PROTO, EXTERNPROTO, ROUTE or }")?),
            }
            self.report_progress();
        }
        self.lexer.advance(1);
        let mut scope = self.scopes.pop().unwrap_or_default();
        scope.close(&self.source)?;
        let mut size = scope.size;
        size.parts += (scope.routes.len() + interface.fields.len()) as u32;
        let made = Made::Inside(Inside { nodes, routes: scope.routes, size });
        let prototype = Prototype {
            name: lossy(name),
            source: self.source.clone(),
            at,
            interface,
            height: scope.height,
            made,
        };
        let prototype = self.declare(name, prototype);
        self.scope().order.push(prototype);
        self.depth -= 1;
        Ok(())
    }

    /// EXTERNPROTO, the word of which was read.
    pub(super) fn extern_proto(&mut self, at: u32) -> Result<(), LoadError> {
        let name = self.name("the name of a prototype")?;
        let interface = Rc::new(self.interface(false)?);
        // V-COLLIDE's figure 2 has braces where the standard has brackets.
        let urls = if self.lexer.peek() == Some(b'{') {
            self.urls_in_braces()?
        } else {
            self.strings()?.to_vec()
        };
        let known = urls.iter().any(|url| url.eq_ignore_ascii_case(COLLISION_OBJECT));
        if known && self.knows_collision_nodes() {
            if let Some(kind) = self.built_in(b"CollisionObject") {
                self.scope().prototypes.insert(name, Named::Kind(kind));
            }
            return Ok(());
        }
        let made = Made::Outside { urls, found: OnceCell::new() };
        let source = self.source.clone();
        let prototype = Prototype { name: lossy(name), source, at, interface, height: 0, made };
        self.declare(name, prototype);
        Ok(())
    }

    fn urls_in_braces(&mut self) -> Result<Vec<Arc<str>>, LoadError> {
        let open = self.opens(b'{', "{")?;
        self.source.mended("addresses of an EXTERNPROTO in braces", open);
        let mut urls = Vec::new();
        loop {
            match self.lexer.peek() {
                Some(b'}') => break,
                None => return Err(self.unclosed(open, "}")),
                _ => urls.push(self.string()?),
            }
        }
        self.lexer.advance(1);
        Ok(urls)
    }

    fn declare(&mut self, name: &'s [u8], prototype: Prototype) -> Rc<Prototype> {
        let prototype = Rc::new(prototype);
        self.scope().prototypes.insert(name, Named::Prototype(prototype.clone()));
        prototype
    }

    /// `[ … ]` after the name of a prototype; with default values for PROTO.
    fn interface(&mut self, defaults: bool) -> Result<Interface, LoadError> {
        let open = self.opens(b'[', "[")?;
        let mut interface = Interface::default();
        loop {
            match self.lexer.peek() {
                Some(b']') => break,
                None => return Err(self.unclosed(open, "]")),
                _ => {}
            }
            let at = self.lexer.at();
            let Some(access) = access_from(self.lexer.word_here()) else {
                return Err(self.expected("eventIn, eventOut, field, exposedField or ]"));
            };
            self.lexer.word();
            let (ty, name) = self.type_and_name()?;
            let mut default = None;
            if defaults && has_value(access) {
                default = Some(self.what(ty)?);
            } else if !defaults && !self.at_declaration() {
                // An EXTERNPROTO has no default values (4.9.2), but some files give them.
                self.source.mended("default value in an EXTERNPROTO left out", self.lexer.at());
                self.skip_value()?;
            }
            if !interface.add(InterfaceField { name, access, ty, default }) {
                self.source.mended(DECLARED_TWICE, at);
            }
        }
        self.lexer.advance(1);
        Ok(interface)
    }

    /// Returns true if the next word begins a field of an interface, or ends it.
    fn at_declaration(&mut self) -> bool {
        matches!(self.lexer.peek(), Some(b']') | None)
            || access_from(self.lexer.word_here()).is_some()
    }

    /// The type and name of a field that is declared.
    pub(super) fn type_and_name(&mut self) -> Result<(FieldType, Box<str>), LoadError> {
        self.lexer.peek();
        let at = self.lexer.at();
        let word = self.lexer.word_here();
        let ty = std::str::from_utf8(word).ok().and_then(|word| {
            // V-COLLIDE's figures 2 and 3 have "SFTIME".
            FieldType::from_name(word).or_else(|| {
                let ty = FieldType::from_name(NAMES.iter().find(|n| n.eq_ignore_ascii_case(word))?);
                self.source.mended("type in small or capital letters", at);
                ty
            })
        });
        let ty = ty.ok_or_else(|| self.expected("a type, such as SFFloat"))?;
        self.lexer.word();
        let name = self.name("the name of a field or event")?;
        Ok((ty, String::from_utf8_lossy(name).into()))
    }

    /// Goes past the word IS if it comes next.
    pub(super) fn takes_is(&mut self) -> bool {
        self.lexer.peek() == Some(b'I') && self.lexer.takes_word(b"IS")
    }

    /// What follows IS: the number of a field of the prototype around. `access`, `ty` and `name`
    /// are of the field before IS (4.8.3, table 4.4).
    pub(super) fn is(
        &mut self,
        access: Access,
        ty: FieldType,
        name: &str,
    ) -> Result<usize, LoadError> {
        self.lexer.peek();
        let at = self.lexer.at();
        let Some(interface) = self.scope().interface.clone() else {
            return Err(self.source.refused("IS outside the body of a prototype", at));
        };
        let word = self.lexer.word_here();
        let outer = String::from_utf8_lossy(word);
        let number = interface
            .find(&outer)
            .or_else(|| interface.event(&outer, Way::In))
            .or_else(|| interface.event(&outer, Way::Out));
        let Some((number, field)) = number.and_then(|n| Some((n, interface.fields.get(n)?))) else {
            return Err(self.expected("a name from the interface of the prototype"));
        };
        self.lexer.word();
        let both = |which: &dyn Fn(Access) -> bool| which(access) && which(field.access);
        let fits = both(&has_value)
            || both(&|access| lets_pass(access, Way::In))
            || both(&|access| lets_pass(access, Way::Out));
        if field.ty != ty {
            let (inner, outer) = (quoted(name), quoted(&field.name));
            let (access, of) = (access_word(access), access_word(field.access));
            let what = format!("{inner} is {access} {ty}, but {outer} is {of} {}", field.ty);
            return Err(self.source.refused(what, at));
        }
        if access != Access::ExposedField && access != field.access {
            let (access, of) = (access_word(access), access_word(field.access));
            let effect = if fits { "" } else { ", without effect" };
            self.source.mended(&format!("{access} that IS {of}{effect}"), at);
        }
        Ok(number)
    }

    /// `EXPORT node` and `IMPORT inline.node`, both perhaps with `AS name`: statements of X3D
    /// that stand in some VRML97 files. The word itself was read.
    pub(super) fn export_or_import(&mut self, at: u32) -> Result<(), LoadError> {
        self.name("the name of a node")?;
        if self.lexer.takes_word(b"AS") {
            self.name("a name for the node")?;
        }
        self.source.ignored("EXPORT or IMPORT, a statement of X3D,", at);
        Ok(())
    }

    /// ROUTE, the word of which was read.
    pub(super) fn route(&mut self, at: u32) -> Result<(), LoadError> {
        let from = self.route_end()?;
        if !self.lexer.takes_word(b"TO") {
            return Err(self.expected("TO"));
        }
        let to = self.route_end()?;
        self.scope().routes.push(RouteSyntax { from, to, at });
        Ok(())
    }

    /// `node.event`. Names may contain points, events may not.
    fn route_end(&mut self) -> Result<End, LoadError> {
        const EXPECTED: &str = "the name of a node, a point and the name of an event";
        self.lexer.peek();
        let at = self.lexer.clone();
        let mut word = self.name(EXPECTED)?.to_vec();
        // Blanks may stand around the point.
        while self.lexer.peek() == Some(b'.') || word.ends_with(b".") {
            let more = self.lexer.word();
            if more.is_empty() {
                break;
            }
            word.extend(more);
        }
        let split = word.iter().rposition(|&byte| byte == b'.');
        let parts = split.map(|point| word.split_at(point));
        let parts = parts.filter(|(node, event)| !node.is_empty() && event.len() > 1);
        let Some((node, event)) = parts else {
            self.lexer = at;
            return Err(self.expected(EXPECTED));
        };
        let slot = self.scope().names.get(node).copied();
        let text = |bytes| String::from_utf8_lossy(bytes).into();
        let node = if slot.is_some() { Box::default() } else { text(node) };
        Ok(End { slot, node, event: text(event.get(1..).unwrap_or_default()) })
    }

    /// Goes past an opening mark, and says where it stands.
    fn opens(&mut self, mark: u8, expected: &str) -> Result<u32, LoadError> {
        self.lexer.peek();
        let at = self.lexer.at();
        if !self.lexer.takes(mark) {
            return Err(self.expected(expected));
        }
        Ok(at)
    }
}

pub(super) const DECLARED_TWICE: &str = "a field or event declared twice, the last one counts";

/// The names of all types.
const NAMES: [&str; 20] = [
    "SFBool",
    "SFColor",
    "SFFloat",
    "SFImage",
    "SFInt32",
    "SFNode",
    "SFRotation",
    "SFString",
    "SFTime",
    "SFVec2f",
    "SFVec3f",
    "MFColor",
    "MFFloat",
    "MFInt32",
    "MFNode",
    "MFRotation",
    "MFString",
    "MFTime",
    "MFVec2f",
    "MFVec3f",
];

fn lossy(name: &[u8]) -> Arc<str> {
    Arc::from(String::from_utf8_lossy(name))
}

fn lossy_quoted(name: &[u8]) -> String {
    quoted(&String::from_utf8_lossy(name))
}
