//! `check` against an obvious twin: everything flattened into triangles in the world with
//! matrices of its own, and every pair of objects tested.

mod common;

use common::{Random, number, scene};
use glam::{DMat4, DQuat, DVec3, DVec4, Vec3};
use jostle_geom::{Mesh, Model, Pair, Pose, Quality, Shape};
use jostle_scene::geometry::{Geometry, Tolerance, surface};
use jostle_scene::nodes::{Kind, Transform};
use jostle_scene::{NodeId, Rotation, Scene};
use jostle_stage::{CheckOptions, CheckReport, FindingKind, HierarchyFiles, check, check_stage};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Spheres of few triangles: what is tested here is where they are.
fn coarse() -> Tolerance {
    Tolerance::relative(0.1).unwrap()
}

/// The triangles of an object, in the world.
type Soup = Vec<[DVec3; 3]>;

/// The twin: every object by name.
struct Twin<'a> {
    scene: &'a Scene,
    objects: BTreeMap<String, Soup>,
    /// Names of objects that ignore each other, each pair in both orders.
    ignored: BTreeSet<[String; 2]>,
    /// The names of `CollisionObject` nodes, which are used once each.
    called: BTreeMap<NodeId, String>,
}

fn turn(rotation: &Rotation) -> DMat4 {
    let axis = rotation.axis.as_dvec3();
    if axis == DVec3::ZERO {
        return DMat4::IDENTITY;
    }
    DMat4::from_quat(DQuat::from_axis_angle(axis.normalize(), f64::from(rotation.angle)))
}

/// ISO/IEC 14772-1, 6.52: P' = T C R SR S -SR -C P.
fn matrix(node: &Transform) -> DMat4 {
    let move_by = |v: Vec3| DMat4::from_translation(v.as_dvec3());
    let axes = turn(&node.scale_orientation);
    move_by(node.translation)
        * move_by(node.center)
        * turn(&node.rotation)
        * axes
        * DMat4::from_scale(node.scale.as_dvec3())
        * axes.transpose()
        * move_by(-node.center)
}

impl Twin<'_> {
    /// `names` are those on the path, `object` the name of the object so far.
    fn add(&mut self, id: NodeId, map: DMat4, names: &[String], object: &Name) {
        let node = self.scene.node(id);
        let mut names = names.to_vec();
        names.extend(node.name.as_deref().map(str::to_string));
        let here = names.join("/");
        let mut inside = object.clone();
        let mut map = map;
        let children: Vec<NodeId> = match &node.kind {
            Kind::Transform(transform) => {
                map *= matrix(transform);
                if !object.closed {
                    inside.name = here;
                }
                transform.children.to_vec()
            }
            Kind::CollisionObject(object) => {
                inside = Name { name: here.clone(), closed: true };
                self.called.insert(id, here);
                if object.collide { object.children.to_vec() } else { Vec::new() }
            }
            Kind::Switch(node) => {
                let choice = usize::try_from(node.which_choice).ok();
                choice.and_then(|at| node.choice.get(at)).copied().into_iter().collect()
            }
            Kind::Group(node) => node.children.to_vec(),
            Kind::Shape(shape) => {
                self.add_shape(shape.geometry, map, &object.name);
                Vec::new()
            }
            _ => Vec::new(),
        };
        for child in children {
            self.add(child, map, &names, &inside);
        }
    }

    fn add_shape(&mut self, geometry: Option<NodeId>, map: DMat4, object: &str) {
        let Some(geometry) = geometry else { return };
        let made = surface(self.scene, geometry, coarse()).unwrap();
        let Geometry::Surface(mesh) = made else { return };
        let soup = self.objects.entry(object.to_string()).or_default();
        for triangle in mesh.triangles() {
            soup.push(triangle.map(|corner| {
                let vertex = mesh.vertices()[corner as usize].as_dvec3();
                let placed: DVec4 = map * vertex.extend(1.0);
                placed.truncate()
            }));
        }
    }

    fn note_ignored(&mut self) {
        for (&id, name) in &self.called {
            let Kind::CollisionObject(object) = &self.scene.node(id).kind else { continue };
            for other in object.ignored_objects.iter().filter_map(|id| self.called.get(id)) {
                self.ignored.insert([name.clone(), other.clone()]);
                self.ignored.insert([other.clone(), name.clone()]);
            }
        }
    }

    /// The distance of two objects: each is moved to the origin of the first, so that rounding
    /// to `f32` matters as little as may be.
    fn distance(&self, a: &str, b: &str) -> f64 {
        let (a, b) = (&self.objects[a], &self.objects[b]);
        let (a, pose_a) = shape(a);
        let (b, pose_b) = shape(b);
        Pair::new(&a, &pose_a, &b, &pose_b).distance().unwrap().distance
    }
}

