//! What the broad phases took, as a table to read and as one to compute with.

use crate::broad::BroadRow;
use crate::report::{cell, quoted, short};
use std::fmt::Write;

/// The table to read. `about` says where and when.
pub(crate) fn markdown(rows: &[BroadRow], about: &[(&str, String)]) -> String {
    let mut text = String::from("# Jostle beside its peers: broad\n\n");
    for (name, value) in about {
        let _ = writeln!(text, "- {name}: {value}");
    }
    text.push_str(
        "\nBoxes of side 1, eight units of space for each, all of them moving by up to 0.1 along \
         each axis. Mean ms per step: making the boxes, updating, finding all pairs; thread-CPU \
         time with one thread, the clock on the wall with two. Engines take turns block by block; \
         in brackets the least and largest mean of a block, for ratios the least and largest ratio \
         of a block (the same steps for both). Every round begins anew.\n\n\
         | boxes | engine | threads | clock | rounds × steps | ms per step | pairs per step | \
         best peer / this | remarks |\n|---|---|---|---|---|---|---|---|---|\n",
    );
    for row in rows {
        let ratio = best_peer(rows, row).filter(|_| !row.is_peer).map(|peer| row.ratio(peer));
        let ratio = ratio.map_or(String::new(), |r| {
            format!("**{}** ({}..{})", short(r.mean), short(r.min), short(r.max))
        });
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} | {} | {ratio} | {} |",
            row.boxes,
            row.engine,
            row.threads,
            row.clock(),
            format_args!("{} × {}", row.rounds, row.steps),
            cell(row.millis()),
            pairs_per_step(row),
            row.remarks.join("; "),
        );
    }
    text.push_str(&summary(rows));
    text
}

/// For each size: the best peer, and our best with one thread and with two.
fn summary(rows: &[BroadRow]) -> String {
    let mut text = String::from("\n## In short\n\n");
    for same in rows.chunk_by(|a, b| case(a) == case(b)) {
        let [boxes, steps] = case(&same[0]);
        let Some(peer) = best_peer(same, &same[0]) else { continue };
        let millis = short(peer.millis().mean);
        let _ = write!(text, "- {boxes} boxes, {steps} steps: {} {millis} ms", peer.engine);
        for threads in [1, 2] {
            let ours = same.iter().filter(|row| !row.is_peer && row.threads == threads);
            let Some(us) = fastest(ours) else { continue };
            let (millis, ratio) = (short(us.millis().mean), short(us.ratio(peer).mean));
            let plural = if threads == 1 { "" } else { "s" };
            let _ = write!(
                text,
                "; {} with {threads} thread{plural} {millis} ms, {ratio} times faster",
                us.engine
            );
        }
        text.push('\n');
    }
    text
}

/// The fastest of those that did the same as `like`.
fn best_peer<'a>(rows: &'a [BroadRow], like: &BroadRow) -> Option<&'a BroadRow> {
    fastest(rows.iter().filter(|row| row.is_peer && case(row) == case(like)))
}

fn case(row: &BroadRow) -> [usize; 2] {
    [row.boxes, row.steps]
}

fn fastest<'a>(rows: impl Iterator<Item = &'a BroadRow>) -> Option<&'a BroadRow> {
    rows.min_by(|a, b| a.millis().mean.total_cmp(&b.millis().mean))
}

fn pairs_per_step(row: &BroadRow) -> usize {
    row.pairs.iter().sum::<usize>() / row.pairs.len().max(1)
}

/// The table to compute with.
pub(crate) fn csv(rows: &[BroadRow], about: &[(&str, String)]) -> String {
    let mut text = String::new();
    for (name, value) in about {
        let _ = writeln!(text, "# {name}: {value}");
    }
    text.push_str(
        "workload,boxes,engine,threads,clock,rounds,steps,mean_ms,median_block_ms,min_block_ms,\
         max_block_ms,best_peer_ratio,pairs_per_step,remarks\n",
    );
    for row in rows {
        let f = row.millis();
        let ratio = best_peer(rows, row).map_or(f64::NAN, |peer| row.ratio(peer).mean);
        let _ = writeln!(
            text,
            "broad,{},{},{},{},{},{},{:.5},{:.5},{:.5},{:.5},{ratio:.3},{},{}",
            row.boxes,
            row.engine,
            row.threads,
            row.clock(),
            row.rounds,
            row.steps,
            f.mean,
            f.median,
            f.min,
            f.max,
            pairs_per_step(row),
            quoted(&row.remarks.join("; ")),
        );
    }
    text
}
