//! What the server logs, for tests that look for it.

use super::server::until;
use std::io::Write;
use std::sync::{Mutex, OnceLock};

/// What was logged, by all tests of this process.
pub(crate) fn log() -> &'static Mutex<Vec<u8>> {
    static LOG: OnceLock<Mutex<Vec<u8>>> = OnceLock::new();
    LOG.get_or_init(|| {
        let writer = || Writer;
        let subscriber = tracing_subscriber::fmt().with_writer(writer).with_ansi(false).finish();
        tracing::subscriber::set_global_default(subscriber).unwrap();
        Mutex::default()
    })
}

struct Writer;

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        log().lock().unwrap().write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

pub(crate) fn logged() -> String {
    String::from_utf8_lossy(&log().lock().unwrap()).into_owned()
}

/// Waits for a line with all of these words.
pub(crate) fn until_logged(words: &[&str]) {
    until(&format!("a line with {words:?}"), || {
        let is_it = |line: &str| words.iter().all(|word| line.contains(word));
        logged().lines().any(is_it).then_some(())
    });
}
