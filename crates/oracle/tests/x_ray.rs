//! Rays through corners, along edges and in faces: the count of crossings stays right.

use glam::DVec3;
use jostle_geom::triangle::{RayCross, Triangle, x_ray_crosses};
use jostle_oracle::exact::verdict;
use jostle_oracle::rng::Rng;
use jostle_oracle::separation::{Verdict, cross, dot, minus};
use jostle_oracle::whole::large;
use num_bigint::{BigInt, Sign};

fn grid_point(rng: &mut Rng) -> DVec3 {
    DVec3::from([(); 3].map(|()| rng.below(5) as f64))
}

/// The displacement as real numbers: with coordinates below 5 every determinant is a whole number
/// below 2^10, so e = 2^-12 is small enough. All is scaled by 2^24.
fn oracle(p: DVec3, t: &Triangle) -> RayCross {
    if verdict(&[p; 3], t) != Verdict::Apart {
        return RayCross::OnTriangle;
    }
    let scaled = |q: DVec3| q.to_array().map(|x| (x as i128) << 24);
    let [a, b, c] = t.map(scaled);
    let [x, y, z] = scaled(p);
    let p = [x, y + (1 << 12), z + 1];
    let normal = cross(&minus(&b, &a), &minus(&c, &a));
    let hands = [[a, b], [b, c], [c, a]].map(|[r, s]| cross(&minus(&s, &r), &minus(&p, &r))[0]);
    let inside = hands.iter().all(|&h| h > 0) || hands.iter().all(|&h| h < 0);
    let ahead = (dot(&normal, &minus(&a, &p)) > 0) == (normal[0] > 0);
    if inside && ahead { RayCross::Yes } else { RayCross::No }
}

#[test]
fn single_triangles_agree_with_a_real_displacement() {
    let mut seen = [0; 3];
    for case in 0..50_000 {
        let mut rng = Rng::new(3, 0, case);
        let (p, t) = (grid_point(&mut rng), [(); 3].map(|()| grid_point(&mut rng)));
        let expected = oracle(p, &t);
        assert_eq!(x_ray_crosses(p, &t), expected, "seed 3, case {case}: {p} and {t:?}");
        seen[expected as usize] += 1;
    }
    assert!(seen.iter().all(|&n| n > 1_000), "lopsided: {seen:?}");
}

/// On, in or outside, by counting.
fn count(p: DVec3, mesh: &[Triangle]) -> Option<bool> {
    let crossings: Vec<_> = mesh.iter().map(|t| x_ray_crosses(p, t)).collect();
    if crossings.contains(&RayCross::OnTriangle) {
        return None;
    }
    Some(crossings.iter().filter(|&&c| c == RayCross::Yes).count() % 2 == 1)
}

#[test]
fn a_cube_holds_what_is_between_its_walls() {
    let corner = |i: usize| DVec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64);
    // Each face as two triangles, the diagonals chosen as they come.
    let quads =
        [[0, 1, 3, 2], [4, 5, 7, 6], [0, 1, 5, 4], [2, 3, 7, 6], [0, 2, 6, 4], [1, 3, 7, 5]];
    let mesh: Vec<Triangle> = quads
        .iter()
        .flat_map(|&[p, q, r, s]| [[p, q, r], [p, r, s]])
        .map(|t| t.map(corner))
        .collect();
    // Quarter steps: rays through corners, along edges, through diagonals, within faces.
    for i in 0..9_i32.pow(3) {
        let p = DVec3::new((i % 9) as f64, (i / 9 % 9) as f64, (i / 81) as f64) / 4.0 - 0.5;
        let expected = match (p - 0.5).abs().max_element() {
            d if d < 0.5 => Some(true),
            d if d > 0.5 => Some(false),
            _ => None,
        };
        assert_eq!(count(p, &mesh), expected, "{p}");
    }
}

/// On, in or outside of a tetrahedron, by the signs of five exact volumes.
fn in_tetra(p: DVec3, tetra: &[DVec3; 4]) -> Option<bool> {
    let [a, b, c, d] = *tetra;
    let (q, _) = large(&[a, b, c, d, p]);
    let volume = |i: usize, j: usize, k: usize, l: usize| {
        let [u, v, w] = [j, k, l].map(|m| minus(&q[m], &q[i]));
        dot::<BigInt>(&cross(&u, &v), &w).sign()
    };
    let whole = volume(0, 1, 2, 3);
    let parts = [volume(4, 1, 2, 3), volume(0, 4, 2, 3), volume(0, 1, 4, 3), volume(0, 1, 2, 4)];
    assert!(whole != Sign::NoSign);
    if parts.iter().all(|&s| s == whole) {
        Some(true)
    } else if parts.contains(&-whole) {
        Some(false)
    } else {
        None
    }
}

fn faces(&[a, b, c, d]: &[DVec3; 4]) -> [Triangle; 4] {
    [[a, b, c], [b, a, d], [c, b, d], [a, c, d]]
}

#[test]
fn tetrahedra_and_their_unions_hold_what_they_should() {
    let mut seen = [0; 3];
    for case in 0..20_000 {
        let mut rng = Rng::new(5, 0, case);
        let real = case % 2 == 0;
        let point = |rng: &mut Rng| {
            if real { DVec3::new(rng.unit(), rng.unit(), rng.unit()) } else { grid_point(rng) }
        };
        let tetra = [(); 2].map(|()| [(); 4].map(|()| point(&mut rng)));
        let flat = |t: &[DVec3; 4]| verdict(&[t[0], t[1], t[2]], &[t[3]; 3]);
        let volume = |t: &[DVec3; 4]| (t[1] - t[0]).cross(t[2] - t[0]).dot(t[3] - t[0]).abs();
        if tetra.iter().any(|t| flat(t) != Verdict::Apart || volume(t) < 1e-9) {
            continue;
        }
        // On the level of a corner, a rounded point of a face, or anywhere.
        let t = &tetra[0];
        let p = match rng.below(3) {
            0 => DVec3::new(point(&mut rng).x, t[1].y, t[1].z),
            1 => t[0] + (t[1] - t[0]) * rng.part() * 0.5 + (t[2] - t[0]) * rng.part() * 0.5,
            _ => point(&mut rng),
        };
        let inside = tetra.map(|t| in_tetra(p, &t));
        for (t, expected) in tetra.iter().zip(inside) {
            assert_eq!(count(p, &faces(t)), expected, "seed 5, case {case}: {p} in {t:?}");
            seen[expected.map_or(2, usize::from)] += 1;
        }
        let both: Vec<_> = tetra.iter().flat_map(faces).collect();
        let expected = inside[0].zip(inside[1]).map(|(first, second)| first != second);
        assert_eq!(count(p, &both), expected, "seed 5, case {case}: {p} in both of {tetra:?}");
    }
    assert!(seen.iter().all(|&n| n > 500), "lopsided: {seen:?}");
}
