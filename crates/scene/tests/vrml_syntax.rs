//! VRML97 word by word: every construct of the grammar, every type of value, every message's place.

mod vrml_samples;

use glam::{Vec2, Vec3};
use jostle_scene::nodes::{Kind, Transform};
use jostle_scene::{LoadError, Place, Reading, Rgb, Rotation, Value, Warning, read};
use vrml_samples::*;

fn value(opened: &jostle_scene::Opened, kind: &str, field: &str) -> Value {
    let node = &opened.scene.node(only(&opened.scene, kind)).kind;
    node.field(field).and_then(|index| node.get(index)).expect("a stored field")
}

fn strings(list: &[&str]) -> Value {
    Value::Strings(std::sync::Arc::new(list.iter().map(|&text| text.into()).collect()))
}

#[test]
fn every_sample_is_read() {
    for (name, bytes) in all() {
        let opened = read("a.wrl", &bytes, &mut Reading::default());
        let opened = opened.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(opened.scene.is_empty(), name == "empty", "{name}");
    }
}

#[test]
fn nodes_and_fields() {
    let opened = text(
        "DEF A Transform { translation 1,2 -.5e1 center 1. +2 3E0 \
         children [ Group {}, Group { } ] }",
    );
    assert!(opened.warnings.is_empty());
    assert_eq!(opened.scene.roots(), [opened.scene.find("A").unwrap()]);
    let Kind::Transform(node) = kind(&opened.scene, "A") else { panic!() };
    let expected = Transform {
        translation: Vec3::new(1.0, 2.0, -5.0),
        center: Vec3::new(1.0, 2.0, 3.0),
        children: node.children.clone(),
        ..Transform::default()
    };
    assert_eq!(**node, expected);
    assert_eq!(node.children.len(), 2);
    assert_eq!(opened.scene.node(opened.scene.roots()[0]).place, column(2, 1));
    assert_eq!(opened.scene.node(node.children[1]).place, column(2, 79));
}

#[test]
fn the_last_value_of_a_field_counts() {
    assert_eq!(value(&text("Sphere { radius 1 radius 2 }"), "Sphere", "radius"), Value::Float(2.0));
}

#[test]
fn def_and_use_share_a_node() {
    let opened = text("Group { children [ DEF S Shape {} DEF S Shape {} USE S ] } USE S");
    assert_eq!(opened.scene.len(), 3);
    let group = only(&opened.scene, "Group");
    let children = opened.scene.children(group);
    assert_eq!(children[1], children[2], "USE means the last DEF");
    assert_eq!(opened.scene.roots(), [group, children[1]]);
}

#[test]
fn use_of_an_unknown_name_is_nothing() {
    let opened = text("Group { children [ USE X USE X ] } Shape { geometry USE Y }");
    let expected = [
        "USE of unknown name \"X\" read as nothing: 2, the first at line 2, column 20",
        "USE of unknown name \"Y\" read as nothing, at line 2, column 53",
    ];
    assert_eq!(messages(&opened), expected);
    assert!(opened.scene.children(only(&opened.scene, "Group")).is_empty());
}

#[test]
fn names_take_what_is_no_delimiter() {
    let opened = text(
        "DEF a.b-c'\u{e9}\u{65e5}:/1 Group{}\nROUTE a.b-c'\u{e9}\u{65e5}:/1.children TO \
                       a.b-c'\u{e9}\u{65e5}:/1 . set_children",
    );
    assert!(opened.scene.find("a.b-c'\u{e9}\u{65e5}:").is_none(), "a path, not this name");
    let group = only(&opened.scene, "Group");
    assert_eq!(opened.scene.node(group).name.as_deref(), Some("a.b-c'\u{e9}\u{65e5}:/1"));
    assert_eq!(opened.scene.routes().len(), 1);
}

