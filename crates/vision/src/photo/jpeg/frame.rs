//! The frame header: sizes and components; ITU-T T.81 section B.2.2.

use super::corrupt;
use super::markers::Fields;
use crate::{Error, Result};

/// What the picture is made of.
pub(super) struct Frame {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) progressive: bool,
    pub(super) components: Vec<Component>,
    /// Greatest sampling factors.
    pub(super) max_h: usize,
    pub(super) max_v: usize,
    /// Groups of blocks that hold all components, across and down.
    pub(super) mcus_wide: usize,
    pub(super) mcus_high: usize,
}

/// One of the colours.
pub(super) struct Component {
    pub(super) id: u8,
    /// Blocks across and down in a group.
    pub(super) h: usize,
    pub(super) v: usize,
    pub(super) quantisation: usize,
    /// Blocks that show something of the picture.
    pub(super) blocks_wide: usize,
    pub(super) blocks_high: usize,
}

impl Frame {
    /// Reads the header, whose marker tells the process.
    pub(super) fn read(marker: u8, payload: &[u8]) -> Result<Self> {
        let unsupported = |format| Err(Error::UnsupportedPhoto { format });
        let progressive = match marker {
            0xc0 | 0xc1 => false,
            0xc2 => true,
            0xc3 => return unsupported("lossless JPEG"),
            0xc5..=0xc7 => return unsupported("hierarchical JPEG"),
            0xf7 => return unsupported("JPEG-LS"),
            _ => return unsupported("arithmetic-coded JPEG"),
        };
        let mut fields = Fields(payload);
        let precision = fields.byte()?;
        let (height, width) = (usize::from(fields.number()?), usize::from(fields.number()?));
        let count = fields.byte()?;
        if precision != 8 {
            return unsupported("JPEG of more or fewer than 8 bits");
        }
        if width == 0 || height == 0 {
            return Err(corrupt(format!("its size is {width}x{height}")));
        }
        if !matches!(count, 1 | 3 | 4) {
            return Err(corrupt(format!("{count} components are no colours")));
        }
        let components: Vec<_> = (0..count).map(|_| Component::read(&mut fields)).collect::<Result<_>>()?;
        let ids = components.iter().map(|component| component.id);
        if (1..components.len()).any(|at| ids.clone().take(at).any(|id| id == components[at].id)) {
            return Err(corrupt("two components have the same name"));
        }
        Ok(Self::laid_out(width, height, progressive, components))
    }

    fn laid_out(width: usize, height: usize, progressive: bool, mut components: Vec<Component>) -> Self {
        if let [grey] = &mut components[..] {
            // A scan of one component has no groups of blocks.
            (grey.h, grey.v) = (1, 1);
        }
        let max_h = components.iter().map(|component| component.h).max().unwrap_or(1);
        let max_v = components.iter().map(|component| component.v).max().unwrap_or(1);
        for component in &mut components {
            component.blocks_wide = (width * component.h).div_ceil(max_h * 8);
            component.blocks_high = (height * component.v).div_ceil(max_v * 8);
        }
        let (mcus_wide, mcus_high) = (width.div_ceil(max_h * 8), height.div_ceil(max_v * 8));
        Self { width, height, progressive, components, max_h, max_v, mcus_wide, mcus_high }
    }

    /// Bytes of all coefficients, and a bit for each, for where they can't be used up block by block.
    pub(super) fn coefficient_bytes(&self) -> u64 {
        let blocks: usize = self.components.iter().map(|component| component.h * component.v).sum();
        (self.mcus_wide * self.mcus_high) as u64
            * blocks as u64
            * (64 * size_of::<i16>() + size_of::<u64>()) as u64
    }
}

impl Component {
    fn read(fields: &mut Fields<'_>) -> Result<Self> {
        let [id, sampling, quantisation] = fields.array()?;
        let (h, v) = (usize::from(sampling >> 4), usize::from(sampling & 15));
        if !(1..=4).contains(&h) || !(1..=4).contains(&v) || quantisation > 3 {
            return Err(corrupt("a component has impossible sampling factors or table"));
        }
        Ok(Self { id, h, v, quantisation: quantisation.into(), blocks_wide: 0, blocks_high: 0 })
    }
}
