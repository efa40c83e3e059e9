//! Moves an avatar through a world: `cargo run --release -p jostle-net --example walk -- ADDRESS
//! [TOKEN]`. Prints its position, what is near and what it touches once a second, for ten seconds.

use jostle_net::Secret;
use jostle_net::client::{ClientOptions, Connection};
use std::error::Error;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let address =
        arguments.next().ok_or("expected the address of an edge server, like 127.0.0.1:7400")?;
    let token = arguments.next().map(Secret::new);
    let connection =
        Connection::open(ClientOptions { token, ..ClientOptions::to(address.parse()?) })?;
    println!("{} at {} ticks per second", connection.manifest().world, connection.manifest().rate);
    if !connection.wait_until_active(Duration::from_secs(5)) {
        return Err(format!("not let in: {:?}", connection.last_error()).into());
    }
    for second in 0..10 {
        // Turns every second.
        let angle = f64::from(second) * std::f64::consts::FRAC_PI_2;
        connection.send_input([angle.cos(), 0.0, angle.sin()], [0.0; 3]);
        std::thread::sleep(Duration::from_secs(1));
        let place = connection.own().map(|own| own.position.map(|along| (along * 100.0).round()));
        println!(
            "at {place:?} cm, {} others, {} contacts",
            connection.others().len(),
            connection.contacts().len()
        );
    }
    let statistics = connection.statistics();
    println!(
        "{} messages ({} B) sent, {} ({} B) received, {} corrections, round trip {:?}",
        statistics.messages_sent,
        statistics.bytes_sent,
        statistics.messages_received,
        statistics.bytes_received,
        connection.corrections(),
        statistics.round_trip
    );
    Ok(())
}
