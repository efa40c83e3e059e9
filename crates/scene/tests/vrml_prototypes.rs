//! Prototypes: copies, IS, scopes, events through them, collision nodes as prototypes, and
//! those that would never end.

mod vrml_samples;

use glam::Vec3;
use jostle_scene::nodes::{Kind, Transform};
use jostle_scene::{Extensions, LoadError, Scene};
use std::sync::Arc;
use vrml_samples::*;

fn transform<'s>(scene: &'s Scene, name: &str) -> &'s Transform {
    match kind(scene, name) {
        Kind::Transform(node) => node,
        other => panic!("{name} is {}", other.name()),
    }
}

#[test]
fn an_instance_is_a_copy_with_its_own_values() {
    let opened = text(
        "PROTO P [ field SFVec3f at 1 2 3 field MFNode in [ ] ] \
         { Transform { translation IS at children IS in } TimeSensor { } Group { } }\n\
         DEF A P { } DEF B P { at 4 5 6 in [ DEF G Group { } ] at 7 8 9 }",
    );
    assert!(opened.warnings.is_empty());
    let scene = &opened.scene;
    assert_eq!(transform(scene, "A").translation, Vec3::new(1.0, 2.0, 3.0));
    assert_eq!(transform(scene, "B").translation, Vec3::new(7.0, 8.0, 9.0));
    assert_eq!(transform(scene, "B").children[..], [scene.find("G").unwrap()]);
    let Kind::Instance(instance) = &scene.node(scene.roots()[0]).kind else { panic!() };
    assert_eq!((&*instance.prototype, instance.others.len()), ("P", 2));
    assert_eq!(scene.node(instance.root.unwrap()).place, column(2, 58), "in the prototype");
    assert_eq!(scene.roots().len(), 2);
}

#[test]
fn copies_share_their_lists() {
    let opened = text(
        "PROTO P [ field MFVec3f p [ 1 2 3 4 5 6 ] field MFInt32 i [ 7 ] ] { IndexedFaceSet {\n\
         coord Coordinate { point IS p } coordIndex IS i colorIndex [ 1 2 3 ] } }\nP { } P { }",
    );
    let mut points = Vec::new();
    let mut indices = Vec::new();
    for (_, node) in opened.scene.nodes() {
        match &node.kind {
            Kind::Coordinate(node) => points.push(node.point.clone()),
            Kind::IndexedFaceSet(node) => {
                indices.push((node.coord_index.clone(), node.color_index.clone()));
            }
            _ => {}
        }
    }
    assert!(points[0].len() == 2 && Arc::ptr_eq(&points[0], &points[1]));
    assert!(Arc::ptr_eq(&indices[0].0, &indices[1].0) && Arc::ptr_eq(&indices[0].1, &indices[1].1));
}

#[test]
fn nodes_in_defaults_are_built_once_per_instance() {
    let opened = text(
        "PROTO P [ field SFNode n DEF D Sphere { } ] { Group { children [ Shape { geometry IS n } \
         Shape { geometry IS n } Shape { geometry USE D } ] } }\nP { } P { } P { n Box { } }",
    );
    let spheres = opened.scene.nodes().filter(|(_, node)| node.kind.name() == "Sphere").count();
    assert_eq!(spheres, 2);
    assert_eq!(
        messages(&opened),
        ["USE of a node that is not there read as nothing, at line 2, column 131"]
    );
}

#[test]
fn scopes_hide_names() {
    let opened = text(
        "PROTO In [ ] { Sphere { } }\nDEF X Group { }\n\
         PROTO Out [ ] { PROTO In [ ] { Box { } } Group { children [ In { } USE X ] } }\n\
         Out { } In { }",
    );
    assert_eq!(
        messages(&opened),
        ["USE of unknown name \"X\" read as nothing, at line 4, column 68"]
    );
    only(&opened.scene, "Box");
    only(&opened.scene, "Sphere");
    // What is declared in a body is not known outside.
    let opened = text("PROTO Out [ ] { PROTO In [ ] { Box { } } In { } }\nIn { }");
    assert!(messages(&opened)[0].starts_with("unknown node \"In\""));
    // A prototype may take the name of a node, and mean that node inside.
    let opened = text("PROTO Box [ ] { Shape { geometry Box { } } } Box { }");
    assert_eq!(opened.scene.len(), 3);
}

