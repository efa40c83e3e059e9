//! Rules about Rust code, decided on its tokens and not on its text: a word in a comment or in a
//! string is not code, and code inside a macro call is.

use super::{Finding, Rule};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

const FUNCTION_LINES_MAX: usize = 70;

/// Where `unsafe` may stand: the vector instructions, and the border to C.
const UNSAFE_ALLOWED: [&str; 2] = ["crates/geom/src/simd", "bindings/c/"];

/// Crates that meet input from outside: nothing there may end the program.
const NEVER_PANIC: [&str; 7] = [
    "crates/scene/src/",
    "crates/stage/src/",
    "crates/cli/src/",
    "crates/net/src/",
    "crates/proto/src/",
    "crates/store/src/",
    "bindings/c/src/",
];

/// Crates whose answers are a function of their input alone.
const NO_CLOCK: [&str; 8] = [
    "crates/geom/src/",
    "crates/lab/src/",
    "crates/world/src/",
    "crates/proto/src/",
    "crates/store/src/",
    "crates/sim/src/",
    "crates/scene/src/",
    "crates/stage/src/",
];

pub(super) fn check(path: &str, text: &str) -> Vec<Finding> {
    let broken = |error: &dyn std::fmt::Display| {
        vec![finding(Rule::Parse, path, 0, format!("cannot be read as Rust: {error}"))]
    };
    let stream: TokenStream = match text.parse() {
        Ok(stream) => stream,
        Err(error) => return broken(&error),
    };
    let file = match syn::parse_file(text) {
        Ok(file) => file,
        Err(error) => return broken(&error),
    };
    let mut functions = Functions { path, findings: Vec::new() };
    functions.visit_file(&file);
    let mut tokens = Vec::new();
    flatten(stream, is_test_file(path), &mut tokens);
    let mut findings = functions.findings;
    findings.extend(forbidden(path, &tokens));
    findings
}

fn finding(rule: Rule, path: &str, line: usize, message: String) -> Finding {
    Finding { rule, subject: path.into(), line, size: 1, message }
}

/// Measures every function, from its first word to its closing brace.
struct Functions<'a> {
    path: &'a str,
    findings: Vec<Finding>,
}

impl Functions<'_> {
    fn measure(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let begin = signature.span().start().line;
        let lines = body.span().end().line + 1 - begin;
        if lines > FUNCTION_LINES_MAX {
            self.findings.push(Finding {
                rule: Rule::FunctionLines,
                subject: format!("{}#{}", self.path, signature.ident),
                line: begin,
                size: lines,
                message: format!("{lines} lines, at most {FUNCTION_LINES_MAX} are allowed"),
            });
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.measure(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

/// A token of the file; brackets are tokens of their own.
struct Token {
    text: String,
    line: usize,
    /// Inside an item that only tests compile.
    in_test: bool,
}

/// `stream` as one list. An item under `#[cfg(test)]` or `#[test]` is marked up to its closing
/// brace or semicolon.
fn flatten(stream: TokenStream, in_test: bool, tokens: &mut Vec<Token>) {
    let mut test_item = false;
    let mut after_hash = false;
    for tree in stream {
        let marked = in_test || test_item;
        let mut push =
            |text: String, line: usize| tokens.push(Token { text, line, in_test: marked });
        match tree {
            TokenTree::Group(group) => {
                let [open, close] = brackets(&group);
                push(open.into(), group.span_open().start().line);
                flatten(group.stream(), marked, tokens);
                let line = group.span_close().start().line;
                tokens.push(Token { text: close.into(), line, in_test: marked });
                test_item |= after_hash && is_test_attribute(&group);
                test_item &= group.delimiter() != Delimiter::Brace;
                after_hash = false;
            }
            other => {
                let text = other.to_string();
                after_hash = text == "#" || (after_hash && text == "!");
                test_item &= text != ";";
                push(text, other.span().start().line);
            }
        }
    }
}

fn brackets(group: &Group) -> [&'static str; 2] {
    match group.delimiter() {
        Delimiter::Parenthesis => ["(", ")"],
        Delimiter::Brace => ["{", "}"],
        Delimiter::Bracket => ["[", "]"],
        Delimiter::None => ["", ""],
    }
}

/// Is this the bracket of `#[test]` or of `#[cfg(…test…)]`?
fn is_test_attribute(group: &Group) -> bool {
    let text = group.stream().to_string().replace(' ', "");
    text == "test"
        || ["cfg(test)", "cfg(all(test,", "cfg(any(test,"].iter().any(|x| text.starts_with(x))
}

/// Files that only tests compile: integration tests, and `mod tests;` in a file of its own.
fn is_test_file(path: &str) -> bool {
    path.contains("/tests/") || path.ends_with("/tests.rs")
}

fn forbidden(path: &str, tokens: &[Token]) -> Vec<Finding> {
    let begins = |starts: &[&str]| starts.iter().any(|start| path.starts_with(start));
    let [may_be_unsafe, never_panic, no_clock] =
        [begins(&UNSAFE_ALLOWED), begins(&NEVER_PANIC), begins(&NO_CLOCK)];
    let never_unwrap = never_panic || path.starts_with("crates/geom/src/");
    let mut findings = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let around = |offset: isize| {
            let neighbour = index.checked_add_signed(offset).and_then(|at| tokens.get(at));
            neighbour.map_or("", |token| token.text.as_str())
        };
        let called = (around(-1) == "." && around(1) == "(") || around(-1) == ":";
        let invoked = around(1) == "!";
        let shipped = !token.in_test;
        let complaint = match token.text.as_str() {
            "unsafe" if !may_be_unsafe => {
                Some((Rule::Unsafe, "`unsafe` outside crates/geom/src/simd and bindings/c"))
            }
            "unwrap" if called && shipped && never_unwrap => {
                Some((Rule::Panic, "`.unwrap()`: return an error or take the other case apart"))
            }
            "expect" if called && shipped && never_panic => {
                Some((Rule::Panic, "`.expect(…)` in a crate that meets input from outside"))
            }
            "panic" | "todo" | "unimplemented" if invoked && shipped && never_panic => {
                Some((Rule::Panic, "a panic in a crate that meets input from outside"))
            }
            "Instant" | "SystemTime" if shipped && no_clock => {
                Some((Rule::Clock, "a clock in a crate whose answers may not depend on time"))
            }
            "ignore" if around(-1) == "[" && around(-2) == "#" => {
                Some((Rule::Marker, "an ignored test: repair it or remove it"))
            }
            "dbg" if invoked => Some((Rule::Marker, "a leftover `dbg!`")),
            _ => None,
        };
        if let Some((rule, message)) = complaint {
            findings.push(finding(rule, path, token.line, message.into()));
        }
    }
    findings
}

#[cfg(test)]
mod tests;
