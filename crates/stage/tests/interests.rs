//! Interests and their queries (Ohlenburg 2003, appendix C.1; rows O7, O8).

mod common;

use common::{body, events, send, stage_events, stage_of, stage_with, touching, vec3};
use jostle_scene::Value;
use jostle_stage::{StageOptions, StaticPairs};
use jostle_world::{Certainty, ContactData};

fn pair(kind: i32, more: &str) -> String {
    format!(
        "DEF A Transform {{ children Shape {{ geometry Box {{}} }} }}
         DEF B Transform {{ translation 1.5 0 0 rotation 0 0 1 0.5
           children Shape {{ geometry Box {{}} }} }}
         CollisionInterest {{ objectPath \"A\" interests [ \"B\" ] collisionType {kind} }} {more}"
    )
}

#[test]
fn the_collision_type_selects_the_query() {
    for kind in 0..3 {
        let stage = stage_of(&pair(kind, ""));
        let contacts = stage.world().contacts();
        match kind {
            0 => {
                // An event of the two bodies and one of their two groups.
                assert_eq!(contacts[0].data, ContactData::BoxesOverlap);
                assert_eq!(stage_events(&stage), ["begin A B", "boxes begin A B"]);
                continue;
            }
            1 => assert!(matches!(contacts[0].data, ContactData::Witness(_)), "{contacts:?}"),
            _ => {
                let ContactData::Faces(faces) = &contacts[0].data else { panic!("{contacts:?}") };
                assert!(faces.len() > 1, "{faces:?}");
            }
        }
        assert_eq!(contacts[0].certainty, Certainty::Exact);
        assert_eq!(stage_events(&stage), ["begin A B"]);
        assert!(stage.events()[0].faces.is_some());
    }
}

#[test]
fn overlaps_of_group_boxes_begin_and_end() {
    let mut stage = stage_of(
        "DEF G Group { children [
           DEF L Transform { translation -5 0 0 children Shape { geometry Box {} } }
           DEF R Transform { translation 5 0 0 children Shape { geometry Box {} } } ] }
         DEF M Transform { translation 0 9 0 children Shape { geometry Box {} } }
         CollisionInterest { objectPath \"M\" interests \"G\" }",
    );
    assert!(stage_events(&stage).is_empty());
    // Between the two there is no body, but the box of the group is there.
    send(&mut stage, "M", "translation", vec3(0.0, 0.5, 0.0));
    stage.step(0.25).unwrap();
    let reported = stage_events(&stage).join("");
    assert!(reported == "boxes begin G M" || reported == "boxes begin M G", "{reported}");
    stage.step(0.25).unwrap();
    assert!(stage_events(&stage).is_empty());
    send(&mut stage, "M", "translation", vec3(0.0, 9.0, 0.0));
    stage.step(0.25).unwrap();
    let reported = stage_events(&stage).join("");
    assert!(reported.starts_with("boxes end"), "{reported}");
}

#[test]
fn an_object_may_have_several_interests_of_different_types() {
    let more = "DEF C Transform { translation 0 1.5 0 children Shape { geometry Box {} } }
        CollisionInterest { objectPath \"A\" collisionInterests \"C\" collisionType 2 }";
    let stage = stage_of(&pair(1, more));
    assert_eq!(touching(&stage), [["A", "B"], ["A", "C"]]);
    let found = |a: &str, b: &str| {
        stage.world().contact(body(&stage, a), body(&stage, b)).map(|contact| &contact.data)
    };
    assert!(matches!(found("A", "B"), Some(ContactData::Witness(_))));
    assert!(matches!(found("A", "C"), Some(ContactData::Faces(_))));
    assert_eq!(found("B", "C"), None, "B and C touch, without an interest");
}

#[test]
fn errors_are_reported_with_their_position() {
    let cases = [
        ("CollisionInterest { objectPath \"X\" interests \"B\" }", "\"X\""),
        ("CollisionInterest { objectPath \"A\" interests [ \"B\" \"Y\" ] }", "\"Y\""),
        ("CollisionInterest { objectPath \"A\" interests \"B\" collisionType 3 }", "found 3"),
        ("CollisionInterest { objectPath \"A\" interests \"B\" collisionType -1 }", "found -1"),
        ("CollisionInterest {}", "\"\""),
    ];
    for (text, part) in cases {
        let mut stage = stage_of(&pair(1, text));
        let [problem] = stage.problems() else { panic!("{text}: {:?}", stage.problems()) };
        assert!(problem.starts_with("line 5") && problem.contains(part), "{problem}");
        stage.step(0.25).unwrap();
        assert_eq!(touching(&stage), [["A", "B"]], "{text}");
    }
    // An interest of a node in itself is ignored, and so is a duplicate.
    for text in [
        "CollisionInterest { objectPath \"A\" interests \"A\" collisionType 1 }",
        "CollisionInterest { objectPath \"B\" interests \"A\" collisionType 1 }",
    ] {
        let stage = stage_of(&pair(1, text));
        assert_eq!((touching(&stage).len(), stage.problems().len()), (1, 0), "{text}");
    }
}

#[test]
fn a_node_with_two_paths_has_its_interests_on_both() {
    let mut stage = stage_of(
        "DEF A Transform { children Shape { geometry Box {} } }
         DEF SECOND Transform { translation 20 0 0 children USE A }
         DEF B Transform { translation 20 1 0 children Shape { geometry Box {} } }
         CollisionInterest { objectPath \"B\" interests \"A\" collisionType 1 }",
    );
    assert_eq!(touching(&stage), [["B", "SECOND/A"]]);
    send(&mut stage, "B", "translation", vec3(0.0, 1.0, 0.0));
    stage.step(0.25).unwrap();
    assert_eq!(touching(&stage), [["A", "B"]]);
}

#[test]
fn an_instance_of_a_prototype_reports_that_it_collides() {
    let mut stage = stage_of(
        "PROTO P [] { Transform { children Shape { geometry Box {} } } }
         DEF A P {} DEF B Transform { translation 9 0 0 children Shape { geometry Box {} } }
         CollisionInterest { objectPath \"A\" interests \"B\" collisionType 1 }",
    );
    for (x, colliding) in [(1.0, true), (9.0, false)] {
        send(&mut stage, "B", "translation", vec3(x, 0.0, 0.0));
        stage.step(0.25).unwrap();
        for name in ["A", "B"] {
            assert_eq!(events(&stage, name, "notColliding"), [Value::Bool(!colliding)], "{name}");
        }
    }
}

#[test]
fn an_object_with_an_interest_in_its_own_group_is_not_tested_against_itself() {
    let cube = "Shape { geometry Box {} }";
    let text = format!(
        "DEF G Group {{ children [
           DEF A Group {{ children [ {cube} DEF P Transform {{ children {cube} }} ] }}
           DEF B Transform {{ children {cube} }} ] }}
         CollisionInterest {{ objectPath \"A\" interests \"G\" collisionType 1 }}"
    );
    let options = StageOptions { static_pairs: StaticPairs::Test, ..StageOptions::default() };
    let stage = stage_with(&text, options);
    let reported: Vec<(String, String)> =
        stage.events().iter().map(|event| (event.a.to_string(), event.b.to_string())).collect();
    assert_eq!(reported.len(), 2, "{reported:?}");
    assert!(reported.iter().all(|(a, b)| a == "G/A" && b == "G"), "{reported:?}");
}
