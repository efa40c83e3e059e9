//! Files that a file includes: Inline and EXTERNPROTO, through the caller's `fetch`.

use super::build::{Builder, Trail};
use super::opening::{self, Text};
use super::parser::{Around, Parser};
use super::source::{Source, quoted};
use super::syntax::{Found, Made, Prototype};
use crate::error::{LoadError, Place};
use crate::nodes::Kind;
use crate::read::{Extensions, Fetch, Fetched, Frame, Reading, read_one};
use crate::scene::NodeId;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// The most files that one file may include, directly and indirectly: ten files that bring in each
/// the next one ten times ask for 10^10.
const FILES_MAX: usize = 10_000;

/// The most bytes in those files: 4 GiB, as for a single file.
const BYTES_MAX: u64 = 1 << 32;

/// The world outside the file.
pub(super) struct Outside<'f> {
    pub(super) fetch: Option<&'f mut Fetch<'f>>,
    pub(super) extensions: Extensions,
    pub(super) frame: Frame,
    /// The files that are being read, each included by the one before.
    pub(super) open: Vec<String>,
    /// Files with prototypes, by name: read once.
    documents: BTreeMap<String, Rc<[Rc<Prototype>]>>,
    /// The same files in the order in which they were read, for their warnings.
    pub(super) sources: Vec<Rc<Source>>,
    files: usize,
    bytes: u64,
}

impl<'f> Outside<'f> {
    pub(super) fn new(
        name: &str,
        fetch: Option<&'f mut Fetch<'f>>,
        extensions: Extensions,
        frame: Frame,
    ) -> Outside<'f> {
        Outside {
            fetch,
            extensions,
            frame,
            open: vec![name.to_string()],
            documents: BTreeMap::new(),
            sources: Vec::new(),
            files: 0,
            bytes: 0,
        }
    }

    /// So many bytes have been brought in, or unpacked from what was.
    fn spend(&mut self, bytes: usize) -> Result<(), &'static str> {
        self.bytes += bytes as u64;
        match self.bytes > BYTES_MAX {
            true => Err("more than 4 GiB of files are brought in"),
            false => Ok(()),
        }
    }

    /// The text of an included file: a small one may unpack to a large one, again and
    /// again.
    pub(super) fn open<'b>(&mut self, bytes: &'b [u8]) -> Result<Text<'b>, LoadError> {
        let text = opening::open(bytes, true)?;
        let unpacked = text.bytes.len().saturating_sub(bytes.len());
        let refused = |what: &str| LoadError::Refused { place: Place::Byte(0), what: what.into() };
        self.spend(unpacked).map_err(refused)?;
        Ok(text)
    }

    /// Asks for a file that `source` names. The inner error says why it cannot be had.
    fn fetch(
        &mut self,
        url: &str,
        (source, at): (&Source, u32),
    ) -> Result<Result<Fetched, String>, LoadError> {
        let Some(fetch) = &mut self.fetch else {
            return Ok(Err("no other files are read here".to_string()));
        };
        self.files += 1;
        if self.files > FILES_MAX {
            let what = format!("more than {FILES_MAX} files are brought in");
            return Err(source.refused(what, at));
        }
        let fetched = fetch(url, &source.name);
        if let Ok(fetched) = &fetched {
            self.spend(fetched.bytes.len()).map_err(|what| source.refused(what, at))?;
        }
        Ok(fetched)
    }
}

/// An address without, and with, what stands behind `#`.
fn split_fragment(url: &str) -> (&str, Option<&str>) {
    let url = url.trim();
    url.split_once('#').map_or((url, None), |(url, fragment)| (url, Some(fragment)))
}

