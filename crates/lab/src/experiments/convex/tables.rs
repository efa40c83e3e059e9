//! What `jostle lab convex` shows.

use super::{ConeRow, CrowdRow, ETAS, OrbitRow, PATIENCE, Vary};
use crate::experiments::clock::Clock;
use crate::experiments::plot::{Figure, Line, Panel, Scale};
use crate::experiments::table::{Table, short};

/// The thesis' errors in percent: first plane, then for each patience.
const THESIS: [(&str, [&str; 3]); 3] = [
    ("trivial", ["24", "3.0", "0.50"]),
    ("barycentres", ["16", "2.8", "0.37"]),
    ("box centres", ["15", "2.8", "0.37"]),
];

fn plain<'a>(rows: &[&'a ConeRow]) -> impl Iterator<Item = &'a ConeRow> + Clone {
    let usual =
        |row: &&ConeRow| row.annealing == 1.0 && row.stop == "plane" && !row.kept && !row.feedback;
    rows.iter().copied().filter(usual).collect::<Vec<_>>().into_iter()
}

fn error(row: Option<&ConeRow>) -> String {
    row.map_or_else(String::new, |row| format!("{:.2} %", row.error * 100.0))
}

/// The thesis' table: which plane is tried first.
pub(super) fn starts(rows: &[&ConeRow]) -> Table {
    let titles = PATIENCE.map(|(planes, eta)| format!("at most {planes}, eta {eta}"));
    let mut table = Table::new(&["first plane", &titles[0], &titles[1], &titles[2], "thesis"]);
    for (start, thesis) in THESIS {
        let cell = |(planes, eta): (u32, f64)| {
            let fits =
                |row: &&ConeRow| row.start == start && row.planes_max == planes && row.eta == eta;
            error(plain(rows).find(fits))
        };
        let mut cells = vec![start.to_owned()];
        cells.extend(PATIENCE.map(cell));
        cells.push(format!("{} % / {} % / {} %", thesis[0], thesis[1], thesis[2]));
        table.line(cells);
    }
    if let Some(row) = rows.first() {
        table.note(format!(
            "false collisions of two bouncing cones, of {} steps without a contact",
            row.apart
        ));
    }
    table
}

/// Figure 3.8: how much a plane is turned.
pub(super) fn etas(rows: &[&ConeRow]) -> Table {
    let titles: Vec<String> = ETAS.iter().map(|eta| format!("eta {eta}")).collect();
    let titles: Vec<&str> =
        std::iter::once("planes at most").chain(titles.iter().map(String::as_str)).collect();
    let mut table = Table::new(&titles);
    for (planes, _) in PATIENCE {
        let cell = |&eta: &f64| {
            let fits = |row: &&ConeRow| {
                row.start == "box centres" && row.planes_max == planes && row.eta == eta
            };
            error(plain(rows).find(fits))
        };
        table.line([planes.to_string()].into_iter().chain(ETAS.iter().map(cell)).collect());
    }
    table.note("false collisions; the thesis' best: 0.25, 0.03 and 0.007 (figure 3.8)".into());
    table
}

/// Figure 3.9, and what is not in the thesis.
pub(super) fn variants(rows: &[&ConeRow]) -> Table {
    let mut table =
        Table::new(&["search", "planes at most", "false collisions", "planes/step", "us/step"]);
    for (planes, eta) in PATIENCE {
        let mut seen = Vec::new();
        let usual = rows
            .iter()
            .filter(|row| row.planes_max == planes && row.eta == eta && row.start == "box centres");
        for row in usual {
            let mut name = match row.annealing {
                1.0 => "no annealing".to_owned(),
                factor => format!("annealing {factor}"),
            };
            for (said, word) in [
                (row.stop == "normal", ", any plane with the normal"),
                (row.kept, ", kept"),
                (row.feedback, ", feedback"),
            ] {
                name.push_str(if said { word } else { "" });
            }
            if seen.contains(&name) {
                continue;
            }
            table.row(&[&name, &planes, &error(Some(row)), &row.planes, &row.micros]);
            seen.push(name);
        }
    }
    table.note("the thesis: annealing by 0.97 is best, and helps for 10 and 20 planes only".into());
    table.note(format!("times: {}, steps without a contact", Clock::ThreadCpu.name()));
    table
}

