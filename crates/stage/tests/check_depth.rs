//! Findings about interference say how deep it is, the deepest first.

mod common;

use common::scene;
use jostle_stage::{
    CheckOptions, CheckReport, DEPTHS_MAX, FindingDepth, FindingKind, HierarchyFiles, check,
};

fn checked(text: &str) -> CheckReport {
    check(scene(text), &CheckOptions::default(), &mut HierarchyFiles::default()).unwrap()
}

/// Boxes with edges of 2 at these places along x.
fn boxes(places: &[(&str, f64)]) -> String {
    let box_at = |(name, x): &(&str, f64)| {
        let shape = "children Shape { geometry Box {} }";
        format!("DEF {name} Transform {{ translation {x} 0 0 {shape} }}\n")
    };
    places.iter().map(box_at).collect()
}

#[test]
fn the_deepest_interference_comes_first_and_contact_has_no_depth() {
    let places = [("A", 0.0), ("B", 1.75), ("C", 10.0), ("D", 11.0), ("E", 20.0), ("F", 22.0)];
    let found = checked(&boxes(&places)).findings;
    let names: Vec<[&str; 2]> = found.iter().map(|it| [&*it.a, &*it.b]).collect();
    assert_eq!(names, [["C", "D"], ["A", "B"], ["E", "F"]]);
    for (finding, depth) in found.iter().zip([1.0, 0.25]) {
        let FindingDepth { at_least, at_most, way } = finding.depth.unwrap();
        assert!((at_most - depth).abs() < 1e-12 && at_least <= at_most, "{finding:?}");
        assert!((at_least - depth).abs() < 0.05 * depth, "{finding:?}");
        assert!((way[0] - at_most).abs() < 1e-12, "{finding:?}");
    }
    assert_eq!((found[2].kind, found[2].depth), (FindingKind::Contact, None));
}

#[test]
fn surfaces_that_are_not_closed_have_no_depth() {
    let found = checked(
        "DEF A Transform { children Shape { geometry Box {} } }
         DEF B Transform { children Shape { geometry IndexedFaceSet {
           coord Coordinate { point [ 0 0 0, 2 0 0, 0 2 0 ] } coordIndex [ 0 1 2 ] } } }",
    );
    assert_eq!((found.findings[0].kind, found.findings[0].depth), (FindingKind::Touch, None));
}

/// Measuring takes some milliseconds each, so there is a limit. The findings are all there.
#[test]
fn so_many_depths_are_measured() {
    let names: Vec<String> = (0..46).map(|at| format!("B{at}")).collect();
    let places: Vec<(&str, f64)> =
        names.iter().zip(0..).map(|(name, at)| (name.as_str(), f64::from(at) / 64.0)).collect();
    let found = checked(&boxes(&places)).findings;
    assert_eq!(found.len(), 46 * 45 / 2);
    let measured = found.iter().take_while(|it| it.depth.is_some()).count();
    assert_eq!(measured, DEPTHS_MAX);
    assert!(found[DEPTHS_MAX..].iter().all(|it| it.depth.is_none()));
}