fn shape(soup: &Soup) -> (Shape, Pose) {
    let origin = soup[0][0];
    let vertices = soup.iter().flatten().map(|&v| (v - origin).as_vec3()).collect();
    let triangles = (0..soup.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    let mesh = Mesh::from_triangles(vertices, triangles).unwrap();
    let model = Arc::new(Model::build(mesh, Quality::Fast));
    (Shape::mesh(model), Pose::from_translation(origin).unwrap())
}

/// The name of an object; nothing inside a closed one is another.
#[derive(Clone)]
struct Name {
    name: String,
    closed: bool,
}

fn twin(scene: &Scene) -> Twin<'_> {
    let (objects, ignored, called) = Default::default();
    let mut twin = Twin { scene, objects, ignored, called };
    let world = Name { name: "the world itself".to_string(), closed: false };
    for &root in scene.roots() {
        twin.add(root, DMat4::IDENTITY, &[], &world);
    }
    twin.note_ignored();
    twin
}

/// Draws a scene as text. Every Transform and every object has a name of its own; only shapes and
/// geometries are shared, so that names identify objects.
struct Drawing {
    random: Random,
    text: String,
    nodes: usize,
    objects: usize,
    shapes: usize,
}

impl Drawing {
    fn draw(seed: u64) -> String {
        let random = Random(seed);
        let mut drawing = Drawing { random, text: String::new(), nodes: 0, objects: 0, shapes: 0 };
        for _ in 0..3 + drawing.random.below(4) {
            drawing.group(0);
        }
        drawing.text
    }

    fn numbers(&mut self, count: usize, low: f32, high: f32) -> String {
        let numbers: Vec<String> =
            (0..count).map(|_| number(&mut self.random, low, high).to_string()).collect();
        numbers.join(" ")
    }

    fn group(&mut self, depth: usize) {
        let kind = if depth == 0 { self.random.below(3) } else { self.random.below(6) };
        match kind {
            0..2 => self.transform(depth),
            2 if depth < 2 => self.object(depth),
            3 => {
                let choice = self.random.below(4) as i32 - 1;
                self.text += &format!("Switch {{ whichChoice {choice} choice [ ");
                self.children(depth);
                self.text += "] }\n";
            }
            4 => {
                self.text += "Group { children [ ";
                self.children(depth);
                self.text += "] }\n";
            }
            _ => self.shape(),
        }
    }

    fn transform(&mut self, depth: usize) {
        self.nodes += 1;
        let spread = if depth == 0 { 2.5 } else { 1.2 };
        self.text += &format!("DEF T{} Transform {{ ", self.nodes);
        let translation = self.numbers(3, -spread, spread);
        self.text += &format!("translation {translation} ");
        if self.random.chance(60) {
            let (axis, angle) = (self.numbers(3, -1.0, 1.0), self.numbers(1, -4.0, 4.0));
            self.text += &format!("rotation {axis} {angle} ");
        }
        if self.random.chance(40) {
            let scale = match self.random.below(3) {
                0 => [number(&mut self.random, 0.3, 2.0); 3].map(|s| s.to_string()).join(" "),
                1 => self.numbers(3, 0.3, 2.0),
                _ => format!("-{}", self.numbers(3, 0.3, 2.0)),
            };
            self.text += &format!("scale {scale} ");
            if self.random.chance(50) {
                let turn = self.numbers(4, -1.0, 1.0);
                self.text += &format!("scaleOrientation {turn} ");
            }
        }
        if self.random.chance(30) {
            let center = self.numbers(3, -1.0, 1.0);
            self.text += &format!("center {center} ");
        }
        self.text += "children [ ";
        self.children(depth);
        self.text += "] }\n";
    }

