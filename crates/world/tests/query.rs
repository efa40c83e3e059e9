//! Bodies by place, against all bodies one by one.

mod common;

use common::{Rng, shapes};
use glam::{DVec3, Vec3};
use jostle_geom::{Aabb, Model, Pair, Pose, Quality, Ray, Shape, solids};
use jostle_world::broad::Structure;
use jostle_world::{Body, BodyId, BodyRayHit, NearestBody, Settings, World, WorldError};

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::from_translation(DVec3::new(x, y, z)).expect("a finite number")
}

fn ball(radius: f64) -> Shape {
    Shape::sphere(radius).expect("a radius")
}

fn cube(size: f64) -> Shape {
    Shape::cuboid(DVec3::splat(size)).expect("a size")
}

fn fixed(world: &mut World, shape: Shape, pose: Pose) -> BodyId {
    world.insert(Body::fixed(shape, pose)).expect("a good body")
}

/// The bodies that are enabled.
fn enabled(world: &World) -> Vec<BodyId> {
    world.ids().filter(|&id| world.is_enabled(id).expect("it is there")).collect()
}

/// What a ray meets of one body, in a world of its own.
fn hit_alone(world: &World, id: BodyId, ray: &Ray) -> Option<BodyRayHit> {
    let mut alone = World::new(Settings::default());
    let shape = world.shape(id).expect("it is there").clone();
    fixed(&mut alone, shape, world.pose(id).expect("it is there"));
    alone.cast_ray(ray).map(|hit| BodyRayHit { id, ..hit })
}

fn hits_one_by_one(world: &World, ray: &Ray) -> Vec<BodyRayHit> {
    let ids = enabled(world).into_iter();
    let mut hits: Vec<_> = ids.filter_map(|id| hit_alone(world, id, ray)).collect();
    hits.sort_by(|a, b| a.hit.distance.total_cmp(&b.hit.distance).then(a.id.cmp(&b.id)));
    hits
}

fn touching_one_by_one(world: &World, shape: &Shape, pose: &Pose) -> Vec<BodyId> {
    let touches = |&id: &BodyId| {
        let (other, there) = (world.shape(id).expect("there"), world.pose(id).expect("there"));
        Pair::new(shape, pose, other, &there).touches()
    };
    enabled(world).into_iter().filter(touches).collect()
}

fn nearest_one_by_one(world: &World, point: DVec3, within: f64) -> Option<NearestBody> {
    let mut best: Option<NearestBody> = None;
    for id in enabled(world) {
        let (shape, pose) = (world.shape(id).expect("there"), world.pose(id).expect("there"));
        let there = Pose::from_translation(point).expect("finite numbers");
        let zero = ball(0.0);
        let Some(found) = Pair::new(&zero, &there, shape, &pose).distance() else { continue };
        let found =
            NearestBody { id, distance: found.distance, point: found.point_b, face: found.faces.b };
        let closer = best.is_none_or(|best| found.distance < best.distance);
        if found.distance <= within && closer {
            best = Some(found);
        }
    }
    best
}

/// A lattice of whole numbers, so that much just touches, and random places.
fn place(rng: &mut Rng) -> Pose {
    if rng.below(2) == 0 {
        let whole = [0; 3].map(|_| rng.below(9) as f64 - 4.0);
        at(whole[0], whole[1], whole[2])
    } else {
        rng.pose(4.0)
    }
}

