//! A free-running group whose directory is away for several leases.

use jostle_proto::{BACKUPS, Mutant};
use jostle_sim::{FaultProfile, Layout, Matter, Operation, Options, Outcome, run};

/// Nothing fails but that all replicas are down from the fourth second to the sixth (in some seeds
/// nodes do not hear each other either, to begin with): see `crates/sim/src/cluster/free_running.rs`.
fn story(seed: u64, nodes: u32, mutant: Option<Mutant>) -> Outcome {
    let options = Options {
        nodes,
        objects: 60,
        clients: 0,
        matter: Matter::Boxes,
        layout: Layout::Uniform,
        seconds: 1.0,
        fault_profile: FaultProfile::None,
        mutant,
        rate: 30,
        wire: false,
        sites: 1,
        replicas: 3,
        backups: BACKUPS,
        disaster: false,
        store: false,
        operation: Operation::FreeRunning,
        operations: None,
    };
    run(seed, options)
}

#[test]
fn without_a_majority_nodes_go_on_by_the_promises_of_their_backups() {
    let mut stood_still = [0; 2];
    for seed in 1..=8 {
        let outcome = story(seed, 5, None);
        // Nothing is lost or doubled, contacts are found in time, and ticks go on (L6).
        assert_eq!(outcome.verdict.violations, [], "seed {seed}");
        let rare = outcome.sometimes;
        // Of five nodes with thirty ticks a second, in the 0.9 s that are judged at least.
        assert!(rare.ticks_by_word > 5 * 27, "seed {seed}: {rare:?}");
        assert!(rare.contacts_by_word > 20, "seed {seed}: {rare:?}");
        stood_still[usize::from(rare.lease_ran_out > 0)] += 1;
    }
    // Some heard each other all the time and never stopped. The others all stopped, and began
    // again while there was still no majority.
    assert!(stood_still.iter().all(|seeds| *seeds > 0), "{stood_still:?}");
}

#[test]
fn without_a_majority_a_node_that_is_alone_goes_on() {
    for seed in 1..=4 {
        let outcome = story(seed, 1, None);
        assert_eq!(outcome.verdict.violations, [], "seed {seed}");
        assert_eq!(outcome.sometimes.lease_ran_out, 0, "seed {seed}");
    }
}

#[test]
fn a_node_that_obeys_only_the_directory_stands_still_and_that_is_found() {
    let violations = story(1, 5, Some(Mutant::DirectoryOnly)).verdict.violations;
    assert!(violations.iter().any(|violation| violation.rule == "L6"), "{violations:?}");
}
