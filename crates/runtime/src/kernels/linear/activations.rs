//! Rows of x, quantised.

use super::inner_loops::InnerLoops;
use crate::kernels::packed::{BLOCK, Packed};
use crate::kernels::pool::{self, Parts};
use std::ops::Range;

/// Rows of a panel, at most.
pub(super) const MOST_ROWS: usize = 8;

/// Bytes of a block: its values, scale, sum and correction.
const BLOCK_BYTES: usize = BLOCK + 2 * size_of::<f32>() + size_of::<i32>();

/// Elements that a task quantises: a few microseconds.
const TASK: usize = 32 << 10;

/// Rows of x as whole numbers, in panels: the rows of a panel meet a tile together, so their first blocks stand side by
/// side, then their second ones, and so on.
///
/// A block's scale is its largest absolute value / 127, and its numbers are its values / scale, rounded, halves to even.
/// Of a block with an infinity or a NaN, whose sums must not look like results, the scale is NaN.
pub(super) struct Activations {
    /// Rows, of all panels.
    rows: usize,
    /// Blocks of a row.
    blocks: usize,
    /// Rows of a panel; the last one may have less.
    panel: usize,
    values: Vec<[i8; BLOCK]>,
    scales: Vec<f32>,
    sums: Vec<f32>,
    corrections: Vec<i32>,
}

/// A panel, each of it with the blocks of all rows side by side.
#[derive(Clone, Copy)]
pub(super) struct Panel<'a> {
    pub(super) rows: usize,
    pub(super) values: &'a [[i8; BLOCK]],
    pub(super) scales: &'a [f32],
    /// The sum of each block's values.
    pub(super) sums: &'a [f32],
    /// What to add to a block's products with a weight's values, where 8 or 128 stands for the integer 0, to get those with
    /// its integers.
    pub(super) corrections: &'a [i32],
}

impl Activations {
    pub(super) const fn new() -> Self {
        Self {
            rows: 0,
            blocks: 0,
            panel: 1,
            values: Vec::new(),
            scales: Vec::new(),
            sums: Vec::new(),
            corrections: Vec::new(),
        }
    }

    /// Takes `rows` rows of `x`, which are as long as the weight's.
    ///
    /// # Errors
    /// If there is no memory for them, or a task panicked.
    pub(super) fn quantise(
        &mut self,
        rows: usize,
        x: &[f32],
        weight: &Packed<'_>,
        loops: &InnerLoops,
    ) -> Result<(), String> {
        self.blocks = weight.blocks();
        self.rows = rows;
        self.panel = loops.rows();
        let count = self.rows * self.blocks;
        fit(&mut self.values, count, [0; BLOCK])?;
        fit(&mut self.scales, count, 0.0)?;
        fit(&mut self.sums, count, 0.0)?;
        fit(&mut self.corrections, count, 0)?;
        let (values, scales) = (Parts::new(&mut self.values), Parts::new(&mut self.scales));
        let (sums, corrections) = (Parts::new(&mut self.sums), Parts::new(&mut self.corrections));
        let (blocks, panel) = (self.blocks, self.panel);
        let panels = rows.div_ceil(panel);
        let chunk = (TASK / (panel * blocks * BLOCK).max(1)).max(1);
        pool::run(panels.div_ceil(chunk), |task| {
            let of = task * chunk * panel..rows.min((task + 1) * chunk * panel);
            let at = of.start * blocks..of.end * blocks;
            // SAFETY: these rows are this task's alone.
            let (values, scales, sums, corrections) = unsafe {
                (
                    values.part(at.clone()),
                    scales.part(at.clone()),
                    sums.part(at.clone()),
                    corrections.part(at),
                )
            };
            let x = &x[of.start * blocks * BLOCK..of.end * blocks * BLOCK];
            for (row, x) in x.chunks_exact((blocks * BLOCK).max(1)).enumerate() {
                let (first, within) = (row / panel * panel, row % panel);
                let of_panel = panel.min(of.len() - first);
                for (block, x) in x.as_chunks::<BLOCK>().0.iter().enumerate() {
                    let at = first * blocks + block * of_panel + within;
                    let (scale, sum) = loops.quantise(x, &mut values[at]);
                    scales[at] = scale;
                    sums[at] = sum as f32;
                    corrections[at] = -weight.scheme().zero() * sum;
                }
            }
        })
    }

    pub(super) fn panels(&self) -> usize {
        self.rows.div_ceil(self.panel)
    }

    /// Bytes of a panel.
    pub(super) fn panel_bytes(&self) -> usize {
        self.panel * self.blocks * BLOCK_BYTES
    }

    /// Bytes of so many elements.
    pub(super) fn bytes(elements: u64) -> u64 {
        elements.div_ceil(BLOCK as u64).saturating_mul(BLOCK_BYTES as u64)
    }

    /// The rows of x that are in a panel.
    pub(super) fn rows_of(&self, panel: usize) -> Range<usize> {
        panel * self.panel..self.rows.min((panel + 1) * self.panel)
    }

    pub(super) fn panel(&self, panel: usize) -> Panel<'_> {
        let rows = self.rows_of(panel);
        let at = rows.start * self.blocks..rows.end * self.blocks;
        Panel {
            rows: rows.len(),
            values: &self.values[at.clone()],
            scales: &self.scales[at.clone()],
            sums: &self.sums[at.clone()],
            corrections: &self.corrections[at],
        }
    }
}

/// Makes a buffer as long as it must be. It keeps its memory when it gets shorter.
fn fit<T: Clone>(buffer: &mut Vec<T>, count: usize, with: T) -> Result<(), String> {
    let more = count.saturating_sub(buffer.len());
    buffer.try_reserve_exact(more).map_err(|_| "there is no memory for the quantised rows of x")?;
    buffer.resize(count, with);
    Ok(())
}
