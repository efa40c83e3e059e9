//! Runs seeds.
use jostle_proto::Mutant;
use jostle_sim::{Options, Weather, run};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let from: u64 = args[1].parse().unwrap();
    let count: u64 = args[2].parse().unwrap();
    let weather = match args[3].as_str() {
        "none" => Weather::None,
        "calm" => Weather::Calm,
        _ => Weather::Storm,
    };
    let mutant = args.get(4).and_then(|m| Mutant::from_name(m));
    let t = std::time::Instant::now();
    let (mut ticks, mut coll, mut msgs, mut crashes, mut views, mut events, mut bad) =
        (0, 0, 0, 0, 0, 0u64, 0);
    for seed in from..from + count {
        let nodes = 1 + (seed % 6) as u32;
        let o = run(
            seed,
            Options {
                nodes,
                objects: 40 + (seed % 80) as u32,
                seconds: 2.0,
                weather,
                mutant,
                rate: 30,
            },
        );
        ticks += o.ticks;
        coll += o.collisions;
        msgs += o.messages;
        crashes += o.crashes;
        views += o.views;
        events += o.events;
        if let Some(v) = o.verdict.violations.first() {
            bad += 1;
            if bad <= 5 {
                println!("seed {seed}: {} at {:.3}s: {}", v.rule, v.time.0 as f64 / 1e6, v.what);
            }
        }
    }
    println!(
        "{count} seeds, {bad} bad, ticks {ticks}, collisions {coll}, messages {msgs}, crashes {crashes}, views {views}, events {events}, {:.2}s, {:.1} seeds/s",
        t.elapsed().as_secs_f64(),
        count as f64 / t.elapsed().as_secs_f64()
    );
}