impl Builder<'_> {
    /// Reads what an Inline names, and makes it its children (6.25).
    pub(super) fn inline(
        &mut self,
        id: NodeId,
        source: &Rc<Source>,
        at: u32,
    ) -> Result<(), LoadError> {
        let urls = match &self.scene.node(id).kind {
            Kind::Inline(inline) => inline.url.clone(),
            _ => return Ok(()),
        };
        let mut why = String::new();
        for url in urls.iter() {
            match self.outside.fetch(split_fragment(url).0, (source, at))? {
                Ok(fetched) => match self.inlined(&fetched, source, at) {
                    Ok(children) => {
                        if let Kind::Inline(inline) = &mut self.scene.node_mut(id).kind {
                            inline.children = Arc::new(children);
                        }
                        return Ok(());
                    }
                    // Another format, such as VRML 1.0: as good as not there.
                    Err(LoadError::Within { source: inside, .. })
                        if matches!(*inside, LoadError::NotReadable { .. }) =>
                    {
                        why = inside.to_string();
                    }
                    Err(error) => return Err(error),
                },
                Err(reason) => why = reason,
            }
        }
        if let Some(url) = urls.first() {
            source.ignored(&format!("Inline {} ({why})", quoted(url)), at);
        }
        Ok(())
    }

    /// The nodes of an included file.
    fn inlined(
        &mut self,
        fetched: &Fetched,
        source: &Rc<Source>,
        at: u32,
    ) -> Result<Vec<NodeId>, LoadError> {
        let Fetched { name, bytes } = fetched;
        if self.outside.open.contains(name) {
            // Not in quotes: the name of a file is no content of one.
            let quoted = quoted(name);
            let what = format!("file {} brings in itself", quoted.trim_matches('"'));
            return Err(source.refused(what, at));
        }
        let place = source.place(at);
        let within = |inside: LoadError| inside.within(place, name);
        if !super::is_vrml(name, bytes) {
            let Outside { fetch, extensions, frame, .. } = &mut self.outside;
            let fetch = fetch.as_mut().map(|fetch| &mut **fetch as &mut Fetch<'_>);
            let (extensions, frame) = (*extensions, *frame);
            let mut reading = Reading { fetch, progress: None, extensions, frame };
            let (scene, warnings) = read_one(name, bytes, &mut reading).map_err(within)?;
            source.within_other(name, warnings);
            return Ok(self.scene.absorb(scene));
        }
        self.outside.open.push(name.clone());
        let up = self.trail.take();
        let file = Arc::from(name.as_str());
        self.trail = Some(Rc::new(Trail { place, file, up: up.clone() }));
        let read = self.file(name, bytes, None);
        self.trail = up;
        self.outside.open.pop();
        let (roots, inner) = read.map_err(within)?;
        source.within(&inner);
        Ok(roots)
    }

    /// The PROTO that an EXTERNPROTO means (4.9.3): by the name behind `#`, else the first one in
    /// the first file that can be had. Looked for once.
    pub(super) fn find_prototype(
        &mut self,
        prototype: &Rc<Prototype>,
    ) -> Result<Option<Found>, LoadError> {
        let Made::Outside { urls, found } = &prototype.made else { return Ok(None) };
        if let Some(found) = found.get() {
            return Ok(found.clone());
        }
        let (source, at) = (&prototype.source, prototype.at);
        let mut why = "it has no addresses".to_string();
        let mut first = None;
        for url in urls {
            let (address, name) = split_fragment(url);
            let fetched = match self.outside.fetch(address, (source, at))? {
                Ok(fetched) => fetched,
                Err(reason) => {
                    why = reason;
                    continue;
                }
            };
            let document = self
                .document(&fetched)
                .map_err(|inside| inside.within(source.place(at), &fetched.name))?;
            let named = name.and_then(|name| document.iter().find(|proto| *proto.name == *name));
            first = named.or_else(|| document.first()).cloned();
            if first.is_some() {
                break;
            }
            why = format!("no PROTO in {}", quoted(&fetched.name));
        }
        if first.is_none() {
            let name = quoted(&prototype.name);
            source.ignored(&format!("EXTERNPROTO {name} ({why})"), at);
        }
        let result = first.map(|inner| same_fields(prototype, inner)).transpose()?;
        Ok(found.get_or_init(|| result).clone())
    }

    /// The prototypes of a file, without its nodes.
    fn document(&mut self, fetched: &Fetched) -> Result<Rc<[Rc<Prototype>]>, LoadError> {
        if let Some(document) = self.outside.documents.get(&fetched.name) {
            return Ok(document.clone());
        }
        let text = self.outside.open(&fetched.bytes)?;
        let source = text.source(&fetched.name)?;
        let extensions = self.outside.extensions;
        let around = Around { extensions, progress: None, depth: self.depth };
        let mut parser = Parser::new(&text.bytes, text.start, source.clone(), around);
        while parser.next_node()?.is_some() {}
        let (_, prototypes) = parser.finish()?;
        let document: Rc<[Rc<Prototype>]> = Rc::from(prototypes);
        self.outside.documents.insert(fetched.name.clone(), document.clone());
        self.outside.sources.push(source);
        Ok(document)
    }
}

/// Which field of the PROTO each field of the EXTERNPROTO is.
fn same_fields(outer: &Prototype, inner: Rc<Prototype>) -> Result<Found, LoadError> {
    let mut fields = Vec::with_capacity(outer.interface.fields.len());
    for field in &outer.interface.fields {
        let number = inner.interface.find(&field.name);
        let there = number.and_then(|n| inner.interface.fields.get(n));
        match there {
            Some(there) if there.ty != field.ty => {
                let (name, ty, other) = (quoted(&field.name), field.ty, there.ty);
                let what = format!("{name} is {ty} here and {other} in the PROTO");
                return Err(outer.source.refused(what, outer.at));
            }
            Some(_) => {}
            None => {
                let what = format!("{} of an EXTERNPROTO, not in the PROTO,", quoted(&field.name));
                outer.source.ignored(&what, outer.at);
            }
        }
        fields.push(number);
    }
    Ok(Found { prototype: inner, fields: Rc::from(fields) })
}
