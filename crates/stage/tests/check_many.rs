//! A check with a very large number of touching pairs: its memory and its limits.
//!
//! One test function, because the counting allocator is shared by the whole process.

mod common;

use common::scene;
use jostle_stage::{CheckOptions, CheckReport, Finding, FindingKind, HierarchyFiles, check};
use peak_alloc::PeakAlloc;
use std::collections::BTreeSet;
use std::fmt::Write;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The most bytes for each touching pair: numbers of the two boxes, of the two bodies and of
/// the two parts, in lists that grow by doubling. With names it was above a thousand.
const PER_PAIR: usize = 200;

/// The most bytes for each listed finding, with the drafts that the list is made from.
const PER_FINDING: usize = 500;

/// Boxes in the same place. Every fourth one is larger, so that there are findings of two kinds.
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

/// The report, and the memory that the check took in addition to the scene.
fn checked(count: usize, options: CheckOptions) -> (CheckReport, usize) {
    let scene = scene(&stack(count));
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let checked = check(scene, &options, &mut HierarchyFiles::default()).unwrap();
    (checked, MEMORY.peak_usage().saturating_sub(before))
}

/// In the order in which they are selected: depths are measured afterwards, and not of all.
fn without_depths(report: &CheckReport) -> Vec<Finding> {
    let mut findings = report.findings.clone();
    findings.iter_mut().for_each(|finding| finding.depth = None);
    findings.sort_by(Finding::order);
    findings
}

#[test]
fn two_thousand_instances_in_one_place_take_no_gigabytes() {
    let limited = |max_findings| CheckOptions { max_findings, ..CheckOptions::default() };
    // The surfaces of nested boxes do not touch, but solids do.
    let solid = |options| CheckOptions { solid: true, ..options };
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

    // The first findings of the whole list, and those that are always listed.
    let last = all.findings.last().unwrap();
    let known = [last.a.to_string(), last.b.to_string()];
    let always_listed = BTreeSet::from([known, ["A".to_string(), "B".to_string()]]);
    let all_findings = without_depths(&all);
    for max in [1, 777] {
        let (some, _) = checked(large, solid(limited(max)));
        assert_eq!(without_depths(&some), all_findings[..max]);
        assert_eq!(some.counts, all.counts);
        let options = CheckOptions { always_listed: always_listed.clone(), ..limited(max) };
        let (some, _) = checked(large, solid(options));
        let findings = without_depths(&some);
        assert_eq!(findings[..max], all_findings[..max]);
        assert_eq!(findings[max..], all_findings[pairs(large) - 1..]);
        assert_eq!(some.counts, all.counts);
    }
}
