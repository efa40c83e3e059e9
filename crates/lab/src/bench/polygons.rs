//! Two polygons at a time (Zachmann 2000, 3.2, table 3.1): cut into triangles, or each edge against
//! the other polygon?
//!
//! Polygons are drawn on whole numbers, so that their corners lie in one plane exactly and every
//! way of asking is about the same set of points.

mod draw;
mod edges;
mod rounded;

use super::{BenchError, Random, Stopwatch};
use draw::Polygon;
use jostle_geom::Pose;
use jostle_geom::triangle::triangles_touch;
use std::time::Duration;

/// What polygons are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolygonKind {
    /// Three corners.
    Triangles,
    /// Four corners.
    ConvexQuads,
    /// Four corners, one of them inwards.
    ConcaveQuads,
    /// Five corners, at least one of them inwards.
    ConcavePentagons,
}

impl PolygonKind {
    /// All of them, as in the thesis' table.
    pub const ALL: [PolygonKind; 4] = [
        PolygonKind::Triangles,
        PolygonKind::ConvexQuads,
        PolygonKind::ConcaveQuads,
        PolygonKind::ConcavePentagons,
    ];

    /// What tables call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            PolygonKind::Triangles => "triangles",
            PolygonKind::ConvexQuads => "convex quads",
            PolygonKind::ConcaveQuads => "concave quads",
            PolygonKind::ConcavePentagons => "concave 5-gons",
        }
    }
}

/// A way of asking whether two polygons touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Triangles of both, by the exact test of `jostle-geom`.
    Triangles,
    /// Edges of both against the other polygon, exactly.
    Edges,
    /// Triangles of both by Möller's intervals, in rounded numbers.
    RoundedTriangles,
    /// Edges with one division each, in rounded numbers: the thesis' own.
    RoundedEdges,
}

const WAYS: [(Way, &str); 4] = [
    (Way::Triangles, "triangles, exact (ours)"),
    (Way::Edges, "edges, exact"),
    (Way::RoundedTriangles, "triangles, rounded (Möller)"),
    (Way::RoundedEdges, "edges, rounded (thesis)"),
];

/// What a way of asking took.
#[derive(Clone, Debug)]
pub struct PolygonRow {
    /// Of which polygons.
    pub kind: PolygonKind,
    /// Which way.
    pub way: &'static str,
    /// Microseconds for a pair that is apart, one that touches, and a pair as they come.
    pub micros: [f64; 3],
    /// The share of pairs that touch.
    pub touching: f64,
    /// Answers that are wrong. Exact ways have none, or there is no row.
    pub wrong: u64,
}

/// How many pairs are drawn of each kind.
#[derive(Clone, Copy, Debug)]
pub struct Polygons {
    /// Pairs of each kind.
    pub pairs: u32,
    /// Decides about the polygons.
    pub seed: u64,
    /// Corners have coordinates up to this: the smaller, the more often polygons just touch.
    pub grid: u32,
}

impl Polygons {
    /// Draws pairs of a kind and asks in every way, in turns.
    ///
    /// # Errors
    /// An exact way that disagrees with the other.
    pub fn run(&self, kind: PolygonKind, now: Stopwatch) -> Result<Vec<PolygonRow>, BenchError> {
        let mut random = Random::new(self.seed);
        let mut total = [[(Duration::ZERO, 0u64); 2]; WAYS.len()];
        let mut wrong = [0; WAYS.len()];
        let mut left = self.pairs;
        let mut turn = 0;
        while left > 0 {
            let count = left.min(BLOCK);
            left -= count;
            turn += 1;
            let pairs: Vec<[Polygon; 2]> = (0..count)
                .map(|_| [0; 2].map(|_| Polygon::draw(kind, self.grid, &mut random)))
                .collect();
            // Sorted by their answer, so that a block is of one.
            let (touching, apart): (Vec<_>, Vec<_>) =
                pairs.into_iter().partition(|[a, b]| ask(Way::Triangles, a, b));
            for (answer, pairs) in [(false, apart), (true, touching)] {
                for k in 0..WAYS.len() {
                    let i = (k + turn) % WAYS.len();
                    let start = now();
                    let hits = pairs.iter().filter(|[a, b]| ask(WAYS[i].0, a, b)).count();
                    let spent = &mut total[i][usize::from(answer)];
                    spent.0 += now() - start;
                    spent.1 += pairs.len() as u64;
                    wrong[i] += if answer { pairs.len() - hits } else { hits } as u64;
                }
            }
        }
        if wrong[1] > 0 {
            let method = format!("{} of {}", WAYS[1].1, kind.name());
            return Err(BenchError::Disagreement { method, pose: Box::new(Pose::IDENTITY) });
        }
        Ok((0..WAYS.len()).map(|i| row(kind, WAYS[i].1, total[i], wrong[i])).collect())
    }
}

/// Pairs that one way is asked about before the next one's turn.
const BLOCK: u32 = 2000;

fn row(
    kind: PolygonKind,
    way: &'static str,
    total: [(Duration, u64); 2],
    wrong: u64,
) -> PolygonRow {
    let mean = |time: Duration, pairs: u64| time.as_secs_f64() * 1e6 / pairs as f64;
    let [(apart, aparts), (touch, touches)] = total;
    let all = aparts + touches;
    let micros = [mean(apart, aparts), mean(touch, touches), mean(apart + touch, all)];
    PolygonRow { kind, way, micros, touching: touches as f64 / all as f64, wrong }
}

fn ask(way: Way, a: &Polygon, b: &Polygon) -> bool {
    let pairs = || a.triangles.iter().flat_map(|s| b.triangles.iter().map(move |t| (s, t)));
    match way {
        Way::Triangles => pairs().any(|(s, t)| triangles_touch(s, t)),
        Way::Edges => edges::touch(a, b),
        Way::RoundedTriangles => pairs().any(|(s, t)| rounded::triangles_touch(s, t)),
        Way::RoundedEdges => rounded::edges_touch(a, b),
    }
}
