//! The report: one self-contained HTML file with a picture of each finding.

use super::text::{depth, label, summary};
use super::{Review, drawing};
use jostle_stage::{Finding, FindingKind, Stage};
use std::fmt::Write;

/// Findings with a picture, so that the file stays below some megabytes.
const PICTURES_MAX: usize = 100;

const STYLE: &str = "
:root { color-scheme: light; font: 15px/1.45 system-ui, sans-serif; color: #1b1f24 }
body { max-width: 1120px; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.5rem; margin: 0 0 .25rem } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem }
p { margin: .25rem 0 } .muted { color: #59636e }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d6dce2 }
th { cursor: pointer; user-select: none; white-space: nowrap }
td { overflow-wrap: anywhere } td.number { text-align: right; white-space: nowrap }
.kind { display: inline-block; padding: 0 .5rem; border-radius: .6rem; white-space: nowrap }
.bad { background: #ffd9d6; color: #8c1d18 } .odd { background: #ffe9c2; color: #6b4300 }
.fine { background: #dcecdd; color: #1d4d22 } .near { background: #dbe8fb; color: #123c7c }
tr.accepted, article.accepted { opacity: .6 }
article { display: grid; grid-template-columns: 360px 1fr; gap: 1rem; padding: 1rem 0;
  border-top: 1px solid #d6dce2; break-inside: avoid }
svg { background: #f4f6f8; border-radius: 6px; overflow: hidden; max-width: 100%; height: auto }
svg path { stroke-width: .7; stroke-linejoin: round }
svg .gap { stroke: #d1001f; stroke-width: 2 } svg .mark { fill: none; stroke: #d1001f;
  stroke-width: 2.5 }
.swatch { display: inline-block; width: .8em; height: .8em; border-radius: .2em }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem .8rem; margin: .5rem 0 }
dt { color: #59636e } dd { margin: 0; overflow-wrap: anywhere }
@media (max-width: 700px) { article { grid-template-columns: 1fr } }
@media print { body { margin: 0; max-width: none } th { cursor: auto } a { color: inherit } }
";

/// A click on a heading sorts the table; what comes with the page needs no script.
const SCRIPT: &str = "
for (const th of document.querySelectorAll('th')) th.onclick = () => {
  const at = th.cellIndex, body = th.closest('table').tBodies[0];
  const key = row => row.cells[at].dataset.key ?? row.cells[at].textContent;
  const down = th.dataset.down = th.dataset.down === '1' ? '0' : '1';
  const rows = [...body.rows].sort((p, q) =>
    key(p).localeCompare(key(q), undefined, { numeric: true }) * (down === '1' ? 1 : -1));
  body.append(...rows);
};
";

pub(super) fn html(review: &Review<'_>, stage: &Stage, files: &[String]) -> String {
    let names = files.iter().map(|file| escape(file)).collect::<Vec<_>>().join(", ");
    let mut text = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\">\
         <title>Check of {names}</title><style>{STYLE}{}</style></head><body>\
         <h1>Check of {names}</h1><p>{}</p>\
         <p class=\"muted\">jostle {}. Lengths in {}.</p>",
        drawing::style(),
        escape(&summary(review)),
        env!("CARGO_PKG_VERSION"),
        review.lengths.symbol()
    );
    if let Some(note) = review.limit_note() {
        let _ = write!(text, "<p><b>{}</b></p>", escape(&note));
    }
    list(&mut text, "Warnings", &review.warnings);
    list(&mut text, "Accepted entries without a finding", &review.stale);
    if review.checked.findings.is_empty() {
        text += "<h2>No findings</h2>";
    } else {
        table(&mut text, review);
        text += "<h2>Each finding</h2>";
        for (number, (finding, accepted)) in (1..).zip(review.all()) {
            article(&mut text, review, stage, (number, finding, accepted));
        }
    }
    let _ = writeln!(text, "<script>{SCRIPT}</script></body></html>");
    text
}

fn list(text: &mut String, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = write!(text, "<h2>{heading}</h2><ul>");
    for line in lines {
        let _ = write!(text, "<li>{}</li>", escape(line));
    }
    text.push_str("</ul>");
}

fn table(text: &mut String, review: &Review<'_>) {
    *text += "<h2>Overview</h2><table><thead><tr><th>#</th><th>Severity</th><th>First part</th>\
              <th>Second part</th><th>Distance</th><th>Depth</th><th>Reviewed</th></tr></thead>\
              <tbody>";
    for (number, (finding, accepted)) in (1..).zip(review.all()) {
        let class = if accepted { " class=\"accepted\"" } else { "" };
        let _ = write!(
            text,
            "<tr{class}><td><a href=\"#f{number}\">{number}</a></td>\
             <td data-key=\"{}\">{}</td><td>{}</td><td>{}</td>\
             <td class=\"number\" data-key=\"{:.12}\">{}</td>\
             <td class=\"number\" data-key=\"{:.12}\">{}</td><td>{}</td></tr>",
            finding.kind as u8,
            badge(finding.kind),
            escape(&finding.a),
            escape(&finding.b),
            review.lengths.number(finding.distance),
            escape(&review.lengths.distance(finding.distance)),
            finding.depth.map_or(0.0, |depth| review.lengths.number(depth.at_most)),
            escape(&depth(review, finding).unwrap_or_default()),
            if accepted { "accepted" } else { "" }
        );
    }
    *text += "</tbody></table>";
}

fn badge(kind: FindingKind) -> String {
    let class = match kind {
        kind if kind.overlaps() => "bad",
        FindingKind::Touch => "odd",
        FindingKind::Contact => "fine",
        _ => "near",
    };
    format!("<span class=\"kind {class}\">{}</span>", label(kind))
}

/// The kind as a sentence.
fn meaning(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Overlap => "Interference: the parts have volume in common.",
        FindingKind::AInsideB => "The first part lies inside the second.",
        FindingKind::BInsideA => "The second part lies inside the first.",
        FindingKind::Identical => "The parts are the same, in the same place: a duplicate.",
        FindingKind::Touch => {
            "The surfaces touch. At least one part is not closed, so contact and \
             interference cannot be distinguished."
        }
        FindingKind::Contact => "The parts touch and have no volume in common.",
        FindingKind::TooClose => "The parts do not touch, but are closer than the clearance.",
    }
}

fn article(
    text: &mut String,
    review: &Review<'_>,
    stage: &Stage,
    (number, finding, accepted): (usize, &Finding, bool),
) {
    let class = if accepted { " class=\"accepted\"" } else { "" };
    let picture = match number {
        ..=PICTURES_MAX => drawing::svg(stage, finding),
        _ => format!("<p class=\"muted\">Pictures: the first {PICTURES_MAX} findings only.</p>"),
    };
    let _ = write!(
        text,
        "<article id=\"f{number}\"{class}><div>{picture}</div><div><p><b>{number}</b> {} {}</p>\
         <p>{}</p><dl><dt><span class=\"swatch\" style=\"background:#2563cd\"></span> First</dt>\
         <dd>{}</dd><dt><span class=\"swatch\" style=\"background:#d66e16\"></span> Second</dt>\
         <dd>{}</dd>",
        badge(finding.kind),
        if accepted { "accepted" } else { "" },
        meaning(finding.kind),
        escape(&finding.a),
        escape(&finding.b)
    );
    let [p, q] = finding.points.map(|point| review.lengths.point(point));
    let symbol = review.lengths.symbol();
    if finding.touches() {
        if let Some(depth) = depth(review, finding) {
            let depth = escape(&depth);
            let _ =
                write!(text, "<dt>Depth</dt><dd>{depth} (the shortest move that parts them)</dd>");
        }
        let _ = write!(text, "<dt>At</dt><dd>{p} {symbol}</dd>");
    } else {
        let distance = escape(&review.lengths.distance(finding.distance));
        let _ = write!(
            text,
            "<dt>Distance</dt><dd>{distance}</dd><dt>Between</dt><dd>{p} and {q} {symbol}</dd>"
        );
    }
    if let Some(faces) = finding.faces.first() {
        let ((shape_a, face_a), (shape_b, face_b)) = (&faces.a, &faces.b);
        let (shape_a, shape_b) = (escape(shape_a), escape(shape_b));
        let _ = write!(
            text,
            "<dt>Faces</dt><dd>{face_a} of {shape_a}, {face_b} of {shape_b}{}</dd>",
            match finding.faces.len() {
                1 => String::new(),
                many => format!(" and {} more pairs", many - 1),
            }
        );
    }
    *text += "</dl></div></article>";
}

/// Names come from files: nothing in them is markup.
fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe += "&amp;",
            '<' => safe += "&lt;",
            '>' => safe += "&gt;",
            '"' => safe += "&quot;",
            '\'' => safe += "&#39;",
            other => safe.push(other),
        }
    }
    safe
}
