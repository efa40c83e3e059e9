//! The thesis' own figures, for the eye: other machines (194 MHz), other objects.

use super::Table;

/// Object, polygons, seconds to build and megabytes: 6-DOP, 8-DOP, 14-DOP, OBB (tables 3.3 to 3.6).
const BUILDS: [(&str, u32, [&str; 4], [&str; 4]); 8] = [
    ("door", 3_391, ["0.14", "0.17", "0.19", "0.4"], ["0.1", "0.1", "0.1", "1"]),
    ("lock", 20_898, ["1.3", "1.4", "1.8", "4.5"], ["1", "1", "2", "8"]),
    ("car", 60_755, ["4.2", "4.7", "6.4", "10.5"], ["5", "6", "9", "21"]),
    ("pipes", 124_736, ["9.4", "10.3", "13.8", "18.4"], ["11", "13", "19", "44"]),
    ("torus", 12_544, ["0.6", "-", "-", "2.4"], ["0.1", "-", "-", "9"]),
    ("sphere", 22_952, ["1.3", "-", "-", "5.4"], ["1", "-", "-", "17"]),
    ("torus", 73_984, ["4.8", "-", "-", "16.1"], ["6", "-", "-", "60"]),
    ("sphere", 97_032, ["6.7", "-", "-", "25.6"], ["9", "-", "-", "73"]),
];

pub(super) fn builds() -> Table {
    let mut table = Table::new(&[
        "thesis", "polygons", "6-DOP", "8-DOP", "14-DOP", "OBB", "6-DOP", "8-DOP", "14-DOP", "OBB",
    ]);
    for (object, polygons, seconds, megabytes) in BUILDS {
        let seconds = seconds.iter().map(|text| with_unit(text, "s"));
        let megabytes = megabytes.iter().map(|text| with_unit(text, "MB"));
        let cells = [object.to_owned(), polygons.to_string()].into_iter();
        table.line(cells.chain(seconds).chain(megabytes).collect());
    }
    table.note("Zachmann 2000, tables 3.3 to 3.6: time to build, then memory".into());
    table
}

fn with_unit(text: &str, unit: &str) -> String {
    if text == "-" { text.to_owned() } else { format!("{text} {unit}") }
}

/// Microseconds, Möller's test and the thesis' own (table 3.1).
const POLYGONS: [(&str, [&str; 3], [&str; 3], &str); 4] = [
    ("triangles", ["2.3", "2.9", "2.3"], ["5.7", "3.4", "5.6"], "3.5 %"),
    ("convex quads", ["7.6", "6.7", "7.3"], ["7.8", "5.4", "6.8"], "42 %"),
    ("concave quads", ["7.4", "7.7", "7.5"], ["7.5", "5.0", "7.4"], "5 %"),
    ("concave 5-gons", ["11.3", "7.9", "10.4"], ["11.0", "7.6", "10.0"], "29 %"),
];

pub(super) fn polygons() -> Table {
    let mut table =
        Table::new(&["thesis", "way", "apart us", "touching us", "mixed us", "touching"]);
    for (kind, moeller, own, touching) in POLYGONS {
        for (way, times) in [("triangles (Möller)", moeller), ("edges (thesis)", own)] {
            let cells = [kind, way, times[0], times[1], times[2], touching];
            table.line(cells.map(str::to_owned).to_vec());
        }
    }
    table.note("Zachmann 2000, table 3.1".into());
    table
}

/// Leaves at depths 10 to 16 of 6-DOP-trees (table 3.2).
pub(super) const DEPTHS: [(&str, [u32; 7]); 2] = [
    ("thesis, sphere (~20k)", [0, 0, 1, 375, 8853, 13_233, 642]),
    ("thesis, car door (~3.3k)", [92, 740, 1639, 659, 162, 42, 26]),
];
