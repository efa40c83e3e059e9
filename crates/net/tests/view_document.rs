//! docs/view-protocol.md agrees with the code: its JSON is valid, its tables of bytes add up, and
//! requests as documented are understood.

mod view_page;

use jostle_net::Process;
use serde_json::Value;
use tokio_tungstenite::tungstenite::Message;
use view_page::{Page, settings, start};

const DOCUMENT: &str = include_str!("../../../docs/view-protocol.md");

/// All values in the blocks of JSON.
fn values() -> Vec<Value> {
    let mut values = Vec::new();
    let mut lines = DOCUMENT.lines();
    while let Some(line) = lines.next() {
        if line == "```json" {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let block = block.join("\n");
            let read = serde_json::Deserializer::from_str(&block).into_iter::<Value>();
            values
                .extend(read.map(|value| value.unwrap_or_else(|error| panic!("{error}: {block}"))));
        }
    }
    values
}

/// The tables of bytes: offset and description of each field.
fn tables() -> Vec<Vec<(usize, String)>> {
    let mut tables = Vec::new();
    let mut lines = DOCUMENT.lines();
    while let Some(line) = lines.next() {
        if line == "| bytes | content |" {
            let rows = lines.by_ref().skip(1).take_while(|line| line.starts_with('|'));
            let field = |row: &str| {
                let mut columns = row.trim_matches('|').split('|').map(str::trim);
                let at = columns.next().unwrap().parse().unwrap();
                (at, columns.next().unwrap().to_string())
            };
            tables.push(rows.map(field).collect());
        }
    }
    tables
}

/// The size of a field in bytes.
fn size(what: &str) -> usize {
    if what == "seven zeros" {
        return 7;
    }
    let words: Vec<&str> = what.split_whitespace().collect();
    let (many, kind) = match words[0] {
        "two" => (2, words[1]),
        "three" => (3, words[1]),
        "four" => (4, words[1]),
        kind => (1, kind),
    };
    let kind = kind.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    many * match kind {
        "u8" => 1,
        "u16" | "i16" => 2,
        "u32" | "i32" | "f32" => 4,
        "u64" => 8,
        other => panic!("{other} in {what}"),
    }
}

#[test]
fn the_tables_of_bytes_add_up() {
    let tables = tables();
    let ends: Vec<usize> = tables
        .iter()
        .map(|table| {
            let fields = table.iter().filter(|(_, what)| !what.starts_with("for each"));
            fields.fold(0, |at, (begins, what)| {
                assert_eq!(at, *begins, "{what}");
                at + size(what)
            })
        })
        .collect();
    // The headers of a frame, of an object and of close pairs, as in decode.rs.
    assert_eq!(ends, [32, 44, 24]);
    assert_eq!(tables[2].last().unwrap().0, 24);
}

#[test]
fn every_kind_of_message_is_there_and_what_a_page_sends_is_understood() {
    let values = values();
    let kind = |value: &Value| value["type"].as_str().unwrap().to_string();
    let mut kinds: Vec<String> = values.iter().map(kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let all = [
        "clearance",
        "contacts",
        "control",
        "controlled",
        "demo",
        "findings",
        "held",
        "hello",
        "hold",
        "pick",
        "picked",
        "refused",
        "regions",
        "release",
        "replay",
        "select",
        "static",
        "status",
        "world",
    ];
    assert_eq!(kinds, all);
    let world = Process::serve(settings(start(20, 5))).unwrap();
    let mut page = Page::open(world.web_address().unwrap());
    let documented = values.iter().find(|value| value["type"] == "world").unwrap();
    same_fields(documented, &page.world);
    for value in &values {
        let requests = ["pick", "select", "clearance", "control", "hold", "release", "static"];
        if requests.contains(&kind(value).as_str()) {
            page.socket.send(Message::text(value.to_string())).unwrap();
            let answer = match kind(value).as_str() {
                "pick" => "picked",
                "control" => "controlled",
                "hold" => "held",
                "static" => "findings",
                _ => continue,
            };
            let answer = page.until_text(answer);
            let documented = values.iter().filter(|it| it["type"] == answer["type"]);
            let mut fits = documented.filter(|it| it["id"].is_null() == answer["id"].is_null());
            same_fields(fits.next().unwrap(), &answer);
        }
    }
    for kind in ["regions", "status", "contacts"] {
        let documented = values.iter().find(|value| value["type"] == kind).unwrap();
        let mut fresh = Page::open(world.web_address().unwrap());
        fresh.socket.send(Message::text("{\"type\":\"select\",\"id\":\"17\"}")).unwrap();
        fresh.socket.send(Message::text("{\"type\":\"clearance\",\"metres\":0.2}")).unwrap();
        let received = fresh.until_value(kind, |value| {
            value["type"] == kind && (kind != "contacts" || value["near"].is_array())
        });
        same_fields(documented, &received);
    }
}

/// Both have the same fields.
fn same_fields(documented: &Value, received: &Value) {
    let fields =
        |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    assert_eq!(fields(documented), fields(received), "{documented} {received}");
}
