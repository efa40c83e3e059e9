//! The C header, made from the border of `bindings/c`. A test checks that the committed header is
//! up to date.

use cbindgen::{Builder, Config};
use std::path::Path;

const HEADER: &str = "bindings/c/include/jostle.h";
const SETTINGS: &str = "bindings/c/cbindgen.toml";

/// What C sees, in the order of the header.
const SOURCES: [&str; 4] = [
    "bindings/c/src/types.rs",
    "bindings/c/src/border.rs",
    "bindings/c/src/calls.rs",
    "bindings/c/src/extensions.rs",
];

/// Writes the header.
///
/// # Errors
/// Sources that cannot be read or that have something C cannot express.
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let path = root.join(HEADER);
    std::fs::write(&path, make(root)?).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("wrote {HEADER}");
    Ok(())
}

fn make(root: &Path) -> Result<String, String> {
    let settings =
        Config::from_file(root.join(SETTINGS)).map_err(|error| format!("{SETTINGS}: {error}"))?;
    let sources = SOURCES.iter().map(|path| root.join(path));
    let builder = sources.fold(Builder::new().with_config(settings), Builder::with_src);
    let bindings = builder.generate().map_err(|error| format!("the header: {error}"))?;
    let mut text = Vec::new();
    bindings.write(&mut text);
    String::from_utf8(text).map_err(|error| format!("the header: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_header_is_up_to_date() {
        let root = crate::root();
        let committed = std::fs::read_to_string(root.join(HEADER)).unwrap_or_default();
        let made = make(&root).expect("the header can be made");
        assert!(committed == made, "{HEADER} is out of date: run `cargo xtask header`");
    }

    #[test]
    fn every_call_of_the_paper_is_in_the_header() {
        let made = make(&crate::root()).expect("the header can be made");
        let table_1 = "open create_object add_triangle finish_object clear_object delete_object \
                       activate deactivate activate_pair deactivate_pair update_transform test \
                       report_collision";
        let table_2 = "est_distance set_tolerance add_sphere add_cylinder add_cone create_switch \
                       parent_object choose_child";
        let counts = [table_1, table_2].map(|table| table.split(' ').count());
        assert_eq!(counts, [13, 8]);
        for call in [table_1, table_2].iter().flat_map(|table| table.split(' ')) {
            assert!(made.contains(&format!("\ncol_status col_{call}(")), "col_{call}");
        }
    }
}
