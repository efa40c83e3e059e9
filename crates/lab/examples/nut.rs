//! Distance and time of impact of a nut on its bolt, for every 15° of a turn:
//! `cargo run --release -p jostle-lab --example nut -- [PLAY]…`

use glam::{DQuat, DVec3};
use jostle_geom::{
    Model, Motion, Pair, Pose, Quality, TimeOfImpact, TimeOfImpactLimits, time_of_impact,
};
use jostle_lab::NutAndBolt;
use std::time::{Duration, Instant};

/// The nut, screwed by so many steps of 15°.
fn screwed(steps: u32) -> Option<Pose> {
    let angle = f64::from(steps).to_radians() * 15.0;
    let way = NutAndBolt::M16.pitch * angle / std::f64::consts::TAU;
    Pose::new(DQuat::from_rotation_z(angle), DVec3::Z * way).ok()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut plays =
        std::env::args().skip(1).map(|play| play.parse()).collect::<Result<Vec<_>, _>>()?;
    if plays.is_empty() {
        plays = vec![0.1, 0.01];
    }
    for play in plays {
        let meshes = NutAndBolt { play, ..NutAndBolt::M16 }.meshes()?;
        let [bolt, nut] = meshes.map(|mesh| Model::build(mesh, Quality::Default));
        let triangles = bolt.mesh().triangle_count() + nut.mesh().triangle_count();
        let still = Motion::still(&Pose::IDENTITY);
        let limits = TimeOfImpactLimits::default();
        let (mut distances, mut impacts) = (Vec::new(), Vec::new());
        let mut least = f64::INFINITY;
        let mut free = 0;
        for step in 0..24 {
            let (Some(from), Some(to)) = (screwed(step), screwed(step + 1)) else { continue };
            let start = Instant::now();
            let apart = Pair::new(&bolt, &Pose::IDENTITY, &nut, &from).distance();
            distances.push(start.elapsed());
            least = least.min(apart.map_or(f64::INFINITY, |apart| apart.distance));
            let screw = Motion::screw(&from, &to)?;
            let start = Instant::now();
            let hit = time_of_impact(&bolt, &still, &nut, &screw, &limits);
            impacts.push(start.elapsed());
            free += u32::from(hit == TimeOfImpact::Never);
        }
        println!(
            "play {play}, {triangles} triangles: least distance {least:.6}, {free} of 24 free"
        );
        println!("  distance {}", times(&mut distances));
        println!("  time of impact per 15 degrees {}", times(&mut impacts));
    }
    Ok(())
}

fn times(all: &mut [Duration]) -> String {
    all.sort_unstable();
    let (middle, most) = (all[all.len() / 2], all[all.len() - 1]);
    format!("median {:.3} ms, most {:.3} ms", 1e3 * middle.as_secs_f64(), 1e3 * most.as_secs_f64())
}
