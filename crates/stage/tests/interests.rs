//! Who asks about whom, and what (Ohlenburg 2003, appendix C.1; rows O7, O8).

mod common;

use common::{body, events, happened, send, staged, staged_with, touching, vec3};
use jostle_scene::Value;
use jostle_stage::{Scenery, Staging};
use jostle_world::{Certainty, Found};

fn pair(kind: i32, more: &str) -> String {
    format!(
        "DEF A Transform {{ children Shape {{ geometry Box {{}} }} }}
         DEF B Transform {{ translation 1.5 0 0 rotation 0 0 1 0.5
           children Shape {{ geometry Box {{}} }} }}
         CollisionInterest {{ objectPath \"A\" interests [ \"B\" ] collisionType {kind} }} {more}"
    )
}

#[test]
fn the_type_says_what_is_found() {
    for kind in 0..3 {
        let stage = staged(&pair(kind, ""));
        let contacts = stage.world().contacts();
        match kind {
            0 => {
                // Of the two bodies and of the two groups that they are.
                assert_eq!(contacts[0].found, Found::BoxesOverlap);
                assert_eq!(happened(&stage), ["begin A B", "boxes begin A B"]);
                continue;
            }
            1 => assert!(matches!(contacts[0].found, Found::Witness(_)), "{contacts:?}"),
            _ => {
                let Found::Faces(faces) = &contacts[0].found else { panic!("{contacts:?}") };
                assert!(faces.len() > 1, "{faces:?}");
            }
        }
        assert_eq!(contacts[0].certainty, Certainty::Exact);
        assert_eq!(happened(&stage), ["begin A B"]);
        assert!(stage.happened()[0].faces.is_some());
    }
}

#[test]
fn boxes_of_groups_meet_and_part() {
    let mut stage = staged(
        "DEF G Group { children [
           DEF L Transform { translation -5 0 0 children Shape { geometry Box {} } }
           DEF R Transform { translation 5 0 0 children Shape { geometry Box {} } } ] }
         DEF M Transform { translation 0 9 0 children Shape { geometry Box {} } }
         CollisionInterest { objectPath \"M\" interests \"G\" }",
    );
    assert!(happened(&stage).is_empty());
    // Between the two there is nothing, but the box of the group.
    send(&mut stage, "M", "translation", vec3(0.0, 0.5, 0.0));
    stage.step(0.25).unwrap();
    let told = happened(&stage).join("");
    assert!(told == "boxes begin G M" || told == "boxes begin M G", "{told}");
    stage.step(0.25).unwrap();
    assert!(happened(&stage).is_empty());
    send(&mut stage, "M", "translation", vec3(0.0, 9.0, 0.0));
    stage.step(0.25).unwrap();
    let told = happened(&stage).join("");
    assert!(told.starts_with("boxes end"), "{told}");
}

#[test]
fn an_object_may_ask_several_in_several_ways() {
    let more = "DEF C Transform { translation 0 1.5 0 children Shape { geometry Box {} } }
        CollisionInterest { objectPath \"A\" collisionInterests \"C\" collisionType 2 }";
    let stage = staged(&pair(1, more));
    assert_eq!(touching(&stage), [["A", "B"], ["A", "C"]]);
    let found = |a: &str, b: &str| {
        stage.world().contact(body(&stage, a), body(&stage, b)).map(|contact| &contact.found)
    };
    assert!(matches!(found("A", "B"), Some(Found::Witness(_))));
    assert!(matches!(found("A", "C"), Some(Found::Faces(_))));
    assert_eq!(found("B", "C"), None, "B and C touch, and nobody asked");
}

#[test]
fn mistakes_are_told_with_their_place() {
    let cases = [
        ("CollisionInterest { objectPath \"X\" interests \"B\" }", "\"X\""),
        ("CollisionInterest { objectPath \"A\" interests [ \"B\" \"Y\" ] }", "\"Y\""),
        ("CollisionInterest { objectPath \"A\" interests \"B\" collisionType 3 }", "found 3"),
        ("CollisionInterest { objectPath \"A\" interests \"B\" collisionType -1 }", "found -1"),
        ("CollisionInterest {}", "\"\""),
    ];
    for (text, part) in cases {
        let mut stage = staged(&pair(1, text));
        let [problem] = stage.problems() else { panic!("{text}: {:?}", stage.problems()) };
        assert!(problem.starts_with("line 5") && problem.contains(part), "{problem}");
        stage.step(0.25).unwrap();
        assert_eq!(touching(&stage), [["A", "B"]], "{text}");
    }
    // An interest in oneself, or twice the same, is none.
    for text in [
        "CollisionInterest { objectPath \"A\" interests \"A\" collisionType 1 }",
        "CollisionInterest { objectPath \"B\" interests \"A\" collisionType 1 }",
    ] {
        let stage = staged(&pair(1, text));
        assert_eq!((touching(&stage).len(), stage.problems().len()), (1, 0), "{text}");
    }
}

#[test]
fn a_node_that_stands_in_two_places_asks_in_both() {
    let mut stage = staged(
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
fn an_instance_of_a_prototype_tells_that_it_collides() {
    let mut stage = staged(
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
fn who_asks_about_a_group_around_it_is_not_tested_against_itself() {
    let cube = "Shape { geometry Box {} }";
    let text = format!(
        "DEF G Group {{ children [
           DEF A Group {{ children [ {cube} DEF P Transform {{ children {cube} }} ] }}
           DEF B Transform {{ children {cube} }} ] }}
         CollisionInterest {{ objectPath \"A\" interests \"G\" collisionType 1 }}"
    );
    let staging = Staging { scenery: Scenery::Tested, ..Staging::default() };
    let stage = staged_with(&text, staging);
    let told: Vec<(String, String)> =
        stage.happened().iter().map(|told| (told.a.to_string(), told.b.to_string())).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().all(|(a, b)| a == "G/A" && b == "G"), "{told:?}");
}
