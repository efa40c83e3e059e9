//! Each format is read correctly, and each kind of damage is reported with its position.

mod samples;

use glam::Vec3;
use jostle_scene::{Format, LoadError, Loaded, Place, Warning, load};

fn polygons(loaded: &Loaded) -> Vec<Vec<u32>> {
    loaded.faces.iter().map(<[u32]>::to_vec).collect()
}

fn error(bytes: &[u8], format: Format) -> String {
    load(bytes, format).expect_err("must not load").to_string()
}

const PYRAMID: [Vec3; 5] =
    [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y, Vec3::new(0.5, 0.5, 1.0)];

#[test]
fn obj_keeps_polygons_counts_back_and_joins_lines() {
    let loaded = load(samples::OBJ, Format::Obj).unwrap();
    assert_eq!(loaded.vertices, PYRAMID);
    let faces: [&[u32]; 6] =
        [&[3, 2, 1, 0], &[0, 1, 4], &[1, 2, 4], &[2, 3, 4], &[3, 0, 4], &[0, 1, 2, 3, 4]];
    assert_eq!(polygons(&loaded), faces);
    let first = Place::Line(20);
    assert_eq!(
        loaded.warnings,
        [Warning::Ignored { what: "points and lines".to_string(), count: 2, first }]
    );
}

#[test]
fn obj_reads_every_line_end_and_faces_before_their_vertices() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["f 1 2 3", "", "v 0 0 0", "v 1 0 0", "v 0 1 0 1"].join(end);
        let loaded = load(text.as_bytes(), Format::Obj).unwrap();
        assert_eq!(polygons(&loaded), [[0, 1, 2]], "{end:?}");
        assert_eq!(loaded.vertices.len(), 3, "{end:?}");
    }
}

#[test]
fn obj_divides_by_the_weight() {
    let loaded = load(b"v 2 4 6 2\n", Format::Obj).unwrap();
    assert_eq!(loaded.vertices, [Vec3::new(1.0, 2.0, 3.0)]);
}

#[test]
fn obj_errors_name_the_line() {
    let three = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    let with = |rest: &str| error(format!("{three}{rest}").as_bytes(), Format::Obj);
    let bad =
        |index: &str| format!("line 4: a face names vertex {index}, but there are 3 vertices");
    assert_eq!(with("f 1 2 4"), bad("4"));
    assert_eq!(with("f 1 2 0"), bad("0"));
    assert_eq!(with("f -1 -2 -4"), bad("-4"));
    assert_eq!(with("f 1 2 99999999999"), bad("99999999999"));
    let corner = "a face corner such as 7, 7/1 or 7//2";
    assert_eq!(with("f 1 2 x"), format!("line 4: expected {corner}, found \"x\""));
    assert_eq!(with("f 1 2 3/1/1/1"), format!("line 4: expected {corner}, found \"3/1/1/1\""));
    let finite = "a coordinate must be finite and at most 3.4e38 in size, found";
    assert_eq!(with("v 0 nan 0"), format!("line 4: {finite} \"nan\""));
    assert_eq!(with("v 0 0 1e39"), format!("line 4: {finite} \"1e39\""));
    assert_eq!(with("v 1 1 1 0"), format!("line 4: {finite} inf"));
    assert_eq!(with("v 1 2"), "line 4: expected a coordinate, found the end");
    assert_eq!(with("v 1 2 \\\nz"), "line 4: expected a coordinate, found \"z\"");
    assert_eq!(with("f"), "line 4: expected a face with at least one corner, found none");
    let statement = "line 1: expected an OBJ statement such as v or f, found";
    assert_eq!(error(b"solid x", Format::Obj), format!("{statement} \"solid\""));
}

#[test]
fn stl_welds_equal_positions_in_both_forms() {
    let loaded = load(samples::STL_TEXT, Format::Stl).unwrap();
    assert_eq!(loaded.vertices.len(), 7);
    assert_eq!(polygons(&loaded), [[0, 1, 2], [1, 3, 2], [4, 5, 6]]);
    let loaded = load(&samples::stl_binary(), Format::Stl).unwrap();
    assert_eq!(loaded.vertices, [Vec3::ZERO, Vec3::Y, Vec3::X, Vec3::Z]);
    assert_eq!(polygons(&loaded), [[0, 1, 2], [0, 2, 3], [2, 1, 3], [0, 3, 1]]);
    assert_eq!(loaded.warnings, []);
}

