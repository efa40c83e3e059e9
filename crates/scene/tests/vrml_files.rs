//! VRML97 as files: headers, compression, relatives that are refused, files in files, progress.

mod vrml_samples;

use flate2::{Compression, write::GzEncoder};
use jostle_scene::nodes::Kind;
use jostle_scene::{Extensions, Fetched, LoadError, Reading, read};
use std::io::Write;
use vrml_samples::*;

fn named(name: &str, bytes: &[u8]) -> Result<jostle_scene::Opened, LoadError> {
    read(name, bytes, &mut Reading::default())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn headers() {
    let right =
        ["#VRML V2.0 utf8\nBox{}", "\u{feff}#VRML V2.0 utf8 made by x\nBox{}", "#VRML V2.0 utf8"];
    for text in right {
        assert!(named("x", text.as_bytes()).unwrap().warnings.is_empty(), "{text}");
    }
    let mended =
        ["# VRML V2.0 utf8\nBox{}", "#VRML   V2.0 UTF8\nBox{}", "\n#VRML V2.0 utf8\nBox{}"];
    for text in mended {
        let opened = named("x.wrl", text.as_bytes()).unwrap();
        let message = "wrong or no header, read as \"#VRML V2.0 utf8\", at line 1, column 1";
        assert_eq!(
            (messages(&opened), opened.scene.len()),
            (vec![message.to_string()], 1),
            "{text}"
        );
    }
    let refused = [
        ("#VRML V1.0 ascii\nCube{}", "VRML 1.0"),
        ("#VRML V2.0 utf16\n", "an encoding other than utf8"),
        ("#VRML_SIM R2021b utf8\n", "a dialect"),
        ("#X3D V3.0 utf8\n", "X3D in classic encoding"),
        ("<?xml version=\"1.0\"?>\n<!DOCTYPE X3D>\n<X3D/>", "X3D as XML"),
        ("<X3D version='3.0'>", "X3D as XML"),
    ];
    for (text, message) in refused {
        for bytes in [text.as_bytes().to_vec(), gzip(text.as_bytes())] {
            let error = named("x", &bytes).unwrap_err();
            assert!(matches!(error, LoadError::NotReadable { .. }), "{text}");
            assert!(error.to_string().contains(message), "{text}: {error}");
        }
    }
    let error = named("x.x3db", b"\xe0\x00\x00\x01\x00").unwrap_err();
    assert!(error.to_string().contains("binary X3D"), "{error}");
    for name in ["a.wrl", "a.WRZ", "a.vrml", "a.x3dv", "a.wrl.gz"] {
        let error = named(name, b"Group { }\n").unwrap_err().to_string();
        let expected = "line 1, column 1: expected the header #VRML V2.0 utf8, found \"Group { }\"";
        assert_eq!(error, expected, "{name}");
    }
    assert!(
        named("a.dae", b"<?xml version=\"1.0\"?><COLLADA/>")
            .unwrap_err()
            .to_string()
            .starts_with("COLLADA files are not read")
    );
}

#[test]
fn compressed_files() {
    for (name, bytes) in all() {
        let plain = named("a.wrl", &bytes).unwrap();
        let packed = gzip(&bytes);
        assert_eq!(named("a", &packed).unwrap(), plain, "{name}");
        for end in 2..packed.len() {
            let error = named("a.wrz", &packed[..end]).unwrap_err();
            assert!(error.to_string().contains("damaged gzip data"), "{name}, {end}: {error}");
        }
    }
    // A hundred million blanks in a hundred thousand bytes.
    let mut bomb = b"#VRML V2.0 utf8\n".to_vec();
    bomb.resize(100 << 20, b' ');
    let error = named("a.wrl", &gzip(&bomb)).unwrap_err().to_string();
    assert!(error.ends_with("gzip data that unpacks to more than 67108864 bytes"), "{error}");
    bomb.truncate(10 << 20);
    assert!(named("a.wrl", &gzip(&bomb)).is_ok());
}

#[test]
fn inline_brings_in_files() {
    let files = [
        (
            "a.wrl",
            "DEF I Inline { url [ \"no.wrl\" \"b.wrl#View\" ] } DEF J Inline { url \"no.wrl\" }\n\
                   Inline { } USE HIDDEN",
        ),
        (
            "b.wrl",
            "DEF HIDDEN Transform { children Inline { url \"c.wrl\" } } Odd { }\n\
                   DEF T TimeSensor { } ROUTE T.isActive TO T.enabled",
        ),
        ("c.wrl", "DEF DEEP Shape { }"),
    ];
    let opened = try_files(&files, Extensions::CollisionNodes).unwrap();
    let scene = &opened.scene;
    let inline = scene.find("I").unwrap();
    assert_eq!(scene.children(inline).len(), 3);
    assert_eq!(scene.find("I/HIDDEN/DEEP").map(|id| scene.node(id).place), Some(column(2, 1)));
    assert!(scene.children(scene.find("J").unwrap()).is_empty());
    assert_eq!(routes(scene), ["T.isActive -> T.enabled"]);
    assert_eq!(scene.roots().len(), 3);
    let expected = [
        "in \"b.wrl\": unknown node \"Odd\" ignored, at line 2, column 58",
        "Inline \"no.wrl\" (not there) ignored, at line 2, column 48",
        "USE of unknown name \"HIDDEN\" read as nothing, at line 3, column 12",
    ];
    let mut found = messages(&opened);
    found.sort_by_key(|message| expected.iter().position(|e| e == message));
    assert_eq!(found, expected);
    let wrong = [files[0], files[1], ("c.wrl", "Shape {\n x }")];
    let error = try_files(&wrong, Extensions::CollisionNodes).unwrap_err().to_string();
    let expected = "line 2, column 1: in \"b.wrl\": line 2, column 33: in \"c.wrl\": \
                    line 3, column 4: \
                    expected a value, found something else";
    assert_eq!(error, expected);
}

#[test]
fn inline_without_a_resolver_is_left_out() {
    let opened = text("Inline { url \"b.wrl\" }");
    let message = "Inline \"b.wrl\" (no other files are read here) ignored, at line 2, column 1";
    assert_eq!(messages(&opened), [message]);
}

#[test]
fn files_in_a_circle_are_errors() {
    let own = [("a.wrl", "Group { children Inline { url \"a.wrl\" } }")];
    let error = try_files(&own, Extensions::CollisionNodes).unwrap_err();
    assert_eq!(error.to_string(), "line 2, column 18: file a.wrl brings in itself");
    let two = [("a.wrl", "Inline { url \"b.wrl\" }"), ("b.wrl", "\nInline { url \"a.wrl\" }")];
    let error = try_files(&two, Extensions::CollisionNodes).unwrap_err();
    let expected = "line 2, column 1: in \"b.wrl\": line 3, column 1: file a.wrl brings in itself";
    assert_eq!(error.to_string(), expected);
    let through = [
        ("a.wrl", "EXTERNPROTO P [ ] \"b.wrl\" P { }"),
        ("b.wrl", "PROTO P [ ] { Inline { url \"a.wrl\" } }"),
    ];
    let error = try_files(&through, Extensions::CollisionNodes).unwrap_err();
    assert!(error.to_string().ends_with("file a.wrl brings in itself"), "{error}");
}

#[test]
fn files_without_end_are_errors() {
    // A different name each time: no circle, but no end either.
    let mut count = 0;
    let mut fetch = |_: &str, _: &str| {
        count += 1;
        let bytes = b"#VRML V2.0 utf8\nInline { url \"next\" }".to_vec();
        Ok(Fetched { name: format!("{count}.wrl"), bytes })
    };
    let mut reading = Reading { fetch: Some(&mut fetch), ..Reading::default() };
    let error =
        read("a.wrl", b"#VRML V2.0 utf8\nInline { url \"next\" }", &mut reading).unwrap_err();
    assert!(error.to_string().contains("nested deeper than 128"), "{error}");
    // Ten in each, six deep.
    let mut count = 0;
    let mut fetch = |url: &str, _: &str| {
        count += 1;
        let inside = format!("Inline {{ url \"{url}x\" }}").repeat(10);
        let text = if url.len() < 7 { inside } else { String::new() };
        let bytes = format!("{HEADER}{text}").into_bytes();
        Ok(Fetched { name: format!("{count}.wrl"), bytes })
    };
    let mut reading = Reading { fetch: Some(&mut fetch), ..Reading::default() };
    let error = read("a.wrl", b"#VRML V2.0 utf8\nInline { url \"x\" }", &mut reading).unwrap_err();
    assert!(error.to_string().ends_with("more than 10000 files are brought in"), "{error}");
}

#[test]
fn a_file_that_is_brought_in_may_lack_the_header() {
    let mut fetch = |_: &str, _: &str| {
        Ok(Fetched { name: "part.wrl".to_string(), bytes: b"DEF PART Group { }".to_vec() })
    };
    let mut reading = Reading { fetch: Some(&mut fetch), ..Reading::default() };
    let opened = read("a.wrl", b"#VRML V2.0 utf8\nInline { url \"p\" }", &mut reading).unwrap();
    assert!(opened.scene.find("PART").is_some());
    assert!(messages(&opened)[0].starts_with("in \"part.wrl\": wrong or no header"));
}

#[test]
fn ohlenburg_listing() {
    let opened = named("a.wrl", LISTING_3_3.as_bytes()).unwrap();
    let id = only(&opened.scene, "CollisionInterest");
    let Kind::CollisionInterest(node) = &opened.scene.node(id).kind else { panic!() };
    assert_eq!(&*node.object_path, "AL");
    assert_eq!(node.collision_interests[..], ["MUSTANG".into()]);
    assert_eq!(node.collision_type, 1);
    assert!(opened.scene.find("MUSTANG").is_some());
}

#[test]
fn progress_goes_forward_to_the_end() {
    let mut source = format!("{HEADER}Coordinate {{ point [\n");
    source += &"1.5 2.5 3.5\n".repeat(300_000);
    source += "] }\n";
    source += &"Group { }\n".repeat(200_000);
    let mut reported = Vec::new();
    let mut progress = |bytes| reported.push(bytes);
    let mut reading = Reading { progress: Some(&mut progress), ..Reading::default() };
    read("a.wrl", source.as_bytes(), &mut reading).unwrap();
    assert!(
        reported.len() >= source.len() >> 20 && reported.len() <= (source.len() >> 20) + 2,
        "{reported:?}"
    );
    assert!(reported.windows(2).all(|pair| pair[0] < pair[1]), "{reported:?}");
    assert_eq!(reported.last(), Some(&source.len()));
}

#[test]
fn an_inline_of_vrml_1_is_left_out_with_a_warning_and_the_next_address_is_tried() {
    let text = "#VRML V2.0 utf8\nInline { url [ \"old.wrl\" \"new.wrl\" ] }\n\
                Inline { url \"old.wrl\" }\nShape { geometry Text { string \"a\" } }\n";
    let mut fetch = |address: &str, _: &str| {
        let bytes: &[u8] = match address {
            "old.wrl" => b"#VRML V1.0 ascii\nCube {}\n",
            _ => b"#VRML V2.0 utf8\nGroup {}\n",
        };
        Ok(Fetched { name: address.to_string(), bytes: bytes.to_vec() })
    };
    let mut reading = Reading { fetch: Some(&mut fetch), ..Reading::default() };
    let opened = read("a.wrl", text.as_bytes(), &mut reading).unwrap();
    let scene = &opened.scene;
    assert_eq!(scene.children(scene.roots()[0]).len(), 1);
    assert_eq!(scene.children(scene.roots()[1]).len(), 0);
    let texts: Vec<String> = opened.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), 2, "{texts:?}");
    assert!(texts[0].contains("VRML 1.0") && texts[0].contains("line 3"), "{texts:?}");
    assert!(texts[1].starts_with("Text (letters touch nothing) ignored, at line 4"));
}
