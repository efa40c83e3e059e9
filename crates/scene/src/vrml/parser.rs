//! Statements and nodes (ISO/IEC 14772-1, annex A). Types of values come from the tables of
//! nodes and from prototypes, so these are looked up while reading.

use super::lexer::{Lexer, Skipped};
use super::prototype::{DECLARED_TWICE, Named, Scope};
use super::source::{Source, quoted};
use super::syntax::{
    Body, Def, Held, Item, NodeSyntax, Prototype, RouteSyntax, Script, What, access_from, has_value,
};
use crate::error::{LoadError, unexpected};
use crate::nodes::{Access, FieldSpec, Kind, Way};
use crate::read::Extensions;
use crate::scene::FieldType;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The deepest nesting of nodes, prototypes and files in each other. The deepest of a thousand
/// public files has 26 levels. A level takes up to 12 KiB of stack where nothing is optimised, and
/// 2 MiB must be enough for all.
pub(super) const DEPTH_MAX: usize = 128;

/// How often the reading reports, in bytes.
const REPORT_EVERY: usize = 1 << 20;

/// A walk through the text of one file.
pub(super) struct Parser<'s, 'p> {
    pub(super) lexer: Lexer<'s>,
    pub(super) source: Rc<Source>,
    pub(super) scopes: Vec<Scope<'s>>,
    pub(super) depth: usize,
    extensions: Extensions,
    progress: Option<&'p mut dyn FnMut(usize)>,
    report_at: usize,
    /// Nodes of each kind as they are when the file says nothing, to be copied: the copies share
    /// their empty lists.
    kinds: Vec<(&'s [u8], Kind)>,
    /// How many coordinates lost digits, and where the first one stands.
    digits_lost: Option<(usize, f64, u32)>,
    /// Numbers that are not finite are read as 0: only the appearance depends on them.
    pub(super) looks_only: bool,
}

/// What parsing a file depends on beside its bytes.
pub(super) struct Around<'p> {
    pub(super) extensions: Extensions,
    pub(super) progress: Option<&'p mut dyn FnMut(usize)>,
    /// How deep the file is nested in others.
    pub(super) depth: usize,
}

impl<'s, 'p> Parser<'s, 'p> {
    /// Begins at the byte `start`.
    pub(super) fn new(
        bytes: &'s [u8],
        start: usize,
        source: Rc<Source>,
        around: Around<'p>,
    ) -> Parser<'s, 'p> {
        Parser {
            lexer: Lexer::new(bytes, start),
            source,
            scopes: vec![Scope::default()],
            depth: around.depth,
            extensions: around.extensions,
            progress: around.progress,
            report_at: REPORT_EVERY,
            kinds: Vec::new(),
            digits_lost: None,
            looks_only: false,
        }
    }

