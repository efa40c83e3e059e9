//! Which nodes become bodies, and which bodies share a shape (rows V7, V10, O7).

mod common;

use common::{at, body, is_fixed, names, only_touch, scene, staged, touching};
use glam::DVec3;
use jostle_geom::Model;
use jostle_stage::{Checking, HierarchyFiles, Scenery, Stage, Staging, check};
use jostle_world::ShapeKind;
use std::sync::Arc;

const CUBE: &str = "Shape { geometry Box { size 1 1 1 } }";

/// A scene, and its bodies by the name of their object: `name` moves, `[name]` is fixed.
#[rustfmt::skip]
const TABLE: &[(&str, &str, &[&str])] = &[
    ("nothing", "", &[]),
    ("a shape in the world itself", "CUBE", &["[the world itself]"]),
    ("shapes that no Transform parts are one body", "CUBE Group { children [ CUBE CUBE ] }",
        &["[the world itself]"]),
    ("every Transform is an object",
        "DEF A Transform { children [ CUBE CUBE DEF B Transform { children CUBE } ] }
         DEF C Transform { children Group { children CUBE } }",
        &["[A/B]", "[A]", "[C]"]),
    ("an object without a name says where it stands", "Transform { children CUBE }",
        &["[Transform at line 2, column 1]"]),
    ("a Transform without a shape is nothing", "DEF A Transform { children Group {} }", &[]),
    ("what a route moves is not fixed",
        "DEF A Transform { children CUBE } DEF B Transform { children CUBE }
         DEF P PositionInterpolator {} ROUTE P.value_changed TO A.set_translation",
        &["A", "[B]"]),
    ("what is below what moves moves",
        "DEF A Transform { children DEF B Transform { children CUBE } }
         DEF P OrientationInterpolator {} ROUTE P.value_changed TO A.rotation",
        &["A/B"]),
    ("a CollisionObject is one body, which may meet others that stand still",
        "DEF O CollisionObject { children [ CUBE
           DEF A Transform { children CUBE } DEF B Transform { children CUBE } ] }",
        &["O"]),
    ("a CollisionObject with a part that moves",
        "DEF O CollisionObject { children [ CUBE DEF A Transform { children CUBE } ] }
         DEF P PositionInterpolator {} ROUTE P.value_changed TO A.translation",
        &["O", "O"]),
    ("a CollisionObject that does not collide is nothing",
        "DEF O CollisionObject { collide FALSE children CUBE }", &[]),
    ("a CollisionObject with a proxy is its proxy",
        "DEF O CollisionObject { proxy CUBE children [ CUBE Transform { children CUBE } ] }",
        &["O"]),
    ("a CollisionObject stays one when a Transform inside has a velocity",
        "DEF O CollisionObject { children [ CUBE
           DEF A Transform { velocityVector 1 0 0 children CUBE } ] }",
        &["O", "O"]),
    ("an interest names a Group, a Transform and a Shape",
        "DEF G Group { children [ CUBE DEF A Transform { children CUBE } ] }
         DEF T Transform { children [ CUBE DEF B Transform { children CUBE } ] }
         DEF S Shape { geometry Box {} }
         CollisionInterest { objectPath \"G\" interests [ \"T\" \"S\" ] }",
        &["[G]", "[G]", "[S]", "[T]", "[T]"]),
    ("a Transform with a velocity is one body",
        "DEF A Transform { velocityVector 1 0 0
           children [ CUBE DEF B Transform { scale 2 1 1 children CUBE } ] }",
        &["A"]),
    ("a part that moves inside it is another body of the same object",
        "DEF A Transform { velocityVector 1 0 0 children [ CUBE
           DEF B Transform { children [ CUBE Transform { children CUBE } ] } ] }
         DEF P PositionInterpolator {} ROUTE P.value_changed TO B.translation",
        &["A", "A"]),
    ("a response makes an object too",
        "DEF A Transform { collisionResponse CollisionResponse {}
           children [ CUBE Transform { children CUBE } ] }",
        &["A"]),
    ("each choice of a Switch is a body, hidden or not",
        "DEF A Transform { children Switch { whichChoice 1
           choice [ CUBE Group { children [ CUBE CUBE ] } ] } }",
        &["[A]", "[A]"]),
    ("each level of an LOD is a body",
        "LOD { range [ 5 ] level [ CUBE Transform { children CUBE } ] }",
        &["[Transform at line 2, column 65]", "[the world itself]"]),
    ("instances of a prototype are called like the instance",
        "PROTO P [ field SFVec3f at 0 0 0 ] { Transform { translation IS at children CUBE } }
         DEF A P {} DEF B P { at 5 0 0 } Group { children P { at 9 0 0 } }",
        &["[A]", "[B]", "[Transform at line 2, column 38]"]),
    ("a prototype of a Shape that an interest names",
        "PROTO P [] { CUBE } DEF A P {} DEF B Transform { children CUBE }
         CollisionInterest { objectPath \"A\" interests [ \"B\" ] }",
        &["[A]", "[B]"]),
    ("a node that is used twice stands there twice",
        "DEF A Transform { translation 3 0 0 children CUBE }
         DEF B Transform { translation 0 3 0 children USE A }",
        &["[A]", "[B/A]"]),
    ("a Collision is a body for the avatar's sake",
        "DEF T Transform { children [ CUBE Collision { children CUBE } ] }", &["[T]", "[T]"]),
    ("a Collision with a proxy has what the avatar meets and what the others meet",
        "DEF T Transform { children Collision { proxy CUBE children CUBE } }", &["[T]", "[T]"]),
    ("lines and points have no surface",
        "DEF A Transform { children Shape { geometry IndexedLineSet {
           coord Coordinate { point [ 0 0 0, 1 0 0 ] } coordIndex [ 0 1 ] } } }", &[]),
    ("a billboard moves with the viewer", "DEF A Transform { children
        Billboard { children CUBE } }", &["A"]),
];

