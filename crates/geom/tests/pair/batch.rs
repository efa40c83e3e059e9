//! Batches against one query after the other.

use crate::soup::{QUALITIES, Random, soup};
use jostle_geom::solids::sphere;
use jostle_geom::{Batch, Model, Pair, Pose};

#[test]
fn a_batch_answers_as_single_queries_do_on_any_number_of_threads() {
    let mut random = Random(41);
    let a = Model::build(soup(&mut random, 200, 1.0, 0.3), QUALITIES[1]);
    let b = Model::build(sphere(0.2, 0.01).unwrap().into_solid().unwrap(), QUALITIES[1]);
    let pose_a = random.pose(1.0);
    let poses: Vec<Pose> = (0..500).map(|_| random.pose(2.0)).collect();
    let pairs = || poses.iter().map(|pose| Pair::new(&a, &pose_a, &b, pose));
    let touches: Vec<bool> = pairs().map(|pair| pair.touches()).collect();
    let distances: Vec<_> = pairs().map(|pair| pair.distance()).collect();
    let relations: Vec<_> = pairs().map(|pair| pair.relation()).collect();
    assert!(touches.contains(&true) && touches.contains(&false));
    for threads in [1, 2, 5] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let batch = Batch::new(&a, &pose_a, &b, &poses);
            assert_eq!(batch.touches(), touches, "{threads} threads");
            assert_eq!(batch.distances(), distances, "{threads} threads");
            assert_eq!(batch.map(Pair::relation), relations, "{threads} threads");
            assert!(Batch::new(&a, &pose_a, &b, &[]).touches().is_empty());
        });
    }
}
