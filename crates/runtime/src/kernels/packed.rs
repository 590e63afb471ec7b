//! Weights of 4 or 8 bits, in the order in which the inner loops read them.
//!
//! 16 rows are a tile, `[tiles, tile_bytes]` the tensor; rows that a matrix has not are zeros. A tile holds its blocks of
//! 32 columns one after the other. Within a block, columns go in 8 steps of 4: byte `r * 4 + c` of step `j` is the value of
//! row `r` at column `4 * j + c`, so that a step is 64 bytes and 4 columns of a row a 32-bit lane.
//!
//! - 8 bits: a value is `int + 128`; a block is its 8 steps, 512 bytes. After the blocks come 16 f32 scales, one a row.
//! - 4 bits: a value is `int + 8`; two steps share 64 bytes, the second in the upper halves. A block is these 256 bytes, 16
//!   f16 scales and, if there are offsets, 16 f16 offsets. `weight = scale * int + offset`.
//!
//! `nearside_export` packs them.

use half::f16;

/// Rows of a tile.
pub(super) const TILE: usize = 16;

/// Columns of a block.
pub(super) const BLOCK: usize = 32;

/// How a weight is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    /// 4 bits, a scale a block.
    Four,
    /// 4 bits, a scale and an offset a block.
    FourWithOffsets,
    /// 8 bits, a scale a row.
    Eight,
}

impl Scheme {
    /// Bytes of a block's values.
    pub(super) const fn value_bytes(self) -> usize {
        match self {
            Self::Four | Self::FourWithOffsets => TILE * BLOCK / 2,
            Self::Eight => TILE * BLOCK,
        }
    }

    /// Bytes of a block.
    pub(super) const fn block_bytes(self) -> usize {
        match self {
            Self::Four => self.value_bytes() + TILE * size_of::<f16>(),
            Self::FourWithOffsets => self.value_bytes() + 2 * TILE * size_of::<f16>(),
            Self::Eight => self.value_bytes(),
        }
    }

    /// Bytes after the blocks.
    const fn tail_bytes(self) -> usize {
        match self {
            Self::Four | Self::FourWithOffsets => 0,
            Self::Eight => TILE * size_of::<f32>(),
        }
    }

    /// Bytes of a tile, if that is a number.
    pub(super) fn tile_bytes(self, columns: usize) -> Option<usize> {
        (columns / BLOCK).checked_mul(self.block_bytes())?.checked_add(self.tail_bytes())
    }

    /// What stands for the integer 0.
    pub(super) const fn zero(self) -> i32 {
        match self {
            Self::Four | Self::FourWithOffsets => 8,
            Self::Eight => 128,
        }
    }
}

/// A matrix `[rows, columns]` whose bytes are as many as its shape asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packed<'a> {
    bytes: &'a [u8],
    tile_bytes: usize,
    rows: usize,
    columns: usize,
    scheme: Scheme,
}

impl<'a> Packed<'a> {
    /// # Errors
    /// If the bytes, of the shape `[tiles, tile_bytes]`, are not those of such a matrix.
    pub(super) fn new(
        bytes: &'a [u8],
        [tiles, tile_bytes]: [usize; 2],
        [rows, columns]: [usize; 2],
        bits: i64,
    ) -> Result<Self, String> {
        let schemes: &[Scheme] = match bits {
            4 => &[Scheme::FourWithOffsets, Scheme::Four],
            8 => &[Scheme::Eight],
            _ => return Err(format!("weights of {bits} bits are not known; 4 and 8 are")),
        };
        if !columns.is_multiple_of(BLOCK) {
            return Err(format!("{columns} columns are not whole blocks of {BLOCK}"));
        }
        let fits = |scheme: &&Scheme| scheme.tile_bytes(columns) == Some(tile_bytes);
        let Some(&scheme) = schemes.iter().find(fits) else {
            return Err(format!(
                "weight has tiles of {tile_bytes} bytes, which no {columns} columns of {bits} bits have"
            ));
        };
        if tiles != rows.div_ceil(TILE) || tiles.checked_mul(tile_bytes) != Some(bytes.len()) {
            return Err(format!("weight has {tiles} tiles of {TILE} rows, for {rows} rows"));
        }
        Ok(Self { bytes, tile_bytes, rows, columns, scheme })
    }

    pub(super) fn scheme(&self) -> Scheme {
        self.scheme
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Blocks of a row.
    pub(super) fn blocks(&self) -> usize {
        self.columns / BLOCK
    }

    pub(super) fn tiles(&self) -> usize {
        self.rows.div_ceil(TILE)
    }

    pub(super) fn tile_bytes(&self) -> usize {
        self.tile_bytes
    }

    /// A tile's bytes.
    pub(super) fn tile(&self, tile: usize) -> &'a [u8] {
        &self.bytes[tile * self.tile_bytes..(tile + 1) * self.tile_bytes]
    }

    /// A block of a tile.
    pub(super) fn block(&self, tile: usize, block: usize) -> Block<'a> {
        let bytes = self.scheme.block_bytes();
        Block { bytes: &self.tile(tile)[block * bytes..(block + 1) * bytes], scheme: self.scheme }
    }

    /// The scale of a row of 8 bits.
    pub(super) fn row_scale(&self, row: usize) -> f32 {
        row_scale(self.tile(row / TILE), row % TILE)
    }
}

/// The scale of a row of a tile of 8 bits, which stands in the last bytes.
pub(super) fn row_scale(tile: &[u8], row: usize) -> f32 {
    let at = tile.len() - (TILE - row) * size_of::<f32>();
    f32::from_le_bytes([tile[at], tile[at + 1], tile[at + 2], tile[at + 3]])
}

/// A block of 16 rows and 32 columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'a> {
    bytes: &'a [u8],
    scheme: Scheme,
}

impl<'a> Block<'a> {
    pub(super) fn new(bytes: &'a [u8], scheme: Scheme) -> Self {
        Self { bytes, scheme }
    }

    /// The integer at a row and a column of the block.
    pub(super) fn int(&self, row: usize, column: usize) -> i32 {
        let (step, at) = (column / 4, row * 4 + column % 4);
        let value = match self.scheme {
            Scheme::Eight => self.bytes[step * 64 + at],
            Scheme::Four | Scheme::FourWithOffsets => {
                let pair = self.bytes[step / 2 * 64 + at];
                if step.is_multiple_of(2) { pair & 15 } else { pair >> 4 }
            }
        };
        i32::from(value) - self.scheme.zero()
    }

    /// The scale of a row's 32 columns, where blocks have one.
    pub(super) fn scale(&self, row: usize) -> f32 {
        self.half(row)
    }

    /// The offset of a row's 32 columns, where blocks have one.
    pub(super) fn offset(&self, row: usize) -> f32 {
        self.half(TILE + row)
    }

    fn half(&self, at: usize) -> f32 {
        let at = self.scheme.value_bytes() + at * size_of::<f16>();
        f16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]).to_f32()
    }
}