/// A crowd of which some moved since the last step, some are disabled, and some are new.
fn crowd(structure: Structure, seed: u64) -> (World, Rng) {
    let mut rng = Rng(seed);
    let mut world = World::new(Settings { structure, ..Settings::default() });
    let mut forms = shapes().to_vec();
    forms.extend([ball(1.0), ball(0.5), cube(1.0), cube(2.0), ball(0.0)]);
    let ball_mesh = solids::sphere(0.75, 0.1).expect("a ball").into_solid().expect("closed");
    forms.push(Shape::mesh(Model::build(ball_mesh, Quality::Default)));
    let insert = |world: &mut World, rng: &mut Rng| {
        let shape = forms[rng.below(forms.len())].clone();
        world.insert(Body::moving(shape, place(rng))).expect("a good body")
    };
    let ids: Vec<_> = (0..40).map(|_| insert(&mut world, &mut rng)).collect();
    world.step();
    for (k, &id) in ids.iter().enumerate() {
        match k % 5 {
            0 => world.set_pose(id, place(&mut rng)).expect("it moves"),
            1 if k % 2 == 0 => world.disable(id).expect("it is there"),
            2 if k % 3 == 0 => drop(world.remove(id).expect("it is there")),
            _ => {}
        }
    }
    for _ in 0..5 {
        // The same once more in the same place, so that much is at the same distance.
        let ids: Vec<_> = world.ids().collect();
        let id = ids[rng.below(ids.len())];
        let shape = world.shape(id).expect("it is there").clone();
        let pose = world.pose(id).expect("it is there");
        world.insert(Body::moving(shape, pose)).expect("a good body");
    }
    (world, rng)
}

/// A point that often lies on something, or in the middle of it.
fn point(world: &World, rng: &mut Rng) -> DVec3 {
    match rng.below(3) {
        0 => place(rng).translation(),
        1 => {
            let ids: Vec<_> = world.ids().collect();
            let id = ids[rng.below(ids.len())];
            let corner = DVec3::from_array([0; 3].map(|_| rng.below(3) as f64 * 0.5 - 0.5));
            world.pose(id).expect("it is there").translation() + corner
        }
        _ => rng.point(40.0),
    }
}

#[test]
fn queries_find_what_all_bodies_one_by_one_give() {
    // Rays and shapes that found nothing, one, more; points with the nearest at 0, near, too far.
    let (mut rays, mut touches, mut nearest) = ([0; 3], [0; 3], [0; 3]);
    let mut ties = 0;
    for (seed, structure) in (1..).zip(Structure::ALL.into_iter().cycle().take(14)) {
        let (world, mut rng) = crowd(structure, seed);
        for turn in 0..60 {
            let case = format!("{} seed {seed} turn {turn}", structure.name());
            let (from, to) = (point(&world, &mut rng), point(&world, &mut rng));
            let length = [f64::INFINITY, 2.0, 0.0][rng.below(3)];
            let ray = match Ray::new(from, to - from, length) {
                Ok(ray) => ray,
                Err(_) => continue,
            };
            let expected = hits_one_by_one(&world, &ray);
            assert_eq!(world.cast_ray(&ray), expected.first().copied(), "{case} {ray:?}");
            assert_eq!(world.cast_ray_all(&ray), expected, "{case} {ray:?}");
            rays[expected.len().min(2)] += 1;
            let tied = |pair: &&[BodyRayHit]| pair[0].hit.distance == pair[1].hit.distance;
            ties += expected.windows(2).filter(tied).count();

            let (shape, pose) = (&[ball(0.0), cube(1.0), ball(1.5)][turn % 3], place(&mut rng));
            let expected = touching_one_by_one(&world, shape, &pose);
            assert_eq!(world.bodies_touching(shape, &pose), expected, "{case} {pose:?}");
            touches[expected.len().min(2)] += 1;
            let expected = touching_one_by_one(&world, &ball(0.0), &at(from.x, from.y, from.z));
            assert_eq!(world.bodies_at(from), Ok(expected), "{case} {from}");

            let within = [f64::INFINITY, 1.0, 0.0][rng.below(3)];
            let expected = nearest_one_by_one(&world, from, within);
            assert_eq!(world.nearest_body(from, within), Ok(expected), "{case} {from} {within}");
            nearest[expected.map_or(2, |found| usize::from(found.distance > 0.0))] += 1;

            let span = [from, to].map(|p| p.as_vec3());
            let bounds = Aabb::around(span[0], span[1]);
            let mut stepped = world.clone();
            stepped.step();
            let overlaps = |&id: &BodyId| {
                let there = stepped.bounds(id).expect("it is there");
                there.is_some_and(|there| there.overlaps(&bounds))
            };
            let expected: Vec<_> = enabled(&world).into_iter().filter(overlaps).collect();
            assert_eq!(world.bodies_in_box(&bounds), expected, "{case} {bounds:?}");
        }
    }
    for counts in [rays, touches, nearest] {
        assert!(counts.iter().all(|&count| count > 20), "{rays:?} {touches:?} {nearest:?}");
    }
    assert!(ties > 5, "{ties} ties");
}

