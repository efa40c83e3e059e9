//! Each rule about Rust code: where it speaks up, and where it stays silent.

use super::*;

fn found(path: &str, text: &str) -> Vec<(Rule, usize)> {
    check(path, text).iter().map(|finding| (finding.rule, finding.line)).collect()
}

/// A function of `lines` lines, its head and closing brace included.
fn function(lines: usize) -> String {
    format!("fn long() {{\n{}}}\n", "let x = 1;\n".repeat(lines - 2))
}

#[test]
fn a_function_may_have_70_lines_and_not_71() {
    assert_eq!(found("a.rs", &function(70)), []);
    let findings = check("a.rs", &function(71));
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].size, findings[0].subject.as_str()), (71, "a.rs#long"));
}

#[test]
fn functions_are_found_wherever_they_stand() {
    let long = function(71);
    let rule = Rule::FunctionLines;
    assert_eq!(found("a.rs", &format!("impl A {{\n{long}}}")), [(rule, 2)]);
    assert_eq!(found("a.rs", &format!("trait A {{\n{long}}}")), [(rule, 2)]);
    assert_eq!(found("a.rs", &format!("mod a {{ mod b {{\n{long}}} }}")), [(rule, 2)]);
    assert_eq!(found("a.rs", &format!("#[cfg(test)]\nmod a {{\n#[test]\n{long}}}")), [(rule, 4)]);
    // A short function around a long one is long itself.
    assert_eq!(found("a.rs", &format!("fn outer() {{\n{long}}}")), [(rule, 1), (rule, 2)]);
}

#[test]
fn documentation_and_attributes_do_not_count_as_function() {
    let documented = format!("{}#[inline]\n{}", "/// Says much.\n".repeat(50), function(70));
    assert_eq!(found("a.rs", &documented), []);
}

#[test]
fn unsafe_stays_where_it_belongs() {
    let code = "fn f() { unsafe { g() } }";
    assert_eq!(found("crates/geom/src/pair.rs", code), [(Rule::Unsafe, 1)]);
    assert_eq!(found("crates/geom/tests/pair.rs", code), [(Rule::Unsafe, 1)]);
    for path in ["crates/geom/src/simd.rs", "crates/geom/src/simd/avx2.rs", "bindings/c/src/lib.rs"]
    {
        assert_eq!(found(path, code), [], "{path}");
    }
    let talk = "#![allow(unsafe_code)]\n// unsafe\nconst A: &str = \"unsafe\";\n";
    assert_eq!(found("crates/geom/src/pair.rs", talk), []);
}

#[test]
fn code_that_meets_outside_input_never_panics() {
    for krate in ["crates/scene", "crates/cli", "crates/net", "crates/proto", "bindings/c"] {
        let path = format!("{krate}/src/a.rs");
        for code in [
            "a.unwrap();",
            "b.map(A::unwrap);",
            "a.expect(\"b\");",
            "panic!();",
            "println!(\"{}\", a.unwrap());",
        ] {
            assert_eq!(
                found(&path, &format!("fn f() {{\n{code}\n}}")),
                [(Rule::Panic, 2)],
                "{code}"
            );
        }
        for code in ["a.unwrap_or(b);", "a.expected();", "expect(a);", "// panic!()", "panic::a();"]
        {
            assert_eq!(found(&path, &format!("fn f() {{\n{code}\n}}")), [], "{code}");
        }
    }
}

#[test]
fn geom_may_expect_with_a_reason_but_not_unwrap() {
    let path = "crates/geom/src/a.rs";
    assert_eq!(found(path, "fn f() { a.unwrap() }"), [(Rule::Panic, 1)]);
    assert_eq!(found(path, "fn f() { a.expect(\"never empty\") }"), []);
    assert_eq!(found("crates/world/src/a.rs", "fn f() { a.unwrap() }"), []);
}

#[test]
fn tests_may_unwrap_and_the_code_after_them_may_not() {
    let path = "crates/scene/src/a.rs";
    for test in [
        "#[cfg(test)]\nmod tests { fn f() { a.unwrap() } }\n",
        "#[cfg(test)]\n#[derive(Debug)]\nfn f() { a.unwrap() }\n",
        "#[cfg(all(test, feature = \"a\"))]\nfn f() { a.unwrap() }\n",
        "#[test]\nfn f() -> [u8; 2] { a.unwrap() }\n",
    ] {
        assert_eq!(found(path, test), [], "{test}");
        let line = test.lines().count() + 1;
        let after = format!("{test}fn g() {{ a.unwrap() }}");
        assert_eq!(found(path, &after), [(Rule::Panic, line)], "{test}");
    }
    // A declaration ends at its semicolon, and another condition is not a test.
    let declared = "#[cfg(test)]\nmod tests;\nfn g() { a.unwrap() }";
    assert_eq!(found(path, declared), [(Rule::Panic, 3)]);
    assert_eq!(found(path, "#[cfg(not(test))]\nfn g() { a.unwrap() }"), [(Rule::Panic, 2)]);
    for path in ["crates/scene/tests/a.rs", "crates/scene/src/a/tests.rs"] {
        assert_eq!(found(path, "fn f() { a.unwrap() }"), [], "{path}");
    }
}

#[test]
fn clocks_stay_out_of_answers() {
    for krate in ["geom", "world", "proto", "sim", "scene"] {
        let path = format!("crates/{krate}/src/a.rs");
        assert_eq!(found(&path, "use std::time::{Duration, Instant};"), [(Rule::Clock, 1)]);
        assert_eq!(found(&path, "fn f() { std::time::SystemTime::now(); }"), [(Rule::Clock, 1)]);
        assert_eq!(found(&path, "use std::time::Duration; // an Instant"), []);
        assert_eq!(found(&path, "#[cfg(test)]\nuse std::time::Instant;"), []);
    }
    assert_eq!(found("crates/net/src/a.rs", "use std::time::Instant;"), []);
    assert_eq!(found("crates/geom/tests/a.rs", "use std::time::Instant;"), []);
}

#[test]
fn no_test_is_ignored_and_no_print_is_left() {
    assert_eq!(found("a.rs", "#[test]\n#[ignore]\nfn f() {}"), [(Rule::Marker, 2)]);
    assert_eq!(found("a.rs", "#[test]\n#[ignore = \"slow\"]\nfn f() {}"), [(Rule::Marker, 2)]);
    assert_eq!(found("a.rs", "fn f() { dbg!(x); }"), [(Rule::Marker, 1)]);
    assert_eq!(found("a.rs", "fn ignore() { let dbg = [ignore]; }"), []);
}

#[test]
fn what_is_not_rust_is_said_to_be_so() {
    assert_eq!(found("a.rs", "fn f( {"), [(Rule::Parse, 0)]);
    assert_eq!(found("a.rs", "fn fn fn"), [(Rule::Parse, 0)]);
    assert_eq!(found("a.rs", "fn f() {}"), []);
}
