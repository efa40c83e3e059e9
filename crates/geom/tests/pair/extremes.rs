//! Every query at the sizes where `f32` or its squares end.

use crate::cases;
use jostle_geom::{SearchLimits, SearchResult};

#[test]
fn all_queries_at_all_sizes() {
    let (mut touching, mut apart) = (0, 0);
    for case in cases::all_sizes(600..602) {
        case.each(|pair, twin, place| {
            let (expected, mut pairs) = (twin.distance().unwrap(), twin.touching());
            pairs.dedup();
            if expected == 0.0 {
                touching += 1;
            } else {
                apart += 1;
            }
            assert_eq!(pair.touches(), expected == 0.0, "{place}");
            assert_eq!(pair.all_pairs(), pairs, "{place}");
            assert_eq!(pair.witness().is_some(), expected == 0.0, "{place}");
            let mut search = pair.search(SearchLimits::default());
            search.run(u64::MAX);
            let answer = if expected == 0.0 { SearchResult::Yes } else { SearchResult::No };
            assert_eq!(search.result(), answer, "{place}");

            let slack = twin.rounding();
            let found = pair.distance();
            let what = format!("expected {expected}, found {found:?}: {place}");
            let found = found.expect(&what);
            assert_eq!(found.distance == 0.0, expected == 0.0, "{what}");
            assert!((found.distance - expected).abs() <= 1e-12 * expected + slack, "{what}");
            let off = twin.off_faces(found.faces, found.point_a, found.point_b);
            assert!(off <= slack, "{off} off the faces, {what}");
            assert!(pair.distance_lower_bound() <= expected, "{what}");
            assert!(pair.within(expected * 1.001 + 4.0 * slack), "{what}");
            assert!(pair.within(f64::INFINITY) && pair.within(f64::MAX), "{what}");
            let less = expected * 0.999 - 4.0 * slack;
            assert!(!pair.within(less), "within {less}: {what}");
        });
    }
    assert!(touching > 0 && apart > 0, "{touching} touching, {apart} apart");
}
