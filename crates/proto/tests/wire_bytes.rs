//! What states cost on the wire: 1000 objects of which 700 move, at most 12 bytes each per tick.
//!
//! The worlds are drawn from fixed seeds and everything is whole numbers, so the counts are the
//! same everywhere; the bars beside them were measured, and leave a little room.

mod wire_samples;

use jostle_proto::wire::{Snapshot, light};
use wire_samples::{Habits, ORDINARY, RATE, World};

/// Mean bytes per tick, with acknowledgements that come so many ticks late.
fn bytes_per_tick(habits: Habits, lag: usize, foreseen: bool) -> usize {
    let mut world = World::new(1, habits);
    let mut history = vec![world.snapshot()];
    let mut bytes = 0;
    const TICKS: usize = 60;
    for tick in 0..TICKS {
        world.step();
        let now = world.snapshot();
        let base = &history[(tick + 1).saturating_sub(lag)];
        let mut delta = Vec::new();
        if foreseen {
            now.encode_since(base, RATE, &mut delta);
            assert_eq!(Snapshot::decode_since(base, &delta, 1000).as_ref(), Ok(&now));
        } else {
            // No time has passed, so nothing is foreseen.
            let base = Snapshot::new(now.tick(), base.objects().to_vec()).unwrap();
            now.encode_since(&base, RATE, &mut delta);
        }
        bytes += delta.len();
        history.push(now);
    }
    bytes / TICKS
}

#[test]
fn a_delta_costs_at_most_12_bytes_per_object() {
    let wild = Habits { avatars: 100, ..ORDINARY };
    let calm = Habits { avatars: 0, bumps: 0, replaced: 0, ..ORDINARY };
    // Habits, ticks until the acknowledgement, and the most bytes in a tick.
    let bars = [
        ("nothing happens", calm, 1, 20),
        ("ordinary", ORDINARY, 1, 900),
        ("ordinary, acknowledged after 6 ticks", ORDINARY, 6, 4_600),
        ("all accelerate all the time", wild, 1, 3_300),
    ];
    for (name, habits, lag, bar) in bars {
        let (foreseen, plain) =
            (bytes_per_tick(habits, lag, true), bytes_per_tick(habits, lag, false));
        println!("{name}: {foreseen}, and {plain} if nothing were foreseen");
        assert!(foreseen <= bar, "{name}: {foreseen} bytes");
        assert!(foreseen < plain && plain <= 12 * habits.objects, "{name}: {plain} bytes");
    }
}

#[test]
fn whole_states_cost_at_most_24_bytes_per_object() {
    let now = World::new(1, ORDINARY).snapshot();
    let mut whole = Vec::new();
    now.encode(&mut whole);
    assert!(whole.len() <= 24 * 1000, "{} bytes", whole.len());
    let states: Vec<_> = now.objects().iter().map(|object| (object.id, object.state)).collect();
    let mut seen = Vec::new();
    light::encode([0; 3], &states, &mut seen).unwrap();
    assert!(seen.len() <= 15 * 1000, "{} bytes", seen.len());
}
