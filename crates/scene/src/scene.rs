//! The scene graph that all formats are converted to: nodes, their fields, and routes for events.
//!
//! A scene is a graph in the sense of VRML97. glTF, OBJ, STL and PLY become `Transform` and
//! `Shape` nodes, an animation a `TimeSensor` with interpolators; so all other code knows one kind
//! of scene.

mod value;

pub(crate) use value::FieldValue;
pub use value::{FieldType, Image, List, Rgb, Rotation, Value};

use crate::error::Place;
use crate::nodes::{FieldIndex, Kind, Transform, Way};
use std::collections::HashSet;
use std::sync::Arc;

/// A node of one scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// The index of the node: nodes count from 0 in the order in which they were added.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node with its name and the place in the file where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its kind and its fields.
    pub kind: Kind,
    /// Its name: by DEF in VRML, by node or object names in other formats.
    pub name: Option<Arc<str>>,
    /// Its position in its file.
    pub place: Place,
}

/// A route for events from a field of one node to a field of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Route {
    /// The node that sends the event, and the index of the field.
    pub from: (NodeId, FieldIndex),
    /// The node that receives it.
    pub to: (NodeId, FieldIndex),
}

/// Why a field or a route does not exist.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// The kind of node has no field, or no event in this direction, with this name.
    #[error("{kind} has no {what} \"{name}\"")]
    NoField {
        /// The kind of node.
        kind: String,
        /// `field`, `eventIn` or `eventOut`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// The value has another type.
    #[error("\"{name}\" of {kind} is {expected}, not {found}")]
    WrongType {
        /// The kind of node.
        kind: String,
        /// The name of the field.
        name: String,
        /// The type of the field.
        expected: FieldType,
        /// The type of the value.
        found: FieldType,
    },
    /// A value names a node that is not in the scene.
    #[error("\"{name}\" of {kind} would hold a node that is not in this scene")]
    NoNode {
        /// The kind of node.
        kind: String,
        /// The name of the field.
        name: String,
    },
}

/// Nodes, the ones that stand in the world, and the routes between them.
///
/// Every node that a field names is in the scene. A `children` field may hold its own node in a
/// scene that was built by hand; [`walk`](crate::walk()) reports that as an error.
///
/// ```
/// use jostle_scene::Scene;
/// use jostle_scene::nodes::{Shape, Sphere, Transform};
/// use std::sync::Arc;
///
/// let mut scene = Scene::default();
/// let ball = scene.add(Sphere { radius: 0.5 });
/// let shape = scene.add(Shape { geometry: Some(ball), ..Shape::default() });
/// let place = scene.add(Transform { children: Arc::new(vec![shape]), ..Transform::default() });
/// scene.name(place, "BALL");
/// scene.add_root(place);
/// assert_eq!(scene.find("BALL"), Some(place));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    nodes: Vec<Node>,
    roots: Vec<NodeId>,
    routes: Vec<Route>,
    /// The same routes, to find doubles.
    known_routes: HashSet<Route>,
}

impl Scene {
    /// Adds a node, which is not in the world yet.
    pub fn add(&mut self, kind: impl Into<Kind>) -> NodeId {
        self.add_at(kind.into(), None, Place::Byte(0))
    }

    /// Adds a node with its name and place.
    pub(crate) fn add_at(&mut self, kind: Kind, name: Option<Arc<str>>, place: Place) -> NodeId {
        // The memory of so many nodes exceeds that of any machine.
        let id = NodeId(u32::try_from(self.nodes.len()).unwrap_or(u32::MAX));
        self.nodes.push(Node { kind, name, place });
        id
    }

    /// Gives a node a name.
    ///
    /// # Panics
    /// If the id is of another scene, as with an index that is out of bounds.
    pub fn name(&mut self, id: NodeId, name: &str) {
        self.nodes[id.index()].name = Some(Arc::from(name));
    }

    /// Puts a node into the world itself.
    pub fn add_root(&mut self, id: NodeId) {
        self.roots.push(id);
    }

    /// The nodes that stand in the world itself, in the order of the file.
    #[must_use]
    pub fn roots(&self) -> &[NodeId] {
        &self.roots
    }

