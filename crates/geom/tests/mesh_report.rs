//! The report finds what is odd, and only that.

use glam::Vec3;
use jostle_geom::{Mesh, NON_PLANAR_BOUND};

/// A unit cube of six quads that all turn outward.
fn cube() -> (Vec<Vec3>, Vec<Vec<u32>>) {
    let corner = |i: u32| Vec3::new((i & 1) as f32, (i >> 1 & 1) as f32, (i >> 2) as f32);
    let faces =
        [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    ((0..8).map(corner).collect(), faces.iter().map(|face| face.to_vec()).collect())
}

#[test]
fn nothing_is_odd_about_a_cube() {
    let (vertices, faces) = cube();
    let report = Mesh::from_polygons(vertices, &faces).unwrap().report();
    assert_eq!((report.faces, report.triangles, report.vertices), (6, 12, 8));
    assert_eq!((report.components, report.closed, report.unused_vertices), (1, true, 0));
    assert_eq!(report.bounds, Some([Vec3::ZERO, Vec3::ONE]));
    assert_eq!(report.largest_bend, 0.0);
    for finding in [
        report.degenerate_faces,
        report.duplicate_faces,
        report.non_planar_faces,
        report.open_edges,
        report.non_manifold_edges,
        report.misoriented_edges,
    ] {
        assert_eq!((finding.count, finding.faces.len()), (0, 0));
    }
}

#[test]
fn a_missing_face_leaves_four_open_edges() {
    let (vertices, faces) = cube();
    let report = Mesh::from_polygons(vertices, &faces[..5]).unwrap().report();
    assert_eq!((report.open_edges.count, report.closed), (4, false));
    assert_eq!(report.open_edges.faces, [0, 1, 2, 3]);
}

#[test]
fn a_face_that_is_inside_out_is_found() {
    let (vertices, mut faces) = cube();
    faces[5].reverse();
    let report = Mesh::from_polygons(vertices, &faces).unwrap().report();
    assert_eq!((report.misoriented_edges.count, report.closed), (4, true));
}

#[test]
fn an_inner_wall_makes_edges_non_manifold() {
    let (vertices, mut faces) = cube();
    faces.push(vec![0, 1, 7, 6]);
    let report = Mesh::from_polygons(vertices, &faces).unwrap().report();
    // Two edges of the cube, and two diagonals along which its quads are cut.
    assert_eq!((report.non_manifold_edges.count, report.closed), (4, false));
    assert_eq!(report.open_edges.count + report.misoriented_edges.count, 0);
}

#[test]
fn duplicates_are_found_by_place_and_in_any_order() {
    let (mut vertices, mut faces) = cube();
    let copies = vertices.clone();
    vertices.extend(copies);
    faces.push(vec![11, 10, 8, 9]);
    faces.push(vec![1, 0, 2, 3]);
    let report = Mesh::from_polygons(vertices, &faces).unwrap().report();
    assert_eq!((report.duplicate_faces.count, report.unused_vertices), (2, 4));
    assert_eq!(report.duplicate_faces.faces, [6, 7]);
}

#[test]
fn faces_without_area_are_found_exactly() {
    let tenth = Vec3::new(0.1, 0.3, 0.7);
    let tiny = Vec3::new(0.0, f32::from_bits(1), 0.0);
    // Exactly collinear although the coordinates are odd numbers; and very nearly so.
    let vertices = vec![tenth, tenth * 2.0, tenth * 4.0, tenth * 4.0 + Vec3::X * 1e-6, tiny];
    let vertices = [vertices, vec![Vec3::ZERO, Vec3::X]].concat();
    let faces = vec![[0u32, 1, 2], [0, 1, 3], [5, 6, 4], [5, 6, 6], [4, 4, 4]];
    let report = Mesh::from_triangles(vertices, faces).unwrap().report();
    assert_eq!(report.degenerate_faces.faces, [0, 3, 4]);
}

#[test]
fn bent_faces_are_measured() {
    for (lift, bent) in [(0.0, false), (0.5 * NON_PLANAR_BOUND as f32, false), (0.1, true)] {
        let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, lift), Vec3::Y];
        let report = Mesh::from_polygons(vertices, [[0, 1, 2, 3]]).unwrap().report();
        assert_eq!(report.non_planar_faces.count, usize::from(bent));
        assert_eq!(report.largest_bend > 0.0, lift > 0.0);
        assert!(report.largest_bend < f64::from(lift) + 1e-12);
    }
}

