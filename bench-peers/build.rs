//! Compiles the small C++ door to FCL, with the flags that are best for FCL on this machine.

/// The flags of the C++ side. Printed with the results.
#[cfg(feature = "fcl")]
const FLAGS: &str = "-O3 -march=native -std=c++17";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let version = std::process::Command::new(rustc).arg("--version").output();
    let version = version.map(|o| String::from_utf8_lossy(&o.stdout).trim().to_owned());
    println!("cargo:rustc-env=RUSTC_VERSION={}", version.unwrap_or_default());
    #[cfg(feature = "fcl")]
    build_fcl();
}

#[cfg(feature = "fcl")]
fn build_fcl() {
    const HELP: &str = "FCL is not installed: `apt-get install libfcl-dev libccd-dev \
         libeigen3-dev g++ pkg-config`, or build with `--no-default-features` to leave FCL out";
    println!("cargo:rerun-if-changed=fcl/shim.cpp");
    println!("cargo:rustc-env=FCL_FLAGS={FLAGS}");
    let fcl = match pkg_config::Config::new().cargo_metadata(false).probe("fcl") {
        Ok(fcl) => fcl,
        Err(why) => {
            eprintln!("{HELP}\n\n{why}");
            std::process::exit(1);
        }
    };
    let mut build = cc::Build::new();
    build.cpp(true).file("fcl/shim.cpp").warnings(false).opt_level(3);
    for flag in FLAGS.split(' ') {
        build.flag(flag);
    }
    // Debian's libfcl was compiled for plain x86-64: with the wider alignment that Eigen takes
    // under -march=native, types that both sides know could differ in layout.
    build.define("EIGEN_MAX_ALIGN_BYTES", "16");
    build.includes(&fcl.include_paths);
    if let Err(why) = build.try_compile("fcl_shim") {
        eprintln!("the C++ door to FCL does not compile.\n{HELP}\n\n{why}");
        std::process::exit(1);
    }
    for path in &fcl.link_paths {
        println!("cargo:rustc-link-search=native={}", path.display());
    }
    for library in &fcl.libs {
        println!("cargo:rustc-link-lib={library}");
    }
}
