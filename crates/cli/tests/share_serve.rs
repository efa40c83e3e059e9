//! What `jostle serve` prints is true: its commands work when they are copied, and its counts are
//! those of `jostle status`.

mod share;

use share::{EdgeProbe, Ground, Host, Running, free_address};
use std::process::{Command, Output};

/// A printed command, as a shell runs it.
fn shell(ground: &Ground, printed: &str, more: &str) -> Command {
    let command = printed.strip_prefix("jostle ").expect("it is a command of ours");
    let jostle = env!("CARGO_BIN_EXE_jostle");
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(format!("exec {jostle} {command} {more}"));
    shell.current_dir(ground.path("."));
    shell
}

fn run(ground: &Ground, printed: &str, more: &str) -> Output {
    let output = shell(ground, printed, more).output().expect("there is a shell");
    let sent = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed} {more}: {}: {sent}", output.status);
    output
}

/// Runs all that a server prints.
fn commands_work(ground: &Ground, serve: &mut Running) {
    let status = serve.message("status:  ");
    let whole = run(ground, &status, "--json");
    assert!(String::from_utf8_lossy(&whole.stdout).contains("\"ticks_per_second\""));
    let bots = run(ground, &serve.message("clients: "), "--avatars 2 --seconds 3");
    let sent = String::from_utf8_lossy(&bots.stdout).into_owned();
    assert!(sent.contains("2 of 2 avatars are in the world"), "{sent}");
    let node = serve.message("nodes:   ");
    let mut node = ground.start_command("node", &mut shell(ground, &node, ""));
    node.message("joined");
    serve.logs("node 1 joined");
    node.end();
}

#[test]
fn printed_commands_work_when_copied_with_certificates_and_tokens() {
    let ground = Ground::new();
    let address = free_address();
    let mut args = vec!["serve", "--generate", "balls,20", "--web", "127.0.0.1:0", "--one-group"];
    args.extend(["--listen", &address, "--tls", "our certificates", "--token", "it's a token"]);
    args.extend(["--node-token", "n&1"]);
    let mut serve = ground.start(&Host::default(), "serve", &args);
    let page = serve.message("web:     ");
    assert!(page.starts_with("https://127.0.0.1:"), "{page}");
    assert!(page.ends_with("/?token=it%27s%20a%20token"), "{page}");
    commands_work(&ground, &mut serve);
    serve.end();
}

#[test]
fn printed_commands_work_when_copied_on_an_open_server_and_tokens_of_the_environment_stay_there() {
    let ground = Ground::new();
    let address = free_address();
    let mut args = vec!["serve", "--generate", "balls,20", "--web", "127.0.0.1:0", "--one-group"];
    args.extend(["--listen", &address]);
    let mut serve = ground.start(&Host::default(), "serve", &args);
    let page = serve.message("web:     ");
    assert!(page.starts_with("http://127.0.0.1:") && page.ends_with('/'), "{page}");
    commands_work(&ground, &mut serve);
    let printed = serve.end();
    assert!(!printed.contains("token") && !printed.contains("tls"), "{printed}");
    let mut command = Command::new(env!("CARGO_BIN_EXE_jostle"));
    command.args(&args).env("JOSTLE_TOKEN", "sesame").env("JOSTLE_NODE_TOKEN", "open");
    let mut serve = ground.start_command("secret", &mut command);
    serve.message("web:     ");
    let printed = serve.end();
    assert!(!printed.contains("sesame") && !printed.contains("open"), "{printed}");
}

#[test]
fn after_a_restart_the_printed_count_is_what_status_says() {
    let ground = Ground::new();
    let address = free_address();
    let start = |name: &str, balls: &str| {
        let mut args = vec!["serve", "--generate", balls, "--web", "none", "--one-group"];
        args.extend(["--listen", &address, "--store", "store"]);
        let mut serve = ground.start(&Host::default(), name, &args);
        let printed = serve.message("serving ");
        let printed = printed.split_once(' ').expect("a number first").0.parse::<u64>();
        (serve, printed.expect("a number first"))
    };
    let (first, before) = start("first", "balls,20");
    let edge = EdgeProbe::new(&ground, &Host::default(), &address);
    edge.wait("the first world", |status| status.objects() == before && status.tick() > 60);
    first.kill();
    // What is asked for is another world, but the stored one counts.
    let (second, after) = start("second", "balls,300");
    assert_eq!(after, before);
    edge.wait("the stored world", |status| status.objects() == after && status.tick() > 60);
    second.end();
}