#[test]
fn parts_are_counted_by_place() {
    let (vertices, faces) = cube();
    let shifted = |by: Vec3| vertices.iter().map(move |&v| v + by);
    for (by, parts) in [(Vec3::ONE, 1), (Vec3::X, 1), (Vec3::splat(1.5), 2), (Vec3::ZERO, 1)] {
        let both: Vec<Vec3> = shifted(Vec3::ZERO).chain(shifted(by)).collect();
        let mut all = faces.clone();
        all.extend(faces.iter().map(|face| face.iter().map(|v| v + 8).collect::<Vec<u32>>()));
        let report = Mesh::from_polygons(both, &all).unwrap().report();
        assert_eq!((report.components, report.closed), (parts, true), "shifted by {by}");
    }
}

#[test]
fn a_vertex_on_an_edge_is_closed_by_polygons_but_not_by_triangles() {
    // A cube whose edge 0–1 is cut in two in one face only: a crack, found as such.
    let (mut vertices, mut faces) = cube();
    vertices.push(Vec3::X * 0.5);
    faces[0] = vec![0, 2, 3, 1, 8];
    let report = Mesh::from_polygons(vertices.clone(), &faces).unwrap().report();
    assert_eq!((report.closed, report.open_edges.count), (false, 3));
    // A face without area fills it.
    faces.push(vec![0, 8, 1]);
    let report = Mesh::from_polygons(vertices, &faces).unwrap().report();
    assert_eq!((report.closed, report.degenerate_faces.count), (true, 1));
}

#[test]
fn it_reads_well() {
    let (vertices, faces) = cube();
    let text = Mesh::from_polygons(vertices, &faces[..5]).unwrap().report().to_string();
    assert!(
        text.contains("odd                4 open edges around 1 hole (at face 0, 1, 2, 3)"),
        "{text}"
    );
    assert!(text.contains("closed             no"), "{text}");
    assert!(text.contains("bounds             (0, 0, 0) to (1, 1, 1)"), "{text}");
    assert!(text.contains("volume             unknown: the surface is not closed"), "{text}");
    let (vertices, faces) = cube();
    let text = Mesh::from_polygons(vertices, &faces).unwrap().report().to_string();
    assert!(text.contains("volume             1\n"), "{text}");
    assert!(text.ends_with("odd                nothing"), "{text}");
    let empty = Mesh::from_triangles(Vec::new(), Vec::new()).unwrap().report().to_string();
    assert!(empty.contains("size               none: there are no faces"), "{empty}");
}

#[test]
fn slivers_and_flipped_faces_are_distinguished_from_faces_without_area() {
    let vertices = vec![Vec3::ZERO, Vec3::X, Vec3::new(0.5, 1e-6, 0.0), Vec3::X * 2.0, Vec3::Y];
    let faces = vec![[0, 1, 2], [0, 1, 3], [0, 1, 4]];
    let report = Mesh::from_triangles(vertices, faces).unwrap().report();
    assert_eq!(report.sliver_faces.faces, [0]);
    assert_eq!(report.degenerate_faces.faces, [1]);
    let text = report.to_string();
    assert!(text.contains("1 sliver, thinner than 0.01 % of their length (at face 0)"), "{text}");
    let (vertices, mut faces) = cube();
    faces[0].reverse();
    let report = Mesh::from_polygons(vertices.clone(), &faces).unwrap().report();
    assert_eq!((report.misoriented_edges.count, report.volume), (4, None));
    assert!(report.to_string().contains("unknown: some faces are flipped"));
    faces[1..].iter_mut().for_each(|face| face.reverse());
    let report = Mesh::from_polygons(vertices, &faces).unwrap().report();
    assert!(report.to_string().contains("1 (all faces are flipped: they look inward)"), "{report}");
}
