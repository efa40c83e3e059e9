//! Queries keep no state: models can be shared and asked from everywhere.

use crate::cases::shift;
use crate::soup::Random;
use glam::DVec3;
use jostle_geom::solids::BumpyTorus;
use jostle_geom::{
    Counters, Distance, DistanceSearch, FacePair, Mesh, Model, Motion, Pair, Pose, PosedModel,
    Quality, Relation, TouchSearch,
};
use std::sync::Arc;
use std::thread;

const fn can_be_shared<T: Send + Sync>() {}

/// Checked when compiled.
const _: () = {
    can_be_shared::<Mesh>();
    can_be_shared::<Model>();
    can_be_shared::<Pose>();
    can_be_shared::<Pair<'static>>();
    can_be_shared::<PosedModel<'static>>();
    can_be_shared::<Motion>();
    can_be_shared::<TouchSearch<'static>>();
    can_be_shared::<DistanceSearch<'static>>();
};

type Answers = Vec<(Vec<FacePair>, Counters, Option<Distance>, bool, Relation)>;

fn ask(model: &Model) -> Answers {
    let mut random = Random(3);
    let mut one = |k: usize| {
        let pose = if k == 0 { shift(DVec3::ZERO) } else { random.pose(1.5) };
        let pair = Pair::new(model, &Pose::IDENTITY, model, &pose);
        let (pairs, counters) = pair.all_pairs_counted();
        (pairs, counters, pair.distance(), pair.within(0.1), pair.relation().unwrap())
    };
    (0..30).map(&mut one).collect()
}

#[test]
fn threads_that_share_a_model_get_equal_answers() {
    let mesh = BumpyTorus::plain(1.0, 0.3, [24, 12]).mesh().unwrap().into_solid().unwrap();
    let model = Arc::new(Model::build(mesh, Quality::Default));
    let expected = ask(&model);
    let touching = expected.iter().filter(|answer| !answer.0.is_empty()).count();
    assert!(touching > 0 && touching < expected.len());
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let model = Arc::clone(&model);
            thread::spawn(move || ask(&model))
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().unwrap(), expected);
    }
}
