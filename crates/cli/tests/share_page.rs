//! The live page in a real browser, served by real processes: `jostle demo`, `jostle replay
//! --view`, `jostle run --view` and `jostle check --view`. What is looked at is written down in
//! `web/browser`; this starts the processes.

mod share;

use share::{EdgeProbe, Ground, Host, Running};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the page's sources are, if its packages are installed and there is a browser. On a server
/// both must be there.
fn page() -> Option<PathBuf> {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web");
    let browser = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".into());
    let here = web.join("node_modules/playwright-core").exists()
        && web.join("dist/index.html").exists()
        && Path::new(&browser).exists();
    let server = std::env::var_os("CI").is_some();
    assert!(here || !server, "`cargo xtask web` first, and Chromium, at {browser}, is needed");
    if !here {
        eprintln!("passed over: there is no page (`cargo xtask web`), or no browser at {browser}");
    }
    here.then_some(web)
}

/// The address of a page that a process prints.
fn address(process: &mut Running) -> String {
    process.message("  http://")
}

/// A recording of a small world in which things run into each other.
fn record(ground: &Ground) {
    let args = ["--generate", "demo,60", "--listen", "127.0.0.1:0", "--web", "none"];
    let args = [&["serve", "--record", "recording"][..], &args].concat();
    let mut serve = ground.start(&Host::default(), "serve", &args);
    let join = serve.message("status:  jostle status --join ");
    EdgeProbe::new(ground, &Host::default(), &join).wait_ticks(150);
    serve.end();
}

#[test]
fn a_person_sees_the_world_steers_it_and_walks_in() {
    let Some(web) = page() else { return };
    let ground = Ground::new();
    record(&ground);
    let view = ["replay", "recording", "--view", "--no-open", "--listen", "127.0.0.1:0"];
    let mut replay = ground.start(&Host::default(), "replay", &view);
    let recording = address(&mut replay);
    let demo = ["demo", "--bodies", "300", "--bots", "8", "--no-open", "--listen", "127.0.0.1:0"];
    let mut demo = ground.start(&Host::default(), "demo", &demo);
    let live = address(&mut demo);
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/steer.wrl");
    let scene = scene.display().to_string();
    let run = ["run", &scene, "--view", "--no-open", "--listen", "127.0.0.1:0"];
    let mut run = ground.start(&Host::default(), "run", &run);
    let steered = address(&mut run);
    let car = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/car.wrl");
    let car = car.display().to_string();
    let page = ["--view", "--no-open", "--listen", "127.0.0.1:0"];
    let args = [&["check", &car, "--clearance", "0.01"][..], &page].concat();
    let mut check = ground.start(&Host::default(), "check", &args);
    let checked = address(&mut check);
    let args = [&["run", &car][..], &page].concat();
    let mut still = ground.start(&Host::default(), "car", &args);
    let parts = address(&mut still);
    let tests = Command::new("node")
        .args(["--test", "--test-concurrency=1", "browser/"])
        .current_dir(web)
        .env("JOSTLE_URL", format!("http://{live}"))
        .env("JOSTLE_RECORDING_URL", format!("http://{recording}"))
        .env("JOSTLE_SCENE_URL", format!("http://{steered}"))
        .env("JOSTLE_CHECK_URL", format!("http://{checked}"))
        .env("JOSTLE_CAR_URL", format!("http://{parts}"))
        .output()
        .unwrap();
    let sent = String::from_utf8_lossy(&tests.stdout);
    println!("{sent}");
    assert!(tests.status.success(), "{}\n{sent}", String::from_utf8_lossy(&tests.stderr));
    replay.end();
    run.end();
    check.end();
    still.end();
    demo.end();
}
