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

/// As a part of a hundred.
pub(crate) fn percent(share: f64) -> String {
    if share.is_nan() { "-".to_owned() } else { format!("{:.1} %", share * 100.0) }
}
