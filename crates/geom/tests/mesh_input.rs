//! Every kind of odd input: kept, or refused with its place.

use glam::Vec3;
use jostle_geom::{Mesh, MeshError, NotClosed};
use proptest::prelude::*;

fn points(count: usize) -> Vec<Vec3> {
    (0..count).map(|i| Vec3::new(i as f32, (i * i) as f32, (i * i * i) as f32)).collect()
}

#[test]
fn an_empty_mesh_is_a_mesh() {
    let mesh = Mesh::from_triangles(Vec::new(), Vec::new()).unwrap();
    assert_eq!((mesh.face_count(), mesh.triangle_count(), mesh.memory_usage()), (0, 0, 0));
    assert_eq!(mesh.report().bounds, None);
    let none: [&[u32]; 0] = [];
    assert_eq!(Mesh::from_polygons(points(3), none).unwrap().report().unused_vertices, 3);
    assert!(mesh.into_solid().is_ok());
}

#[test]
fn an_index_that_points_nowhere_names_its_face() {
    let expected = MeshError::BadIndex { face: 1, vertex: 3, vertices: 3 };
    let found = Mesh::from_triangles(points(3), vec![[0, 1, 2], [0, 3, 9]]);
    assert_eq!(found.unwrap_err(), expected);
    let found = Mesh::from_polygons(points(3), [vec![0, 1, 2], vec![0, 1, 2, 1, 3]]);
    assert_eq!(found.unwrap_err(), expected);
    assert_eq!(expected.to_string(), "face 1 names vertex 3, but there are only 3 vertices");
}

#[test]
fn a_face_without_vertices_is_named() {
    let faces: [&[u32]; 2] = [&[0], &[]];
    let found = Mesh::from_polygons(points(3), faces).unwrap_err();
    assert_eq!(found, MeshError::EmptyFace { face: 1 });
}

#[test]
fn numbers_that_are_not_finite_name_face_or_vertex() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for coordinate in 0..3 {
            let mut vertices = points(5);
            vertices[1][coordinate] = bad;
            vertices[4][coordinate] = bad;
            let used = Mesh::from_polygons(vertices.clone(), [[0, 2, 3, 2], [3, 2, 0, 1]]);
            let Err(MeshError::NotFinite { face: 1, vertex: 1, .. }) = used else {
                panic!("{used:?}");
            };
            let used = Mesh::from_triangles(vertices.clone(), vec![[0, 2, 3], [4, 1, 0]]);
            let Err(MeshError::NotFinite { face: 1, vertex: 4, .. }) = used else {
                panic!("{used:?}");
            };
            let unused = Mesh::from_triangles(vertices, vec![[0, 2, 3]]);
            let Err(MeshError::NotFiniteUnused { vertex: 1, .. }) = unused else {
                panic!("{unused:?}");
            };
        }
    }
}

#[test]
fn large_polygons_with_wild_numbers_are_refused_and_end() {
    for bad in [f32::NAN, f32::INFINITY] {
        let vertices: Vec<Vec3> = (0..1000)
            .map(|i| if i % 3 == 0 { Vec3::splat(bad) } else { Vec3::X * i as f32 })
            .collect();
        let indices: Vec<u32> = (0..1000).collect();
        assert!(Mesh::from_polygons(vertices, [indices]).is_err());
    }
}

#[test]
fn the_largest_and_smallest_numbers_are_fine() {
    let (max, min) = (f32::MAX, f32::from_bits(1));
    for size in [max, min] {
        let corners = [(-1.0, -1.0), (1.0, -1.0), (0.0, 0.0), (1.0, 1.0), (-1.0, 1.0)];
        let vertices = corners.iter().map(|&(x, y)| Vec3::new(x, y, 0.0) * size).collect();
        let mesh = Mesh::from_polygons(vertices, [[0, 1, 2, 3, 4]]).unwrap();
        let report = mesh.report();
        assert_eq!((mesh.triangle_count(), report.degenerate_faces.count), (3, 0));
        assert_eq!(report.open_edges.count, 5);
    }
}

