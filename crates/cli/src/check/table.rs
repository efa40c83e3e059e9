//! The findings as CSV (RFC 4180), one row each.

use super::Review;
use std::fmt::Write;

/// The names of the columns. Lengths are in `unit`, which is empty if it is not known.
const COLUMNS: &str = "kind,a,b,distance,unit,accepted,ax,ay,az,bx,by,bz,shape_a,face_a,shape_b,\
    face_b,depth_at_least,depth_at_most";

pub(super) fn csv(review: &Review<'_>) -> String {
    let mut text = format!("{COLUMNS}\r\n");
    let unit = review.lengths.unit.and_then(|unit| unit.symbol).unwrap_or_default();
    for (finding, accepted) in review.all() {
        let distance = review.lengths.number(finding.distance);
        let (a, b) = (field(&finding.a), field(&finding.b));
        let _ = write!(text, "{},{a},{b},{distance},{unit},{accepted}", finding.kind.name());
        for coordinate in finding.points.iter().flatten() {
            let _ = write!(text, ",{}", review.lengths.number(*coordinate));
        }
        match finding.faces.first() {
            Some(faces) => {
                let (shape_a, shape_b) = (field(&faces.a.0), field(&faces.b.0));
                let _ = write!(text, ",{shape_a},{},{shape_b},{}", faces.a.1, faces.b.1);
            }
            None => text += ",,,,",
        }
        match finding.depth.map(|depth| [depth.at_least, depth.at_most]) {
            Some(depth) => {
                let [least, most] = depth.map(|depth| review.lengths.number(depth));
                let _ = write!(text, ",{least},{most}");
            }
            None => text += ",,",
        }
        text += "\r\n";
    }
    if let Some(note) = review.limit_note() {
        let rest = ",".repeat(COLUMNS.matches(',').count() - 1);
        let _ = write!(text, "not_listed,{}{rest}\r\n", field(&note));
    }
    text
}

/// A text as a field, in quotes where it needs them.
fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_commas_and_quotes_stay_one_field() {
        assert_eq!(field("Bolt M8"), "Bolt M8");
        assert_eq!(field("Bolt, M8"), "\"Bolt, M8\"");
        assert_eq!(field("3\" pipe"), "\"3\"\" pipe\"");
    }
}
