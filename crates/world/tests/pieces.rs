//! A static mesh in pieces is found where the whole is, and pieces do not collide with each other.

mod common;

use common::{Rng, shapes};
use jostle_geom::{Model, Pose, Quality, Shape, solids};
use jostle_world::{Body, ContactData, Policy, QueryKind, Settings, World, pieces};
use std::collections::BTreeSet;

#[test]
fn pieces_have_every_triangle_once() {
    let torus = solids::BumpyTorus::plain(2.0, 0.5, [40, 20]).mesh().expect("a torus");
    for most in [0, 1, 7, 100, 10_000] {
        let pieces = pieces::cut(&torus, most).expect("good numbers");
        let mut faces: Vec<u32> = pieces.iter().flat_map(|p| p.faces.iter().copied()).collect();
        faces.sort_unstable();
        assert_eq!(faces, (0..1600).collect::<Vec<_>>(), "at most {most}");
        assert!(pieces.iter().all(|piece| piece.faces.len() <= most.max(1)));
    }
}

#[test]
fn the_same_faces_are_touched_as_in_one_piece() {
    let torus = solids::BumpyTorus::plain(2.0, 0.5, [40, 20]).mesh().expect("a torus");
    let settings =
        Settings { policy: Policy::Everything(QueryKind::AllPairs), ..Settings::default() };
    let mut whole = World::new(settings.clone());
    let mut cut = World::new(settings);
    let shape = Shape::mesh(Model::build(torus.clone(), Quality::Default));
    let static_mesh = whole.insert(Body::fixed(shape, Pose::IDENTITY)).expect("a good body");
    let parts = pieces::insert(&mut cut, &torus, Pose::IDENTITY, 1, 50).expect("good numbers");
    let ball = Body::moving(shapes()[1].clone(), Pose::IDENTITY);
    let mut rng = Rng(3);
    let movers = [&mut whole, &mut cut].map(|world| world.insert(ball.clone()).expect("a body"));
    let mut touching = 0;
    for step in 0..200 {
        let pose = rng.pose(2.5);
        whole.set_pose(movers[0], pose).expect("it moves");
        cut.set_pose(movers[1], pose).expect("it moves");
        whole.step();
        cut.step();
        let faces = |world: &World, a, b| match world.contact(a, b).map(|c| &c.data) {
            Some(ContactData::Faces(faces)) => faces.iter().map(|f| [f.a, f.b]).collect(),
            _ => Vec::new(),
        };
        let expected: BTreeSet<_> = faces(&whole, static_mesh, movers[0]).into_iter().collect();
        let mut found = BTreeSet::new();
        for (part, part_faces) in &parts {
            let pairs = faces(&cut, *part, movers[1]).into_iter();
            found.extend(pairs.map(|[part, mover]| [part_faces[part as usize], mover]));
        }
        assert_eq!(found, expected, "step {step}");
        assert!(cut.contacts().iter().all(|c| c.b == movers[1]), "pieces touch pieces");
        touching += usize::from(!expected.is_empty());
    }
    assert!((20..180).contains(&touching), "{touching} of 200");
}