#[test]
fn events_go_through_instances() {
    let opened = text(
        "PROTO Low [ eventIn SFVec3f go exposedField SFVec3f at 0 0 0 eventOut SFBool on ] {\n\
         DEF T1 Transform { set_translation IS go center IS at }\n\
         DEF T2 Transform { translation IS go scale_changed IS at }\n\
         DEF TS TimeSensor { isActive IS on } ROUTE TS.isActive TO TS.loop }\n\
         PROTO High [ eventIn SFVec3f move exposedField SFVec3f at 9 9 9 eventOut SFBool on ] {\n\
         Low { go IS move at IS at on IS on } DEF T3 Transform { translation IS move } }\n\
         DEF H High { } DEF P PositionInterpolator { } DEF S TimeSensor { }\n\
         ROUTE P.value_changed TO H.move\nROUTE H.at_changed TO P.keyValue\n\
         ROUTE H.at TO P.key\nROUTE H.on TO S.enabled\nROUTE P.value_changed TO H.set_at",
    );
    let expected = [
        "TS.isActive -> TS.loop",
        "P.value_changed -> T1.translation",
        "P.value_changed -> T2.translation",
        "P.value_changed -> T3.translation",
        "TS.isActive -> S.enabled",
        "P.value_changed -> T1.center",
        "P.value_changed -> T2.scale",
    ];
    assert_eq!(routes(&opened.scene), expected);
    let found = messages(&opened);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("ROUTE (\"at_changed\" gives SFVec3f, \"keyValue\" takes MFVec3f)")
    );
    let center = opened.scene.nodes().find_map(|(_, node)| match &node.kind {
        Kind::Transform(t) if node.name.as_deref() == Some("T1") => Some(t.center),
        _ => None,
    });
    assert_eq!(center, Some(Vec3::splat(9.0)));
}

#[test]
fn prototypes_in_their_own_bodies_are_errors() {
    let cases = [
        ("PROTO A [ ] { Group { children A { } } }", 2, 32),
        ("PROTO A [ ] {\nPROTO B [ ] { A { } } }", 3, 15),
        ("PROTO A [ ] { B { } }\nPROTO B [ ] { A { } }", 3, 15),
        ("PROTO A [ ] { B { } }\nPROTO C [ ] { A { } }\nPROTO B [ ] { C { } }", 4, 15),
        ("PROTO A [ field SFNode n A { } ] { }", 2, 26),
    ];
    for (source, line, at) in cases {
        let LoadError::Refused { place, what } = error(source) else { panic!("{source}") };
        assert!(what.ends_with("is part of its own body"), "{source}: {what}");
        // Of a circle, any place in it will do.
        if !source.contains("PROTO B [ ] {") {
            assert_eq!(place, column(line, at), "{source}");
        }
    }
    // Used before it is declared, without a circle.
    assert!(try_text("PROTO A [ ] { B { } }\nPROTO B [ ] { Group { } } A { }").is_ok());
    let files = [
        ("a.wrl", "EXTERNPROTO B [ ] \"b.wrl\" PROTO A [ ] { B { } } A { }"),
        ("b.wrl", "EXTERNPROTO A [ ] \"a.wrl\" PROTO B [ ] { A { } }"),
    ];
    let error = try_files(&files, Extensions::CollisionNodes).unwrap_err().to_string();
    assert!(error.ends_with("is part of its own body"), "{error}");
}