/// Each type with two writings, as field of a prototype with this default and as a given value.
#[test]
fn all_types_of_fields() {
    // Type, default, value; a node with a field of the type, and that field.
    let types = [
        ("SFBool", "TRUE", "FALSE", "Cone", "side"),
        ("SFColor", ".1 .2 .3", "1 0 0", "Material", "diffuseColor"),
        ("SFFloat", "1.5", "-2e-3", "Sphere", "radius"),
        ("SFImage", "0 0 0", "1 2 4 0xFFFFFFFF 7", "PixelTexture", "image"),
        ("SFInt32", "-7", "0x7fffffff", "Switch", "whichChoice"),
        ("SFNode", "NULL", "Box { }", "Shape", "geometry"),
        ("SFRotation", "0 0 1 0", "1 0 0 3.14", "Transform", "rotation"),
        ("SFString", "\"\"", "\"a \\\" b \\\\ c \\d\nnext\"", "Fog", "fogType"),
        ("SFTime", "0", "1234567890.123456789", "TimeSensor", "startTime"),
        ("SFVec2f", "0 0", "1 -1", "TextureTransform", "center"),
        ("SFVec3f", "0 0 0", "1 2 3", "Transform", "scale"),
        ("MFColor", "[ ]", "[ 1 0 0, 0 1 0 ]", "Color", "color"),
        ("MFFloat", "1", "[ 1 2, 3 ]", "ScalarInterpolator", "key"),
        ("MFInt32", "[ 1 ]", "[ 0 1 2 -1 ]", "IndexedFaceSet", "coordIndex"),
        ("MFNode", "[ ]", "[ Group { } Shape { } ]", "Group", "children"),
        ("MFRotation", "0 1 0 1", "[ 1 0 0 1 0 1 0 2 ]", "Extrusion", "orientation"),
        ("MFString", "\"one\"", "[ \"a\" \"b\" ]", "WorldInfo", "info"),
        ("MFTime", "[ 1 2 ]", "[ ]", "", ""),
        ("MFVec2f", "1 2", "[ 1 2 3 4 ]", "TextureCoordinate", "point"),
        ("MFVec3f", "1 2 3", "[ 1 2 3 4 5 6 ]", "Coordinate", "point"),
    ];
    for (ty, default, given, node, field) in types {
        let body = if node.is_empty() {
            format!("Script {{ field {ty} x IS x }}")
        } else {
            format!("{node} {{ {field} IS x }}")
        };
        let proto = format!("PROTO P [ field {ty} x {default} ] {{ {body} }}\n");
        let used = text(&format!("{proto} DEF A P {{ }} DEF B P {{ x {given} }}"));
        if node.is_empty() {
            continue;
        }
        for (name, plain) in [("A", default), ("B", given)] {
            let twin = text(&format!("DEF T {node} {{ {field} {plain} }}"));
            let index = kind(&twin.scene, "T").field(field).unwrap();
            let stored = |scene, name| match kind(scene, name).get(index).unwrap() {
                // Ids differ; what they stand for must not.
                Value::Node(id) => format!("{:?}", id.map(|id| scene.node(id).kind.name())),
                Value::Nodes(ids) => {
                    format!(
                        "{:?}",
                        ids.iter().map(|&i| scene.node(i).kind.name()).collect::<Vec<_>>()
                    )
                }
                value => format!("{value:?}"),
            };
            assert_eq!(stored(&used.scene, name), stored(&twin.scene, "T"), "{ty} {plain}");
        }
        let wrong = if ty.ends_with("Node") { "7" } else { "Group { }" };
        assert!(try_text(&format!("{proto} P {{ x {wrong} }}")).is_err(), "{ty}");
    }
}

