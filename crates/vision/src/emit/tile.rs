//! A few rows of the result, before they are written.

use crate::kernels::Kernels;

/// Rows in a tile: as many as are turned at a time, and a cache line of floats.
pub(crate) const TILE_ROWS: usize = 16;

/// Rows of red, green and blue bytes.
#[derive(Debug, Default)]
pub(crate) struct Tile {
    columns: usize,
    /// For each colour, [`TILE_ROWS`] rows.
    planes: [Vec<u8>; 3],
    /// For each colour, the columns as rows.
    turned: [Vec<u8>; 3],
}

impl Tile {
    pub(crate) fn prepare(&mut self, columns: usize, transpose: bool) {
        self.columns = columns;
        for (plane, turned) in self.planes.iter_mut().zip(&mut self.turned) {
            plane.resize(TILE_ROWS * columns, 0);
            turned.resize(if transpose { TILE_ROWS * columns } else { 0 }, 0);
        }
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
            kernels.transpose16(plane, self.columns, self.columns, turned);
        }
    }

    /// The first `rows` pixels of column `column`, which were turned.
    pub(super) fn column(&self, column: usize, rows: usize) -> [&[u8]; 3] {
        self.turned.each_ref().map(|turned| &turned[column * TILE_ROWS..][..rows])
    }
}