#[test]
fn points_and_segments_are_kept() {
    let faces: [&[u32]; 4] = [&[2], &[1, 2], &[0, 0, 0], &[0, 1, 1]];
    let mesh = Mesh::from_polygons(points(3), faces).unwrap();
    assert_eq!(mesh.triangles(), [[2, 2, 2], [1, 2, 2], [0, 0, 0], [0, 1, 1]]);
    assert_eq!(mesh.report().degenerate_faces.count, 4);
    assert!((0..4).all(|i| mesh.face_of(i) == i));
}

#[test]
fn triangles_know_their_face() {
    let faces: [&[u32]; 4] = [&[0, 1, 2], &[0, 1, 2, 3, 4], &[5], &[1, 2, 3, 4]];
    let mesh = Mesh::from_polygons(points(6), faces).unwrap();
    let found: Vec<u32> = (0..mesh.triangle_count() as u32).map(|i| mesh.face_of(i)).collect();
    assert_eq!(found, [0, 1, 1, 1, 2, 3, 3]);
    assert_eq!(mesh.face_count(), 4);
}

#[test]
fn one_list_of_indices_is_the_same_as_many() {
    let flat = Mesh::from_face_sizes(points(5), &[3, 1, 4], &[0, 1, 2, 4, 3, 2, 1, 0]).unwrap();
    let faces: [&[u32]; 3] = [&[0, 1, 2], &[4], &[3, 2, 1, 0]];
    let lists = Mesh::from_polygons(points(5), faces).unwrap();
    assert_eq!(flat.hash(), lists.hash());
    let found = Mesh::from_face_sizes(points(5), &[3, 2], &[0, 1, 2, 4]).unwrap_err();
    assert_eq!(found, MeshError::SizesDoNotAddUp { sum: 5, indices: 4 });
    let found = Mesh::from_face_sizes(points(5), &[u32::MAX; 3], &[0]).unwrap_err();
    assert!(matches!(found, MeshError::SizesDoNotAddUp { .. }));
}

#[test]
fn the_hash_sees_every_number() {
    let base = || (points(5), vec![[0u32, 1, 2], [2, 3, 4]]);
    let hash = |(v, t): (Vec<Vec3>, Vec<[u32; 3]>)| Mesh::from_triangles(v, t).unwrap().hash();
    let mut seen = vec![hash(base())];
    for vertex in 0..5 {
        for axis in 0..3 {
            let (mut vertices, triangles) = base();
            vertices[vertex][axis] += 1.0;
            seen.push(hash((vertices, triangles)));
        }
    }
    for triangle in 0..2 {
        for corner in 0..3 {
            let (vertices, mut triangles) = base();
            triangles[triangle][corner] = (triangles[triangle][corner] + 1) % 5;
            seen.push(hash((vertices, triangles)));
        }
    }
    let (mut vertices, mut triangles) = base();
    triangles.swap(0, 1);
    seen.push(hash((vertices.clone(), triangles.clone())));
    triangles[0].rotate_left(1);
    seen.push(hash((vertices.clone(), triangles.clone())));
    vertices.swap(0, 1);
    seen.push(hash((vertices, triangles)));
    let all = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), all);
}

#[test]
fn the_hash_is_the_same_on_every_platform() {
    let mesh = Mesh::from_triangles(points(3), vec![[0, 1, 2]]).unwrap();
    assert_eq!(
        mesh.hash(),
        15_041_335_288_279_606_964,
        "a saved hierarchy of an older version is stale if this changes"
    );
}

