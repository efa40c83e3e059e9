//! Dependencies follow the path of the data backwards and go nowhere else (ARCHITECTURE.md).
//! What is checked is what cargo says, not what the manifests look like.

use super::{Finding, Rule};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Each package and those of ours that its shipped code may use.
const ARROWS: [(&str, &[&str]); 13] = [
    ("jostle-geom", &[]),
    ("jostle-lab", &["jostle-geom"]),
    ("jostle-scene", &["jostle-geom"]),
    ("jostle-world", &["jostle-geom"]),
    // From scenes to worlds, so that neither of them knows the other.
    ("jostle-stage", &["jostle-scene", "jostle-world", "jostle-geom"]),
    ("jostle-assembly", &["jostle-world", "jostle-geom"]),
    ("jostle-proto", &["jostle-world", "jostle-geom"]),
    ("jostle-directory", &["jostle-proto"]),
    ("jostle-store", &["jostle-proto", "jostle-geom"]),
    (
        "jostle-sim",
        &["jostle-directory", "jostle-store", "jostle-proto", "jostle-world", "jostle-geom"],
    ),
    (
        "jostle-net",
        &["jostle-directory", "jostle-store", "jostle-proto", "jostle-world", "jostle-geom"],
    ),
    (C_LIBRARY, &["jostle-world", "jostle-geom"]),
    // Judges the others; used by tests and by xtask only.
    (ORACLE, &["jostle-geom"]),
];

/// The facade may use every library above, the command the facade too.
const FACADE: &str = "jostle";
const COMMAND: &str = "jostle-cli";
const C_LIBRARY: &str = "jostle-c";
const ORACLE: &str = "jostle-oracle";
const TOOL: &str = "xtask";

/// What cargo knows about the workspace at `root`.
pub(super) fn metadata(root: &Path) -> Result<Value, String> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--format-version", "1"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo could not be started: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("cargo metadata gave no JSON: {error}"))
}

/// # Errors
/// Metadata in a form that cargo does not document.
pub(super) fn check(metadata: &Value) -> Result<Vec<Finding>, String> {
    let field = |value: &Value, name: &str| {
        let text = value[name].as_str().map(String::from);
        text.ok_or_else(|| format!("cargo metadata lacks `{name}` in {value}"))
    };
    let list = |value: &Value, name: &str| {
        let list = value[name].as_array().cloned();
        list.ok_or_else(|| format!("cargo metadata lacks the list `{name}`"))
    };
    let packages = list(metadata, "packages")?;
    let ours: Vec<String> =
        packages.iter().map(|package| field(package, "name")).collect::<Result<_, _>>()?;
    let mut findings = Vec::new();
    for (package, name) in packages.iter().zip(&ours) {
        let finding = |message| Finding {
            rule: Rule::Arrow,
            subject: name.clone(),
            line: 0,
            size: 1,
            message,
        };
        if !is_known(name) {
            findings
                .push(finding("has no place among the arrows of xtask/src/tidy/arrows.rs".into()));
            continue;
        }
        for dependency in list(package, "dependencies")? {
            let to = field(&dependency, "name")?;
            let for_tests = dependency["kind"].as_str() == Some("dev");
            if ours.contains(&to) && !may_use(name, &to, for_tests) {
                findings.push(finding(format!("may not depend on {to}")));
            }
        }
    }
    Ok(findings)
}

fn is_known(package: &str) -> bool {
    [FACADE, COMMAND, TOOL].contains(&package) || ARROWS.iter().any(|(name, _)| *name == package)
}

fn may_use(from: &str, to: &str, for_tests: bool) -> bool {
    if [COMMAND, TOOL, C_LIBRARY].contains(&to) {
        return false;
    }
    if for_tests || from == TOOL {
        return true;
    }
    match from {
        FACADE => to != ORACLE,
        COMMAND => to != ORACLE,
        _ => ARROWS.iter().any(|(name, targets)| *name == from && targets.contains(&to)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Metadata of packages and their dependencies: (from, to, kind).
    fn complaints(arrows: &[(&str, &str, Option<&str>)]) -> Vec<String> {
        let mut names: Vec<&str> = arrows.iter().flat_map(|(from, to, _)| [*from, *to]).collect();
        names.retain(|name| *name != "glam");
        names.sort_unstable();
        names.dedup();
        let packages: Vec<Value> = names
            .iter()
            .map(|name| {
                let mine = arrows.iter().filter(|(from, _, _)| from == name);
                let dependencies: Vec<Value> =
                    mine.map(|(_, to, kind)| json!({ "name": to, "kind": kind })).collect();
                json!({ "name": name, "dependencies": dependencies })
            })
            .collect();
        let findings = check(&json!({ "packages": packages })).expect("well-formed metadata");
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn the_arrows_of_the_design_are_allowed() {
        for (from, to) in [
            ("jostle-geom", "glam"),
            ("jostle-scene", "jostle-geom"),
            ("jostle-world", "jostle-geom"),
            ("jostle-assembly", "jostle-world"),
            ("jostle-proto", "jostle-world"),
            ("jostle-directory", "jostle-proto"),
            ("jostle-sim", "jostle-directory"),
            ("jostle-sim", "jostle-proto"),
            ("jostle-net", "jostle-proto"),
            ("jostle-lab", "jostle-geom"),
            ("jostle-oracle", "jostle-geom"),
            ("jostle", "jostle-net"),
            ("jostle-cli", "jostle"),
            ("jostle-c", "jostle-world"),
            ("xtask", "jostle-oracle"),
        ] {
            assert_eq!(complaints(&[(from, to, None)]), [""; 0], "{from} to {to}");
        }
    }

    #[test]
    fn arrows_against_the_data_are_refused() {
        for (from, to) in [
            ("jostle-geom", "jostle-scene"),
            ("jostle-scene", "jostle-world"),
            ("jostle-world", "jostle-proto"),
            ("jostle-proto", "jostle-net"),
            ("jostle-proto", "jostle-sim"),
            ("jostle-net", "jostle-sim"),
            ("jostle-directory", "jostle-net"),
            ("jostle-lab", "jostle-world"),
            ("jostle-geom", "jostle"),
            ("jostle", "jostle-cli"),
            ("jostle", "jostle-c"),
            ("jostle-c", "jostle-scene"),
            ("jostle", "jostle-oracle"),
            ("jostle-cli", "jostle-oracle"),
            ("xtask", "jostle-cli"),
            ("jostle-geom", "xtask"),
        ] {
            for kind in [None, Some("build")] {
                assert_eq!(complaints(&[(from, to, kind)]).len(), 1, "{from} to {to}");
            }
        }
    }

    #[test]
    fn tests_may_use_anything_but_what_others_start_or_link() {
        let dev = Some("dev");
        assert_eq!(complaints(&[("jostle-geom", "jostle-oracle", dev)]), [""; 0]);
        assert_eq!(complaints(&[("jostle-world", "jostle-sim", dev)]), [""; 0]);
        assert_eq!(complaints(&[("jostle-geom", "jostle-cli", dev)]).len(), 1);
        assert_eq!(complaints(&[("jostle-geom", "jostle-c", dev)]).len(), 1);
    }

    #[test]
    fn a_new_package_must_be_given_its_place() {
        assert_eq!(complaints(&[("jostle-new", "glam", None)]).len(), 1);
        assert!(check(&json!({})).is_err());
    }
}
