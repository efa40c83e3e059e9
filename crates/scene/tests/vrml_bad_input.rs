//! Whatever the text: an error with its place or a scene, never a panic, a stack overflow or more
//! memory than in proportion.
//!
//! One test function, because the allocator that counts is one for the whole process.

mod samples;
mod vrml_samples;

use jostle_scene::{Fetched, LoadError, NodeId, Reading, Scene, Value, read};
use peak_alloc::PeakAlloc;
use samples::{Random, mutate};
use vrml_samples::HEADER;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MUTATIONS: usize = 100_000;

/// Reads, with the samples as all other files, and checks what must hold for any bytes. Most
/// memory per byte: `A{}`, three bytes that become a node of an unknown kind, whose 170 bytes
/// count twice while lists grow.
fn read_checked(bytes: &[u8], others: &[(&str, Vec<u8>)], case: &str) -> bool {
    let mut total = bytes.len();
    let mut fetch = |url: &str, _: &str| {
        let (name, bytes) = &others.get(url.len() % (others.len() + 1)).ok_or("not there")?;
        total += bytes.len();
        Ok(Fetched { name: name.to_string(), bytes: bytes.clone() })
    };
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let result =
        read("a.wrl", bytes, &mut Reading { fetch: Some(&mut fetch), ..Reading::default() });
    let used = MEMORY.peak_usage().saturating_sub(before);
    assert!(used <= 120 * total + 100_000, "{case}: {used} for {total} bytes");
    match result {
        Ok(opened) => {
            check_scene(&opened.scene, case);
            assert!(opened.warnings.len() <= 201, "{case}");
            true
        }
        Err(error) => {
            let text = error.to_string();
            let placed = text.starts_with("line ") || text.starts_with("byte ");
            assert!(placed || matches!(error, LoadError::NotReadable { .. }), "{case}: {text}");
            assert!(text.len() < 2000, "{case}: {text}");
            false
        }
    }
}

/// All ids lead somewhere, routes fit, and walking from the roots comes to an end.
fn check_scene(scene: &Scene, case: &str) {
    let mut known = scene.roots().to_vec();
    for (_, node) in scene.nodes() {
        for index in 0..node.kind.fields().len() {
            match node.kind.get(index) {
                Some(Value::Node(id)) => known.extend(id),
                Some(Value::Nodes(ids)) => known.extend(ids.iter()),
                _ => {}
            }
        }
    }
    assert!(known.iter().all(|id| id.index() < scene.len()), "{case}");
    for route in scene.routes() {
        let ty = |(id, field): (NodeId, usize)| scene.node(id).kind.fields()[field].ty;
        assert_eq!(ty(route.from), ty(route.to), "{case}");
    }
    // Heights from the leaves up exist only where no node contains itself.
    let mut marks = vec![0u8; scene.len()];
    for &root in scene.roots() {
        let mut way = vec![(root, 0)];
        while let Some((id, next)) = way.pop() {
            let children = scene.children(id);
            if next == 0 {
                assert!(marks[id.index()] != 1, "{case}: a circle");
                if marks[id.index()] == 2 {
                    continue;
                }
                marks[id.index()] = 1;
            }
            match children.get(next) {
                Some(&child) => way.extend([(id, next + 1), (child, 0)]),
                None => marks[id.index()] = 2,
            }
        }
    }
}

/// Words, marks and strings.
fn tokens(bytes: &[u8]) -> Vec<&[u8]> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest[0] {
            b'"' => rest[1..].iter().position(|&b| b == b'"').map_or(rest.len(), |end| end + 2),
            b'[' | b']' | b'{' | b'}' => 1,
            b if b.is_ascii_whitespace() => 1,
            _ => {
                let end = |b: &u8| b" \t\r\n[]{}\",".contains(b);
                rest.iter().position(end).unwrap_or(rest.len()).max(1)
            }
        };
        tokens.push(&rest[..length]);
        at += length;
    }
    tokens
}

