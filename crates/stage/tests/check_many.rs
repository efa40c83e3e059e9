//! A check of things of which very many pairs touch: the memory that it takes, and its limit.
//!
//! One test function, because the allocator that counts is one for the whole process.

mod common;

use common::scene;
use jostle_stage::{Checked, Checking, FindingKind, HierarchyFiles, check};
use peak_alloc::PeakAlloc;
use std::collections::BTreeSet;
use std::fmt::Write;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Bytes for each pair that touches, at most: numbers of the two boxes, of the two bodies and of
/// the two parts, in lists that grow by doubling. With names it was above a thousand.
const PER_PAIR: usize = 200;

/// Bytes for each finding that is listed, at most, with the drafts from which the list is made.
const PER_FINDING: usize = 500;

/// Boxes in the same place, every fourth of them larger, so that findings are of two kinds.
fn stack(count: usize) -> String {
    let mut text = String::new();
    for at in 0..count {
        let size = if at % 4 == 0 { "3 3 3" } else { "2 2 2" };
        let _ = writeln!(
            text,
            "DEF PART_WITH_A_LONG_NAME_{at} Transform {{ children Shape {{
                geometry Box {{ size {size} }} }} }}"
        );
    }
    text
}

fn pairs(count: usize) -> usize {
    count * (count - 1) / 2
}

/// What was found, and the memory that it took beyond the scene.
fn checked(count: usize, checking: Checking) -> (Checked, usize) {
    let scene = scene(&stack(count));
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let checked = check(scene, &checking, &mut HierarchyFiles::default()).unwrap();
    (checked, MEMORY.peak_usage().saturating_sub(before))
}

#[test]
fn two_thousand_instances_in_one_place_take_no_gigabytes() {
    let limited = |max_findings| Checking { max_findings, ..Checking::default() };
    // Surfaces of boxes inside of others do not touch: solids do.
    let solid = |checking| Checking { solid: true, ..checking };
    let (small, large) = (120, 400);
    let more = pairs(large) - pairs(small);
    let [less_memory, memory] = [small, large].map(|count| {
        let (checked, memory) = checked(count, solid(limited(50)));
        assert_eq!((checked.total(), checked.findings.len()), (pairs(count), 50));
        assert_eq!(checked.unlisted(), pairs(count) - 50);
        memory
    });
    let per_pair = (memory - less_memory) / more;
    assert!(per_pair <= PER_PAIR, "{per_pair} bytes for a pair");

    let (all, all_memory) = checked(large, solid(limited(usize::MAX)));
    let per_finding = (all_memory - memory) / pairs(large);
    assert!(per_finding <= PER_FINDING, "{per_finding} bytes for a finding");
    assert_eq!((all.findings.len(), all.unlisted()), (pairs(large), 0));
    for kind in FindingKind::ALL {
        let listed = all.findings.iter().filter(|finding| finding.kind == kind).count();
        assert_eq!(all.count(kind), listed, "{kind:?}");
    }
    assert!(all.findings.is_sorted_by(|one, other| one.order(other).is_lt()));

    // The first of all of them, and those that are known beside them.
    let last = all.findings.last().unwrap();
    let known = [last.a.to_string(), last.b.to_string()];
    let always_listed = BTreeSet::from([known, ["A".to_string(), "B".to_string()]]);
    for most in [1, 777] {
        let (some, _) = checked(large, solid(limited(most)));
        assert_eq!(some.findings, all.findings[..most]);
        assert_eq!(some.counts, all.counts);
        let checking = Checking { always_listed: always_listed.clone(), ..limited(most) };
        let (some, _) = checked(large, solid(checking));
        assert_eq!(some.findings[..most], all.findings[..most]);
        assert_eq!(some.findings[most..], all.findings[pairs(large) - 1..]);
        assert_eq!(some.counts, all.counts);
    }
}
