//! How long the questions about depth take, beside touch and distance of the same run: two bumpy
//! tori in random poses, one thread.
//!
//! `cargo run --release -p jostle-geom --example depth_times -- [triangles] [poses]`.

use glam::{DQuat, DVec3, Vec3};
use jostle_geom::{Effort, Mesh, Model, Pair, Pose, Quality};
use std::error::Error;
use std::f64::consts::TAU;
use std::time::{Duration, Instant};

/// The bumpy torus of many comparisons: radii 1 and 0.3, with bumps of 15 %.
fn torus(triangles: f64, bumps: f64, shift: f64) -> Result<Model, Box<dyn Error>> {
    let around = (triangles * 2.0).sqrt().round();
    let across = (triangles / 2.0 / around).round();
    let (n, m) = (around as u32, across as u32);
    let mut vertices = Vec::new();
    for i in 0..n {
        for j in 0..m {
            let (u, v) = (f64::from(i) * TAU / around, f64::from(j) * TAU / across);
            let r = 0.3 * (1.0 + 0.15 * (bumps * u + shift).sin() * (bumps * v).cos());
            let ring = 1.0 + r * v.cos();
            let point = DVec3::new(ring * u.cos(), ring * u.sin(), r * v.sin());
            vertices.push(Vec3::new(point.x as f32, point.y as f32, point.z as f32));
        }
    }
    let at = |i: u32, j: u32| (i % n) * m + j % m;
    let mut faces = Vec::new();
    for i in 0..n {
        for j in 0..m {
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            faces.extend([[a, b, c], [a, c, d]]);
        }
    }
    let mesh = Mesh::from_triangles(vertices, faces)?.into_solid()?;
    Ok(Model::build(mesh, Quality::Default))
}

/// Numbers from −1 to 1.
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        jostle_dice::signed(&mut self.0)
    }

    fn direction(&mut self) -> DVec3 {
        loop {
            let v = DVec3::new(self.unit(), self.unit(), self.unit());
            if (0.01..=1.0).contains(&v.length_squared()) {
                return v.normalize();
            }
        }
    }

    fn pose(&mut self) -> Result<Pose, Box<dyn Error>> {
        let (x, y, angle) = (self.direction(), self.direction(), self.unit());
        let turn = DQuat::from_axis_angle(x, angle * std::f64::consts::PI);
        Ok(Pose::new(turn, y * (1.4 + 1.2 * self.unit()))?)
    }
}

