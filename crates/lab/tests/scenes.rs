//! The named scenes go the same way for any broad phase and any number of threads.

#[path = "../../world/tests/moving/mod.rs"]
mod moving;

use jostle_lab::scenes::Bunnies;
use jostle_world::broad::Structure;
use jostle_world::{Settings, Workers};
use moving::state;

#[test]
fn the_same_bits_for_any_structure_and_any_number_of_threads() {
    let run = |settings: Settings| {
        let mut world = Bunnies { count: 60, seed: 5 }.world(settings);
        for _ in 0..60 {
            Bunnies::frame(&mut world);
        }
        state(&world)
    };
    let first = run(Settings::default());
    for structure in Structure::ALL {
        assert_eq!(run(Settings { structure, ..Settings::default() }), first, "{structure:?}");
    }
    let workers = Workers::new(2).unwrap();
    assert_eq!(run(Settings { workers, ..Settings::default() }), first);
}
