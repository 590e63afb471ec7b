//! What the tests of kernels make calls of.

use crate::bridge::ffi;
use crate::kernels::packed::Scheme;
use crate::tensor::Element;
use half::f16;

/// A tensor with memory of its own.
#[derive(Clone)]
pub(super) struct Owned<T> {
    pub(super) sizes: Vec<i32>,
    pub(super) data: Vec<T>,
}

impl<T: Element> Owned<T> {
    pub(super) fn new(sizes: &[usize], data: Vec<T>) -> Self {
        Self { sizes: sizes.iter().map(|&size| size as i32).collect(), data }
    }

    pub(super) fn raw(&mut self) -> ffi::KernelTensor {
        ffi::KernelTensor {
            given: true,
            dtype: T::DTYPE.to_raw(),
            row_major: true,
            sizes: self.sizes.as_ptr(),
            dims: self.sizes.len(),
            data: self.data.as_mut_ptr().cast(),
            bytes: size_of_val(self.data.as_slice()),
        }
    }
}

/// An optional tensor that is left out.
pub(super) fn absent() -> ffi::KernelTensor {
    ffi::KernelTensor {
        given: false,
        dtype: 0,
        row_major: false,
        sizes: std::ptr::null(),
        dims: 0,
        data: std::ptr::null_mut(),
        bytes: 0,
    }
}

/// Numbers without a pattern, the same in each run: xorshift64* (Vigna, 2016, arXiv:1402.6246).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From -1 to 1.
    pub(super) fn float(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0
    }

    pub(super) fn floats(&mut self, sizes: &[usize]) -> Owned<f32> {
        Owned::new(sizes, (0..sizes.iter().product()).map(|_| self.float()).collect())
    }
}

/// A matrix of 4 or 8 bits, as plain numbers.
pub(super) struct Matrix {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) scheme: Scheme,
    /// `[rows, columns]`
    ints: Vec<i32>,
    /// `[rows, columns / 32]`, of 8 bits `[rows]`.
    scales: Vec<f32>,
    /// `[rows, columns / 32]`
    offsets: Vec<f32>,
}

impl Matrix {
    pub(super) fn random(scheme: Scheme, rows: usize, columns: usize, random: &mut Random) -> Self {
        let (least, count) = if scheme == Scheme::Eight { (-127, 255) } else { (-8, 16) };
        let mut floats = |count: usize| -> Vec<f32> {
            (0..count).map(|_| f16::from_f32(0.1 * random.float()).to_f32()).collect()
        };
        let scales = floats(rows * if scheme == Scheme::Eight { 1 } else { columns / 32 });
        let offsets = match scheme {
            Scheme::FourWithOffsets => floats(rows * columns / 32),
            _ => vec![0.0; rows * columns / 32],
        };
        let ints = (0..rows * columns).map(|_| least + (random.next() >> 33) as i32 % count).collect();
        Self { rows, columns, scheme, ints, scales, offsets }
    }

    /// All integers the same, for the largest sums that there are.
    pub(super) fn filled(mut self, int: i32) -> Self {
        self.ints.fill(int);
        self
    }

    pub(super) fn bits(&self) -> i64 {
        if self.scheme == Scheme::Eight { 8 } else { 4 }
    }

    /// The weight at a row and column.
    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        let block = row * (self.columns / 32) + column / 32;
        let scale = self.scales[if self.scheme == Scheme::Eight { row } else { block }];
        let int = self.ints[row * self.columns + column];
        f64::from(scale) * f64::from(int) + f64::from(self.offsets[block])
    }

    /// All weights of a row.
    pub(super) fn row(&self, row: usize) -> Vec<f64> {
        (0..self.columns).map(|column| self.at(row, column)).collect()
    }

    /// As `nearside::linear` takes it.
    pub(super) fn pack(&self) -> Owned<u8> {
        let (tiles, blocks) = (self.rows.div_ceil(16), self.columns / 32);
        let mut bytes = Vec::new();
        for tile in 0..tiles {
            for block in 0..blocks {
                self.pack_block(tile, block, &mut bytes);
            }
            if self.scheme == Scheme::Eight {
                let scale = |row: usize| self.scales.get(row).copied().unwrap_or(0.0);
                (0..16).for_each(|row| bytes.extend(scale(tile * 16 + row).to_le_bytes()));
            }
        }
        let tile_bytes = bytes.len().checked_div(tiles).or(self.scheme.tile_bytes(self.columns)).unwrap();
        Owned::new(&[tiles, tile_bytes], bytes)
    }

    fn pack_block(&self, tile: usize, block: usize, bytes: &mut Vec<u8>) {
        let zero = if self.scheme == Scheme::Eight { 128 } else { 8 };
        let value = |step: usize, at: usize| {
            let (row, column) = (tile * 16 + at / 4, 32 * block + 4 * step + at % 4);
            let int = if row < self.rows { self.ints[row * self.columns + column] } else { 0 };
            (int + zero) as u8
        };
        let halves = |of: &[f32], bytes: &mut Vec<u8>| {
            for row in tile * 16..(tile + 1) * 16 {
                let half = if row < self.rows { of[row * (self.columns / 32) + block] } else { 0.0 };
                bytes.extend(f16::from_f32(half).to_le_bytes());
            }
        };
        if self.scheme == Scheme::Eight {
            (0..8 * 64).for_each(|at| bytes.push(value(at / 64, at % 64)));
            return;
        }
        for pair in 0..4 {
            (0..64).for_each(|at| bytes.push(value(2 * pair, at) | value(2 * pair + 1, at) << 4));
        }
        halves(&self.scales, bytes);
        if self.scheme == Scheme::FourWithOffsets {
            halves(&self.offsets, bytes);
        }
    }
}