#[test]
fn scenes_become_these_bodies() {
    for &(story, text, expected) in TABLE {
        let stage = staged(&text.replace("CUBE", CUBE));
        let name = |id| match is_fixed(&stage, id) {
            true => format!("[{}]", stage.name(id)),
            false => stage.name(id),
        };
        let mut found: Vec<String> = stage.world().ids().map(name).collect();
        found.sort();
        let found: Vec<&str> = found.iter().map(String::as_str).collect();
        assert_eq!(found, expected, "{story}");
        assert_eq!(stage.problems(), [""; 0], "{story}");
        let mut objects: Vec<&str> =
            expected.iter().map(|name| name.trim_matches(['[', ']'])).collect();
        objects.dedup();
        assert_eq!(stage.object_count(), objects.len(), "{story}");
    }
}

/// A scene in which all is tested, and the pairs of objects that touch.
#[rustfmt::skip]
const MEETINGS: &[(&str, &str, &[[&str; 2]])] = &[
    ("shapes without a Transform between them never meet",
        "CUBE Group { children CUBE } Switch { whichChoice 0 choice CUBE }", &[]),
    ("a Transform meets the Transform around it", "DEF A Transform { children [ CUBE
        DEF B Transform { children CUBE } ] }", &[["A", "A/B"]]),
    ("an object never meets itself",
        "DEF O CollisionObject { children [ CUBE DEF A Transform { children CUBE } ] }
         DEF P PositionInterpolator {} ROUTE P.value_changed TO A.translation", &[]),
    ("an object inside an object is part of neither",
        "DEF O CollisionObject { children [ CUBE DEF I CollisionObject { children CUBE } ] }",
        &[["O", "O/I"]]),
    ("a hidden choice meets nobody",
        "DEF A Transform { children Switch { choice CUBE } } DEF B Transform { children CUBE }",
        &[]),
    ("the chosen one meets",
        "DEF A Transform { children Switch { whichChoice 1 choice [ Group {} CUBE ] } }
         DEF B Transform { children CUBE }", &[["A", "B"]]),
    ("a node may be several choices",
        "DEF A Transform { children Switch { whichChoice 1 choice [ DEF C CUBE USE C USE C ] } }
         DEF B Transform { children CUBE }", &[["A", "B"]]),
    ("the proxy of a Collision is for the avatar, the children are for the others",
        "DEF A Transform { children Collision { children CUBE
           proxy Transform { translation 9 0 0 children CUBE } } }
         DEF B Transform { children CUBE } DEF C Transform { translation 9 0 0 children CUBE }",
        &[["A", "B"]]),
    ("the proxy of a CollisionObject stands for it",
        "DEF A CollisionObject { children CUBE
           proxy Transform { translation 9 0 0 children CUBE } }
         DEF B Transform { children CUBE } DEF C Transform { translation 9 0 0 children CUBE }",
        &[["A", "C"]]),
    ("two uses of one object meet each other",
        "DEF A CollisionObject { children CUBE } Transform { translation 0.5 0 0 children USE A }",
        &[["A", "A (2)"]]),
    ("who ignores is ignored",
        "DEF A CollisionObject { children CUBE ignoredObjects DEF B CollisionObject {
           children CUBE } } USE B DEF C Transform { children CUBE }",
        &[["A", "C"], ["B", "C"]]),
    ("interests, and nothing else",
        "DEF A Transform { children CUBE } DEF B Transform { children CUBE }
         DEF C Transform { children CUBE }
         CollisionInterest { objectPath \"A\" interests \"B\" collisionType 1 }", &[["A", "B"]]),
    ("interests beside objects",
        "DEF A CollisionObject { children CUBE } DEF B Transform { children CUBE }
         DEF C Transform { children CUBE }
         CollisionInterest { objectPath \"A\" interests \"B\" collisionType 1 }",
        &[["A", "B"], ["A", "C"], ["B", "C"]]),
];

#[test]
fn these_and_no_others_are_tested_against_each_other() {
    for &(story, text, expected) in MEETINGS {
        let staging = Staging { scenery: Scenery::Tested, ..Staging::default() };
        let stage = common::staged_with(&text.replace("CUBE", CUBE), staging);
        let found = touching(&stage);
        let found: Vec<[&str; 2]> = found.iter().map(|[a, b]| [&a[..], &b[..]]).collect();
        assert_eq!(found, expected, "{story}");
    }
}

#[test]
fn scenery_is_tested_against_what_moves_only() {
    let text = "DEF A Transform { children CUBE } DEF B Transform { children CUBE }
        DEF M Transform { velocityVector 0 1 0 children CUBE }";
    let stage = staged(&text.replace("CUBE", CUBE));
    assert_eq!(touching(&stage), [["A", "M"], ["B", "M"]]);
}

fn models(stage: &Stage) -> Vec<Arc<Model>> {
    let shapes = stage.world().ids().map(|id| stage.world().shape(id).unwrap());
    let model = |shape: &jostle_world::Shape| match shape.kind() {
        ShapeKind::Mesh(model) => Arc::clone(model),
        other => panic!("{other:?}"),
    };
    shapes.map(model).collect()
}

/// The scale is baked into the mesh once for all who have the same one.
#[test]
fn instances_with_the_same_scale_share_one_model() {
    let text = "DEF A Transform { rotation 0 1 0 0.3 children DEF S Shape { geometry Sphere {} } }
        DEF B Transform { translation 5 0 0 rotation 1 2 3 1.5 children USE S }
        DEF C Transform { translation 9 0 0 scale 2 1 1 children USE S }
        DEF D Transform { translation 9 9 0 rotation 0 0 1 1 scale 2 1 1 children USE S }
        DEF E Transform { translation 9 0 9 scale 3 3 3 children USE S }";
    let models = models(&staged(text));
    assert_eq!(models.len(), 5);
    let same = |a: usize, b: usize| Arc::ptr_eq(&models[a], &models[b]);
    assert!(same(0, 1) && same(2, 3));
    assert!(!same(0, 2) && !same(2, 4) && !same(0, 4));
    assert_eq!(models[2].mesh().triangle_count(), models[0].mesh().triangle_count());
    let widest = models[2].mesh().vertices().iter().fold(0.0, |most: f32, v| most.max(v.x));
    assert_eq!(widest, 2.0);
}

/// Copies of an object of several parts, each turned and moved otherwise.
#[test]
fn copies_of_an_object_of_parts_share_one_model() {
    let mut text = "DEF W Group { children [ DEF S Shape { geometry Box {} }
        Transform { rotation 1 1 1 0.4 translation 0.1 0.2 0.3 scale 1 2 3 children USE S } ] }\n"
        .to_string();
    for at in 0..5 {
        text += &format!(
            "Transform {{ velocityVector 0 1 0 translation {}.1 0.7 3.3 rotation 1 {at} 2 0.{at}7
              children USE W }}\n",
            at * 7
        );
    }
    let stage = staged(&text);
    let moving: Vec<_> = models(&stage).into_iter().skip(2).collect();
    assert_eq!(moving.len(), 5);
    assert!(moving.iter().all(|model| Arc::ptr_eq(model, &moving[0])));
}

