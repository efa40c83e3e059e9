//! `jostle lab storey`: what a step costs on one node and on many (Storey 2006, 5.4 to 5.6).

use super::args::StoreyArgs;
use super::clock::{Clock, milliseconds};
use super::plot::{Figure, Line, Scale};
use super::table::{Share, Table};
use super::{Results, check_writable};
use crate::experiments::error::LabError;
use crate::experiments::progress::Progress;
use jostle_sim::{Matter, scale};
use serde::Serialize;
use std::io::Write;

/// The thesis' own figures in milliseconds, on its machines: objects, then the mean over all nodes
/// for 1, 2, 4 and 8 nodes (table 5.2), then the leader's for the same (table 5.4).
const THESIS: [(u32, [u32; 4], [u32; 4]); 4] = [
    (500, [180, 78, 36, 18], [180, 82, 91, 53]),
    (1000, [360, 123, 83, 49], [360, 169, 98, 61]),
    (2000, [604, 264, 149, 77], [604, 313, 164, 81]),
    (4000, [1128, 582, 335, 135], [1128, 620, 374, 178]),
];

/// The same for 1, 2, 4, 8, 16 and 32 nodes (table 5.7).
const THESIS_SIZES: [(u32, [u32; 6]); 3] = [
    (1000, [360, 123, 83, 49, 21, 27]),
    (2000, [604, 264, 149, 77, 38, 26]),
    (3000, [825, 520, 185, 92, 65, 38]),
];

/// What a step cost, in the mean.
#[derive(Debug, Serialize)]
struct Row {
    nodes: u32,
    objects: u32,
    ticks: u32,
    seed: u64,
    clock: Clock,
    /// On the busiest node; this and the following with each node alone with what it heard.
    busiest_ms: f64,
    /// On all nodes.
    mean_ms: f64,
    leader_ms: f64,
    /// One node's time over the busiest one's.
    scale_up: f64,
    /// 100 (leader − mean) / leader, as in table 5.6, as a share.
    leader_overhead: f64,
    /// The same while all nodes took turns in one thread.
    in_turns: InTurns,
    messages: f64,
    collisions: f64,
    /// Counted on all nodes together.
    all: Counted,
    /// Counted on whichever node has the most of each.
    most: Counted,
    /// How many times less that is than one node's; what is sent has no such number.
    pairs_scale_up: f64,
    moved_scale_up: f64,
}

/// What a step cost while all nodes took turns in one thread: each found the caches full of what
/// the others did, and paid for reading the clock at every message.
#[derive(Clone, Copy, Debug, Serialize)]
struct InTurns {
    busiest_ms: f64,
    mean_ms: f64,
    leader_ms: f64,
    scale_up: f64,
    leader_overhead: f64,
}

/// What is done in a step, in numbers that do not depend on the clock.
#[derive(Clone, Copy, Debug, Serialize)]
struct Counted {
    /// Pairs that had to be decided about.
    pairs: f64,
    /// Objects that were moved.
    moved: f64,
    /// States of objects that were sent to others.
    sent: f64,
}

impl From<scale::Work> for Counted {
    fn from(scale::Work { pairs, moved, sent }: scale::Work) -> Counted {
        Counted { pairs, moved, sent }
    }
}

/// What one node does by itself.
#[derive(Clone, Copy)]
struct Alone {
    busiest_ms: f64,
    in_turns_ms: f64,
    most: Counted,
}

pub(crate) fn run(args: &StoreyArgs, out: &mut dyn Write) -> Result<(), LabError> {
    check_writable(&args.output)?;
    let mut progress = Progress::new(args.objects.len() * args.nodes.len(), true);
    let mut rows: Vec<Row> = Vec::new();
    for &objects in &args.objects {
        let mut alone = None;
        for &nodes in &args.nodes {
            let row = measure(args, nodes, objects, alone)?;
            let Row { busiest_ms, in_turns, most, .. } = row;
            let in_turns_ms = in_turns.busiest_ms;
            alone = alone.or((nodes == 1).then_some(Alone { busiest_ms, in_turns_ms, most }));
            rows.push(row);
            progress.done(rows.len());
        }
    }
    drop(progress);
    let results = Results { rows: &rows, table: table(&rows), figure: figure(&rows) };
    results.show(&args.output, out)?;
    if !args.output.json {
        write!(out, "\n{}\n{}\n{}", in_turns(&rows), counts(&rows), best_sizes(&rows))?;
        write!(out, "\n{}\n{}", thesis(), thesis_sizes())?;
    }
    Ok(())
}

fn measure(
    args: &StoreyArgs,
    nodes: u32,
    objects: u32,
    alone: Option<Alone>,
) -> Result<Row, LabError> {
    let clock = Clock::of_threads(1);
    let matter = if args.boxes { Matter::Boxes } else { Matter::Meshes };
    let asked = scale::Scale { nodes, objects, ticks: args.ticks, matter, seed: args.seed };
    let scaled = scale::measure(asked, clock.reader()).ok_or(LabError::NotTogether { nodes })?;
    let [busiest, mean, leader] = in_ms(scaled.alone);
    let [busiest_ms, mean_ms, leader_ms] = in_ms(scaled.in_turns);
    let most = Counted::from(scaled.most);
    let one = Alone { busiest_ms: busiest, in_turns_ms: busiest_ms, most };
    let alone = alone.or((nodes == 1).then_some(one));
    let times = |part: fn(&Alone) -> f64, now: f64| alone.map_or(f64::NAN, |it| part(&it) / now);
    Ok(Row {
        nodes,
        objects,
        ticks: args.ticks,
        seed: args.seed,
        clock,
        busiest_ms: busiest,
        mean_ms: mean,
        leader_ms: leader,
        scale_up: times(|alone| alone.busiest_ms, busiest),
        leader_overhead: (leader - mean) / leader,
        in_turns: InTurns {
            busiest_ms,
            mean_ms,
            leader_ms,
            scale_up: times(|alone| alone.in_turns_ms, busiest_ms),
            leader_overhead: (leader_ms - mean_ms) / leader_ms,
        },
        messages: scaled.messages,
        collisions: scaled.collisions,
        all: scaled.all.into(),
        most,
        pairs_scale_up: times(|alone| alone.most.pairs, most.pairs),
        moved_scale_up: times(|alone| alone.most.moved, most.moved),
    })
}

