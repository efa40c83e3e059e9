//! Scratch: the workload of PEERS.md.
#![allow(unsafe_code, unreachable_pub, missing_docs, clippy::undocumented_unsafe_blocks)]
use glam::*;
use jostle_geom::*;
use std::time::Duration;
#[allow(unsafe_code)]
mod clk {
    #[repr(C)]
    pub struct Ts(pub i64, pub i64);
    unsafe extern "C" {
        fn clock_gettime(id: i32, t: *mut Ts) -> i32;
    }
    pub fn now() -> u64 {
        let mut t = Ts(0, 0);
        unsafe {
            clock_gettime(3, &mut t);
        }
        t.0 as u64 * 1_000_000_000 + t.1 as u64
    }
}
struct Instant(u64);
impl Instant {
    fn now() -> Self {
        Instant(clk::now())
    }
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(clk::now() - self.0)
    }
}
fn obj(p: &str) -> Mesh {
    let s = std::fs::read_to_string(p).unwrap();
    let (mut v, mut f) = (vec![], vec![]);
    for l in s.lines() {
        let mut w = l.split_ascii_whitespace();
        match w.next() {
            Some("v") => {
                let x: Vec<f32> = w.map(|t| t.parse().unwrap()).collect();
                v.push(Vec3::new(x[0], x[1], x[2]))
            }
            Some("f") => {
                let x: Vec<u32> = w.map(|t| t.parse::<u32>().unwrap() - 1).collect();
                f.push([x[0], x[1], x[2]])
            }
            _ => {}
        }
    }
    Mesh::from_triangles(v, f).unwrap()
}
fn main() {
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().unwrap();
    let args: Vec<String> = std::env::args().collect();
    let n = &args[1];
    let np: usize = args[2].parse().unwrap();
    let q = match args.get(3).map(|s| s.as_str()) {
        Some("fast") => Quality::Fast,
        Some("tight") => Quality::Tight,
        _ => Quality::Default,
    };
    let d = "/tmp/peers/data";
    let (ma, mb) = (obj(&format!("{d}/a_{n}.obj")), obj(&format!("{d}/b_{n}.obj")));
    let nt = ma.triangles().len();
    let t = Instant::now();
    let a = Model::build(ma, q);
    println!(
        "build {:.1} ms, {:.1} B/tri",
        t.elapsed().as_secs_f64() * 1e3,
        a.bytes() as f64 / nt as f64
    );
    let b = Model::build(mb, q);
    let poses: Vec<Pose> = std::fs::read_to_string(format!("{d}/poses_{n}.txt"))
        .unwrap()
        .lines()
        .take(np)
        .map(|l| {
            let x: Vec<f64> = l.split_ascii_whitespace().map(|t| t.parse().unwrap()).collect();
            Pose::from_rows(
                [
                    DVec3::new(x[0], x[1], x[2]),
                    DVec3::new(x[3], x[4], x[5]),
                    DVec3::new(x[6], x[7], x[8]),
                ],
                DVec3::new(x[9], x[10], x[11]),
            )
            .unwrap()
        })
        .collect();
    let id = Pose::IDENTITY;
    let mut best = [f64::INFINITY; 4];
    let mut first = [0.0; 4];
    let passes: usize = args.get(4).map_or(6, |s| s.parse().unwrap());
    for pass in 0..passes {
        let mut us = [0.0; 4];
        let t = Instant::now();
        let hits = poses.iter().filter(|p| Pair::new(&a, &id, &b, p).touches()).count();
        us[0] = t.elapsed().as_secs_f64() * 1e6 / np as f64;
        let t = Instant::now();
        let pairs: usize = poses.iter().map(|p| Pair::new(&a, &id, &b, p).all_pairs().len()).sum();
        us[1] = t.elapsed().as_secs_f64() * 1e6 / np as f64;
        let k = np.min(20);
        let t = Instant::now();
        let sum: f64 = poses[..k]
            .iter()
            .filter_map(|p| Pair::new(&a, &id, &b, p).distance())
            .map(|d| d.distance)
            .sum();
        us[2] = t.elapsed().as_secs_f64() * 1e6 / k as f64;
        let t = Instant::now();
        let w = poses.iter().filter(|p| Pair::new(&a, &id, &b, p).within(0.05)).count();
        us[3] = t.elapsed().as_secs_f64() * 1e6 / np as f64;
        if pass == 0 {
            first = us;
            println!("touch {hits} pairs {pairs} distance {sum:.6} within {w}");
        }
        for k in 0..4 {
            best[k] = f64::min(best[k], us[k]);
        }
    }
    println!(
        "first: touch {:.2} all {:.1} dist {:.1} within {:.2}   best: {:.2} {:.1} {:.1} {:.2}",
        first[0], first[1], first[2], first[3], best[0], best[1], best[2], best[3]
    );
    let mut c = Counters::default();
    let mut c2 = Counters::default();
    for p in &poses {
        let pr = Pair::new(&a, &id, &b, p);
        let x = pr.touches_counted().1;
        c.box_tests += x.box_tests;
        c.triangle_tests += x.triangle_tests;
        c.unsure += x.unsure;
        let x = pr.all_pairs_counted().1;
        c2.box_tests += x.box_tests;
        c2.triangle_tests += x.triangle_tests;
        c2.unsure += x.unsure;
    }
    let f = |x: u64| x as f64 / np as f64;
    let mut c3 = Counters::default();
    for p in &poses[..np.min(20)] {
        let x = Pair::new(&a, &id, &b, p).distance_counted().1;
        c3.box_tests += x.box_tests;
        c3.triangle_tests += x.triangle_tests;
    }
    println!("distance box8 {} tri {}", c3.box_tests / 20, c3.triangle_tests / 20);
    if args.len() > 5 {
        let k = np.min(20);
        for _ in 0..300 {
            let s: f64 = poses[..k]
                .iter()
                .filter_map(|p| Pair::new(&a, &id, &b, p).distance())
                .map(|d| d.distance)
                .sum();
            assert!(s > 0.0);
        }
    }
    println!(
        "touch: box8 {:.1} tri {:.1} unsure {:.3}; all: box8 {:.0} tri {:.0} unsure {:.3}",
        f(c.box_tests),
        f(c.triangle_tests),
        f(c.unsure),
        f(c2.box_tests),
        f(c2.triangle_tests),
        f(c2.unsure)
    );
}