#[test]
fn a_mirrored_shape_is_mirrored_and_its_faces_look_outward() {
    let tetrahedron = "Shape { geometry IndexedFaceSet {
        coord Coordinate { point [ 0 0 0, 1 0 0, 0 1 0, 0 0 1 ] }
        coordIndex [ 0 2 1 -1, 0 1 3 -1, 0 3 2 -1, 1 2 3 -1 ] } }";
    let stage = staged(&format!(
        "DEF A Transform {{ scale -2 1 1 children {tetrahedron} }}
         DEF B Transform {{ translation 9 0 0 children {tetrahedron} }}"
    ));
    for (name, corner) in [("A", DVec3::new(-2.0, 1.0, 1.0)), ("B", DVec3::ONE)] {
        let shape = stage.world().shape(body(&stage, name)).unwrap();
        let ShapeKind::Mesh(model) = shape.kind() else { panic!() };
        let mesh = model.mesh();
        let far = mesh.vertices().iter().fold(DVec3::ZERO, |most, v| {
            let v = v.as_dvec3();
            DVec3::select(v.abs().cmpgt(most.abs()), v, most)
        });
        assert_eq!(far, corner, "{name}");
        let volume: f64 = mesh
            .triangles()
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| mesh.vertices()[v as usize].as_dvec3());
                a.dot(b.cross(c)) / 6.0
            })
            .sum();
        assert!(volume > 0.0, "{name}: {volume}");
    }
}

