//! What a link costs: microseconds and bytes for 1000 objects of which 700 move, whole and as a
//! delta.
//!
//! ```sh
//! cargo run --release -p jostle-proto --example wire_speed
//! ```

#[path = "../tests/wire_samples/mod.rs"]
mod wire_samples;

use jostle_proto::wire::{Limits, Receiver, Sender, WireError};
use jostle_proto::{Bundle, Epoch, Message, NodeId};
use std::time::Instant;
use wire_samples::{Habits, ORDINARY, RATE, World};

const TICKS: usize = 1000;

/// All objects of a world, as a member sends its backup.
fn backup(world: &World) -> Message {
    let now = world.snapshot();
    Message::Bundle(Bundle {
        epoch: Epoch(1),
        tick: now.tick(),
        from: NodeId(1),
        answer: false,
        transfers: Vec::new(),
        ghosts: Vec::new(),
        backup: now.into_objects(),
        entrusted: Vec::new(),
    })
}

/// Mean microseconds to pack and to unpack, and bytes.
fn measure(habits: Habits, delta: bool) -> Result<(f64, f64, usize), WireError> {
    let mut world = World::new(1, habits);
    let (mut sender, mut receiver) = (Sender::new(RATE), Receiver::new(Limits::default()));
    let (mut packing, mut unpacking, mut bytes) = (0.0, 0.0, 0);
    for _ in 0..TICKS {
        world.step();
        let message = backup(&world);
        if !delta {
            sender = Sender::new(RATE);
        }
        let begin = Instant::now();
        let frames = sender.pack(&message)?;
        packing += begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        for frame in &frames {
            receiver.unpack(frame)?;
            bytes += frame.len();
        }
        unpacking += begin.elapsed().as_secs_f64();
    }
    let mean = |seconds: f64| seconds * 1e6 / TICKS as f64;
    Ok((mean(packing), mean(unpacking), bytes / TICKS))
}

fn main() -> Result<(), WireError> {
    let wild = Habits { avatars: 100, ..ORDINARY };
    for (name, habits, delta) in
        [("whole", ORDINARY, false), ("ordinary", ORDINARY, true), ("all accelerate", wild, true)]
    {
        let (pack, unpack, bytes) = measure(habits, delta)?;
        println!("{name:<15} pack {pack:6.1} µs, unpack {unpack:6.1} µs, {bytes:6} bytes");
    }
    Ok(())
}
