//! A nut on its bolt: solid, apart where there is play, touching where there is none.

use glam::{DQuat, DVec3};
use jostle_geom::time_of_impact;
use jostle_geom::{Model, Motion, Pair, Pose, Quality, TimeOfImpact, TimeOfImpactLimits};
use jostle_lab::NutAndBolt;

fn models(play: f64, around: u32) -> [Model; 2] {
    let meshes = NutAndBolt { play, around, ..NutAndBolt::M16 }.meshes().unwrap();
    meshes.map(|mesh| Model::build(mesh.into_solid().unwrap(), Quality::Default))
}

/// The nut, screwed by an angle along the thread.
fn screwed(angle: f64) -> Pose {
    let way = NutAndBolt::M16.pitch * angle / std::f64::consts::TAU;
    Pose::new(DQuat::from_rotation_z(angle), DVec3::Z * way).unwrap()
}

#[test]
fn both_are_solid_and_look_outward() {
    for around in [3, 7, 64] {
        let meshes = NutAndBolt { around, ..NutAndBolt::M16 }.meshes().unwrap();
        for mesh in meshes {
            assert!(mesh.volume().unwrap() > 0.0, "{around}");
            let report = mesh.report();
            assert_eq!((report.components, report.open_edges.count), (1, 0), "{around}");
            assert!(report.closed && report.degenerate_faces.count == 0, "{around}: {report}");
            let model = Model::build(mesh, Quality::Fast);
            let own = jostle_geom::PosedModel::new(&model, &Pose::IDENTITY).self_intersections();
            assert_eq!(own, [], "{around}");
        }
    }
    let [bolt, nut] = NutAndBolt::M16.meshes().unwrap();
    let all = bolt.triangle_count() + nut.triangle_count();
    assert!((38_000..44_000).contains(&all), "{all}");
}

#[test]
fn with_play_they_are_apart_wherever_the_nut_is_screwed_to() {
    for play in [0.1, 0.01] {
        let [bolt, nut] = models(play, 256);
        for step in -5..=5 {
            let pose = screwed(f64::from(step) * 0.37);
            let pair = Pair::new(&bolt, &Pose::IDENTITY, &nut, &pose);
            assert!(!pair.touches(), "{play} {step}");
            let apart = pair.distance().unwrap().distance;
            assert!((0.9 * play..=1.001 * play).contains(&apart), "{play} {step}: {apart}");
        }
        // Not screwed but turned or pulled, the flanks meet.
        let turned = Pose::new(DQuat::from_rotation_z(0.5), DVec3::ZERO).unwrap();
        assert!(Pair::new(&bolt, &Pose::IDENTITY, &nut, &turned).touches(), "{play}");
        let pulled = Motion::linear(&Pose::IDENTITY, &Pose::from_translation(DVec3::Z).unwrap());
        let still = Motion::still(&Pose::IDENTITY);
        let hit = time_of_impact(&bolt, &still, &nut, &pulled, &TimeOfImpactLimits::default());
        let TimeOfImpact::During { free, .. } = hit else { panic!("{hit:?}") };
        // Flanks at 30° to the way: the play is half of it.
        assert!((1.0..1.3).contains(&(free / play)), "{play}: {free}");
    }
}

#[test]
fn without_play_they_touch() {
    let [bolt, nut] = models(0.0, 64);
    for step in [0.0, 0.1, 2.0] {
        assert!(Pair::new(&bolt, &Pose::IDENTITY, &nut, &screwed(step)).touches(), "{step}");
    }
}
