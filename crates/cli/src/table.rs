//! A table for people: the first column to the left, numbers to the right.

use std::fmt;

#[derive(Debug)]
pub(crate) struct Table {
    lines: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(titles: &[&str]) -> Table {
        Table { lines: vec![titles.iter().map(|&title| title.to_owned()).collect()] }
    }

    pub(crate) fn line(&mut self, cells: Vec<String>) {
        self.lines.push(cells);
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
        Ok(())
    }
}