/// The times of a question about all pairs, the best of three each, and what `sum` makes of the
/// answers.
fn time<T>(
    name: &str,
    pairs: &[Pair<'_>],
    ask: impl Fn(&Pair<'_>) -> T,
    sum: impl Fn(&[T]) -> String,
) {
    let once = |pair: &Pair<'_>| {
        let start = Instant::now();
        let answer = ask(pair);
        (start.elapsed(), answer)
    };
    let best = |pair: &Pair<'_>| -> (Duration, T) {
        let (first, second) = (once(pair).0, once(pair).0);
        let (third, answer) = once(pair);
        (first.min(second).min(third), answer)
    };
    let mut all: Vec<(Duration, T)> = pairs.iter().map(best).collect();
    all.sort_by_key(|(time, _)| *time);
    let micros = |t: Duration| t.as_secs_f64() * 1e6;
    let mean = all.iter().map(|(t, _)| micros(*t)).sum::<f64>() / all.len().max(1) as f64;
    let (median, worst) = (micros(all[all.len() / 2].0), micros(all[all.len() - 1].0));
    let answers: Vec<T> = all.into_iter().map(|(_, answer)| answer).collect();
    println!("{name:<28} {mean:>9.1} {median:>9.1} {worst:>9.1}   {}", sum(&answers));
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let triangles: f64 = words.next().map_or(Ok(20_000.0), |word| word.parse())?;
    let poses: usize = words.next().map_or(Ok(200), |word| word.parse())?;
    let (a, b) = (torus(triangles, 7.0, 0.0)?, torus(triangles, 5.0, 1.0)?);
    let mut dice = Dice(42);
    let placed: Vec<Pose> = (0..poses).map(|_| dice.pose()).collect::<Result<_, _>>()?;
    let all: Vec<Pair<'_>> =
        placed.iter().map(|pose| Pair::new(&a, &Pose::IDENTITY, &b, pose)).collect();
    let pairs: Vec<Pair<'_>> = all.iter().copied().filter(Pair::touches).collect();
    println!("{} of {poses} pairs of {triangles} triangles touch", pairs.len());
    println!("{:<28} {:>9} {:>9} {:>9}", "microseconds", "mean", "median", "most");
    for pair in &pairs {
        let _ = pair.touches();
    }
    time(
        "touch",
        &pairs,
        |pair| pair.touches(),
        |all| format!("{}", all.iter().filter(|t| **t).count()),
    );
    time(
        "overlaps",
        &pairs,
        |pair| pair.overlaps(),
        |all| format!("{}", all.iter().filter(|o| **o == Ok(true)).count()),
    );
    let direction = |pair: &Pair<'_>| pair.clearing(DVec3::new(0.48, 0.6, 0.64));
    time("clearing", &pairs, direction, |all| {
        let found: Vec<_> = all.iter().filter_map(|c| c.as_ref().ok()).collect();
        // Two ways to the same place may differ in the last bits.
        let once = found.iter().filter(|c| c.last - c.first <= 1e-9).count();
        let sum: f64 = found.iter().map(|c| c.first).sum();
        format!("first is last in {once} of {}, sum of first {sum:.9}", found.len())
    });
    time(
        "immersion to 0.003",
        &pairs,
        |pair| pair.immersion(0.003),
        |all| {
            let depth = all.iter().flatten().map(|d| d.at_most).fold(0.0, f64::max);
            format!("deepest {depth:.3}")
        },
    );
    for points in [50, 150, 1000] {
        let effort = Effort { points, ..Effort::default() };
        let name = format!("separation, {points} points");
        time(
            &name,
            &pairs,
            |pair| pair.separation(effort),
            |all| {
                let ratio = |s: &jostle_geom::Separation| s.at_least / s.at_most;
                let mut ratios: Vec<f64> = all.iter().flatten().map(ratio).collect();
                ratios.sort_by(f64::total_cmp);
                let mean = all.iter().flatten().map(|s| s.at_most).sum::<f64>() / all.len() as f64;
                let at = |part: usize| ratios.get(ratios.len() * part / 10).copied().unwrap_or(0.0);
                format!(
                    "mean depth {mean:.4}, at least / at most {:.2} {:.2} {:.2}",
                    at(1),
                    at(5),
                    at(9)
                )
            },
        );
    }
    boxes()
}

/// Two boxes that overlap by one half, of 12, 192 and 3072 triangles.
fn boxes() -> Result<(), Box<dyn Error>> {
    let beside = Pose::from_translation(DVec3::X * 0.5)?;
    for cells in [1u32, 4, 16] {
        let model = Model::build(meshed_cube(cells)?, Quality::Default);
        let pair = Pair::new(&model, &Pose::IDENTITY, &model, &beside);
        let start = Instant::now();
        let clearing = pair.clearing(DVec3::X)?;
        let first = start.elapsed();
        let separation = pair.separation(Effort::default())?;
        let second = start.elapsed() - first;
        let immersion = pair.immersion(1e-12)?;
        let third = start.elapsed() - first - second;
        println!(
            "box of {} triangles: clearing {:?} {:?} {first:?}, separation {:?} {:?} {:?} \
             {second:?}, immersion {:?} {:?} {third:?}",
            12 * cells * cells,
            clearing.first,
            clearing.last,
            separation.at_least,
            separation.at_most,
            separation.way,
            immersion.at_least,
            immersion.at_most
        );
    }
    Ok(())
}

/// A cube of edge 1 around zero, each side cut into squares.
fn meshed_cube(cells: u32) -> Result<Mesh, Box<dyn Error>> {
    let (mut vertices, mut faces) = (Vec::new(), Vec::new());
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    for side in 0..6 {
        let (up, u, v) = (axes[side % 3], axes[(side + 1) % 3], axes[(side + 2) % 3]);
        let height = if side < 3 { 0.5 } else { -0.5 };
        for i in 0..cells {
            for j in 0..cells {
                let first = vertices.len() as u32;
                for (k, l) in [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)] {
                    let along = |k: u32| k as f32 / cells as f32 - 0.5;
                    vertices.push(up * height + u * along(k) + v * along(l));
                }
                faces.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
            }
        }
    }
    Ok(Mesh::from_triangles(vertices, faces)?.into_solid()?)
}
