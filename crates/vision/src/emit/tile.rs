//! A few rows of the result, before they are written.

use crate::kernels::Kernels;

/// Rows that are turned at a time: a cache line of floats.
const TURNED_ROWS: usize = 16;

/// Rows of red, green and blue bytes.
#[derive(Debug, Default)]
pub(crate) struct Tile {
    columns: usize,
    rows: usize,
    /// For each colour, the rows.
    planes: [Vec<u8>; 3],
    /// For each colour, the columns as rows.
    turned: [Vec<u8>; 3],
}

impl Tile {
    pub(crate) fn prepare(&mut self, columns: usize, transpose: bool) {
        self.columns = columns;
        self.rows = if transpose { TURNED_ROWS } else { 1 };
        for (plane, turned) in self.planes.iter_mut().zip(&mut self.turned) {
            plane.resize(self.rows * columns, 0);
            turned.resize(if transpose { self.rows * columns } else { 0 }, 0);
        }
    }

    /// Rows that it has room for.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// Row `row`, to be written.
    pub(crate) fn row_mut(&mut self, row: usize) -> [&mut [u8]; 3] {
        let columns = self.columns;
        self.planes.each_mut().map(|plane| &mut plane[row * columns..][..columns])
    }

    pub(super) fn row(&self, row: usize) -> [&[u8]; 3] {
        self.planes.each_ref().map(|plane| &plane[row * self.columns..][..self.columns])
    }

    /// Makes columns of the rows.
    pub(super) fn turn(&mut self, kernels: &Kernels) {
        for (plane, turned) in self.planes.iter().zip(&mut self.turned) {
            kernels.transpose16(plane, self.columns, turned);
        }
    }

    /// All columns of one colour, which were turned, 16 bytes each.
    pub(super) fn turned(&self, colour: usize) -> &[u8] {
        &self.turned[colour]
    }

    /// The first `rows` pixels of column `column`, which were turned.
    pub(super) fn column(&self, column: usize, rows: usize) -> [&[u8]; 3] {
        self.turned.each_ref().map(|turned| &turned[column * TURNED_ROWS..][..rows])
    }
}
