//! Triangles in one plane become one facet, and only extreme points stay.
//!
//! A point inside a facet or on an edge is no corner. If it stayed, a walk downhill could end on
//! it: all that is beside it is equally high, while the other side of the hull is lower.

use super::quickhull::normal_axis;
use glam::DVec3;
use jostle_geom::predicates::{Sign, orient3d};
use std::collections::BTreeMap;

/// The facets of a closed convex surface of triangles, as loops of their corners.
pub(super) fn whole(points: &[DVec3], triangles: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut owner: BTreeMap<[u32; 2], u32> = BTreeMap::new();
    for (i, triangle) in triangles.iter().enumerate() {
        owner.extend((0..3).map(|k| ([triangle[k], triangle[(k + 1) % 3]], i as u32)));
    }
    let at = |i: u32| points[i as usize];
    let mut facet_of = vec![u32::MAX; triangles.len()];
    let mut facets = Vec::new();
    for first in 0..triangles.len() {
        if facet_of[first] != u32::MAX {
            continue;
        }
        let number = facets.len() as u32;
        let [a, b, c] = [0, 1, 2].map(|k| at(triangles[first][k]));
        let flat = |t: u32| {
            let corners = triangles[t as usize].iter();
            corners.copied().all(|i| orient3d(a, b, c, at(i)) == Sign::Zero)
        };
        facet_of[first] = number;
        let mut members = vec![first as u32];
        let mut next = 0;
        while next < members.len() {
            let t = &triangles[members[next] as usize];
            next += 1;
            for k in 0..3 {
                let other = owner[&[t[(k + 1) % 3], t[k]]];
                if facet_of[other as usize] == u32::MAX && flat(other) {
                    facet_of[other as usize] = number;
                    members.push(other);
                }
            }
        }
        facets.push(rim(points, triangles, &members, |edge| {
            facet_of[owner[&[edge[1], edge[0]]] as usize] == number
        }));
    }
    facets
}

/// The corners of the rim of triangles in one plane; `inner` is true for an edge if the triangle
/// across it is one of them too.
fn rim(
    points: &[DVec3],
    triangles: &[Vec<u32>],
    members: &[u32],
    inner: impl Fn([u32; 2]) -> bool,
) -> Vec<u32> {
    let mut after: BTreeMap<u32, u32> = BTreeMap::new();
    for &member in members {
        let t = &triangles[member as usize];
        for edge in [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]] {
            if !inner(edge) {
                after.insert(edge[0], edge[1]);
            }
        }
    }
    let start = *after.keys().next().expect("a facet has a rim");
    let mut rim = vec![start];
    let mut here = after[&start];
    while here != start {
        rim.push(here);
        here = after[&here];
    }
    let count = rim.len();
    let bends = |k: usize| {
        let [a, b, c] = [k + count - 1, k, k + 1].map(|k| points[rim[k % count] as usize]);
        normal_axis(a, b, c).is_some()
    };
    (0..count).filter(|&k| bends(k)).map(|k| rim[k]).collect()
}