#[test]
fn values_are_what_is_written() {
    let opened = text("Fog { fogType \"a \\\" b \\\\ c \\d\n, #e\" color 1 .5 0 }");
    assert_eq!(value(&opened, "Fog", "fogType"), Value::String("a \" b \\ c \\d\n, #e".into()));
    assert_eq!(value(&opened, "Fog", "color"), Value::Color(Rgb(Vec3::new(1.0, 0.5, 0.0))));
    let opened = text("Transform { rotation 0 1 0 1.5 } TextureTransform { scale 2 3 }");
    let rotation = Rotation { axis: Vec3::Y, angle: 1.5 };
    assert_eq!(value(&opened, "Transform", "rotation"), Value::Rotation(rotation));
    assert_eq!(value(&opened, "TextureTransform", "scale"), Value::Vec2(Vec2::new(2.0, 3.0)));
    let opened = text("WorldInfo { info \"alone\" } TimeSensor { startTime 1234567890.125 }");
    assert_eq!(value(&opened, "WorldInfo", "info"), strings(&["alone"]));
    assert_eq!(value(&opened, "TimeSensor", "startTime"), Value::Time(1_234_567_890.125));
    let opened = text("IndexedFaceSet { coordIndex [ 0x10 -0x1 0XffffFFFF -2147483648 +3 ] }");
    let ints = std::sync::Arc::new(vec![16, -1, -1, i32::MIN, 3]);
    assert_eq!(value(&opened, "IndexedFaceSet", "coordIndex"), Value::Ints(ints));
    let opened = text("PixelTexture { image 2 1 1 0xFFFFFFFF 4294967295 }");
    let Value::Image(image) = value(&opened, "PixelTexture", "image") else { panic!() };
    assert_eq!((image.width, image.height, image.components), (2, 1, 1));
    assert_eq!(image.pixels, [u32::MAX, u32::MAX]);
}

#[test]
fn comments_end_with_their_line_only() {
    for end in ["\n", "\r", "\r\n"] {
        let opened = text(&format!("# }} {{ \"{end}Sphere {{ # radius 2{end}radius 3 }}#"));
        assert_eq!(value(&opened, "Sphere", "radius"), Value::Float(3.0));
    }
}

#[test]
fn errors_say_where_and_what() {
    let cases = [
        ("Sphere { radius x }", 2, 17, "expected a number, found \"x\""),
        ("Sphere { radius }", 2, 17, "expected a number, found \"}\""),
        ("\n  Sphere { radius \"1\" }", 3, 19, "expected a number, found \"\\\"\""),
        ("Cone { side 1 }", 2, 13, "expected TRUE or FALSE, found \"1\""),
        ("Switch { whichChoice 1.5 }", 2, 22, "expected a whole number of 32 bits, found \"1.5\""),
        ("Switch { whichChoice 2147483648 }", 2, 22, "expected a whole number of 32 bits"),
        ("WorldInfo { title x }", 2, 19, "expected a string in quotes, found \"x\""),
        ("WorldInfo { title \"x }", 2, 19, "expected \" to close what begins here, found the end"),
        ("Group {\r\n children [", 3, 11, "expected ] to close what begins here, found the end"),
        ("Group\r{", 3, 1, "expected } to close what begins here, found the end"),
        ("Group ]", 2, 7, "expected {, found \"]\""),
        ("Shape { geometry 3 }", 2, 18, "expected a node or NULL, found \"3\""),
        ("Shape { geometry [ Box { } ] }", 2, 18, "expected a node or NULL, found \"[\""),
        ("DEF 3D Group { }", 2, 5, "expected a name for the node, found \"3D\""),
        ("DEF A { }", 2, 7, "expected a kind of node, found \"{\""),
        ("}", 2, 1, "expected a node, PROTO, EXTERNPROTO or ROUTE, found \"}\""),
        ("Group { 5 }", 2, 9, "expected the name of a field or }, found \"5\""),
        ("Group { DEF A Box { } }", 2, 9, "expected the name of a field or }, found \"DEF\""),
        ("Group { odd names }", 2, 19, "expected {, since the field is unknown, found \"}\""),
        ("Foo { [ { \" } ] }", 2, 5, "expected the closing brace or bracket to close"),
        ("ROUTE A.b C.d", 2, 11, "expected TO, found \"C.d\""),
        ("ROUTE A TO C.d", 2, 7, "expected the name of a node, a point and the name of an event"),
        (
            "PROTO P [ field SFFoo a 1 ] { }",
            2,
            17,
            "expected a type, such as SFFloat, found \"SFFoo",
        ),
        (
            "PROTO P [ feld SFInt32 a 1 ] { }",
            2,
            11,
            "expected eventIn, eventOut, field, exposedField",
        ),
        ("PROTO P [ ] { Sphere { radius IS r } }", 2, 34, "expected a name from the interface"),
        ("Sphere { radius IS r }", 2, 20, "IS outside the body of a prototype"),
        (
            "PROTO P [ field SFInt32 r 1 ] { Sphere { radius IS r } }",
            2,
            52,
            "\"radius\" is field SFFloat, but \"r\" is field SFInt32",
        ),
        ("PixelTexture { image 1 1 5 0 }", 2, 26, "a pixel has at most 4 components"),
        ("PixelTexture { image 9 9 1 0 }", 2, 26, "an image of 9 x 9 pixels needs 161 bytes"),
        ("Coordinate { point 0 1e39 0 }", 2, 22, "a coordinate must be finite"),
        ("Coordinate { point nan 0 0 }", 2, 20, "a coordinate must be finite"),
        ("Sphere { radius \0 }", 2, 17, "expected a number, found \"\\0\""),
    ];
    for (source, line, at, message) in cases {
        let found = error(source).to_string();
        let place = format!("line {line}, column {at}: ");
        assert!(found.starts_with(&place), "{source}: {found}");
        assert!(found[place.len()..].starts_with(message), "{source}: {found}");
    }
}