    /// The node with this id.
    ///
    /// # Panics
    /// If the id is of another scene, as with an index that is out of bounds.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// The kind of the node with this id; of a prototype's instance, of the node that stands in
    /// the scene for it. None for an instance without such a node.
    ///
    /// # Panics
    /// If the id is of another scene.
    #[must_use]
    pub fn kind(&self, id: NodeId) -> Option<&Kind> {
        self.through_instances(id).map(|id| &self.nodes[id.index()].kind)
    }

    /// The node itself, or the node that stands in the scene for a prototype's instance.
    ///
    /// # Panics
    /// If the id is of another scene.
    #[must_use]
    pub fn through_instances(&self, id: NodeId) -> Option<NodeId> {
        let mut at = id;
        // Readers reject a node that contains itself. A scene that was built by hand may have a
        // cycle; as many steps as nodes are enough.
        for _ in 0..=self.nodes.len() {
            match &self.nodes[at.index()].kind {
                Kind::Instance(instance) => at = instance.root?,
                _ => return Some(at),
            }
        }
        None
    }

    /// All nodes with their ids, in the order in which they were added.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        (0..).map(NodeId).zip(&self.nodes)
    }

    /// The number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns true if the scene has no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The routes, in the order of the file.
    #[must_use]
    pub fn routes(&self) -> &[Route] {
        &self.routes
    }

    /// Adds a route from `from` to `to`, by the names that a ROUTE may use. An existing route is
    /// not added again (4.10.2).
    ///
    /// # Errors
    /// There are no such events, or they have different types.
    ///
    /// # Panics
    /// If an id is of another scene.
    pub fn connect(&mut self, from: (NodeId, &str), to: (NodeId, &str)) -> Result<(), FieldError> {
        let out = self.event(from.0, from.1, Way::Out)?;
        let into = self.event(to.0, to.1, Way::In)?;
        let (given, taken) =
            (self.node(from.0).kind.fields()[out].ty, self.node(to.0).kind.fields()[into].ty);
        if given != taken {
            return Err(self.wrong_type(to.0, to.1, taken, given));
        }
        self.connect_fields((from.0, out), (to.0, into));
        Ok(())
    }

    /// The same for fields by number, which the caller knows to fit. A reader has checked the
    /// types of what it connects.
    pub(crate) fn connect_fields(&mut self, from: (NodeId, FieldIndex), to: (NodeId, FieldIndex)) {
        let route = Route { from, to };
        if self.known_routes.insert(route) {
            self.routes.push(route);
        }
    }

    /// Moves all nodes and routes of another scene into this one, and returns its roots.
    pub(crate) fn absorb(&mut self, other: Scene) -> Vec<NodeId> {
        let shift = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let moved = |id: NodeId| NodeId(id.0.saturating_add(shift));
        for mut node in other.nodes {
            for index in 0..node.kind.fields().len() {
                let value = match node.kind.get(index) {
                    Some(Value::Node(id)) => Value::Node(id.map(moved)),
                    Some(Value::Nodes(ids)) => {
                        Value::Nodes(Arc::new(ids.iter().copied().map(moved).collect()))
                    }
                    _ => continue,
                };
                node.kind.set(index, value);
            }
            if let Kind::Instance(instance) = &mut node.kind {
                instance.root = instance.root.map(moved);
                instance.others.iter_mut().for_each(|id| *id = moved(*id));
            }
            self.nodes.push(node);
        }
        for Route { from, to } in other.routes {
            self.connect_fields((moved(from.0), from.1), (moved(to.0), to.1));
        }
        other.roots.into_iter().map(moved).collect()
    }

    /// Adds another scene as a part of this one, below a new `Transform`, which is added to the
    /// roots. The part is called `name`: the `Transform`, or, in a scene in which only one node
    /// has a name, that node, so that a file with one object is called like its file.
    ///
    /// ```
    /// use jostle_scene::nodes::Transform;
    /// use jostle_scene::{Reading, Scene, read};
    ///
    /// let text = b"o Body\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    /// let bolt = read("bolt.obj", text, &mut Reading::default())?.scene;
    /// let mut assembly = Scene::default();
    /// assembly.add_part("bolt", Transform::default(), bolt);
    /// assert!(assembly.find("bolt").is_some() && assembly.find("Body").is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn add_part(&mut self, name: &str, place: Transform, part: Scene) {
        let first = self.nodes.len();
        let roots = self.absorb(part);
        let mut named = self.nodes[first..].iter_mut().filter(|node| node.name.is_some());
        let only = named.next().filter(|_| named.next().is_none());
        let called: Option<Arc<str>> = Some(Arc::from(name));
        let own = match only {
            Some(node) => {
                node.name = called;
                None
            }
            None => called,
        };
        let place = Transform { children: Arc::new(roots), ..place };
        let place = self.add_at(place.into(), own, Place::Byte(0));
        self.add_root(place);
    }

    /// Changes a field of a node, whatever its access.
    ///
    /// # Errors
    /// There is no such field, the value has another type or names a node of another scene.
    ///
    /// # Panics
    /// If the id is of another scene.
    pub fn set(&mut self, id: NodeId, field: &str, value: Value) -> Result<(), FieldError> {
        let kind = &self.node(id).kind;
        let index = kind
            .field(field)
            .filter(|&index| kind.get(index).is_some())
            .ok_or_else(|| self.no_field(id, "field", field))?;
        let expected = kind.fields()[index].ty;
        if expected != value.field_type() {
            return Err(self.wrong_type(id, field, expected, value.field_type()));
        }
        if !self.holds_nodes_of(&value) {
            let kind = kind.name().to_string();
            return Err(FieldError::NoNode { kind, name: field.to_string() });
        }
        self.nodes[id.index()].kind.set(index, value);
        Ok(())
    }

    /// The node itself, for code in this crate that keeps what [`Scene`] promises.
    pub(crate) fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.index()]
    }

    /// The nodes that a node holds as parts of the scene, whether chosen or not: children, the
    /// choices of a `Switch`, the levels of an `LOD`. What a `Collision` has as `proxy` and a
    /// `Shape` as `geometry` does not belong to them.
    ///
    /// # Panics
    /// If the id is of another scene.
    #[must_use]
    pub fn children(&self, id: NodeId) -> &[NodeId] {
        match &self.node(id).kind {
            Kind::Anchor(node) => &node.children,
            Kind::Billboard(node) => &node.children,
            Kind::Collision(node) => &node.children,
            Kind::CollisionObject(node) => &node.children,
            Kind::Group(node) => &node.children,
            Kind::Inline(node) => &node.children,
            Kind::Lod(node) => &node.level,
            Kind::Switch(node) => &node.choice,
            Kind::Transform(node) => &node.children,
            Kind::Instance(node) => node.root.as_slice(),
            _ => &[],
        }
    }

    /// The first node, walking down from the roots in the order of the file, that a path of names
    /// leads to: `"WHEEL"`, or `"CAR/WHEEL"` for a `WHEEL` somewhere below a `CAR`.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<NodeId> {
        let names: Vec<&str> = path.split('/').collect();
        // What is left to look at, the first on top, with how many names stand above it.
        let mut left: Vec<(NodeId, usize)> =
            self.roots.iter().rev().map(|&root| (root, 0)).collect();
        // A node that was seen with as many names need not be seen again: it leads nowhere new.
        let mut seen = vec![0; self.nodes.len()];
        while let Some((id, above)) = left.pop() {
            if seen[id.index()] > above {
                continue;
            }
            seen[id.index()] = above + 1;
            let mut passed = above;
            if self.node(id).name.as_deref() == Some(names[above]) {
                if above + 1 == names.len() {
                    return Some(id);
                }
                passed += 1;
            }
            left.extend(self.children(id).iter().rev().map(|&child| (child, passed)));
        }
        None
    }

    fn event(&self, id: NodeId, name: &str, way: Way) -> Result<FieldIndex, FieldError> {
        let what = match way {
            Way::In => "eventIn",
            Way::Out => "eventOut",
        };
        self.node(id).kind.event(name, way).ok_or_else(|| self.no_field(id, what, name))
    }

    fn holds_nodes_of(&self, value: &Value) -> bool {
        let known = |id: &NodeId| id.index() < self.nodes.len();
        match value {
            Value::Node(id) => id.iter().all(known),
            Value::Nodes(ids) => ids.iter().all(known),
            _ => true,
        }
    }

    fn no_field(&self, id: NodeId, what: &'static str, name: &str) -> FieldError {
        let kind = self.node(id).kind.name().to_string();
        FieldError::NoField { kind, what, name: name.to_string() }
    }

    fn wrong_type(
        &self,
        id: NodeId,
        name: &str,
        expected: FieldType,
        found: FieldType,
    ) -> FieldError {
        let kind = self.node(id).kind.name().to_string();
        FieldError::WrongType { kind, name: name.to_string(), expected, found }
    }
}