#[test]
fn frames_are_right_inside_instances_of_prototypes() {
    // An instance stands on the path to its body and is not a place of its own.
    let stage = staged(&format!(
        "PROTO Inner [] {{ Transform {{ translation 0 0 5 children {CUBE} }} }}
         PROTO Outer [] {{ Transform {{ translation 3 0 0
           children Group {{ children DEF I Inner {{}} }} }} }}
         DEF A Transform {{ translation 7 0 0 children {CUBE} }}
         DEF B Outer {{}}
         DEF C Transform {{ translation 0 1 0 children [ {CUBE} DEF D Outer {{}} ] }}
         PROTO Bare [] {{ {CUBE} }}
         DEF E Transform {{ translation 0 0 -4 children Bare {{}} }}"
    ));
    let places: Vec<(&str, DVec3)> = vec![
        ("A", DVec3::new(7.0, 0.0, 0.0)),
        ("B/I", DVec3::new(3.0, 0.0, 5.0)),
        ("C", DVec3::new(0.0, 1.0, 0.0)),
        ("C/D/I", DVec3::new(3.0, 1.0, 5.0)),
        ("E", DVec3::new(0.0, 0.0, -4.0)),
    ];
    for (name, place) in places {
        assert_eq!(at(&stage, name), place, "{name}: {:?}", names(&stage));
    }
}

