//! Elevation grids against the sentence of the standard that says where their points are.

use super::*;
use jostle_scene::nodes::ElevationGrid;

fn grid(columns: i32, rows: i32, height: Vec<f32>) -> ElevationGrid {
    ElevationGrid {
        x_dimension: columns,
        z_dimension: rows,
        x_spacing: 0.5,
        z_spacing: 3.0,
        height: Arc::new(height),
        ..ElevationGrid::default()
    }
}

/// 6.17: P\[i,j\] has x = xSpacing · i, y = height\[i + j · xDimension\], z = zSpacing · j. A face
/// is between four of them.
#[test]
fn every_grid_is_as_its_twin_says() {
    let random = &mut Random(5);
    for round in 0..200 {
        let (columns, rows) = (2 + random.below(6), 2 + random.below(6));
        let steep = [0.0, 0.3, 40.0][round % 3];
        let heights = (0..columns * rows).map(|_| (random.part() * steep) as f32).collect();
        let mut node = grid(columns as i32, rows as i32, heights);
        node.ccw = round % 2 == 0;
        let mesh = mesh_of(node.clone());
        assert_eq!(mesh.face_count(), (columns - 1) * (rows - 1));
        assert_eq!(mesh.triangle_count(), 2 * mesh.face_count());
        let mut face = 0;
        for j in 0..rows - 1 {
            for i in 0..columns - 1 {
                let point = |i: usize, j: usize| {
                    Vec3::new(0.5 * i as f32, node.height[i + j * columns], 3.0 * j as f32)
                };
                let mut expected =
                    [point(i, j), point(i + 1, j), point(i, j + 1), point(i + 1, j + 1)];
                let mut found: Vec<Vec3> = (0..mesh.triangle_count() as u32)
                    .filter(|&t| mesh.face_of(t) == face)
                    .flat_map(|t| mesh.triangles()[t as usize])
                    .map(|v| mesh.vertices()[v as usize])
                    .collect();
                let order = |a: &Vec3, b: &Vec3| (a.x, a.z).partial_cmp(&(b.x, b.z)).unwrap();
                expected.sort_by(order);
                found.sort_by(order);
                found.dedup();
                assert_eq!(found, expected, "round {round}, face {face}");
                face += 1;
            }
        }
        // Seen from above, all of it turns one way.
        for [a, b, c] in corners(&mesh) {
            assert_eq!((b - a).cross(c - a).y > 0.0, node.ccw, "round {round}");
        }
    }
}

#[test]
fn a_quadrilateral_bends_along_the_diagonal_that_the_documentation_names() {
    let raised_on = |height: Vec<f32>| area(&mesh_of(grid(2, 2, height)));
    // Raised where the bend is, it is a ridge; raised beside it, one triangle stands up.
    let corner = |i: f64, h: f64, j: f64| DVec3::new(0.5 * i, h, 3.0 * j);
    let triangle = |a: DVec3, b: DVec3, c: DVec3| (b - a).cross(c - a).length() / 2.0;
    let ridge = triangle(corner(0.0, 0.1, 0.0), corner(1.0, 0.1, 1.0), corner(1.0, 0.0, 0.0));
    assert!((raised_on(vec![0.1, 0.0, 0.0, 0.1]) - 2.0 * ridge).abs() < 1e-6);
    let beside = triangle(corner(0.0, 0.0, 0.0), corner(1.0, 0.0, 1.0), corner(1.0, 0.1, 0.0));
    assert!((raised_on(vec![0.0, 0.1, 0.0, 0.0]) - beside - 0.75).abs() < 1e-6);
}

#[test]
fn grids_that_do_not_add_up_are_refused() {
    let text = error_of(grid(3, 2, vec![0.0; 5]));
    assert!(text.ends_with("there are 5 heights; expected 6, which is 3 times 2"), "{text}");
    assert!(error_of(grid(-1, 2, Vec::new())).contains("xDimension is -1"));
    assert!(error_of(grid(i32::MAX, i32::MAX, vec![0.0; 4])).contains("there are 4 heights"));
    let flat = ElevationGrid { x_spacing: 0.0, ..grid(2, 2, vec![0.0; 4]) };
    assert!(error_of(flat).contains("the xSpacing is 0"));
    assert!(error_of(grid(2, 2, vec![0.0, 1.0, f32::NAN, 0.0])).contains("not finite"));
    for line in [grid(0, 0, Vec::new()), grid(1, 4, vec![0.0; 4]), grid(4, 1, vec![0.0; 4])] {
        assert_eq!(geometry_of(line, Tolerance::default()), Ok(Geometry::Nothing));
    }
}