#[test]
fn a_ray_just_touches_a_sphere_or_just_does_not() {
    // Past it at a distance of 3; up to the point (-3, 4), at a distance of 5.
    let along = Ray::new(DVec3::new(-10.0, 3.0, 0.0), DVec3::X, f64::INFINITY).expect("a ray");
    let ends = Ray::between(DVec3::new(-10.0, 4.0, 0.0), DVec3::new(-3.0, 4.0, 0.0));
    for (ray, radius, distance) in [(along, 3.0, 10.0), (ends.expect("a ray"), 5.0, 7.0)] {
        let mut world = World::new(Settings::default());
        let id = fixed(&mut world, ball(radius), Pose::IDENTITY);
        let hit = world.cast_ray(&ray).expect("it touches");
        assert_eq!((hit.id, hit.hit.distance), (id, distance));
        assert!((hit.hit.normal * radius).distance(hit.hit.point) < 1e-12, "{hit:?}");
        let mut world = World::new(Settings::default());
        fixed(&mut world, ball(f64::next_down(radius)), Pose::IDENTITY);
        assert_eq!(world.cast_ray(&ray), None);
    }
}

#[test]
fn a_ray_that_starts_in_a_sphere_meets_it_at_once_and_one_in_a_box_meets_the_wall() {
    let mut world = World::new(Settings::default());
    let sphere = fixed(&mut world, ball(1.0), Pose::IDENTITY);
    let solid = fixed(&mut world, cube(6.0), Pose::IDENTITY);
    let ray = Ray::new(DVec3::new(0.0, 0.5, 0.25), DVec3::X, 100.0).expect("a ray");
    let hits: Vec<_> = world.cast_ray_all(&ray).iter().map(|h| (h.id, h.hit.distance)).collect();
    assert_eq!(hits, [(sphere, 0.0), (solid, 3.0)]);
    let back = Ray::new(DVec3::new(-3.0, 0.5, 0.25), -DVec3::X, 1.0).expect("a ray");
    assert_eq!(world.cast_ray(&back).map(|h| (h.id, h.hit.distance)), Some((solid, 0.0)));
}

#[test]
fn of_equals_the_smallest_id_is_first() {
    for structure in Structure::ALL {
        let mut world = World::new(Settings { structure, ..Settings::default() });
        let ids = [0; 4].map(|_| fixed(&mut world, cube(1.0), at(3.0, 0.0, 0.0)));
        world.step();
        world.remove(ids[0]).expect("it is there");
        world.disable(ids[1]).expect("it is there");
        let ray = Ray::new(DVec3::ZERO, DVec3::X, f64::INFINITY).expect("a ray");
        assert_eq!(world.cast_ray(&ray).map(|hit| hit.id), Some(ids[2]));
        let nearest = world.nearest_body(DVec3::ZERO, f64::INFINITY).expect("a point");
        assert_eq!(nearest.map(|found| (found.id, found.distance)), Some((ids[2], 2.5)));
        assert_eq!(world.bodies_at(DVec3::X * 2.5), Ok(ids[2..].to_vec()));
    }
}