/// A shape in a prototype that is an object by itself: the path ends where the object begins.
#[test]
fn an_object_may_be_the_last_node_of_a_path_through_instances() {
    let stage = staged(&format!(
        "PROTO P [] {{ DEF S {CUBE} }} Transform {{ translation 2 0 0 children DEF A P {{}} }}
         DEF B Transform {{ translation 2.5 0 0 children {CUBE} }}
         CollisionInterest {{ objectPath \"A/S\" interests \"B\" collisionType 1 }}
         CollisionInterest {{ objectPath \"A\" interests \"B\" collisionType 1 }}"
    ));
    assert_eq!(stage.problems(), [""; 0]);
    assert_eq!(touching(&stage), [["A/S", "B"]]);
}

#[test]
fn check_counts_findings_of_objects_that_have_the_same_name() {
    // The same wheel on both sides, each with a nail in it.
    let text = "Transform { translation 0 0 2 children DEF WHEEL Transform { children CUBE } }
        Transform { translation 0 0 -2 children USE WHEEL }
        DEF NAIL Transform { children Shape { geometry Box { size 0.1 0.1 9 } } }";
    let scene = scene(&text.replace("CUBE", CUBE));
    let checked = check(scene, &Checking::default(), &mut HierarchyFiles::default()).unwrap();
    let found: Vec<[&str; 2]> = checked.findings.iter().map(|f| [&f.a[..], &f.b[..]]).collect();
    assert_eq!(found, [["NAIL", "WHEEL"], ["NAIL", "WHEEL (2)"]]);
}

#[test]
fn a_face_is_told_by_its_shape_and_its_number_there() {
    let text = "DEF A Transform { velocityVector 1 0 0 children [
          DEF LINE Shape { geometry IndexedLineSet {} }
          DEF LEFT Shape { geometry Box {} }
          Transform { translation 5 0 0 children DEF RIGHT Shape { geometry Box {} } } ] }
        DEF B Transform { translation 7 0 0 children Shape { geometry Box { size 2.1 1 1 } } }";
    let stage = staged(text);
    assert!(only_touch(&stage, "A", "B"));
    let a = body(&stage, "A");
    assert_eq!(stage.face(a, 0), Some(("A/LEFT".into(), 0)));
    let faces = stage.happened()[0].faces.clone().unwrap();
    assert_eq!((&faces.a.0[..], &faces.b.0[..]), ("A/RIGHT", "B"));
    assert!(faces.a.1 < 6 && faces.b.1 < 6, "{faces:?}");
}

#[test]
fn a_part_that_is_used_three_times_has_three_names_in_the_findings() {
    // All three are called BOLT along their paths; the second and third touch.
    let text = "Transform { children DEF BOLT Transform { children [ CUBE ] } }
        Transform { translation 5 0 0 children USE BOLT }
        Transform { translation 5.5 0 0 children USE BOLT }";
    let checked = check(
        scene(&text.replace("CUBE", &[CUBE, CUBE].join(" "))),
        &Checking::default(),
        &mut HierarchyFiles::default(),
    )
    .unwrap();
    let [finding] = &checked.findings[..] else { panic!("{:?}", checked.findings) };
    assert_eq!((&*finding.a, &*finding.b), ("BOLT (2)", "BOLT (3)"));
    let shapes = finding.faces.first().map(|pieces| (&pieces.a.0, &pieces.b.0)).unwrap();
    assert!(shapes.0.starts_with("BOLT (2)/Shape at line"), "{shapes:?}");
    assert!(shapes.1.starts_with("BOLT (3)/Shape at line"), "{shapes:?}");
}
