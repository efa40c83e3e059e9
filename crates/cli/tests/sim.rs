//! `jostle sim`: verdicts, mutants, exit codes, and that a seed is a seed.

mod common;

use common::Folder;
use serde_json::Value;

fn sim(args: &[&str]) -> (i32, Value) {
    let output = Folder::new("sim").jostle(&[&["sim", "--json"], args].concat());
    let json = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code().unwrap(), json)
}

#[test]
fn a_storm_breaks_no_rule_and_a_seed_gives_the_same_run() {
    let (code, first) = sim(&["--seeds", "60", "--seed", "100", "--boxes"]);
    assert_eq!((code, &first["violations"]), (0, &Value::from(0)), "{}", first["failures"]);
    assert_eq!(first["seeds"], 60);
    for what in ["ticks", "collisions", "crashes", "views"] {
        assert!(first[what].as_u64().unwrap() > 10, "{what}: {first}");
    }
    let (_, second) = sim(&["--seeds", "60", "--seed", "100", "--boxes"]);
    assert_eq!(first, second);
}

#[test]
fn without_faults_the_union_of_the_nodes_is_one_machine() {
    for (nodes, matter) in [("1", ""), ("2", "--boxes"), ("3", ""), ("8", ""), ("32", "--boxes")] {
        let args = ["--faults", "none", "--nodes", nodes, "--objects", "200", matter];
        let used = if matter.is_empty() { &args[..6] } else { &args[..] };
        let (code, json) = sim(used);
        assert_eq!(code, 0, "{nodes} nodes: {}", json["failures"]);
        assert!(json["collisions"].as_u64().unwrap() > 100, "{json}");
    }
}

#[test]
fn every_mutant_is_caught() {
    // With the rule that finds each.
    let mutants = [
        ("midpoint", "20", "C1"),
        ("no-backup", "60", "A5"),
        ("stale-done", "60", "C1"),
        ("no-stable-record", "100", "L1"),
        ("publish-early", "400", "C3"),
        ("drop-pending-tick", "100", "L1"),
        ("keep-transferred", "10", "A2"),
        ("lose-transfer", "10", "A5"),
        ("wrong-copy", "10", "S1"),
        ("report-all", "10", "C2"),
        ("careless-directory", "60", "E3"),
        ("old-epoch", "10", "E1"),
        ("two-leaders", "10", "E2"),
        ("region-without-owner", "10", "E4"),
    ];
    for (mutant, seeds, rule) in mutants {
        let (code, json) = sim(&["--seeds", seeds, "--mutant", mutant, "--boxes"]);
        assert_eq!(code, 1, "{mutant} was not caught in {seeds} seeds");
        let referees = json["referees"].as_array().unwrap();
        let judge = referees.iter().find(|referee| referee["rule"] == rule).unwrap();
        assert!(judge["violations"].as_u64().unwrap() > 0, "{mutant} by {rule}: {json}");
    }
}

const SITES: [&str; 7] = ["--boxes", "--sites", "2", "--nodes", "6", "--objects", "60"];

#[test]
fn every_mutant_of_groups_is_caught() {
    // With the first seed, how many, and the rule that finds each.
    let mutants = [
        ("vote-twice", "1", "10", "E6"),
        ("late-vote", "21", "30", "E6"),
        ("no-deadline", "1", "10", "L3"),
        ("no-hysteresis", "1", "10", "E5"),
        ("no-inclusion", "1", "10", "L4"),
        ("relay-skips", "1", "2", "K1"),
        ("relay-repeats", "1", "2", "K1"),
        ("relay-mute", "1", "2", "S1b"),
        ("home-twice", "1", "2", "H1"),
        ("forgetful-directory", "1", "10", "E2"),
    ];
    for (mutant, seed, seeds, rule) in mutants {
        let args = ["--seed", seed, "--seeds", seeds, "--mutant", mutant];
        let (code, json) = sim(&[&SITES[..], &args].concat());
        assert_eq!(code, 1, "{mutant} was not caught in {seeds} seeds");
        let referees = json["referees"].as_array().unwrap();
        let judge = referees.iter().find(|referee| referee["rule"] == rule).unwrap();
        assert!(judge["violations"].as_u64().unwrap() > 0, "{mutant} by {rule}: {json}");
    }
}

#[test]
fn groups_at_several_sites_break_no_rule_in_a_storm() {
    let (code, json) = sim(&[&SITES[..], &["--seeds", "30", "--seed", "1"]].concat());
    assert_eq!((code, &json["violations"]), (0, &Value::from(0)), "{}", json["failures"]);
    let happened = [
        "several groups",
        "full groups",
        "votes passed",
        "votes refused",
        "votes split",
        "changed group",
        "groups ended",
        "relay changed",
        "kicks between",
        "directory in change",
    ];
    for what in happened {
        assert!(json["sometimes"][what].as_u64().unwrap() > 0, "{what}: {json}");
    }
}

#[test]
fn bad_questions_are_refused() {
    for args in [&["--mutant", "nobody"][..], &["--nodes", "0"], &["--seconds", "-1"]] {
        let output = Folder::new("sim-bad").jostle(&[&["sim"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}