const WORDS: &str = "DEF USE PROTO EXTERNPROTO ROUTE TO IS NULL TRUE FALSE { } [ ] \" # , . \
    field eventIn eventOut exposedField SFNode MFNode SFFloat MFVec3f SFImage SFString SFTIME \
    Group Transform Shape Script Inline CollisionObject IndexedFaceSet Coordinate Switch Unheard \
    children geometry coord point coordIndex url translation set_translation image choice \
    A B C T X P Ball \"b.wrl\" \"\" 0 -1 1e39 -nan 1e-50 0xFFFFFFFF 99999999999 .5. 1e 16777217 \
    4294967295 0.1234567890123456789 - + \\ \u{e9} \u{0} EXPORT AS";

/// One to four changes of words, or of bytes.
fn change(source: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    if random.below(8) == 0 {
        return mutate(source, random);
    }
    let words: Vec<&[u8]> = WORDS.split(' ').map(str::as_bytes).collect();
    let mut list = tokens(source);
    for _ in 0..=random.below(3) {
        let at = random.below(list.len());
        let word = words[random.below(words.len())];
        match random.below(7) {
            0 => {
                let with = random.below(list.len());
                list.swap(at, with);
            }
            1 => drop(list.remove(at)),
            2 => list.insert(at, list[random.below(list.len())]),
            3 => list.splice(at..at, [b" ", word, b" "]).for_each(drop),
            4 => list[at] = word,
            5 => {
                let end = (at + random.below(30)).min(list.len());
                let copy = list[at..end].to_vec();
                list.splice(at..at, copy).for_each(drop);
            }
            _ => {
                let from = tokens(other);
                let start = random.below(from.len());
                list.truncate(at);
                list.extend(&from[start..]);
            }
        }
        if list.is_empty() {
            break;
        }
    }
    list.concat()
}

#[test]
fn any_text_gives_an_error_or_a_scene() {
    let samples = vrml_samples::all();
    for (name, bytes) in &samples {
        assert!(read_checked(bytes, &[], name));
        for end in 0..bytes.len() {
            let case = format!("{name}, first {end} bytes");
            read_checked(&bytes[..end], &samples, &case);
        }
    }
    let mut good = 0;
    for seed in 0..MUTATIONS {
        let mut random = Random(seed as u64 + 1);
        let (name, bytes) = &samples[seed % samples.len()];
        let other = &samples[random.below(samples.len())].1;
        let changed = change(bytes, other, &mut random);
        let case = format!("{name}, seed {seed}");
        good += usize::from(read_checked(&changed, &samples, &case));
    }
    // A mutator that never or always breaks the file tests half of the reader.
    assert!((MUTATIONS / 20..MUTATIONS * 19 / 20).contains(&good), "{good} of {MUTATIONS} good");
    let mut random = Random(1);
    for length in 0..500 {
        let mut noise = HEADER.as_bytes().to_vec();
        noise.extend((0..length).map(|_| random.bits() as u8));
        read_checked(&noise, &[], &format!("{length} random bytes"));
    }
    nesting_of_any_depth();
    nesting_up_to_the_limit();
    large_files_stay_in_proportion();
}

/// What is opened 10^5 times, and what closes it.
const NESTINGS: [(&str, &str); 12] = [
    ("{", "}"),
    ("[", "]"),
    ("Group { children ", "}"),
    ("Group { children [", "]}"),
    ("Unheard { a ", "}"),
    ("Unheard { a [", "]}"),
    ("Group { unheard [", "]}"),
    ("Group { unheard Unheard { a ", "}}"),
    ("PROTO P [ ] { ", "}"),
    ("PROTO P [ field MFNode n ", "] { }"),
    ("Script { field SFNode n ", "}"),
    ("DEF A Shape { geometry ", "}"),
];

