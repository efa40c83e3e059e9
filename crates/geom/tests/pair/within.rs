//! Closer than a given distance?

use crate::cases;

#[test]
fn within_agrees_with_the_distance() {
    let (mut touching, mut apart) = (0, 0);
    for case in cases::mixed() {
        case.each(|pair, twin, place| {
            let Some(distance) = twin.distance() else {
                for d in [0.0, 1.0, f64::MAX, f64::INFINITY] {
                    assert!(!pair.within(d), "nothing is near an empty model: {place}");
                }
                return;
            };
            for d in [-1e-300, -1.0, f64::NEG_INFINITY, f64::NAN] {
                assert!(!pair.within(d), "within {d}: {place}");
            }
            for d in [f64::INFINITY, f64::MAX, 1e38, 1e30, 1e29] {
                assert!(pair.within(d), "within {d}: {place}");
            }
            assert_eq!(pair.within(0.0), pair.touches(), "within 0: {place}");
            assert_eq!(pair.within(-0.0), pair.touches(), "within -0: {place}");
            if distance == 0.0 {
                touching += 1;
                assert!(pair.within(f64::MIN_POSITIVE), "{place}");
            } else {
                apart += 1;
            }
            let slack = 1e-12 * distance + twin.rounding();
            for factor in [0.0, 0.5, 0.99, 1.0 - 1e-9, 1.0, 1.0 + 1e-9, 1.01, 2.0, 100.0] {
                let d = distance * factor;
                if (d - distance).abs() > slack || distance == 0.0 {
                    let what = format!("within {d} = {distance} * {factor}: {place}");
                    assert_eq!(pair.within(d), d >= distance, "{what}");
                }
            }
            let found = pair.distance().map_or(f64::NAN, |found| found.distance);
            assert!(pair.within(found), "within its own distance {found}: {place}");
        });
    }
    assert!(touching > 0 && apart > 0, "{touching} touching, {apart} apart");
}