    /// The next node of the world itself; none at the end. Prototypes and routes on the way are
    /// kept.
    pub(super) fn next_node(&mut self) -> Result<Option<Item>, LoadError> {
        while self.lexer.peek().is_some() {
            self.report_progress();
            if let Some(item) = self.statement("a node, PROTO, EXTERNPROTO or ROUTE")? {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }

    /// The routes of the file, and its prototypes in their order; after the last node.
    pub(super) fn finish(mut self) -> Result<(Vec<RouteSyntax>, Vec<Rc<Prototype>>), LoadError> {
        if let Some((count, largest, first)) = self.digits_lost {
            self.source.digits_lost(count, largest, first);
        }
        let mut scope = self.scopes.pop().unwrap_or_default();
        scope.close(&self.source)?;
        if let Some(progress) = &mut self.progress {
            progress(self.lexer.at() as usize);
        }
        Ok((scope.routes, scope.order))
    }

    /// A statement. None for a prototype, a route, or the USE of a name that is not there.
    pub(super) fn statement(&mut self, expected: &str) -> Result<Option<Item>, LoadError> {
        self.lexer.peek();
        let at = self.lexer.at();
        let word = self.name(expected)?;
        if self.declares(word, at)? {
            return Ok(None);
        }
        if matches!(word, b"EXPORT" | b"IMPORT") && self.lexer.peek() != Some(b'{') {
            self.export_or_import(at)?;
            return Ok(None);
        }
        self.node_or_use(word, at)
    }

    /// PROTO, EXTERNPROTO and ROUTE may also stand among the fields of a node.
    fn declares(&mut self, word: &[u8], at: u32) -> Result<bool, LoadError> {
        match word {
            b"PROTO" => self.proto(at)?,
            b"EXTERNPROTO" => self.extern_proto(at)?,
            b"ROUTE" => self.route(at)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// `DEF name Kind { … }`, `Kind { … }` or `USE name`, the first word of which was read.
    fn node_or_use(&mut self, word: &'s [u8], at: u32) -> Result<Option<Item>, LoadError> {
        match word {
            b"USE" => {
                let name = self.name("the name of a node")?;
                let slot = self.scope().names.get(name).copied();
                if slot.is_none() {
                    let name = quoted(&String::from_utf8_lossy(name));
                    self.source.mended(&format!("USE of unknown name {name} read as nothing"), at);
                }
                Ok(slot.map(|slot| Item::Use { slot, at }))
            }
            b"DEF" => {
                let name = self.name("a name for the node")?;
                let kind = self.name("a kind of node")?;
                let slot = self.scope().define(name);
                let name = Arc::from(String::from_utf8_lossy(name));
                self.node(kind, at, Some(Def { slot, name })).map(Some)
            }
            b"NULL" => Ok(None),
            kind => self.node(kind, at, None).map(Some),
        }
    }

    /// A node whose kind was read.
    fn node(&mut self, kind: &'s [u8], at: u32, def: Option<Def>) -> Result<Item, LoadError> {
        self.deeper(at)?;
        self.scope().size.nodes += 1;
        let named = self.named(kind, at)?;
        if self.lexer.peek() != Some(b'{') {
            return Err(self.expected("{"));
        }
        let open = self.lexer.at();
        let body = match named {
            Named::Kind(kind) => {
                self.lexer.advance(1);
                self.known_body(kind, open)?
            }
            Named::Prototype(prototype) => {
                self.lexer.advance(1);
                self.instance_body(prototype, open)?
            }
            Named::Nothing => {
                let name = String::from_utf8_lossy(kind);
                self.source.ignored(&format!("unknown node {}", quoted(&name)), at);
                self.skip_balanced()?;
                Body::Unknown(Arc::from(name))
            }
        };
        self.depth -= 1;
        Ok(Item::Node(Box::new(NodeSyntax { at, def, body })))
    }

    /// One level deeper, which every way back from without an error takes back.
    pub(super) fn deeper(&mut self, at: u32) -> Result<(), LoadError> {
        self.depth += 1;
        match self.depth > DEPTH_MAX {
            true => Err(too_deep(&self.source, at)),
            false => Ok(()),
        }
    }

    /// The kind with a name in the tables; collision nodes only if [`Extensions`] enables them.
    pub(super) fn built_in(&mut self, name: &'s [u8]) -> Option<Kind> {
        // A file uses few kinds, so a list of them is enough.
        if let Some((_, kind)) = self.kinds.iter().find(|(known, _)| *known == name) {
            return Some(kind.clone());
        }
        let kind = Kind::from_name(std::str::from_utf8(name).ok()?)?;
        let paper = matches!(
            kind,
            Kind::CollisionObject(_)
                | Kind::CollisionInterest(_)
                | Kind::CollisionResponse(_)
                | Kind::KeySensor(_)
        );
        if paper && !self.knows_collision_nodes() {
            return None;
        }
        self.kinds.push((name, kind.clone()));
        Some(kind)
    }

    pub(super) fn knows_collision_nodes(&self) -> bool {
        self.extensions == Extensions::CollisionNodes
    }

    /// The fields of a node from a table, up to the closing brace.
    fn known_body(&mut self, mut kind: Kind, open: u32) -> Result<Body, LoadError> {
        let fields = kind.fields();
        let mut held = Vec::new();
        let mut script = matches!(kind, Kind::Script(_))
            .then(|| Script { events: HashMap::new(), nodes: Vec::new() });
        if script.is_some() {
            self.source.ignored("Script (never run)", open);
        }
        if matches!(kind, Kind::Text(_)) {
            self.source.ignored("Text (letters touch nothing)", open);
        }
        while let Some((word, at)) = self.field_name(open)? {
            let number =
                fields.iter().position(|f| f.name.as_bytes() == word && has_value(f.access));
            if let Some((number, field)) = number.and_then(|n| Some((n, fields.get(n)?))) {
                self.known_field(&mut kind, (number, field), &mut held)?;
            } else if let (Some(script), Some(access)) = (&mut script, access_from(word)) {
                self.script_field(script, access)?;
            } else if !self.declares(word, at)? {
                self.event_or_unknown(&kind, (word, at), &mut held)?;
            }
        }
        self.scope().size.parts += held.len() as u32;
        Ok(Body::Known { kind, held, script: script.map(Rc::new) })
    }

    fn known_field(
        &mut self,
        kind: &mut Kind,
        (number, field): (usize, &FieldSpec),
        held: &mut Vec<Held>,
    ) -> Result<(), LoadError> {
        let what = if self.takes_is() {
            What::Is(self.is(field.access, field.ty, field.name)?)
        } else if matches!(field.ty, FieldType::Node | FieldType::Nodes) {
            What::Nodes(self.nodes(field.ty)?)
        } else {
            let value = match field.name {
                "enslaved" | "remote" => self.bool_or_number()?,
                "point" if field.ty == FieldType::Vec3s => self.points()?,
                _ => {
                    self.looks_only = matches!(
                        kind,
                        Kind::Normal(_) | Kind::Color(_) | Kind::TextureCoordinate(_)
                    );
                    let value = self.value(field.ty);
                    self.looks_only = false;
                    value?
                }
            };
            kind.set(number, value);
            return Ok(());
        };
        held.push(Held { field: number, what });
        Ok(())
    }

    /// The name of an event, which can only be IS an event of a prototype, or a name that the
    /// node does not have.
    fn event_or_unknown(
        &mut self,
        kind: &Kind,
        (word, at): (&[u8], u32),
        held: &mut Vec<Held>,
    ) -> Result<(), LoadError> {
        let name = String::from_utf8_lossy(word);
        let event = kind.event(&name, Way::In).or_else(|| kind.event(&name, Way::Out));
        if let Some(number) = event
            && let Some(field) = kind.fields().get(number)
            && self.takes_is()
        {
            let what = What::Is(self.is(field.access, field.ty, field.name)?);
            held.push(Held { field: number, what });
            return Ok(());
        }
        self.unknown_field(kind.name(), word, at)
    }

    /// The fields of an instance, up to the closing brace.
    fn instance_body(&mut self, prototype: Rc<Prototype>, open: u32) -> Result<Body, LoadError> {
        let mut held = Vec::new();
        let interface = prototype.interface.clone();
        while let Some((word, at)) = self.field_name(open)? {
            let name = String::from_utf8_lossy(word);
            let number = interface
                .find(&name)
                .or_else(|| interface.event(&name, Way::In))
                .or_else(|| interface.event(&name, Way::Out));
            let field = number.and_then(|n| Some((n, interface.fields.get(n)?)));
            match field {
                Some((number, field)) if self.takes_is() => {
                    let what = What::Is(self.is(field.access, field.ty, &field.name)?);
                    held.push(Held { field: number, what });
                }
                Some((number, field)) if has_value(field.access) && *field.name == *name => {
                    let what = self.what(field.ty)?;
                    held.push(Held { field: number, what });
                }
                _ if self.declares(word, at)? => {}
                _ => self.unknown_field(&prototype.name, word, at)?,
            }
        }
        self.scope().size.parts += held.len() as u32;
        Ok(Body::Instance { prototype, held })
    }

    /// What a field of this type holds: a value or nodes.
    pub(super) fn what(&mut self, ty: FieldType) -> Result<What, LoadError> {
        Ok(match ty {
            FieldType::Node | FieldType::Nodes => What::Nodes(self.nodes(ty)?),
            _ => What::Value(self.value(ty)?),
        })
    }

    /// The nodes of an SFNode or MFNode field.
    fn nodes(&mut self, ty: FieldType) -> Result<Vec<Item>, LoadError> {
        let several = ty == FieldType::Nodes;
        if !several || self.lexer.peek() != Some(b'[') {
            let expected = if several { "a node or [" } else { "a node or NULL" };
            self.lexer.peek();
            let at = self.lexer.at();
            let word = self.name(expected)?;
            return Ok(self.node_or_use(word, at)?.into_iter().collect());
        }
        let mut items = Vec::new();
        self.until_bracket(|parser| {
            items.extend(parser.statement("a node or ]")?);
            Ok(())
        })?;
        Ok(items)
    }

    /// `field`, `eventIn` or `eventOut` of a Script, the first word of which was read.
    fn script_field(&mut self, script: &mut Script, access: Access) -> Result<(), LoadError> {
        let (ty, name) = self.type_and_name()?;
        let at = self.lexer.at();
        if self.takes_is() {
            self.is(access, ty, &name)?;
        } else if has_value(access) {
            match self.what(ty)? {
                What::Nodes(nodes) => script.nodes.extend(nodes),
                What::Value(_) | What::Is(_) => {}
            }
        }
        if script.events.insert(name, access).is_some() {
            self.source.mended(DECLARED_TWICE, at);
        }
        Ok(())
    }

    /// The next name of a field and where it stands; none for the closing brace, gone past.
    fn field_name(&mut self, open: u32) -> Result<Option<(&'s [u8], u32)>, LoadError> {
        self.report_progress();
        match self.lexer.peek() {
            Some(b'}') => {
                self.lexer.advance(1);
                return Ok(None);
            }
            None => return Err(self.unclosed(open, "}")),
            _ => {}
        }
        let at = self.lexer.at();
        Ok(Some((self.name("the name of a field or }")?, at)))
    }

    /// A field that the node does not have: left out with its value, if that has a clear end.
    fn unknown_field(&mut self, kind: &str, word: &[u8], at: u32) -> Result<(), LoadError> {
        if matches!(word, b"DEF" | b"USE" | b"IS" | b"TO" | b"NULL" | b"TRUE" | b"FALSE") {
            let place = self.source.place(at);
            return Err(unexpected(Some(word), place, "the name of a field or }"));
        }
        let name = quoted(&String::from_utf8_lossy(word));
        self.skip_value()?;
        self.source.ignored(&format!("unknown field {name} of {}", quoted(kind)), at);
        Ok(())
    }

    /// Goes past a value of unknown type.
    pub(super) fn skip_value(&mut self) -> Result<(), LoadError> {
        match self.lexer.peek() {
            Some(b'[') => return self.skip_balanced(),
            Some(b'"') => return self.string().map(|_| ()),
            _ => {}
        }
        let numbers = self.lexer.clone();
        while matches!(self.lexer.peek(), Some(b'0'..=b'9' | b'+' | b'-' | b'.')) {
            self.lexer.word();
        }
        if self.lexer.at() != numbers.at() {
            return Ok(());
        }
        match self.name("a value")? {
            b"TRUE" | b"FALSE" | b"NULL" => Ok(()),
            b"IS" | b"USE" => self.name("a name").map(|_| ()),
            word => {
                if word == b"DEF" {
                    self.name("a name for the node")?;
                    self.name("a kind of node")?;
                }
                match self.lexer.peek() {
                    Some(b'{') => self.skip_balanced(),
                    _ => Err(self.expected("{, since the field is unknown")),
                }
            }
        }
    }

    fn skip_balanced(&mut self) -> Result<(), LoadError> {
        let open = self.lexer.at();
        match self.lexer.skip_balanced() {
            Skipped::Balanced => Ok(()),
            Skipped::End => Err(self.unclosed(open, "the closing brace or bracket")),
        }
    }

    /// A name or keyword (A.3). More characters than the standard allows are taken, because files
    /// use them; a name cannot begin like a number.
    pub(super) fn name(&mut self, expected: &str) -> Result<&'s [u8], LoadError> {
        self.lexer.peek();
        let word = self.lexer.word_here();
        match word.first() {
            None | Some(b'0'..=b'9' | b'+' | b'-') => Err(self.expected(expected)),
            Some(_) => {
                self.lexer.advance(word.len());
                Ok(word)
            }
        }
    }

    /// The innermost scope. The file's own is there from the beginning to the end.
    pub(super) fn scope(&mut self) -> &mut Scope<'s> {
        if self.scopes.is_empty() {
            self.scopes.push(Scope::default());
        }
        let last = self.scopes.len() - 1;
        &mut self.scopes[last]
    }

    /// The error for what stands at the next byte.
    #[cold]
    pub(super) fn expected(&mut self, expected: &str) -> LoadError {
        let next = self.lexer.peek().is_some().then(|| {
            let word = self.lexer.word_here();
            let first = self.lexer.rest().get(..1).unwrap_or_default();
            if word.is_empty() { first } else { word }
        });
        unexpected(next, self.source.place(self.lexer.at()), expected)
    }

    /// The error for something that began at `open` and does not end.
    #[cold]
    pub(super) fn unclosed(&self, open: u32, expected: &str) -> LoadError {
        let expected = format!("{expected} to close what begins here");
        unexpected(None, self.source.place(open), &expected)
    }

    #[cold]
    pub(super) fn count_lost_digits(&mut self, off: f64) {
        let at = self.lexer.at();
        let (count, largest, first) = self.digits_lost.unwrap_or((0, 0.0, at));
        self.digits_lost = Some((count + 1, off.max(largest), first));
    }

    #[inline]
    pub(super) fn report_progress(&mut self) {
        let at = self.lexer.at() as usize;
        if at >= self.report_at {
            self.report_at = at + REPORT_EVERY;
            if let Some(progress) = &mut self.progress {
                progress(at);
            }
        }
    }
}

pub(super) fn too_deep(source: &Source, at: u32) -> LoadError {
    source.refused(format!("nodes, prototypes or files nested deeper than {DEPTH_MAX}"), at)
}