#[test]
fn unknown_things_are_left_out_with_their_place() {
    let opened = text(
        "DEF U Foo { a \"}\" [ {\n# }\n } ] Foo { } }\nROUTE U.x TO U.y\nGroup { children USE U }",
    );
    assert!(opened.warnings.iter().any(|warning| *warning
        == Warning::Ignored {
            what: "unknown node \"Foo\"".to_string(),
            count: 1,
            first: column(2, 1)
        }));
    let opened =
        text("Group { new 1 2 old \"a\" b TRUE c NULL d IS x e [ [ ] ] f DEF A B { } g USE A }");
    assert_eq!(opened.warnings.len(), 8, "{:?}", messages(&opened));
    assert_eq!(opened.scene.len(), 1);
    assert_eq!(
        messages(&opened)[0],
        "unknown field \"new\" of \"Group\" ignored, at line 2, column 9"
    );
}

#[test]
fn what_is_clear_is_mended() {
    let cases = [
        ("Cone { side true }", "TRUE or FALSE in small letters"),
        ("Switch { whichChoice 2.0 }", "a whole number written with a point or exponent"),
        ("IndexedFaceSet { coordIndex [ 0 1-1 ] }", "no blank after a number"),
        ("Material { transparency .3diffuseColor 1 0 0 }", "no blank after a number"),
        ("Transform { enslaved 1 }", "a number read as TRUE or FALSE"),
        ("Normal { vector [ -nan 0 inf ] }", "a number that is not finite read as 0"),
        ("PROTO P [ eventIn SFTIME x ] { }", "type in small or capital letters"),
        ("EXTERNPROTO P [ field SFBool x TRUE ] \"\"", "default value in an EXTERNPROTO left out"),
        (
            "PROTO P [ field SFBool x TRUE field SFInt32 x 1 ] { }",
            "a field or event declared twice",
        ),
        ("DEF A Group { } EXPORT A AS B", "EXPORT or IMPORT, a statement of X3D, ignored"),
        (
            "PROTO P [ eventIn SFVec3f x ] { Group { bboxSize IS x } }",
            "field that IS eventIn, without effect",
        ),
    ];
    for (source, message) in cases {
        let found = messages(&text(source));
        assert!(found.len() == 1 && found[0].starts_with(message), "{source}: {found:?}");
    }
    let opened = text("Transform { enslaved TRUE remote 1 }");
    assert_eq!(value(&opened, "Transform", "enslaved"), Value::Bool(true));
    assert_eq!(value(&opened, "Transform", "remote"), Value::Bool(true));
}

#[test]
fn coordinates_that_lose_digits_are_counted() {
    let opened = text("Coordinate { point [ 0.1 16777217 0.333333333333 16777216 1e-7 3 ] }");
    let lost = Warning::DigitsLost {
        count: 2,
        of: None,
        largest: 1.0,
        shortest_edge: None,
        first: column(2, 26),
    };
    assert_eq!(opened.warnings, [lost]);
    // Normals are not coordinates.
    assert!(text("Normal { vector [ 0.333333333333 16777217 0 ] }").warnings.is_empty());
}