#[test]
fn a_few_lines_cannot_ask_for_all_memory() {
    let bomb = |inner: &str, step: &dyn Fn(usize) -> String| {
        let steps: String = (1..60).map(step).collect();
        format!("PROTO P0 [ ] {{ {inner} }}\n{steps}P59 {{ }}")
    };
    let doubling = |n: usize| {
        let inner = n - 1;
        format!("PROTO P{n} [ ] {{ Group {{ children [ P{inner} {{ }} P{inner} {{ }} ] }} }}\n")
    };
    let found = error(&bomb("Box { }", &doubling)).to_string();
    assert!(found.contains("prototypes make more than"), "{found}");
    // Without nodes at the end: the instances themselves count.
    assert!(try_text(&bomb("", &doubling)).is_err());
    // USE costs nothing.
    let mut uses = "DEF G0 Group { }\n".to_string();
    for n in 1..200 {
        let inner = n - 1;
        uses +=
            &format!("DEF G{n} Group {{ children [ USE G{inner} USE G{inner} USE G{inner} ] }}\n");
    }
    assert_eq!(text(&uses).scene.len(), 200);
    // Routes between instances multiply.
    let many = "TimeSensor { isActive IS o enabled IS i } ".repeat(3000);
    let routes = format!(
        "PROTO P [ eventIn SFBool i eventOut SFBool o ] {{ {many} }} DEF A P {{ }} ROUTE A.o TO A.i"
    );
    let found = error(&routes).to_string();
    assert!(found.contains("make more than 4194304 routes"), "{found}");
}

#[test]
fn extern_prototypes_come_from_other_files() {
    let main = "EXTERNPROTO E [ field SFFloat r eventIn SFBool no ] \
                [ \"gone.wrl\" \"lib.wrl#Two\" ]\n\
                EXTERNPROTO First [ ] \"lib.wrl\"\n\
                EXTERNPROTO Gone [ field SFInt32 x ] \"gone.wrl\"\n\
                DEF A E { r 3 } First { } Gone { x 1 } Gone { }";
    let lib = "PROTO One [ ] { Box { } }\nPROTO Two [ field SFFloat r 1 field SFFloat s 2 ] \
               { Sphere { radius IS r } Odd { } }\nGroup { }";
    let opened =
        try_files(&[("main.wrl", main), ("lib.wrl", lib)], Extensions::CollisionNodes).unwrap();
    let Kind::Sphere(sphere) = kind(&opened.scene, "A") else { panic!() };
    assert_eq!(sphere.radius, 3.0);
    only(&opened.scene, "Box");
    assert!(opened.scene.nodes().all(|(_, node)| node.kind.name() != "Group"), "only prototypes");
    let expected = [
        "\"no\" of an EXTERNPROTO, not in the PROTO, ignored, at line 2, column 1",
        "EXTERNPROTO \"Gone\" (not there) ignored, at line 4, column 1",
        "in \"lib.wrl\": unknown node \"Odd\" ignored, at line 3, column 76",
    ];
    assert_eq!(messages(&opened), expected);
    let wrong = [("main.wrl", main), ("lib.wrl", "PROTO Two [ ] { Box { size x } }")];
    let error = try_files(&wrong, Extensions::CollisionNodes).unwrap_err().to_string();
    let inside = "line 2, column 1: in \"lib.wrl\": line 2, column 28: expected a number, found \
                  something else";
    assert_eq!(error, inside);
    let wrong = [("main.wrl", main), ("lib.wrl", "PROTO Two [ field SFInt32 r 1 ] { }")];
    let error = try_files(&wrong, Extensions::CollisionNodes).unwrap_err().to_string();
    assert_eq!(error, "line 2, column 1: \"r\" is SFFloat here and SFInt32 in the PROTO");
}

#[test]
fn events_go_through_extern_prototypes() {
    let main = "EXTERNPROTO E [ eventOut SFBool b eventIn SFBool a ] \"lib.wrl\" DEF X E { }\n\
                ROUTE X.b TO X.a";
    let lib = "PROTO P [ eventIn SFBool a eventOut SFBool b ] { DEF T TimeSensor { isActive IS b \
               set_enabled IS a } }";
    let opened =
        try_files(&[("main.wrl", main), ("lib.wrl", lib)], Extensions::CollisionNodes).unwrap();
    assert_eq!(routes(&opened.scene), ["T.isActive -> T.enabled"]);
}

