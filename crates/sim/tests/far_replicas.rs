//! Cases that fault campaigns found, of a directory whose replicas are far from each other.

use jostle_proto::BACKUPS;
use jostle_sim::{FaultProfile, Layout, Matter, Operation, Options, run};

/// In the first five seeds keeping a ballot took the replicas about as long as it was open, so
/// voters were always late, and nodes that had been placed apart for want of measurements stayed
/// apart (L4). In the last one no replica led for long.
#[test]
fn who_is_near_to_a_larger_group_comes_into_it_although_replicas_are_far() {
    for seed in [80, 195, 276, 297, 371, 406] {
        let options = Options {
            nodes: 6,
            objects: 60,
            clients: 0,
            matter: Matter::Boxes,
            layout: Layout::Uniform,
            seconds: 2.0,
            fault_profile: FaultProfile::Campaign,
            mutant: None,
            rate: 30,
            wire: false,
            sites: 2,
            replicas: 3,
            backups: BACKUPS,
            disaster: false,
            store: false,
            operation: Operation::Lockstep,
            operations: None,
        };
        let outcome = run(seed, options);
        assert_eq!(outcome.verdict.violations, [], "seed {seed}");
        assert!(outcome.ticks > 0, "seed {seed}");
    }
}