    fn object(&mut self, depth: usize) {
        let number = self.objects;
        self.objects += 1;
        self.text += &format!("DEF O{number} CollisionObject {{ ");
        if number > 0 && self.random.chance(70) {
            // Only names that are complete when this is read.
            let other = self.random.below(number);
            if self.text.contains(&format!("# O{other}\n")) {
                self.text += &format!("ignoredObjects USE O{other} ");
            }
        }
        if self.random.chance(10) {
            self.text += "collide FALSE ";
        }
        self.text += "children [ ";
        self.children(depth);
        self.text += &format!("] }} # O{number}\n");
    }

    fn children(&mut self, depth: usize) {
        for _ in 0..1 + self.random.below(3) {
            if depth < 3 && self.random.chance(50) { self.group(depth + 1) } else { self.shape() }
        }
    }

    fn shape(&mut self) {
        if self.shapes > 0 && self.random.chance(40) {
            let shared = self.random.below(self.shapes);
            self.text += &format!("USE S{shared} ");
            return;
        }
        let geometry = match self.random.below(4) {
            0 => format!("Box {{ size {} }}", self.numbers(3, 0.2, 1.5)),
            1 => format!("Sphere {{ radius {} }}", self.numbers(1, 0.2, 0.8)),
            2 => format!(
                "IndexedFaceSet {{ coord Coordinate {{ point [ {} ] }}
                   coordIndex [ 0 1 2 -1 2 3 0 1 -1 3 1 4 ] }}",
                self.numbers(15, -1.0, 1.0)
            ),
            _ => "IndexedLineSet { coord Coordinate { point [ 0 0 0 1 1 1 ] } coordIndex [ 0 1 ] }"
                .to_string(),
        };
        self.text += &format!("DEF S{} Shape {{ geometry {geometry} }}\n", self.shapes);
        self.shapes += 1;
    }
}

#[test]
fn check_finds_what_testing_everything_against_everything_finds() {
    let (mut touch, mut close, mut apart, mut ignored) = (0, 0, 0, 0);
    for seed in 0..300 {
        let text = Drawing::draw(seed);
        let case = scene(&text);
        let twin = twin(&case);
        let clearance = 0.4;
        let check = |clearance| {
            let options =
                CheckOptions { clearance, tolerance: coarse(), ..CheckOptions::default() };
            check(case.clone(), &options, &mut HierarchyFiles::default()).unwrap()
        };
        let (found, only_touch) = (check(Some(clearance)), check(None).findings);
        let found: BTreeMap<[&str; 2], f64> =
            found.findings.iter().map(|f| ([&f.a[..], &f.b[..]], f.distance)).collect();
        let names: Vec<&String> = twin.objects.keys().collect();
        for (at, a) in names.iter().enumerate() {
            for b in &names[at + 1..] {
                let pair = [&a[..], &b[..]];
                let here = format!("seed {seed}: {a} and {b}\n{text}");
                if twin.ignored.contains(&[a.to_string(), b.to_string()]) {
                    assert_eq!(found.get(&pair), None, "{here}");
                    ignored += 1;
                    continue;
                }
                let expected = twin.distance(a, b);
                let touches = only_touch.iter().any(|f| [&f.a[..], &f.b[..]] == pair);
                assert_eq!(touches, found.get(&pair) == Some(&0.0), "{here}");
                // Where rounding to f32 may decide, either answer is right.
                let near = 1e-5;
                match found.get(&pair) {
                    Some(&distance) => {
                        let error = (distance - expected).abs();
                        assert!(error <= near, "{here}{distance}, expected {expected}");
                        if distance == 0.0 { touch += 1 } else { close += 1 }
                    }
                    None => {
                        assert!(expected > clearance - near, "{here}expected {expected}");
                        apart += 1;
                    }
                }
            }
        }
        let of_twin: BTreeSet<&str> = names.iter().map(|name| &name[..]).collect();
        let named = found.keys().flatten();
        assert!(named.clone().all(|name| of_twin.contains(name)), "seed {seed}: {found:?}");
    }
    // All answers occur often.
    assert!(
        touch > 300 && close > 150 && apart > 300 && ignored > 20,
        "{touch} {close} {apart} {ignored}"
    );
}