#[test]
fn v_collide_figures() {
    let figures = format!("{FIGURE_2}{FIGURE_4}");
    // A browser that knows the URN.
    let opened = try_files(&[("a.wrl", &figures)], Extensions::CollisionNodes).unwrap();
    assert_eq!(
        messages(&opened),
        [
            "type in small or capital letters, at line 13, column 12",
            "addresses of an EXTERNPROTO in braces, at line 15, column 1"
        ]
    );
    let scene = &opened.scene;
    let (foo, bar) = (scene.roots()[0], scene.roots()[1]);
    assert_eq!(scene.find("FOO"), Some(foo));
    let ignored = |id| match &scene.node(id).kind {
        Kind::CollisionObject(node) => node.ignored_objects.to_vec(),
        other => panic!("{other:?}"),
    };
    assert_eq!((ignored(foo), ignored(bar)), (vec![bar], vec![foo]));
    // A browser that does not, and one whose file has the alternative itself.
    let with_other = [("a.wrl", figures.as_str()), ("CollisionObject.wrl", FIGURE_3)];
    let outside = try_files(&with_other, Extensions::None).unwrap();
    let own = format!("{FIGURE_3}{FIGURE_4}");
    let inside = try_files(&[("a.wrl", &own)], Extensions::CollisionNodes).unwrap();
    for opened in [outside, inside] {
        for name in ["FOO", "BAR"] {
            let Kind::Collision(node) = kind(&opened.scene, name) else { panic!("{name}") };
            assert_eq!(node.children.len(), 1, "{name}");
            assert!(node.collide);
        }
        assert!(opened.scene.nodes().all(|(_, n)| !matches!(n.kind, Kind::CollisionObject(_))));
    }
    // Without the alternative, and without any declaration.
    let opened = try_files(&[("a.wrl", &figures)], Extensions::None).unwrap();
    assert!(messages(&opened)[2].starts_with("EXTERNPROTO \"CollisionObject\" (not there)"));
    let opened = try_files(&[("a.wrl", FIGURE_4)], Extensions::None).unwrap();
    assert!(messages(&opened)[0].starts_with("unknown node \"CollisionObject\""));
    let opened = try_files(&[("a.wrl", FIGURE_4)], Extensions::CollisionNodes).unwrap();
    assert!(opened.warnings.is_empty());
}

#[test]
fn collision_nodes_are_known_unless_disabled() {
    let source = "CollisionInterest { } CollisionResponse { } KeySensor { } CollisionObject { }\n\
                  Transform { velocityVector 1 2 3 notColliding IS x }";
    let source = source.replace(" notColliding IS x", "");
    let known = try_files(&[("a.wrl", &source)], Extensions::CollisionNodes).unwrap();
    assert!(known.warnings.is_empty());
    let plain = try_files(&[("a.wrl", &source)], Extensions::None).unwrap();
    assert_eq!(plain.warnings.len(), 4, "{:?}", messages(&plain));
    assert!(plain.scene.nodes().take(4).all(|(_, node)| matches!(node.kind, Kind::Unknown(_))));
    let Kind::Transform(node) = &plain.scene.node(only(&plain.scene, "Transform")).kind else {
        panic!()
    };
    assert_eq!(node.velocity_vector, Vec3::new(1.0, 2.0, 3.0));
    // The file's own prototype comes first.
    let own =
        text("PROTO KeySensor [ field SFInt32 keyValue 1 ] { Group { } } KeySensor { keyValue 2 }");
    assert!(own.scene.nodes().all(|(_, node)| !matches!(node.kind, Kind::KeySensor(_))));
    // The URN gives the node under any name and in any letters.
    let other =
        text("EXTERNPROTO X [ ] \"urn:EDU.unc.cs:geom:CollisionObject:1\" X { collide FALSE }");
    assert!(matches!(other.scene.node(other.scene.roots()[0]).kind, Kind::CollisionObject(_)));
}
