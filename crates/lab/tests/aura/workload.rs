//! The paper's workload and experiment.

use jostle_lab::aura::Method;
use jostle_lab::aura::experiment::{self, ExperimentError};
use jostle_lab::aura::workload::{Setup, SetupError, Targets};
use jostle_world::aura::Aura;
use std::time::Duration;

/// All bits of all places, in one number.
fn fingerprint(auras: &[Aura]) -> u64 {
    let bits = auras.iter().flat_map(|aura| aura.centre().to_array()).map(f64::to_bits);
    bits.fold(0, |hash: u64, bits| (hash.rotate_left(5) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

#[test]
fn a_seed_gives_the_same_bits_everywhere() {
    let world = |seed| Targets::new(Setup::new(200, 0.2, seed)).unwrap();
    assert_ne!(fingerprint(world(42).auras()), fingerprint(world(43).auras()));
    let mut world = world(42);
    for _ in 0..1000 {
        world.advance();
    }
    assert_eq!(fingerprint(world.auras()), 2_837_834_016_004_518_066);
}

#[test]
fn the_world_is_as_large_as_the_coverage_demands() {
    for coverage in [0.01, 0.05, 0.1, 0.2, 3.0] {
        let mut world = Targets::new(Setup::new(500, coverage, 1)).unwrap();
        let volume = world.side() * world.side() * world.side();
        let aura = 4.0 / 3.0 * std::f64::consts::PI;
        assert!((500.0 * aura / volume / coverage - 1.0).abs() < 1e-12);
        for _ in 0..300 {
            world.advance();
            for aura in world.auras() {
                assert_eq!(aura.radius(), 1.0);
                let centre = aura.centre();
                assert!(centre.min_element() >= 0.0 && centre.max_element() <= world.side());
            }
        }
    }
}

#[test]
fn objects_move_at_their_speed_gather_and_disperse() {
    let mut setup = Setup::new(300, 0.2, 1);
    setup.targets = 3;
    let mut world = Targets::new(setup).unwrap();
    let mut nearest = Vec::new();
    for _ in 0..3000 {
        let before = world.auras().to_vec();
        world.advance();
        for (old, new) in before.iter().zip(world.auras()) {
            assert!(old.centre().distance(new.centre()) <= setup.speed * (1.0 + 1e-12));
        }
        let overlapping = |a: &Aura| world.auras().iter().filter(|b| a.overlaps(b)).count();
        nearest.push(overlapping(&world.auras()[0]));
    }
    let (most, least) = (nearest.iter().max().unwrap(), nearest.iter().min().unwrap());
    assert!(*most > 20 && *least < 3, "{most} {least}");
}

#[test]
fn setups_are_checked() {
    let good = Setup::new(10, 0.2, 1);
    for coverage in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Targets::new(Setup { coverage, ..good }).unwrap_err();
        assert!(matches!(error, SetupError::Coverage { .. }));
    }
    for speed in [-0.1, f64::NAN, f64::INFINITY] {
        let error = Targets::new(Setup { speed, ..good }).unwrap_err();
        assert!(matches!(error, SetupError::Speed { .. }));
    }
    assert_eq!(Targets::new(Setup { targets: 0, ..good }).unwrap_err(), SetupError::NoTargets);
    for frames in [[0, 5], [5, 4]] {
        let [first, last] = frames;
        let expected = SetupError::Frames { first, last };
        assert_eq!(Targets::new(Setup { target_frames: frames, ..good }).unwrap_err(), expected);
        assert_eq!(Targets::new(Setup { object_frames: frames, ..good }).unwrap_err(), expected);
    }
    assert_eq!(Targets::new(Setup::new(0, 0.2, 1)).unwrap().auras(), []);
}

#[test]
fn an_experiment_has_a_row_for_each_method_and_times_it() {
    fn clock() -> Duration {
        use std::sync::atomic::{AtomicU64, Ordering};
        static TICKS: AtomicU64 = AtomicU64::new(0);
        Duration::from_millis(TICKS.fetch_add(1, Ordering::Relaxed))
    }
    let rows = experiment::run(Setup::new(200, 0.1, 1), 4, &Method::ALL, clock).unwrap();
    assert_eq!(rows.iter().map(|row| row.method).collect::<Vec<_>>(), Method::ALL);
    assert_eq!(rows[0].share, 1.0);
    for row in &rows {
        assert_eq!((row.objects, row.coverage), (200, 0.1));
        assert_eq!(row.time, Duration::from_millis(1));
        assert_eq!(row.share, row.comparisons / rows[0].comparisons);
        assert_eq!(row.relations, rows[0].relations);
    }
    let too_dense = Setup { targets: 1, ..Setup::new(400, 1e6, 1) };
    let error = experiment::run(Setup { coverage: f64::NAN, ..too_dense }, 1, &[], clock);
    assert!(matches!(error, Err(ExperimentError::Setup(_))));
}
