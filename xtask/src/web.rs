//! The live page: what is in `web/` becomes `web/dist`, with Node and npm.

use std::path::Path;
use std::process::Command;
use std::time::SystemTime;

/// Installs the packages if they are older than their lock file, then builds the page.
///
/// # Errors
/// Node or npm that is missing, and a build that fails.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let folder = root.join("web");
    if needs_install(&folder) {
        npm(&folder, &["ci"])?;
    }
    npm(&folder, &["run", "build"])?;
    println!("web: {} is ready", folder.join("dist").display());
    Ok(())
}

/// Builds the page and runs the tests that need no browser. Without Node there is no page, and the
/// rest can still be checked; but not on a server.
///
/// # Errors
/// A build or a test that fails.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let node = Command::new("node").arg("--version").output();
    if node.is_err() && std::env::var_os("CI").is_none() {
        println!("passed over: there is no Node here");
        return Ok(());
    }
    run(root)?;
    npm(&root.join("web"), &["test"])
}

/// Returns true if the packages are missing or older than the lock file.
fn needs_install(folder: &Path) -> bool {
    let changed = |path: &str| -> Option<SystemTime> {
        std::fs::metadata(folder.join(path)).and_then(|found| found.modified()).ok()
    };
    // npm writes this file last, so a broken install is done again.
    match (changed("node_modules/.package-lock.json"), changed("package-lock.json")) {
        (Some(installed), Some(wanted)) => installed < wanted,
        _ => true,
    }
}

fn npm(folder: &Path, words: &[&str]) -> Result<(), String> {
    // On Windows npm is a script, which has another name.
    let name = if cfg!(windows) { "npm.cmd" } else { "npm" };
    let status = Command::new(name).args(words).current_dir(folder).status().map_err(|error| {
        format!(
            "npm could not be started ({error}): the page needs Node 20.19 or newer from \
             https://nodejs.org; everything else builds without it"
        )
    })?;
    if status.success() { Ok(()) } else { Err(format!("npm {}: {status}", words.join(" "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_installed_when_missing_or_older_than_the_lock_file() {
        let folder = std::env::temp_dir().join(format!("jostle-xtask-web-{}", std::process::id()));
        let write = |path: &str, seconds: u64| {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let file = std::fs::File::create(path).unwrap();
            let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
            file.set_modified(time).unwrap();
        };
        assert!(needs_install(&folder));
        write("package-lock.json", 1000);
        assert!(needs_install(&folder));
        write("node_modules/.package-lock.json", 2000);
        assert!(!needs_install(&folder));
        write("package-lock.json", 3000);
        assert!(needs_install(&folder));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