#[test]
fn a_script_is_kept_and_not_run() {
    let opened = text(
        "DEF T TouchSensor { } DEF S Script { eventIn SFTime t eventOut SFBool b field SFNode n \
         DEF IN Group { } url \"javascript:\" }\nROUTE T.touchTime TO S.t\nROUTE S.b TO T.enabled\n\
         ROUTE S.url TO S.url\nUSE IN",
    );
    assert_eq!(messages(&opened), ["Script (never run) ignored, at line 2, column 36"]);
    assert_eq!(value(&opened, "Script", "url"), strings(&["javascript:"]));
    assert_eq!(routes(&opened.scene), ["S.url -> S.url"]);
    assert!(opened.scene.find("IN").is_some());
    // Its declarations are read as such.
    for wrong in ["field SFInt32 x TRUE", "eventIn SFFoo x", "field SFInt32 x IS y"] {
        assert!(try_text(&format!("Script {{ {wrong} }}")).is_err(), "{wrong}");
    }
}

#[test]
fn routes_that_do_not_fit_are_left_out() {
    let opened = text(
        "DEF T TimeSensor { } DEF X Transform { }\n\
         ROUTE T.fraction_changed TO X.translation\nROUTE T.nothing TO X.set_scale\n\
         ROUTE T.loop TO X.bboxSize\nROUTE T.isActive TO Y.z\nROUTE T.isActive TO T.isActive\n\
         ROUTE T.isActive TO T.set_enabled ROUTE T.isActive TO T.enabled\n\
         Group { ROUTE L.children TO L.addChildren children DEF L Group { } }",
    );
    let expected = [
        "ROUTE (\"fraction_changed\" gives SFFloat, \"translation\" takes SFVec3f) \
         ignored, at line 3, column 1",
        "ROUTE (\"TimeSensor\" has no eventOut \"nothing\") ignored, at line 4, column 1",
        "ROUTE (\"Transform\" has no eventIn \"bboxSize\") ignored, at line 5, column 1",
        "ROUTE (there is no node \"Y\") ignored, at line 6, column 1",
        "ROUTE (\"TimeSensor\" has no eventIn \"isActive\") ignored, at line 7, column 1",
    ];
    assert_eq!(messages(&opened), expected);
    assert_eq!(routes(&opened.scene), ["T.isActive -> T.enabled", "L.children -> L.addChildren"]);
}

#[test]
fn a_node_that_contains_itself_is_an_error() {
    let cases = [
        ("DEF A Group { children [ Group { children [\nUSE A ] } ] }", 3, 1),
        ("DEF A Shape { geometry USE A }", 2, 24),
        ("DEF A Switch { choice LOD { level USE A } }", 2, 35),
        ("DEF A Collision { proxy USE A }", 2, 25),
        (
            "DEF A CollisionObject { ignoredObjects DEF B Group { children USE A } \
             children USE B }",
            2,
            63,
        ),
        ("PROTO P [ field MFNode x [] ] { Group { children IS x } } DEF A P { x USE A }", 2, 71),
    ];
    for (source, line, at) in cases {
        let LoadError::Refused { place, what } = error(source) else { panic!("{source}") };
        assert_eq!(place, column(line, at), "{source}");
        assert_eq!(what, "the node that is used here contains this place", "{source}");
    }
    // A script may know the node around it, and a group what another object ignores.
    text("DEF A Group { children Script { field SFNode x USE A } }");
    text("DEF A CollisionObject { ignoredObjects DEF B CollisionObject { ignoredObjects USE A } }");
}

#[test]
fn places_count_every_kind_of_line_end() {
    for (end, lines) in [("\n", 3), ("\r\n", 3), ("\r", 3), ("\n\r\n", 5)] {
        let source = format!("#VRML V2.0 utf8{end}Group {{ }}{end}  Box {{ }}");
        let opened = read("a.wrl", source.as_bytes(), &mut Reading::default()).unwrap();
        let place = opened.scene.node(opened.scene.roots()[1]).place;
        assert_eq!(place, Place::Column { line: lines, column: 3 }, "{end:?}");
    }
}
