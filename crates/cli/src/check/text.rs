//! What `jostle check` prints: findings by severity, those of the same two parts together.

use super::Review;
use crate::units::count;
use jostle_stage::{FACES_MAX, Finding, FindingDepth, FindingKind};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Findings of a group that are listed one by one.
const LISTED_MAX: usize = 5;

/// A depth is shown as one number if it is known to this part.
const DEPTH_SHOWN: f64 = 0.05;

pub(super) fn print(review: &Review<'_>, out: &mut dyn Write) -> io::Result<()> {
    let groups = groups(review);
    for group in &groups {
        match group[..] {
            [finding] => print_one(review, finding, out)?,
            _ => print_group(review, group, out)?,
        }
    }
    if groups.iter().flatten().any(|finding| finding.kind == FindingKind::Touch) {
        let why = "a part is not closed, so contact and interference cannot be distinguished";
        writeln!(out, "touch: {why}")?;
    }
    if let Some(note) = review.limit_note() {
        writeln!(out, "{note}")?;
    }
    writeln!(out, "{}", summary(review))
}

/// Findings of one kind about the same two parts, however many there are of each; in the order of
/// their first ones.
fn groups<'a>(review: &Review<'a>) -> Vec<Vec<&'a Finding>> {
    let mut groups: Vec<Vec<&Finding>> = Vec::new();
    let mut known: BTreeMap<(FindingKind, String, String), usize> = BTreeMap::new();
    for finding in review.open() {
        let key = (finding.kind, part_name(&finding.a), part_name(&finding.b));
        let at = *known.entry(key).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.push(finding),
            None => groups.push(vec![finding]),
        }
    }
    groups
}

/// The name without the numbers that distinguish parts of the same name: `FRAME/BOLT (2)` is a
/// `FRAME/BOLT`.
pub(super) fn part_name(name: &str) -> String {
    let plain = |word: &str| {
        let numbered = word.strip_suffix(')').and_then(|word| word.rsplit_once(" ("));
        match numbered {
            Some((plain, number)) if number.bytes().all(|b| b.is_ascii_digit()) => plain.into(),
            _ => word.to_string(),
        }
    };
    name.split('/').map(plain).collect::<Vec<String>>().join("/")
}

/// The kind in words, for tables.
pub(super) fn label(kind: FindingKind) -> &'static str {
    match kind {
        FindingKind::Overlap => "overlap",
        FindingKind::AInsideB | FindingKind::BInsideA => "inside",
        FindingKind::Identical => "identical",
        FindingKind::Touch => "touch",
        FindingKind::Contact => "contact",
        FindingKind::TooClose => "too close",
    }
}

/// Both names, in the order of a sentence about them.
fn both(kind: FindingKind, a: &str, b: &str) -> String {
    match kind {
        FindingKind::AInsideB => format!("{a}  inside  {b}"),
        FindingKind::BInsideA => format!("{b}  inside  {a}"),
        _ => format!("{a}  and  {b}"),
    }
}

fn print_one(review: &Review<'_>, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    let both = both(finding.kind, &finding.a, &finding.b);
    writeln!(out, "{:<10} {both}{}", label(finding.kind), place(review, finding))?;
    for faces in &finding.faces {
        let ((shape_a, face_a), (shape_b, face_b)) = (&faces.a, &faces.b);
        writeln!(out, "           face {face_a} of {shape_a}, face {face_b} of {shape_b}")?;
    }
    if finding.more_faces {
        let most = crate::units::thousands(FACES_MAX);
        writeln!(out, "           and more: {most} pairs of faces are listed in all")?;
    }
    Ok(())
}

/// Where they touch, or how far they are apart.
fn place(review: &Review<'_>, finding: &Finding) -> String {
    let point = review.lengths.point(finding.points[0]);
    if finding.touches() {
        let depth = depth(review, finding).map(|depth| format!(": {depth} deep"));
        format!("{}  at {point} {}", depth.unwrap_or_default(), review.lengths.symbol())
    } else {
        format!(": {} apart", review.lengths.distance(finding.distance))
    }
}

/// How deep two parts are in each other, if it was measured: both ends of the interval where it is
/// wide.
pub(super) fn depth(review: &Review<'_>, finding: &Finding) -> Option<String> {
    let FindingDepth { at_least, at_most, .. } = finding.depth?;
    let most = review.lengths.distance(at_most);
    if at_least >= at_most * (1.0 - DEPTH_SHOWN) {
        return Some(most);
    }
    Some(format!("{} to {most}", review.lengths.distance(at_least)))
}

fn print_group(review: &Review<'_>, group: &[&Finding], out: &mut dyn Write) -> io::Result<()> {
    let Some(first) = group.first() else { return Ok(()) };
    let both_parts = both(first.kind, &part_name(&first.a), &part_name(&first.b));
    writeln!(out, "{:<10} {both_parts}, {} times", label(first.kind), group.len())?;
    for finding in group.iter().take(LISTED_MAX) {
        let both = both(finding.kind, &finding.a, &finding.b);
        writeln!(out, "             {both}{}", place(review, finding))?;
    }
    if group.len() > LISTED_MAX {
        let more = group.len() - LISTED_MAX;
        let all = if review.checked.unlisted() == 0 { "all" } else { "them" };
        writeln!(out, "             and {more} more; --csv, --json and --report list {all}")?;
    }
    Ok(())
}

/// What was tested and what was found, in one line.
pub(super) fn summary(review: &Review<'_>) -> String {
    let checked = review.checked;
    let tested = format!(
        "{} ({}, {})",
        count(checked.objects, "object", "objects"),
        count(checked.bodies, "body", "bodies"),
        count(checked.triangles, "triangle", "triangles")
    );
    if checked.objects < 2 {
        return format!("{tested}: nothing to compare");
    }
    let mut by_kind: Vec<(&str, usize)> = Vec::new();
    for kind in FindingKind::ALL.into_iter().filter(|kind| *kind != FindingKind::TooClose) {
        let open = review.open_count(kind);
        match by_kind.last_mut() {
            Some((last, count)) if *last == label(kind) => *count += open,
            _ => by_kind.push((label(kind), open)),
        }
    }
    by_kind.retain(|(_, count)| *count > 0);
    let touching: usize = by_kind.iter().map(|(_, count)| count).sum();
    let mut text = format!("{tested}: {}", count(touching, "pair touches", "pairs touch"));
    if !by_kind.is_empty() {
        let kinds: Vec<String> =
            by_kind.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        text += &format!(" ({})", kinds.join(", "));
    }
    if let Some(clearance) = review.clearance {
        let close = review.open_count(FindingKind::TooClose);
        text += &format!(", {close} closer than {}", review.lengths.given(clearance));
    }
    let accepted = review.accepted.iter().filter(|&&accepted| accepted).count();
    if accepted > 0 {
        text += &format!("; {accepted} accepted");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_the_same_name_are_one_part_many_times() {
        assert_eq!(part_name("FRAME (3)/BOLT (12)"), "FRAME/BOLT");
        assert_eq!(part_name("BOLT (M8)"), "BOLT (M8)");
        assert_eq!(part_name("BOLT"), "BOLT");
    }
}