fn nesting_of_any_depth() {
    for (open, close) in NESTINGS {
        for inside in ["", "NULL"] {
            let whole =
                format!("{HEADER}{}{inside}{}", open.repeat(100_000), close.repeat(100_000));
            let half = format!("{HEADER}{}", open.repeat(100_000));
            let good = read_checked(whole.as_bytes(), &[], open);
            assert_eq!(good, open.contains("nheard"), "{open}");
            assert!(!read_checked(half.as_bytes(), &[], open), "{open}");
        }
    }
    // Prototypes that use each other, and routes and names without number.
    let chain: String =
        (1..100_000).map(|n| format!("PROTO P{n} [ ] {{ P{} {{ }} }}\n", n - 1)).collect();
    let chain = format!("{HEADER}PROTO P0 [ ] {{ }}\n{chain}P99999 {{ }}");
    assert!(!read_checked(chain.as_bytes(), &[], "a chain of prototypes"));
}

/// The deepest that is allowed must fit the stack of a test: 2 MiB.
fn nesting_up_to_the_limit() {
    let around = |levels: usize, open: &str, close: &str| {
        format!("{HEADER}{}{}", open.repeat(levels), close.repeat(levels))
    };
    let groups = |levels| around(levels, "Group { children [", "]}");
    assert!(read_checked(groups(128).as_bytes(), &[], "128 groups"));
    assert!(!read_checked(groups(129).as_bytes(), &[], "129 groups"));
    assert!(read_checked(around(128, "PROTO P [ ] {", "}").as_bytes(), &[], "128 prototypes"));
    let scripts = around(128, "Script { field SFNode n ", "}").replace("n }", "n NULL }");
    assert!(read_checked(scripts.as_bytes(), &[], "128 scripts"));
    let mut chain =
        format!("{HEADER}PROTO P0 [ field MFNode n [ ] ] {{ Group {{ children IS n }} }}\n");
    for n in 1..63 {
        let inner = n - 1;
        chain += &format!(
            "PROTO P{n} [ field MFNode n [] ] {{ Group {{ children P{inner} {{ n IS n }} }} }}\n"
        );
    }
    assert!(read_checked(format!("{chain}P62 {{ }}").as_bytes(), &[], "instances in instances"));
    // Files in files, each three levels deep.
    let mut count = 0;
    let mut fetch = |_: &str, _: &str| {
        count += 1;
        let inside = if count < 42 { "Inline { url \"x\" }" } else { "" };
        let text = format!("{HEADER}PROTO P [ ] {{ Group {{ children [ {inside} ] }} }} P {{ }}");
        Ok(Fetched { name: count.to_string(), bytes: text.into_bytes() })
    };
    let mut reading = Reading { fetch: Some(&mut fetch), ..Reading::default() };
    let bytes = format!("{HEADER}Inline {{ url \"x\" }}");
    read("a.wrl", bytes.as_bytes(), &mut reading).expect("127 levels");
}

/// The same bound where the constant part no longer counts.
fn large_files_stay_in_proportion() {
    let repeated = [
        "A{}",
        "Box{}",
        "Background{}",
        "DEF A Group{}",
        "Shape{geometry Box{}}\n",
        "USE A ",
        "ROUTE A.b TO C.d ",
        "PROTO P[]{}",
        "PROTO P[field SFBool a TRUE]{}",
        "EXTERNPROTO P[]\"\"",
        "P{}",
        "Script{field SFBool a TRUE}",
        "Inline{}",
        "\n",
        "#\r",
    ];
    for what in repeated {
        let count = 600_000 / what.len();
        let flat = format!("{HEADER}PROTO P [ ] {{ }} DEF C Box {{ }} {}", what.repeat(count));
        read_checked(flat.as_bytes(), &[], what);
        let inside =
            format!("{HEADER}PROTO P [ ] {{ }} Group {{ children [ {} ] }}", what.repeat(count));
        read_checked(inside.as_bytes(), &[], what);
    }
    for what in ["0 0 0 ", "0,", "\"\" ", "0 0 0 0\n"] {
        let count = 600_000 / what.len();
        for node in ["Coordinate { point", "WorldInfo { info", "IndexedFaceSet { coordIndex"] {
            let list = format!("{HEADER}{node} [ {} ] }}", what.repeat(count));
            read_checked(list.as_bytes(), &[], what);
        }
    }
}
