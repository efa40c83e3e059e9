//! A table for people: the first column to the left, numbers to the right, notes below.

use std::fmt;

#[derive(Debug)]
pub(crate) struct Table {
    lines: Vec<Vec<String>>,
    notes: Vec<String>,
}

impl Table {
    pub(crate) fn new(titles: &[&str]) -> Table {
        Table { lines: vec![titles.iter().map(|&title| title.to_owned()).collect()], notes: vec![] }
    }

    /// A line of cells that are numbers and names.
    pub(crate) fn row(&mut self, cells: &[&dyn Cell]) {
        self.lines.push(cells.iter().map(|cell| cell.text()).collect());
    }

    /// A line whose cells are put together elsewhere.
    pub(crate) fn line(&mut self, cells: Vec<String>) {
        self.lines.push(cells);
    }

    pub(crate) fn note(&mut self, note: String) {
        self.notes.push(note);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.lines.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.lines.iter().filter_map(|line| line.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for line in &self.lines {
            for (column, (cell, &width)) in line.iter().zip(&widths).enumerate() {
                match column {
                    0 => write!(f, "{cell:<width$}")?,
                    _ => write!(f, "  {cell:>width$}")?,
                }
            }
            writeln!(f)?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}

/// What a cell shows: names and counts as they are, measured numbers by [`short`].
pub(crate) trait Cell {
    fn text(&self) -> String;
}

impl Cell for &str {
    fn text(&self) -> String {
        (*self).to_owned()
    }
}

impl Cell for String {
    fn text(&self) -> String {
        self.clone()
    }
}

macro_rules! counts {
    ($($count:ty),*) => {
        $(impl Cell for $count {
            fn text(&self) -> String {
                self.to_string()
            }
        })*
    };
}

counts!(u32, u64, usize);

impl Cell for f64 {
    fn text(&self) -> String {
        short(*self)
    }
}

/// A share of 1, shown as a part of a hundred.
pub(crate) struct Share(pub(crate) f64);

impl Cell for Share {
    fn text(&self) -> String {
        if self.0.is_nan() { "-".to_owned() } else { format!("{:.1} %", self.0 * 100.0) }
    }
}

/// Three digits that count, and nothing for what is no number.
pub(crate) fn short(x: f64) -> String {
    match x.abs() {
        size if size.is_nan() => "-".to_owned(),
        size if size >= 100.0 || size == 0.0 => format!("{x:.0}"),
        size if size >= 10.0 => format!("{x:.1}"),
        size if size >= 1.0 => format!("{x:.2}"),
        _ => format!("{x:.3}"),
    }
}
