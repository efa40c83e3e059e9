//! Moved vertices: the answers are those of a model built for the new positions.

mod soup;

use glam::{DVec3, Vec3};
use jostle_geom::{Mesh, MeshError, Model, Pair, Pose, Quality, solids};
use soup::{QUALITIES, Random, brute_pairs, polygon_soup, soup};

fn deformed(mesh: &Mesh, random: &mut Random, amount: f32) -> Vec<Vec3> {
    mesh.vertices().iter().map(|v| *v + random.vector().as_vec3() * amount).collect()
}

#[test]
fn a_refitted_model_answers_for_the_new_positions() {
    let (mut yes, mut no) = (0, 0);
    for seed in 0..12 {
        let mut random = Random(seed);
        let mesh = if seed % 2 == 0 {
            soup(&mut random, 60, 1.0, 0.1)
        } else {
            polygon_soup(&mut random, 25)
        };
        let other = Model::build(soup(&mut random, 40, 1.0, 0.1), Quality::Default);
        for quality in QUALITIES {
            let mut model = Model::build(mesh.clone(), quality);
            for amount in [0.01, 0.3, 5.0] {
                let positions = deformed(&mesh, &mut random, amount);
                let mut moved = mesh.clone();
                moved.set_vertices(&positions).unwrap();
                model.refit(&positions).unwrap();
                assert_eq!(model.mesh().hash(), moved.hash());
                for _ in 0..3 {
                    let (pose, here) = (random.pose(2.0), Pose::IDENTITY);
                    let expected = brute_pairs(&moved, &here, other.mesh(), &pose);
                    let pair = Pair::new(&model, &here, &other, &pose);
                    assert_eq!(pair.all_pairs(), expected, "seed {seed}, {quality:?}, {amount}");
                    assert_eq!(pair.touches(), !expected.is_empty());
                    *if expected.is_empty() { &mut no } else { &mut yes } += 1;
                }
                // What is saved after a refit belongs to the moved mesh.
                assert!(
                    Model::hierarchy_from_bytes(moved, &model.hierarchy_to_bytes())
                        .unwrap()
                        .hierarchy_to_bytes()
                        == model.hierarchy_to_bytes()
                );
            }
        }
    }
    assert!(yes > 10 && no > 10, "{yes} yes, {no} no");
}

#[test]
fn a_rebuilt_model_does_not_remember() {
    let mut random = Random(40);
    let mesh = soup(&mut random, 200, 1.0, 0.1);
    let positions = deformed(&mesh, &mut random, 2.0);
    let mut moved = mesh.clone();
    moved.set_vertices(&positions).unwrap();
    for quality in QUALITIES {
        let mut model = Model::build(mesh.clone(), Quality::Tight);
        model.refit(&positions).unwrap();
        model.rebuild(quality);
        assert_eq!(model.quality(), quality);
        assert!(
            model.hierarchy_to_bytes() == Model::build(moved.clone(), quality).hierarchy_to_bytes(),
            "{quality:?}"
        );
    }
    // The triangles of a polygon stand in another order, but always in the same.
    let mesh = polygon_soup(&mut random, 60);
    let mut one = Model::build(mesh.clone(), Quality::Tight);
    let mut two = Model::build(mesh, Quality::Fast);
    one.rebuild(Quality::Default);
    two.rebuild(Quality::Default);
    assert!(one.hierarchy_to_bytes() == two.hierarchy_to_bytes());
}

#[test]
fn a_refused_refit_changes_nothing() {
    let mesh = solids::cuboid(DVec3::ONE).unwrap();
    let mut model = Model::build(mesh.clone(), Quality::Default);
    let before = model.hierarchy_to_bytes();
    let error = model.refit(&mesh.vertices()[1..]).unwrap_err();
    assert_eq!(error, MeshError::VertexCount { expected: 8, found: 7 });
    let mut positions = mesh.vertices().to_vec();
    positions[3].y = f32::NAN;
    let error = model.refit(&positions).unwrap_err();
    assert!(matches!(error, MeshError::NotFinite { vertex: 3, .. }), "{error}");
    assert!(model.hierarchy_to_bytes() == before && model.mesh().hash() == mesh.hash());
}

#[test]
fn an_empty_model_can_be_refitted() {
    let mut model =
        Model::build(Mesh::from_triangles(vec![Vec3::X], Vec::new()).unwrap(), Quality::Fast);
    model.refit(&[Vec3::Y]).unwrap();
    assert_eq!(model.mesh().vertices(), [Vec3::Y]);
    model.rebuild(Quality::Default);
    assert!(!Pair::new(&model, &Pose::IDENTITY, &model, &Pose::IDENTITY).touches());
}
