//! The walk over random scenes against a naive twin: recursion and 4×4 matrices.

use super::*;
use glam::{DQuat, DVec4};
use jostle_scene::nodes::{
    Anchor, Billboard, Collision, CollisionObject, Group, Inline, Instance, Kind, Lod, Shape,
    Switch, TimeSensor, Unknown,
};
use jostle_scene::{LodRule, NodeId, Scene, Viewer, walk};
use std::sync::Arc;

/// What both record of a visit.
struct Seen {
    path: Vec<NodeId>,
    matrix: DMat4,
    active: bool,
    in_proxy: bool,
}

struct Twin<'a> {
    scene: &'a Scene,
    viewer: Viewer,
    lod: LodRule,
    seen: Vec<Seen>,
}

impl Twin<'_> {
    fn visit(&mut self, path: &[NodeId], outside: DMat4, active: bool, in_proxy: bool) {
        let id = *path.last().unwrap();
        let kind = self.scene.node(id).kind.clone();
        let viewer = outside.inverse().transform_point3(self.viewer.position);
        let matrix = match &kind {
            Kind::Transform(node) => outside * matrix_of(node),
            Kind::Billboard(node) => outside * self.billboard(node, viewer, &outside),
            _ => outside,
        };
        if !matches!(kind, Kind::Instance(_)) {
            self.seen.push(Seen { path: path.to_vec(), matrix, active, in_proxy });
        }
        for (index, &child) in self.scene.children(id).iter().enumerate() {
            let shown = match &kind {
                Kind::Switch(node) => node.which_choice == index as i32,
                Kind::Lod(node) => index == self.level(node, viewer),
                _ => true,
            };
            self.visit(&[path, &[child]].concat(), matrix, active && shown, in_proxy);
        }
        let proxy = match &kind {
            Kind::Collision(node) => node.proxy,
            Kind::CollisionObject(node) => node.proxy,
            _ => None,
        };
        if let Some(proxy) = proxy {
            self.visit(&[path, &[proxy]].concat(), matrix, active, true);
        }
    }

    fn level(&self, node: &Lod, viewer: DVec3) -> usize {
        let distance = (viewer - node.center.as_dvec3()).length();
        let mut level = 0;
        if self.lod == LodRule::ByViewer {
            while level < node.range.len() && distance >= f64::from(node.range[level]) {
                level += 1;
            }
        }
        level.min(node.level.len().max(1) - 1)
    }

    /// By angles, where the walk has square roots.
    fn billboard(&self, node: &Billboard, viewer: DVec3, outside: &DMat4) -> DMat4 {
        let axis = node.axis_of_rotation.as_dvec3();
        if axis != DVec3::ZERO {
            let axis = axis.normalize();
            let flat = |v: DVec3| v - axis * axis.dot(v);
            let (from, to) = (flat(DVec3::Z), flat(viewer));
            return DMat4::from_axis_angle(axis, axis.dot(from.cross(to)).atan2(from.dot(to)));
        }
        let up = outside.inverse().transform_vector3(self.viewer.orientation * DVec3::Y);
        let z = viewer.normalize();
        let x = up.cross(z).normalize();
        DMat4::from_cols(x.extend(0.0), z.cross(x).extend(0.0), z.extend(0.0), DVec4::W)
    }
}

/// A node whose children are among those that are there already, so nothing goes round.
fn random_node(random: &mut Random, made: &[NodeId]) -> Kind {
    let mut pick = |most: usize| -> Vec<NodeId> {
        let recent = made.len().min(8);
        let count = if recent == 0 { 0 } else { random.below(most + 1) };
        (0..count).map(|_| made[made.len() - 1 - random.below(recent)]).collect()
    };
    let children = Arc::new(pick(3));
    let one = pick(1).first().copied();
    let prototype = Arc::from("P");
    match random.below(13) {
        0 | 1 => Shape { geometry: one, ..Shape::default() }.into(),
        2 => Group { children, ..Group::default() }.into(),
        3 | 4 => Transform { children, ..random.transform() }.into(),
        5 => Switch { choice: children, which_choice: random.below(4) as i32 - 1 }.into(),
        6 => {
            let mut range: Vec<f32> =
                (0..random.below(4)).map(|_| random.unit() as f32 * 20.0).collect();
            range.sort_by(f32::total_cmp);
            Lod { level: children, center: random.vector(5.0), range: Arc::new(range) }.into()
        }
        7 => Collision { children, proxy: one, ..Collision::default() }.into(),
        8 => CollisionObject { children, proxy: one, ..CollisionObject::default() }.into(),
        9 => {
            let axis = [Vec3::ZERO, Vec3::Y, random.vector(2.0)][random.below(3)];
            Billboard { axis_of_rotation: axis, children, ..Billboard::default() }.into()
        }
        10 => Inline { children, ..Inline::default() }.into(),
        11 => Kind::Instance(Box::new(Instance { prototype, root: one, others: Vec::new() })),
        _ => match random.below(3) {
            0 => Anchor { children, ..Anchor::default() }.into(),
            1 => TimeSensor::default().into(),
            _ => Kind::Unknown(Unknown { kind: prototype }),
        },
    }
}

fn random_scene(random: &mut Random) -> Scene {
    let mut scene = Scene::default();
    let mut made = Vec::new();
    for _ in 0..5 + random.below(25) {
        made.push(scene.add(random_node(random, &made)));
    }
    for _ in 0..1 + random.below(3) {
        scene.add_root(made[made.len() - 1 - random.below(made.len().min(4))]);
    }
    scene
}

#[test]
fn every_walk_is_as_its_twin_says() {
    let [mut hidden, mut shown, mut proxies, mut shared] = [0; 4];
    for seed in 0..3000 {
        let random = &mut Random(seed);
        let scene = random_scene(random);
        let orientation = DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), random.unit() * 6.0);
        let viewer = Viewer { position: random.vector(20.0).as_dvec3(), orientation };
        let lod = [LodRule::ByViewer, LodRule::Finest][random.below(2)];
        let mut twin = Twin { scene: &scene, viewer, lod, seen: Vec::new() };
        for &root in scene.roots() {
            twin.visit(&[root], DMat4::IDENTITY, true, false);
        }
        let mut expected = twin.seen.iter();
        walk(&scene, &viewer, lod, &mut |visit| {
            let twin = expected.next().unwrap_or_else(|| panic!("seed {seed}: one too many"));
            assert_eq!(visit.path, twin.path, "seed {seed}");
            let found = (visit.active, visit.in_proxy);
            assert_eq!(found, (twin.active, twin.in_proxy), "seed {seed}, {:?}", visit.path);
            assert!(
                agree(visit.placement, &twin.matrix),
                "seed {seed}, {:?}: {:?}, not {}",
                visit.path,
                visit.placement,
                twin.matrix
            );
            if visit.active {
                shown += 1
            } else {
                hidden += 1
            }
            proxies += usize::from(visit.in_proxy);
        })
        .unwrap();
        assert!(expected.next().is_none(), "seed {seed}: too few");
        shared += usize::from(twin.seen.len() > scene.len());
    }
    assert!(hidden > 1000 && shown > 1000 && proxies > 1000, "{hidden} {shown} {proxies}");
    assert!(shared > 300, "{shared}");
}