/// Time against one of distance, speed and size.
pub(super) fn orbits(rows: &[&OrbitRow], vary: Vary) -> Table {
    let rows: Vec<&&OrbitRow> = rows.iter().filter(|row| row.vary == vary).collect();
    let mut names: Vec<&str> = Vec::new();
    for row in &rows {
        if !names.contains(&row.method.as_str()) {
            names.push(&row.method);
        }
    }
    let title = match vary {
        Vary::Distance => "distance",
        Vary::Speed => "degrees/step",
        Vary::Size => "triangles",
    };
    let titles: Vec<String> = names.iter().map(|name| format!("{name} us")).collect();
    let titles: Vec<&str> = std::iter::once(title)
        .chain(titles.iter().map(String::as_str))
        .chain(["corners of planes", "not shown: planes", "faces", "GJK"])
        .collect();
    let mut table = Table::new(&titles);
    for group in rows.chunks(names.len().max(1)) {
        let at = match vary {
            Vary::Distance => group[0].distance.to_string(),
            Vary::Speed => group[0].degrees.to_string(),
            Vary::Size => group[0].triangles.to_string(),
        };
        let of = |name: &str| group.iter().find(|row| row.method == name);
        let unproved =
            |name: &str| of(name).map_or_else(String::new, |row| row.unproved.to_string());
        let corners = of("separating planes").map_or(f64::NAN, |row| row.corners);
        let mut cells = vec![at];
        cells.extend(group.iter().map(|row| short(row.micros)));
        cells.push(short(corners));
        cells.extend(["separating planes", "closest faces, edges", "GJK"].map(unproved));
        table.line(cells);
    }
    if let Some(row) = rows.first() {
        let (n, d, s) = (row.triangles, row.distance, row.degrees);
        table.note(match vary {
            Vary::Distance => format!("{n} triangles, {s} degrees a step; contact near 2"),
            Vary::Speed => format!("{n} triangles, distance {d}"),
            Vary::Size => format!("distance {d}, {s} degrees a step"),
        });
    }
    table
}

pub(super) fn crowds(rows: &[&CrowdRow]) -> Table {
    let mut table = Table::new(&[
        "objects",
        "before the exact test",
        "ms/frame",
        "filter ms",
        "exact ms",
        "tested/frame",
        "touching/frame",
    ]);
    for row in rows {
        table.row(&[
            &row.n,
            &row.stage,
            &row.ms_per_frame,
            &row.filter_ms,
            &row.exact_ms,
            &row.tested,
            &row.touching,
        ]);
    }
    if let Some(row) = rows.first() {
        table.note(format!(
            "tori of {} triangles, {} frames, boxes fill a tenth of the room; exact test: ours",
            row.triangles, row.frames
        ));
    }
    table.note(
        "the thesis: planes alone below 30 objects, above 30 to 40 a grid and then planes".into(),
    );
    table
}

pub(super) fn figure(orbits: &[&OrbitRow], crowds: &[&CrowdRow]) -> Figure {
    let mut panels = Vec::new();
    for (vary, title, x) in [
        (Vary::Distance, "Time against distance", "distance of centres"),
        (Vary::Speed, "Time against rotation", "degrees in a step"),
        (Vary::Size, "Time against size", "triangles"),
    ] {
        let mut lines = Vec::new();
        for row in orbits.iter().filter(|row| row.vary == vary) {
            let at = match vary {
                Vary::Distance => row.distance,
                Vary::Speed => row.degrees,
                Vary::Size => row.triangles as f64,
            };
            Line::extend(&mut lines, &row.method, [at, row.micros]);
        }
        panels.push(Panel { title: title.to_owned(), x, y: "us per query", lines });
    }
    let mut lines = Vec::new();
    for row in crowds {
        Line::extend(&mut lines, row.stage, [row.n as f64, row.ms_per_frame]);
    }
    panels.push(Panel { title: "A crowd".to_owned(), x: "objects", y: "ms per frame", lines });
    let title = "Convex hulls: one orbits the other, and a crowd";
    Figure { title, columns: 2, scale: Scale::Logarithmic, panels }
}