#[test]
fn stl_says_what_is_missing_or_left_over() {
    let good = samples::stl_binary();
    let mut claims_more = good.clone();
    claims_more[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
    let list = "the list of 4294967295 triangles needs 214748364750 bytes";
    assert_eq!(error(&claims_more, Format::Stl), format!("byte 80: {list}, but only 200 are left"));
    let mut claims_less = good.clone();
    claims_less[80] = 3;
    let loaded = load(&claims_less, Format::Stl).unwrap();
    assert_eq!(loaded.faces.len(), 3);
    assert_eq!(loaded.warnings, [Warning::Trailing { place: Place::Byte(234), bytes: 50 }]);
    let mut infinite = good.clone();
    infinite[84 + 50 + 12..][..4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    assert!(error(&infinite, Format::Stl).starts_with("byte 146: a coordinate must be finite"));
    assert!(error(&good[..50], Format::Stl).starts_with("byte 0: an STL file"));
    let text = b"solid a\nfacet normal 0 0 1\nouter loop\nvertex 1 2 x\n";
    assert_eq!(error(text, Format::Stl), "line 4: expected a coordinate, found \"x\"");
    assert_eq!(
        error(b"solid a\n", Format::Stl),
        "line 2: expected facet or endsolid, found the end"
    );
}

#[test]
fn ply_reads_text_and_both_byte_orders_alike() {
    for bytes in [samples::PLY_TEXT.to_vec(), samples::ply_binary(false), samples::ply_binary(true)]
    {
        let loaded = load(&bytes, Format::Ply).unwrap();
        assert_eq!(loaded.vertices, PYRAMID);
        assert_eq!(polygons(&loaded), [vec![0, 1, 4], vec![0, 1, 2, 3, 4]]);
        let other = "elements other than vertex, face and tristrips";
        assert_eq!(loaded.warnings.len(), 1);
        let Warning::Ignored { what, count: 1, .. } = &loaded.warnings[0] else {
            panic!("{:?}", loaded.warnings);
        };
        assert_eq!(what, other);
    }
}

fn ply(elements: &str, data: &str) -> Vec<u8> {
    format!("ply\nformat ascii 1.0\n{elements}end_header\n{data}").into_bytes()
}

const XYZ: &str = "property float x\nproperty float y\nproperty float z\n";
const LIST: &str = "property list uchar int vertex_indices\n";

#[test]
fn ply_reads_triangle_strips() {
    let header = format!("element vertex 5\n{XYZ}element tristrips 1\n{LIST}");
    let bytes = ply(&header, "0 0 0\n1 0 0\n0 1 0\n1 1 0\n2 2 2\n8 0 1 2 3 -1 4 3 2\n");
    let loaded = load(&bytes, Format::Ply).unwrap();
    assert_eq!(polygons(&loaded), [[0, 1, 2], [2, 1, 3], [4, 3, 2]]);
}

#[test]
fn ply_counts_are_compared_with_the_bytes() {
    let huge = ply(&format!("element vertex 4294967295\n{XYZ}"), "0 0 0\n");
    let list = "the list of 4294967295 \"vertex\" elements needs 21474836475 bytes";
    assert_eq!(error(&huge, Format::Ply), format!("line 8: {list}, but only 6 are left"));
    let header = format!("element vertex 1\n{XYZ}element face 1\n{LIST}");
    let long = ply(&header, "0 0 0\n4000000000 0\n");
    assert!(error(&long, Format::Ply).starts_with("line 11: a list of 4000000000 needs"));
    let negative = ply(&header, "0 0 0\n-3 0 0 0\n");
    let count = "line 11: expected a list count of 0 or more, found \"-3\"";
    assert_eq!(error(&negative, Format::Ply), count);
}

#[test]
fn ply_errors_name_the_line() {
    let header = format!("element vertex 1\n{XYZ}element face 1\n{LIST}");
    let with = |data: &str| error(&ply(&header, data), Format::Ply);
    let index = "a face names vertex";
    assert_eq!(with("0 0 0\n3 0 0 1"), format!("line 11: {index} 1, but there are 1 vertices"));
    assert_eq!(with("0 0 0\n3 0 0 -1"), format!("line 11: {index} -1, but there are 1 vertices"));
    assert_eq!(with("0 0 0\n3 0 0 0.5"), "line 11: expected a vertex index, found \"0.5\"");
    assert_eq!(with("0 0 zero\n3 0 0 0"), "line 10: expected a coordinate, found \"zero\"");
    let shifted = "line 10: expected a new line after the last property of an element, found";
    assert_eq!(with("0 0 0 7\n3 0 0 0"), format!("{shifted} \"7\""));
    let twice = ply(&format!("element vertex 1\n{XYZ}property float x\n"), "0 0 0 0\n");
    let same = "no element or property of the same name twice";
    assert_eq!(
        error(&twice, Format::Ply),
        format!("line 7: expected {same}, found \"property float x\"")
    );
    let flat = ply("element vertex 1\nproperty float x\nproperty float y\n", "0 0\n");
    assert!(error(&flat, Format::Ply).contains("scalar properties x, y and z"));
    let unknown = ply("element vertex 1\nproperty float128 x\n", "0\n");
    let line = "line 4: expected a PLY header line, found \"property float128 x\"";
    assert_eq!(error(&unknown, Format::Ply), line);
    assert_eq!(error(b"plain", Format::Ply), "line 1: expected ply, found \"plain\"");
}

#[test]
fn lost_digits_are_counted_once_per_file() {
    // Left: an f32 says the same to the digit. Right: it does not.
    let kept = ["0.1", "0.10000000149011612", "16777216", "123.100000", "-1e-7", "3.4e38", "1.5"];
    let lost = ["0.123456789", "16777217", "1e-60", "3.14159265358979"];
    let file = |words: &[&str]| -> Vec<u8> {
        words.iter().flat_map(|w| format!("v {w} 0 0\n").into_bytes()).collect()
    };
    assert_eq!(load(&file(&kept), Format::Obj).unwrap().warnings, []);
    let both = [&kept[..], &lost[..]].concat();
    let first = Place::Line(8);
    assert_eq!(
        load(&file(&both), Format::Obj).unwrap().warnings,
        [Warning::DigitsLost { count: 4, of: Some(33), largest: 1.0, shortest_edge: None, first }]
    );
    let warning = Warning::DigitsLost {
        count: 42_800,
        of: Some(51_202),
        largest: 3.1e-7,
        shortest_edge: Some(3.1e-3),
        first,
    };
    assert_eq!(
        warning.to_string(),
        "42,800 of 51,202 coordinates do not fit single precision; largest rounding 3.1e-7 \
         (0.01 % of the shortest edge), the first at line 8"
    );
    let triangle = b"v 0 0 0\nv 1 0 0\nv 0 16777217 0\nf 1 2 3\nf 1 1\n";
    let reported = load(triangle, Format::Obj).unwrap().warnings[0].to_string();
    assert!(reported.contains("1 of 9 coordinates"), "{reported}");
    assert!(reported.contains("1.0e0 (100 % of the shortest edge)"), "{reported}");
}

#[test]
fn an_empty_file_is_an_empty_obj_and_nothing_else() {
    assert_eq!(load(b"", Format::Obj), Ok(Loaded::default()));
    assert!(matches!(load(b"", Format::Stl), Err(LoadError::Truncated { .. })));
    assert!(matches!(load(b"", Format::Ply), Err(LoadError::Unexpected { .. })));
}

#[test]
fn format_comes_from_the_ending() {
    for (name, format) in [
        ("a.obj", Some(Format::Obj)),
        ("dir.obj/B.StL", Some(Format::Stl)),
        (".ply", Some(Format::Ply)),
        ("a.obj.bak", None),
        ("stl", None),
    ] {
        assert_eq!(Format::from_name(name), format, "{name}");
    }
}
