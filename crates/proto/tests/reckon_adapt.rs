//! Close proximity against dense sampling.

mod reckon_common;

use glam::DVec3;
use jostle_proto::Span;
use jostle_proto::reckon::Thresholds;
use jostle_proto::reckon::adapt::{Adaptive, Sphere, contact_times, nearness};
use reckon_common::Dice;

fn sphere(dice: &mut Dice) -> Sphere {
    Sphere { centre: dice.vector(5.0), velocity: dice.vector(3.0), radius: dice.number(0.1, 2.0) }
}

fn apart(p: &Sphere, q: &Sphere, seconds: f64) -> f64 {
    let [a, b] = [p, q].map(|sphere| sphere.centre + sphere.velocity * seconds);
    a.distance(b) - p.radius - q.radius
}

#[test]
fn contact_times_are_where_sampling_finds_them() {
    let (mut past, mut future, mut during, mut never) = (0, 0, 0, 0);
    for seed in 0..2000 {
        let mut dice = Dice(seed);
        let (p, q) = (sphere(&mut dice), sphere(&mut dice));
        let samples = (-20_000..=20_000).map(|i| f64::from(i) * 1e-3);
        let within: Vec<f64> = samples.filter(|&t| apart(&p, &q, t) <= 0.0).collect();
        let found = contact_times(&p, &q);
        assert_eq!(found, contact_times(&q, &p), "seed {seed}");
        let Some([begin, end]) = found else {
            assert!(within.is_empty(), "seed {seed}");
            never += 1;
            continue;
        };
        for time in [begin, end] {
            assert!(apart(&p, &q, time).abs() < 1e-9, "seed {seed}: {time}");
        }
        if let (Some(&first), Some(&last)) = (within.first(), within.last())
            && first > -20.0
            && last < 20.0
        {
            assert!((0.0..=1e-3).contains(&(first - begin)), "seed {seed}");
            assert!((0.0..=1e-3).contains(&(end - last)), "seed {seed}");
        }
        let near = nearness(&p, &q).unwrap();
        if apart(&p, &q, 0.0) <= 0.0 {
            during += 1;
            assert_eq!(near, 0.0, "seed {seed}");
        } else if end < 0.0 {
            past += 1;
            assert_eq!(near, -2.0 * end, "seed {seed}");
        } else {
            future += 1;
            assert_eq!(near, begin, "seed {seed}");
        }
    }
    assert!([past, future, during, never].iter().all(|&count| count > 50));
}

#[test]
fn spheres_that_move_alike_are_close_only_if_they_overlap() {
    let p = Sphere { centre: DVec3::ZERO, velocity: DVec3::X, radius: 1.0 };
    let q = Sphere { centre: DVec3::X * 1.5, ..p };
    let far = Sphere { centre: DVec3::X * 2.5, ..p };
    assert_eq!((nearness(&p, &q), nearness(&p, &far)), (Some(0.0), None));
    assert_eq!(contact_times(&p, &q), None);
    // Touching in a point, and grazing.
    let touching = Sphere { centre: DVec3::X * 2.0, velocity: DVec3::ZERO, radius: 1.0 };
    assert_eq!(nearness(&p, &touching), Some(0.0));
    let grazing = Sphere { centre: DVec3::new(10.0, 2.0, 0.0), velocity: DVec3::ZERO, radius: 1.0 };
    assert_eq!(contact_times(&p, &grazing), Some([10.0, 10.0]));
    assert!(Sphere { radius: -1.0, ..p }.check().is_err());
    assert!(Sphere { centre: DVec3::NAN, ..p }.check().is_err());
}

#[test]
fn the_past_counts_double() {
    let thresholds = Thresholds { error: 0.5, turn: 0.1, time: Span::from_ms(5000) };
    let adaptive = Adaptive { apart: thresholds, close: thresholds, within: 1.0 };
    let own = |x: f64| Sphere { centre: DVec3::X * x, velocity: DVec3::X, radius: 1.0 };
    let other = Sphere { centre: DVec3::ZERO, velocity: DVec3::ZERO, radius: 1.0 };
    for (x, close) in
        [(-3.1, false), (-2.9, true), (0.0, true), (2.4, true), (2.6, false), (9.0, false)]
    {
        assert_eq!(adaptive.is_close(&own(x), &[other]), close, "{x}");
        assert!(!adaptive.is_close(&own(x), &[]));
    }
}