/// A tetrahedron as `copies` of each vertex, so that faces share places but no vertices.
fn tetrahedron(separate: bool) -> Mesh {
    let corners = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let faces = [[0u32, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    if !separate {
        return Mesh::from_triangles(corners.to_vec(), faces.to_vec()).unwrap();
    }
    // −0.0 is the same place as 0.0.
    let vertices: Vec<Vec3> = faces.iter().flatten().map(|&v| corners[v as usize] * -1.0).collect();
    let triangles = (0..4).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    Mesh::from_triangles(vertices, triangles).unwrap()
}

#[test]
fn closed_meshes_can_be_solid() {
    assert!(tetrahedron(false).into_solid().unwrap().is_solid());
    assert!(tetrahedron(true).into_solid().unwrap().is_solid());
    let open = Mesh::from_triangles(points(3), vec![[0, 1, 2]]).unwrap();
    let expected = NotClosed { edges: 3, face: 0, from: 0, to: 1 };
    assert_eq!(open.into_solid().unwrap_err(), expected);
}

#[test]
fn orientation_does_not_matter_for_being_closed_but_is_reported() {
    let corners = vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
    let faces = vec![[0u32, 1, 2], [0, 1, 3], [1, 2, 3], [2, 0, 3]];
    let mesh = Mesh::from_triangles(corners, faces).unwrap();
    assert_eq!(mesh.report().misoriented_edges.count, 3);
    assert!(mesh.into_solid().is_ok());
}

#[test]
fn new_positions_are_checked() {
    let mut mesh = tetrahedron(false).into_solid().unwrap();
    let old = mesh.hash();
    let expected = MeshError::VertexCount { expected: 4, found: 3 };
    assert_eq!(mesh.set_vertices(&points(3)), Err(expected));
    let bad = [Vec3::ZERO, Vec3::X, Vec3::NAN, Vec3::Z];
    let Err(MeshError::NotFinite { face: 0, vertex: 2, .. }) = mesh.set_vertices(&bad) else {
        panic!("must be refused");
    };
    assert_eq!(mesh.hash(), old);
    mesh.set_vertices(&points(4)).unwrap();
    assert_eq!(mesh.vertices(), points(4));
    assert!(mesh.is_solid() && mesh.report().closed);
}

#[test]
fn a_deformation_that_tears_a_solid_open_is_refused() {
    let mut mesh = tetrahedron(true).into_solid().unwrap();
    let mut moved = mesh.vertices().to_vec();
    moved.iter_mut().for_each(|position| *position *= 2.0);
    mesh.set_vertices(&moved).unwrap();
    moved[0].x += 1.0;
    let Err(MeshError::TornOpen(open)) = mesh.set_vertices(&moved) else {
        panic!("must be refused");
    };
    assert_eq!(open.edges, 4);
    assert!(mesh.report().closed, "nothing changed");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Any list of faces is a mesh or an error, also cut short anywhere, and never a panic.
    #[test]
    fn any_indices_are_a_mesh_or_an_error(
        sizes in prop::collection::vec(0u32..9, 0..12),
        indices in prop::collection::vec(0u32..8, 0..60),
        vertices in 0usize..9,
    ) {
        for cut in 0..=indices.len() {
            let found = Mesh::from_face_sizes(points(vertices), &sizes, &indices[..cut]);
            if let Ok(mesh) = found {
                prop_assert_eq!(mesh.face_count(), sizes.len());
                let report = mesh.report();
                prop_assert!(!report.to_string().is_empty());
                prop_assert_eq!(report.closed, mesh.into_solid().is_ok());
            }
        }
        // The same with sizes that fit, so that meshes come out often.
        let mut rest = &indices[..];
        let mut faces = Vec::new();
        for size in sizes {
            let (face, tail) = rest.split_at((size as usize).min(rest.len()));
            faces.push(face);
            rest = tail;
        }
        let found = Mesh::from_polygons(points(vertices), &faces);
        let good = faces.iter().all(|face| {
            !face.is_empty() && face.iter().all(|&vertex| (vertex as usize) < vertices)
        });
        prop_assert_eq!(found.is_ok(), good);
    }
}