/// With numbers that `f32` holds there is no rounding, and distances are exact.
#[test]
fn distances_are_those_of_the_geometry() {
    let mut random = Random(7);
    for case in 0..100 {
        let mut place = || [(); 3].map(|()| (random.below(17) as f64 - 8.0) / 4.0);
        let (a, b) = (DVec3::from_array(place()), DVec3::from_array(place()));
        let text = format!(
            "DEF A Transform {{ translation {} {} {} children DEF I Transform {{ scale 2 0.5 1
               children Shape {{ geometry Box {{ size 0.5 2 1 }} }} }} }}
             DEF B Transform {{ translation {} {} {} scale 0.5 -0.5 0.5 children Shape {{
               geometry Box {{ size 2 2 2 }} }} }}",
            a.x, a.y, a.z, b.x, b.y, b.z
        );
        let options = CheckOptions { clearance: Some(100.0), ..CheckOptions::default() };
        let checked = check(scene(&text), &options, &mut HierarchyFiles::default()).unwrap();
        // Two boxes with edges of 1. One in the other touches where surfaces do.
        let gap = (a - b).abs() - DVec3::ONE;
        let expected = if a == b { 0.0 } else { gap.max(DVec3::ZERO).length() };
        let [finding] = &checked.findings[..] else { panic!("{case}: {checked:?}") };
        assert!((finding.distance - expected).abs() <= 1e-6 * expected, "{case}: {finding:?}");
        let [p, q] = finding.points.map(DVec3::from_array);
        assert!(((p - q).length() - expected).abs() <= 1e-6 * (1.0 + expected), "{finding:?}");
    }
}

#[test]
fn all_pairs_names_every_pair_of_faces_once() {
    let text = "DEF A Transform { children Shape { geometry Box {} } }
        DEF B Transform { translation 1.5 0.25 0.125 children Shape { geometry Box {} } }";
    let of = |all_pairs| {
        let options = CheckOptions { all_pairs, ..CheckOptions::default() };
        check(scene(text), &options, &mut HierarchyFiles::default()).unwrap().findings
    };
    assert_eq!(of(false)[0].faces.len(), 1);
    let faces = &of(true)[0].faces;
    let sorted: BTreeSet<_> = faces.iter().collect();
    assert_eq!(sorted.len(), faces.len());
    // The corner of each is in the other: three faces of A, each with two of B.
    assert_eq!(faces.len(), 6, "{faces:?}");
    assert!(faces.contains(&of(false)[0].faces[0]));
}

#[test]
fn names_to_ignore_may_be_of_something_above() {
    let text = "DEF CAR Group { children [ DEF A Transform { children Shape { geometry Box {} } }
          DEF AB Transform { translation 9 0 0 children Shape { geometry Box {} } } ] }
        DEF B Transform { children Shape { geometry Box {} } }
        DEF C Transform { translation 9 0 0 children Shape { geometry Box {} } }";
    let of = |ignore: &[[&str; 2]]| {
        let ignore = ignore.iter().map(|pair| pair.map(str::to_string)).collect();
        let options = CheckOptions { ignore, ..CheckOptions::default() };
        let checked = check(scene(text), &options, &mut HierarchyFiles::default()).unwrap();
        (checked.findings.len(), checked.problems.len())
    };
    assert_eq!(of(&[]), (2, 0));
    assert_eq!(of(&[["A", "B"]]), (1, 0));
    assert_eq!(of(&[["B", "CAR/A"]]), (1, 0));
    assert_eq!(of(&[["CAR", "B"], ["CAR", "C"]]), (0, 0));
    assert_eq!(of(&[["A", "C"]]), (2, 0));
    assert_eq!(of(&[["AR", "B"]]), (2, 1));
    assert_eq!(of(&[["", "B"], ["X/Y/Z", "/"]]), (2, 3));
}

