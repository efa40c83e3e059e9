//! Error texts of libraries may contain paths of the machine that built this program. Such a path
//! is of no use elsewhere, and private.

/// The same text with such paths cut to crate and file: `zenoh-1.10.2/src/api/session.rs:256`.
///
/// ```
/// let text = "closed at /home/me/.cargo/registry/src/index-1/zenoh-1.10.2/src/open.rs:256.";
/// assert_eq!(jostle_net::without_build_paths(text), "closed at zenoh-1.10.2/src/open.rs:256.");
/// ```
#[must_use]
pub fn without_build_paths(text: &str) -> String {
    text.split_inclusive(char::is_whitespace).flat_map(cut).collect()
}

/// The part of a word before the path, and the shortened path.
fn cut(word: &str) -> [&str; 2] {
    let Some(start) = word.find('/').filter(|_| word.contains(".rs:")) else { return ["", word] };
    let (before, path) = word.split_at(start);
    // Preceded by a bracket or quote; otherwise the path is relative already.
    if before.contains(|character: char| character.is_alphanumeric() || character == '.') {
        return ["", word];
    }
    let source = path.rfind("/src/").and_then(|at| path[..at].rfind('/'));
    let from = source.or_else(|| path.rfind('/')).map_or(0, |at| at + 1);
    [before, &path[from..]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_source_files_are_cut() {
        for (text, expected) in [
            ("no path at all", "no path at all"),
            ("tls/127.0.0.1:1 => tls/127.0.0.1:2", "tls/127.0.0.1:1 => tls/127.0.0.1:2"),
            ("/var/lib/world/journal: no such file", "/var/lib/world/journal: no such file"),
            ("crates/net/src/edge.rs:12:3", "crates/net/src/edge.rs:12:3"),
            ("(/rustc/0f1e/library/core/src/option.rs:7:1)\n", "(core/src/option.rs:7:1)\n"),
            ("at /build/odd.rs:9. Then", "at odd.rs:9. Then"),
            ("é /a/é/src/b.rs:1 ü", "é é/src/b.rs:1 ü"),
        ] {
            assert_eq!(without_build_paths(text), expected);
        }
    }
}
