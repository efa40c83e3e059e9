//! Opens a page in the user's browser, if there is one.

use std::process::{Command, Stdio};

/// The program that opens URLs here, and its arguments before the URL.
#[cfg(target_os = "windows")]
const OPENER: (&str, &[&str]) = ("cmd", &["/C", "start", ""]);
#[cfg(target_os = "macos")]
const OPENER: (&str, &[&str]) = ("open", &[]);
#[cfg(not(any(target_os = "windows", target_os = "macos")))]
const OPENER: (&str, &[&str]) = ("xdg-open", &[]);

/// Opens a URL. Without a browser nothing happens: the URL was printed.
pub(super) fn open(address: &str) {
    let (program, words) = OPENER;
    let mut command = Command::new(program);
    command.args(words).arg(address);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut opener) = command.spawn() {
        // Reaps the process; it may run as long as the browser.
        std::thread::spawn(move || opener.wait());
    }
}
