//! Searches with limits.

use crate::cases;
use crate::twin::Twin;
use jostle_geom::{Pair, SearchLimits, SearchResult, SearchStatus, TouchSearch};

/// Runs to the end in steps; the number of pauses.
fn finish(search: &mut TouchSearch<'_>, operations: u64, place: &str) -> (SearchStatus, u64) {
    let mut pauses = 0;
    loop {
        let progress = search.run(operations);
        if progress != SearchStatus::Paused {
            assert_eq!(search.run(operations), progress, "stays so: {place}");
            return (progress, pauses);
        }
        pauses += 1;
        assert!(pauses < 1_000_000, "no end: {place}");
        assert_ne!(search.result(), SearchResult::No, "not finished: {place}");
    }
}

#[test]
fn paused_search_finds_the_same() {
    let (mut answers, mut paused) = ([0; 2], 0);
    for case in cases::mixed() {
        case.each(|pair, _, place| {
            let (expected, counters) = pair.all_pairs_counted();
            for operations in [1, 2, 3, 10, 1000] {
                let place = format!("every {operations}, {place}");
                let mut search = pair.search(SearchLimits::default());
                let (progress, pauses) = finish(&mut search, operations, &place);
                paused += pauses;
                assert_eq!(progress, SearchStatus::Finished, "{place}");
                assert_eq!(search.pairs(), expected, "{place}");
                assert_eq!(search.counters(), counters, "{place}");
                let yes = search.result() == SearchResult::Yes;
                assert!(yes || search.result() == SearchResult::No, "{place}");
                assert_eq!(yes, !expected.is_empty(), "{place}");
                assert!(!search.cut_short(), "{place}");
                answers[usize::from(yes)] += 1;
            }
        });
    }
    assert!(paused > 0 && answers.iter().all(|&count| count > 0), "{paused} {answers:?}");
}

#[test]
fn no_more_contacts_than_wanted() {
    let mut full = [0; 2];
    for case in cases::mixed() {
        case.each(|pair, twin, place| {
            let touching = twin.touching();
            for contacts_max in [0, 1, 2, 5, touching.len(), usize::MAX] {
                for operations in [1, 17, u64::MAX] {
                    let place = format!("{contacts_max} contacts, every {operations}, {place}");
                    let limits = SearchLimits { contacts_max, ..SearchLimits::default() };
                    let mut search = pair.search(limits);
                    let (progress, _) = finish(&mut search, operations, &place);
                    let pairs = search.pairs();
                    assert!(pairs.len() <= contacts_max, "{place}");
                    assert!(pairs.iter().all(|p| touching.contains(p)), "{place}");
                    let enough = touching.len() >= contacts_max;
                    assert_eq!(progress == SearchStatus::Full, enough, "{place}");
                    assert_eq!(pairs.is_empty(), touching.is_empty() || contacts_max == 0);
                    full[usize::from(enough)] += 1;
                }
            }
        });
    }
    assert!(full.iter().all(|&count| count > 0), "{full:?}");
}

/// What `depth_max` cuts off is answered on the safe side.
fn check_depth(pair: &Pair<'_>, twin: &Twin, depth_max: u32, place: &str) -> SearchResult {
    let mut touching = twin.touching();
    touching.dedup();
    let limits = SearchLimits { depth_max, ..SearchLimits::default() };
    let mut whole = pair.search(limits);
    whole.run(u64::MAX);
    let mut search = pair.search(limits);
    let (progress, _) = finish(&mut search, 5, place);
    assert_eq!(progress, SearchStatus::Finished, "{place}");
    assert_eq!(search.pairs(), whole.pairs(), "{place}");
    assert_eq!(search.counters(), whole.counters(), "{place}");
    assert!(search.counters().box_tests <= pair.all_pairs_counted().1.box_tests, "{place}");
    assert_eq!(search.cut_short(), whole.cut_short(), "{place}");
    assert!(search.pairs().iter().all(|p| touching.contains(p)), "{place}");
    if !search.cut_short() {
        assert_eq!(search.pairs(), touching, "{place}");
    }
    let answer = search.result();
    assert_eq!(answer, whole.result(), "{place}");
    match answer {
        SearchResult::Yes => assert!(!touching.is_empty(), "{place}"),
        SearchResult::No => assert!(touching.is_empty() && !search.cut_short(), "{place}"),
        SearchResult::Maybe => assert!(search.cut_short(), "{place}"),
    }
    answer
}

#[test]
fn depth_limits_are_on_the_safe_side() {
    let mut answers = [0; 3];
    for case in cases::mixed() {
        case.each(|pair, twin, place| {
            for depth_max in [0, 1, 2, 3, 4, 6, 62, 63, u32::MAX] {
                let place = format!("depth {depth_max}, {place}");
                let answer = check_depth(pair, twin, depth_max, &place);
                answers[answer as usize] += 1;
                if depth_max > 30 {
                    assert_ne!(answer, SearchResult::Maybe, "{place}");
                }
            }
        });
    }
    assert!(answers.iter().all(|&count| count > 0), "{answers:?}");
}