fn in_ms(times: scale::Times) -> [f64; 3] {
    [times.busiest, times.mean, times.leader].map(milliseconds)
}

fn table(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "objects",
        "nodes",
        "busiest ms",
        "mean ms",
        "leader ms",
        "scale-up",
        "leader overhead",
        "messages/step",
        "states sent/step",
        "collisions/step",
    ]);
    for row in rows {
        table.row(&[
            &row.objects,
            &row.nodes,
            &row.busiest_ms,
            &row.mean_ms,
            &row.leader_ms,
            &row.scale_up,
            &Share(row.leader_overhead),
            &row.messages,
            &row.all.sent,
            &row.collisions,
        ]);
    }
    if let Some(Row { ticks, clock, .. }) = rows.first() {
        table.note(format!(
            "{ticks} steps; times: {}, each node alone with what it heard, the least of several \
             times; messages take no time",
            clock.name()
        ));
    }
    table
}

/// The same as they ran, for comparison: less like machines of their own.
fn in_turns(rows: &[Row]) -> Table {
    let columns = ["objects", "nodes", "busiest ms", "mean ms", "leader ms", "scale-up"];
    let mut table = Table::new(&[&columns[..], &["leader overhead"]].concat());
    for Row { objects, nodes, in_turns, .. } in rows {
        table.row(&[
            objects,
            nodes,
            &in_turns.busiest_ms,
            &in_turns.mean_ms,
            &in_turns.leader_ms,
            &in_turns.scale_up,
            &Share(in_turns.leader_overhead),
        ]);
    }
    table.note(
        "the same while all nodes took turns in one thread, each in the others' caches".into(),
    );
    table
}

/// The same work counted: no clock, no other program and no second run changes these numbers.
fn counts(rows: &[Row]) -> Table {
    let mut table = Table::new(&[
        "objects",
        "nodes",
        "pairs of all",
        "of the busiest",
        "times less",
        "moved by all",
        "by the busiest",
        "times less",
        "sent by the busiest",
    ]);
    for row in rows {
        table.row(&[
            &row.objects,
            &row.nodes,
            &row.all.pairs,
            &row.most.pairs,
            &row.pairs_scale_up,
            &row.all.moved,
            &row.most.moved,
            &row.moved_scale_up,
            &row.most.sent,
        ]);
    }
    table.note("counted in each step: pairs decided about, objects moved, states sent".into());
    table
}

/// The largest group that still pays (table 5.7): beyond it a step of the busiest node gets longer.
fn best_sizes(rows: &[Row]) -> Table {
    let mut table = Table::new(&["objects", "best of the sizes tried", "busiest ms"]);
    let mut objects: Vec<u32> = rows.iter().map(|row| row.objects).collect();
    objects.dedup();
    for objects in objects {
        let tried = rows.iter().filter(|row| row.objects == objects);
        if let Some(best) = tried.min_by(|a, b| a.busiest_ms.total_cmp(&b.busiest_ms)) {
            let nodes = format!("{} nodes", best.nodes);
            table.row(&[&objects, &nodes, &best.busiest_ms]);
        }
    }
    table
}

fn thesis_sizes() -> Table {
    let nodes = ["thesis", "1 node", "2 nodes", "4 nodes", "8 nodes", "16 nodes", "32 nodes"];
    let mut table = Table::new(&nodes);
    for (objects, mean) in THESIS_SIZES {
        let cells = mean.iter().map(|ms| format!("{ms} ms"));
        table.line([objects.to_string()].into_iter().chain(cells).collect());
    }
    table.note("Storey 2006, table 5.7: the largest consistency group".into());
    table
}

/// The thesis' figures, for the eye: other objects, other machines, a real network.
fn thesis() -> Table {
    let mut table = Table::new(&[
        "thesis",
        "1 node",
        "2 nodes",
        "4 nodes",
        "8 nodes",
        "leader of 2",
        "of 4",
        "of 8",
    ]);
    for (objects, mean, leader) in THESIS {
        let cells = mean.iter().chain(&leader[1..]).map(|ms| format!("{ms} ms"));
        table.line([objects.to_string()].into_iter().chain(cells).collect());
    }
    table.note("Storey 2006, tables 5.2 and 5.4: mean over all nodes, and the leader".into());
    table
}

fn figure(rows: &[Row]) -> Figure {
    let by_objects = |y: fn(&Row) -> f64| {
        Line::through(rows, |row| {
            (format!("{} objects", row.objects), [f64::from(row.nodes), y(row)])
        })
    };
    Figure::over(
        "nodes",
        "A step on one node and on many",
        Scale::Logarithmic,
        [
            ("Time of the busiest node", "ms", by_objects(|row| row.busiest_ms)),
            ("How much less that is than on one node", "times", by_objects(|row| row.scale_up)),
        ],
    )
}
