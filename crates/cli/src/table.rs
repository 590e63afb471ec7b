//! Tables for people.

use std::fmt::Write;

/// Rows of cells; the first columns are aligned left, the others right.
pub(crate) struct Table {
    left: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(header: &[&str]) -> Self {
        Self { left: 1, rows: vec![header.iter().map(ToString::to_string).collect()] }
    }

    /// Aligns the first `columns` left.
    pub(crate) fn left(mut self, columns: usize) -> Self {
        self.left = columns;
        self
    }

    pub(crate) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub(crate) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            self.rows
                .iter()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<_> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let width = widths[column];
                let _ = if column < self.left {
                    write!(line, "  {cell:width$}")
                } else {
                    write!(line, "  {cell:>width$}")
                };
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text
    }
}

/// Milliseconds with three digits after the point.
pub(crate) fn ms(milliseconds: f64) -> String {
    format!("{milliseconds:.3}")
}

/// Facts, one a line.
pub(crate) fn facts(rows: &[(&str, String)]) -> String {
    let width = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    rows.iter().map(|(name, value)| format!("  {name:width$}  {value}\n")).collect()
}
