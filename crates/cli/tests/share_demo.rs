//! `jostle demo` runs, says where the page is and how it went, and refuses what it cannot do.

mod common;

use common::Folder;
use std::net::TcpListener;

#[test]
fn it_runs_for_a_while_and_says_how_it_went() {
    let folder = Folder::new("demo");
    let small =
        ["demo", "--bodies", "60", "--bots", "4", "--nodes", "3", "--listen", "127.0.0.1:0"];
    let sent = folder.text(&[&small[..], &["--seconds", "4", "--no-open", "--verbose"]].concat());
    assert!(sent.contains("3 nodes, 60 bodies, 4 bots"), "{sent}");
    assert!(sent.contains("http://127.0.0.1:"), "{sent}");
    let last = sent.lines().last().unwrap_or_default();
    assert!(last.starts_with("tick ") && last.contains("60 bodies"), "{sent}");
}

#[test]
fn a_port_that_is_taken_and_too_much_are_refused_with_advice() {
    let folder = Folder::new("demo-refused");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let small = ["demo", "--bodies", "10", "--bots", "0", "--nodes", "1", "--no-open"];
    let sent = folder.refusal(&[&small[..], &["--listen", &address]].concat());
    assert!(sent.contains(&address) && sent.contains("--listen 127.0.0.1:0"), "{sent}");
    let sent = folder.refusal(&["demo", "--nodes", "9", "--no-open", "--listen", "127.0.0.1:0"]);
    assert!(sent.contains("9 nodes; expected 1 to 8"), "{sent}");
    for (option, much) in [("--bodies", "10001"), ("--bots", "1001"), ("--tick", "0")] {
        let sent = folder.refusal(&["demo", option, much]);
        assert!(sent.contains(option), "{sent}");
    }
}
