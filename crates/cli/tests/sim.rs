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
    ];
    for (mutant, seeds, rule) in mutants {
        let (code, json) = sim(&["--seeds", seeds, "--mutant", mutant, "--boxes"]);
        assert_eq!(code, 1, "{mutant} was not caught in {seeds} seeds");
        let referees = json["referees"].as_array().unwrap();
        let judge = referees.iter().find(|referee| referee["rule"] == rule).unwrap();
        assert!(judge["violations"].as_u64().unwrap() > 0, "{mutant} by {rule}: {json}");
    }
}

#[test]
fn an_unsynchronised_storm_breaks_no_rule_and_a_seed_gives_the_same_run() {
    let args = ["--unsync", "--seeds", "40", "--seed", "300", "--boxes"];
    let (code, first) = sim(&args);
    assert_eq!((code, &first["violations"]), (0, &Value::from(0)), "{}", first["failures"]);
    for what in ["ticks", "collisions", "crashes", "views"] {
        assert!(first[what].as_u64().unwrap() > 10, "{what}: {first}");
    }
    for what in ["bounced", "handed over in a change", "lease ran out", "contacts judged"] {
        assert!(first["sometimes"][what].as_u64().unwrap() > 0, "{what}: {first}");
    }
    assert_eq!(first, sim(&args).1);
}

#[test]
fn every_mutant_of_an_unsynchronised_group_is_caught() {
    let mutants = [
        ("relinquish-on-send", "5", "A3"),
        ("keep-until-ack", "5", "A1"),
        ("ignore-lease", "20", "A7"),
        ("stale-token", "40", "A1"),
        ("say-early", "100", "C4"),
        ("short-ghosts", "100", "C5"),
        ("nudge-twice", "10", "C4"),
        ("no-resend", "20", "L2"),
        ("no-backup", "20", "A5"),
        ("same-token", "5", "A4"),
        ("hold-on", "5", "A6"),
    ];
    for (mutant, seeds, rule) in mutants {
        let fixed = ["--unsync", "--boxes", "--nodes", "6", "--objects", "60"];
        let (code, json) = sim(&[&fixed[..], &["--seeds", seeds, "--mutant", mutant]].concat());
        assert_eq!(code, 1, "{mutant} was not caught in {seeds} seeds");
        let referees = json["referees"].as_array().unwrap();
        let judge = referees.iter().find(|referee| referee["rule"] == rule).unwrap();
        assert!(judge["violations"].as_u64().unwrap() > 0, "{mutant} by {rule}: {json}");
    }
}

#[test]
fn bad_questions_are_refused() {
    for args in [&["--mutant", "nobody"][..], &["--nodes", "0"], &["--seconds", "-1"]] {
        let output = Folder::new("sim-bad").jostle(&[&["sim"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
    }
}