#[test]
fn a_corner_just_before_a_face_is_met_first() {
    // The sphere around the cube begins at its corner, that around the plate far before its face.
    let mut world = World::new(Settings::default());
    let plate = Shape::cuboid(DVec3::new(20.0, 20.0, 2.0)).expect("a size");
    let plate = fixed(&mut world, plate, at(2.0, 2.0, 3.0 + 1e-4));
    let corner = fixed(&mut world, cube(2.0), at(3.0, 3.0, 3.0));
    world.step();
    let ray = Ray::new(DVec3::ZERO, DVec3::ONE, f64::INFINITY).expect("a ray");
    assert_eq!(world.cast_ray(&ray).map(|hit| hit.id), Some(corner));
    let ids: Vec<_> = world.cast_ray_all(&ray).iter().map(|hit| hit.id).collect();
    assert_eq!(ids, [corner, plate]);
}

#[test]
fn nothing_is_found_where_nothing_is() {
    let mut world = World::new(Settings::default());
    let ray = Ray::new(DVec3::ZERO, DVec3::ONE, f64::INFINITY).expect("a ray");
    for _ in 0..2 {
        assert_eq!(world.cast_ray(&ray), None);
        assert_eq!(world.nearest_body(DVec3::ONE, f64::INFINITY), Ok(None));
        assert_eq!(world.bodies_at(DVec3::ZERO), Ok(vec![]));
        // A mesh without triangles is nowhere.
        let empty = jostle_geom::Mesh::from_triangles(vec![Vec3::ZERO], vec![]).expect("a mesh");
        let empty = Shape::mesh(Model::build(empty, Quality::Default));
        assert!(world.bodies_touching(&empty, &Pose::IDENTITY).is_empty());
        fixed(&mut world, empty, Pose::IDENTITY);
    }
    let id = fixed(&mut world, ball(1.0), at(0.0, 0.0, 9.0));
    for within in [7.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
        assert_eq!(world.nearest_body(DVec3::ZERO, within), Ok(None), "{within}");
    }
    let found = world.nearest_body(DVec3::ZERO, 8.0).expect("a point").expect("it is there");
    assert_eq!((found.id, found.distance, found.point), (id, 8.0, DVec3::Z * 8.0));
}

#[test]
fn far_away_nothing_is_lost() {
    // Boxes end at 2^127; what lies there and beyond is found nevertheless.
    let far = 2f64.powi(99);
    let mut world = World::new(Settings::default());
    let huge = fixed(&mut world, ball(2f64.powi(98)), at(far, 0.0, 0.0));
    let corner = f32::MAX;
    let triangle = [Vec3::X * corner, Vec3::Y * corner, Vec3::Z * corner];
    let mesh = jostle_geom::Mesh::from_triangles(triangle.to_vec(), vec![[0, 1, 2]]);
    let mesh = Shape::mesh(Model::build(mesh.expect("a mesh"), Quality::Default));
    let wide = fixed(&mut world, mesh, Pose::IDENTITY);
    world.step();
    let ray = Ray::new(DVec3::ZERO, DVec3::X, f64::INFINITY).expect("a ray");
    let hits: Vec<_> = world.cast_ray_all(&ray).iter().map(|hit| hit.id).collect();
    assert_eq!(hits, [huge, wide]);
    let ray = Ray::new(DVec3::ZERO, DVec3::ONE, f64::INFINITY).expect("a ray");
    assert_eq!(world.cast_ray(&ray).map(|hit| hit.id), Some(wide));
    let nearest = world.nearest_body(DVec3::ZERO, f64::INFINITY).expect("a point");
    assert_eq!(nearest.map(|found| found.id), Some(huge));
}

#[test]
fn points_that_are_none_are_refused() {
    let world = World::new(Settings::default());
    for bad in [DVec3::X * f64::NAN, DVec3::Y * f64::INFINITY, DVec3::Z * 1e40] {
        assert!(matches!(world.bodies_at(bad), Err(WorldError::Point(_))), "{bad}");
        assert!(matches!(world.nearest_body(bad, 1.0), Err(WorldError::Point(_))), "{bad}");
    }
}