#[test]
fn what_is_inside_touches_a_solid_only() {
    let text = "DEF A Transform { children Shape { geometry Box {} } }
        DEF B Transform { children Shape { geometry Sphere { radius 0.1 } } }";
    for solid in [false, true] {
        let options = CheckOptions { solid, ..CheckOptions::default() };
        let found = check(scene(text), &options, &mut HierarchyFiles::default()).unwrap();
        assert_eq!(found.findings.len(), usize::from(solid));
    }
}

/// A finer sphere has more triangles and comes closer (row V8).
#[test]
fn the_tolerance_says_how_round_a_sphere_is() {
    let text = "DEF A Transform { children Shape { geometry Sphere {} } }
        DEF B Transform { translation 2.0005 0 0 rotation 1 2 3 1
          children Shape { geometry Sphere {} } }";
    let of = |tolerance| {
        let tolerance = Tolerance::absolute(tolerance).unwrap();
        let options = CheckOptions { clearance: Some(1.0), tolerance, ..CheckOptions::default() };
        let found = check(scene(text), &options, &mut HierarchyFiles::default()).unwrap();
        (found.triangles, found.findings[0].distance)
    };
    let (coarse, fine) = (of(0.1), of(0.0005));
    assert!(coarse.0 * 10 < fine.0, "{coarse:?} {fine:?}");
    assert!(
        coarse.1 >= 0.0005 - 1e-6 && coarse.1 < 0.2005 && fine.1 <= 0.0016,
        "{coarse:?} {fine:?}"
    );
}

/// Boxes along the axes with corners on a lattice: intervals say how they lie to each other.
#[test]
fn kinds_of_boxes_are_those_of_their_intervals() {
    let mut random = Random(18);
    let mut seen: BTreeMap<FindingKind, usize> = BTreeMap::new();
    let mut missed = 0;
    for case in 0..2000 {
        // Low and high corner of each, in quarters. Now and then one is a copy of the other.
        let mut corners = || [(); 3].map(|()| (random.below(4), 2 * (1 + random.below(2))));
        let a = corners();
        let b = if case % 50 == 0 { a } else { corners() };
        let node = |name: &str, corners: [(usize, usize); 3]| {
            let middle = corners.map(|(low, size)| (low as f64 + size as f64 * 0.5) * 0.25);
            let size = corners.map(|(_, size)| size as f64 * 0.25);
            format!(
                "DEF {name} Transform {{ translation {} {} {} children Shape {{ geometry Box {{
                   size {} {} {} }} }} }} ",
                middle[0], middle[1], middle[2], size[0], size[1], size[2]
            )
        };
        let text = node("A", a) + &node("B", b);
        let ends = |corners: [(usize, usize); 3]| corners.map(|(low, size)| (low, low + size));
        let (a, b) = (ends(a), ends(b));
        let all = |test: &dyn Fn((usize, usize), (usize, usize)) -> bool| {
            (0..3).all(|axis| test(a[axis], b[axis]))
        };
        let expected = if a == b {
            Some(FindingKind::Identical)
        } else if !all(&|a, b| a.0 < b.1 && b.0 < a.1) {
            all(&|a, b| a.0 <= b.1 && b.0 <= a.1).then_some(FindingKind::Contact)
        } else if all(&|a, b| b.0 <= a.0 && a.1 <= b.1) {
            Some(FindingKind::AInsideB)
        } else if all(&|a, b| a.0 <= b.0 && b.1 <= a.1) {
            Some(FindingKind::BInsideA)
        } else {
            Some(FindingKind::Overlap)
        };
        // Without a common point of their surfaces, only solids touch.
        let deep = |a: (usize, usize), b: (usize, usize)| b.0 < a.0 && a.1 < b.1;
        let hidden = all(&deep) || all(&|a, b| deep(b, a));
        for solid in [false, true] {
            let options = CheckOptions { solid, ..CheckOptions::default() };
            let checked = check(scene(&text), &options, &mut HierarchyFiles::default()).unwrap();
            let found = checked.findings.first().map(|finding| finding.kind);
            let expected = expected.filter(|_| solid || !hidden);
            assert_eq!(found, expected, "case {case}, solid {solid}: {text}");
        }
        match expected {
            Some(kind) => *seen.entry(kind).or_default() += 1,
            None => missed += 1,
        }
    }
    assert!(seen.len() == 5 && seen.values().all(|&count| count >= 20), "{seen:?}");
    assert!(missed > 100, "{missed}");
}

