//! Polygons to triangles: exact areas, no matter how the polygon looks.

use glam::Vec3;
use jostle_geom::Mesh;
use proptest::prelude::*;

type Point = [i64; 2];

/// Twice the area of a triangle, positive if it turns left.
fn turn([ax, ay]: Point, [bx, by]: Point, [cx, cy]: Point) -> i64 {
    (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
}

fn twice_area(polygon: &[Point]) -> i64 {
    (1..polygon.len() - 1).map(|i| turn(polygon[0], polygon[i], polygon[i + 1])).sum()
}

/// Puts an integer polygon in one of several planes; all coordinates stay exact.
fn mesh_of(polygon: &[Point], plane: usize) -> Mesh {
    let place = |&[x, y]: &Point| {
        let (x, y) = (x as f32, y as f32);
        match plane % 4 {
            0 => Vec3::new(x, y, 7.0),
            1 => Vec3::new(y, -3.0, x),
            2 => Vec3::new(x + y, x, y),
            _ => Vec3::new(0.5, x, y),
        }
    };
    let indices: Vec<u32> = (0..polygon.len() as u32).collect();
    Mesh::from_polygons(polygon.iter().map(place).collect(), [indices]).unwrap()
}

/// Every edge of the polygon is the side of a triangle, inner sides cancel: the triangles are one
/// disk bounded by the polygon.
fn check_boundary(polygon: &[Point], mesh: &Mesh) {
    let mut sides: Vec<[u32; 2]> = Vec::new();
    for &[a, b, c] in mesh.triangles() {
        for side in [[a, b], [b, c], [c, a]] {
            match sides.iter().position(|&[from, to]| [to, from] == side) {
                Some(found) => drop(sides.swap_remove(found)),
                None => sides.push(side),
            }
        }
    }
    sides.sort_unstable();
    let count = polygon.len() as u32;
    let edges: Vec<[u32; 2]> = (0..count).map(|i| [i, (i + 1) % count]).collect();
    assert_eq!(sides, edges, "the boundary of the triangles of {polygon:?}");
}

/// For polygons whose edges do not cross: all triangles turn the same way as the polygon, and
/// their areas add up to its area. Together with the boundary that makes it a proper
/// triangulation: no overlap, nothing outside.
fn check_simple(polygon: &[Point]) {
    let area = twice_area(polygon);
    for plane in 0..4 {
        let mesh = mesh_of(polygon, plane);
        assert_eq!(mesh.triangle_count(), polygon.len() - 2);
        let mut sum = 0;
        for corners in mesh.triangles() {
            let [a, b, c] = corners.map(|vertex| polygon[vertex as usize]);
            let part = turn(a, b, c);
            assert_eq!(part.signum(), area.signum(), "{corners:?} of {polygon:?}");
            sum += part;
        }
        assert_eq!(sum, area, "{polygon:?}");
        check_boundary(polygon, &mesh);
    }
}

fn check_any(polygon: &[Point]) {
    for plane in 0..4 {
        let mesh = mesh_of(polygon, plane);
        assert_eq!(mesh.triangle_count(), (polygon.len().max(3)) - 2);
        if polygon.len() > 2 {
            check_boundary(polygon, &mesh);
        }
    }
}

/// All rotations of the vertex list, both ways round.
fn for_all_starts(polygon: &[Point], check: impl Fn(&[Point])) {
    let mut turned = polygon.to_vec();
    for _ in 0..polygon.len() {
        turned.rotate_left(1);
        check(&turned);
    }
    turned.reverse();
    check(&turned);
}

fn comb(teeth: i64) -> Vec<Point> {
    let mut polygon = vec![[2 * teeth, -1], [2 * teeth, 0]];
    for tooth in (0..teeth).rev() {
        polygon.extend([[2 * tooth + 1, 50], [2 * tooth, 0]]);
    }
    polygon.push([0, -1]);
    polygon
}

/// A corridor that winds around a centre, with square corners.
fn spiral(arms: i64) -> Vec<Point> {
    let corner = |i: i64, shrink: i64| {
        let r = 4 * i + 4 - shrink;
        [[r, -r], [r, r], [-r, r], [-r, -r - 4]][(i % 4) as usize]
    };
    let outer = (0..arms).map(|i| corner(i, 0));
    let inner = (0..arms).rev().map(|i| corner(i, 1));
    outer.chain(inner).collect()
}

fn star(radii: &[i64]) -> Vec<Point> {
    let count = radii.len() as f64;
    let at = |(i, &radius): (usize, &i64)| {
        let angle = i as f64 * std::f64::consts::TAU / count;
        [(radius as f64 * angle.cos()).round() as i64, (radius as f64 * angle.sin()).round() as i64]
    };
    radii.iter().enumerate().map(at).collect()
}

/// Slow and obvious: no two edges of the polygon have a common point, other than neighbours their
/// common vertex.
fn is_simple(polygon: &[Point]) -> bool {
    let count = polygon.len();
    let edge = |i: usize| (polygon[i], polygon[(i + 1) % count]);
    let on = |a: Point, b: Point, p: Point| {
        turn(a, b, p) == 0 && (0..2).all(|k| a[k].min(b[k]) <= p[k] && p[k] <= a[k].max(b[k]))
    };
    (0..count).all(|i| {
        let (a, b) = edge(i);
        let after = polygon[(i + 2) % count];
        a != b
            && !on(a, b, after)
            && (0..count).all(|j| {
                if j == i || (j + 1) % count == i || (i + 1) % count == j {
                    return true;
                }
                let (c, d) = edge(j);
                let crosses = turn(a, b, c).signum() * turn(a, b, d).signum() < 0
                    && turn(c, d, a).signum() * turn(c, d, b).signum() < 0;
                !(crosses || on(a, b, c) || on(a, b, d) || on(c, d, a) || on(c, d, b))
            })
    })
}

#[test]
fn combs_and_spirals() {
    for size in [1, 2, 3, 7, 30, 60] {
        assert!(is_simple(&comb(size)));
        for_all_starts(&comb(size), check_simple);
    }
    for arms in [2, 3, 4, 5, 9, 20, 50] {
        assert!(is_simple(&spiral(arms)), "{:?}", spiral(arms));
        for_all_starts(&spiral(arms), check_simple);
    }
}

#[test]
fn vertices_on_straight_edges_make_no_flat_triangles() {
    let square: Vec<Point> = (0..10)
        .map(|i| [i, 0])
        .chain((0..10).map(|i| [10, i]))
        .chain((0..10).map(|i| [10 - i, 10]))
        .chain((0..10).map(|i| [0, 10 - i]))
        .collect();
    for_all_starts(&square, check_simple);
    let triangle: Vec<Point> = (0..60).map(|i| [i, 0]).chain([[60, 0], [30, 40]]).collect();
    for_all_starts(&triangle, check_simple);
}

#[test]
fn a_quad_is_cut_where_it_is_inside() {
    for_all_starts(&[[0, 0], [4, 0], [4, 4], [0, 4]], check_simple);
    for_all_starts(&[[0, 0], [4, 0], [1, 1], [0, 4]], check_simple);
    for_all_starts(&[[0, 0], [4, 0], [8, 0], [0, 4]], check_simple);
    let square = mesh_of(&[[0, 0], [4, 0], [4, 4], [0, 4]], 0);
    assert_eq!(square.triangles(), [[0, 1, 2], [0, 2, 3]]);
}

#[test]
fn holes_reached_by_a_bridge_stay_open() {
    // A square with a square hole; the bridge is walked twice.
    let small =
        vec![[0, 0], [9, 0], [9, 9], [0, 9], [0, 0], [3, 3], [3, 6], [6, 6], [6, 3], [3, 3]];
    check_with_bridges(&small, 2 * (81 - 9));
    // A plate with a row of such holes, all reached from one corner: enough vertices for the tree.
    let mut large = vec![[0, 99], [0, 0], [99, 0]];
    for hole in (0..16).rev() {
        let x = 3 + 6 * hole;
        large.extend([[99, 99], [x + 3, 6], [x + 3, 3], [x, 3], [x, 6], [x + 3, 6]]);
    }
    large.push([99, 99]);
    check_with_bridges(&large, 2 * (99 * 99 - 16 * 9));
}

/// For polygons whose edges touch but do not cross.
fn check_with_bridges(polygon: &[Point], expected: i64) {
    for_all_starts(polygon, |turned| {
        let mesh = mesh_of(turned, 0);
        let area: i64 = twice_area(turned);
        let parts = mesh.triangles().iter().map(|corners| {
            let [a, b, c] = corners.map(|vertex| turned[vertex as usize]);
            turn(a, b, c)
        });
        let (sum, size) = parts.fold((0, 0), |(sum, size), part| (sum + part, size + part.abs()));
        assert_eq!((sum, size), (area, area.abs()), "{turned:?}");
        assert_eq!(area.abs(), expected);
    });
}

#[test]
fn polygons_without_area_or_with_crossings_end() {
    let bow: &[Point] = &[[0, 0], [4, 4], [4, 0], [0, 4]];
    let line: &[Point] = &[[0, 0], [1, 1], [2, 2], [5, 5], [3, 3]];
    let point: &[Point] = &[[2, 2]; 7];
    let there_and_back: &[Point] = &[[0, 0], [4, 0], [4, 4], [4, 0], [0, 0], [0, 3]];
    let twice_around: &[Point] = &[[0, 0], [3, 0], [3, 3], [0, 0], [3, 0], [3, 3]];
    for polygon in [bow, line, point, there_and_back, twice_around] {
        for_all_starts(polygon, check_any);
    }
}

#[test]
fn polygons_of_a_hundred_thousand_vertices_end_soon() {
    let radii: Vec<i64> = (0..100_000).map(|i| 1_000_000 + i * 7919 % 900_000).collect();
    let scribble = (0..100_000i64).map(|i| [i * 7919 % 1009, i * 104_729 % 1013]).collect();
    let slanted: Vec<Point> = comb(50_000).iter().map(|&[x, y]| [x + 400 * y, y - x]).collect();
    for polygon in [comb(50_000), slanted, spiral(50_000), star(&radii), scribble] {
        let mesh = mesh_of(&polygon, 0);
        assert_eq!(mesh.triangle_count(), polygon.len() - 2);
    }
}

#[test]
fn large_combs_and_spirals_keep_their_area() {
    for polygon in [comb(3000), spiral(3000)] {
        let mesh = mesh_of(&polygon, 0);
        let parts: Vec<i64> = mesh
            .triangles()
            .iter()
            .map(|corners| {
                let [a, b, c] = corners.map(|vertex| polygon[vertex as usize]);
                turn(a, b, c)
            })
            .collect();
        assert!(parts.iter().all(|&part| part > 0));
        assert_eq!(parts.iter().sum::<i64>(), twice_area(&polygon));
    }
}

/// The random polygons below are of both kinds, so both checks are run.
#[test]
fn some_small_polygons_are_simple_and_some_are_not() {
    let mut seen = [0; 2];
    for code in 0..4096i64 {
        // Six points on a grid of 4 × 4, two bits at a time.
        let mix = |i: i64| ((code * 2_654_435_761) >> (4 * i)) & 15;
        let polygon: Vec<Point> = (0..6).map(|i| [mix(i) & 3, mix(i) >> 2]).collect();
        let simple = is_simple(&polygon);
        seen[usize::from(simple)] += 1;
        if simple { check_simple(&polygon) } else { check_any(&polygon) }
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn stars(radii in prop::collection::vec(1i64..4000, 3..120)) {
        let polygon = star(&radii);
        if is_simple(&polygon) {
            check_simple(&polygon);
        } else {
            check_any(&polygon);
        }
    }

    /// On a tiny grid nearly everything degenerate happens.
    #[test]
    fn anything(polygon in prop::collection::vec([0i64..4, 0i64..4], 1..14)) {
        if polygon.len() > 2 && is_simple(&polygon) {
            check_simple(&polygon);
        } else {
            check_any(&polygon);
        }
    }

    #[test]
    fn anything_large(polygon in prop::collection::vec([0i64..30, 0i64..30], 40..120)) {
        check_any(&polygon);
    }

    /// Faces that are not flat: the count and the boundary hold all the same.
    #[test]
    fn not_flat(points in prop::collection::vec([-9i8..9, -9i8..9, -9i8..9], 3..70)) {
        let vertices = points.iter().map(|p| Vec3::from(p.map(f32::from))).collect();
        let indices: Vec<u32> = (0..points.len() as u32).collect();
        let mesh = Mesh::from_polygons(vertices, [indices]).unwrap();
        prop_assert_eq!(mesh.triangle_count(), points.len() - 2);
        check_boundary(&vec![[0, 0]; points.len()], &mesh);
    }
}