#[test]
fn a_surface_that_is_not_closed_only_touches() {
    let text = "DEF A Transform { children Shape { geometry Box {} } }
        DEF B Transform { translation 1 0 0 children Shape { geometry IndexedFaceSet {
          coord Coordinate { point [ -1 0 0, 1 0 0, 0 1 0 ] } coordIndex [ 0 1 2 ] } } }";
    for solid in [false, true] {
        let options = CheckOptions { solid, ..CheckOptions::default() };
        let found = check(scene(text), &options, &mut HierarchyFiles::default()).unwrap();
        let kinds: Vec<FindingKind> = found.findings.iter().map(|finding| finding.kind).collect();
        assert_eq!(kinds, [FindingKind::Touch]);
    }
}

/// A cube whose corners are off by rounding is closed after welding.
#[test]
fn welding_closes_a_part_so_that_contact_is_distinguished_from_interference() {
    let text = "DEF A Transform { children Shape { geometry Box {} } }
        DEF B Transform { translation 1 0 0 children Shape { geometry IndexedFaceSet {
          coord Coordinate { point [ 0 0 0, 1 0 0, 0 1 0, 0 0 1, 1.000001 0 0 ] }
          coordIndex [ 0 2 1 -1 0 1 3 -1 0 3 2 -1 4 2 3 ] } } }";
    let kind = |weld| {
        let options = CheckOptions { weld, ..CheckOptions::default() };
        let found = check(scene(text), &options, &mut HierarchyFiles::default()).unwrap();
        found.findings[0].kind
    };
    assert_eq!(kind(None), FindingKind::Touch);
    assert_eq!(kind(Some(1e-5)), FindingKind::Contact);
    let options = CheckOptions { weld: Some(-1.0), ..CheckOptions::default() };
    assert!(check(scene(text), &options, &mut HierarchyFiles::default()).is_err());
}

/// Leaving out what is near nothing, and hierarchies of another quality, change no finding.
#[test]
fn bodies_that_are_left_out_change_nothing() {
    let (mut left_out, mut findings) = (0, 0);
    for seed in 0..150 {
        let text = Drawing::draw(seed);
        let clearance = Some(0.1);
        let of = |skip_isolated, quality| {
            let tolerance = coarse();
            let options = CheckOptions {
                clearance,
                tolerance,
                skip_isolated,
                quality,
                ..CheckOptions::default()
            };
            check_stage(scene(&text), &options, &mut HierarchyFiles::default()).unwrap()
        };
        let (whole, part) = (of(false, Quality::Default), of(true, Quality::Fast));
        let summary = |checked: &CheckReport| {
            let list = checked.findings.iter();
            let rounded = |distance: f64| (distance * 1e9).round() as i64;
            let list = list.map(|f| (f.a.clone(), f.b.clone(), f.kind, rounded(f.distance)));
            // Their order is that of depths, which are intervals.
            let mut list = list.collect::<Vec<_>>();
            list.sort();
            (list, checked.objects, checked.bodies, checked.triangles)
        };
        assert_eq!(summary(&whole.1), summary(&part.1), "seed {seed}: {text}");
        left_out += whole.0.world().len() - part.0.world().len();
        findings += part.1.findings.len();
    }
    assert!(left_out > 50 && findings > 300, "{left_out} {findings}");
}
