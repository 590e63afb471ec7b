//! Pictures of any shape as patches, for encoders that take a number of patches and where each one lies.

use crate::{Error, Filter, Fit, ImageSpec, Layout, Result, TensorMut};

/// Largest width and height that [`ImageSpec`] takes, so that positions fit 16 bits.
const MAX_SIDE: u64 = 16_384;

/// How many patches an encoder takes of a picture: Gemma 4's, and others that keep the shape of the picture.
///
/// The picture is resized, its shape kept as far as whole patches allow, to the largest size that has [`Self::most`]
/// patches or fewer. The tensor is always that of [`Self::most`] patches: zeros follow those of the picture.
///
/// ```
/// use nearside_vision::{Frame, PatchBudget, Preprocessor};
///
/// let rgb = vec![128; 400 * 300 * 3];
/// let frame = Frame::rgb(&rgb, 400, 300, None)?;
/// let (width, height) = frame.upright_size();
///
/// let budget = PatchBudget::gemma4(280);
/// let grid = budget.grid(width, height)?;
/// assert_eq!((grid.columns(), grid.rows(), grid.tokens()), (57, 42, 266));
///
/// // [1, 2520, 768] and [1, 2520, 2].
/// let mut pixels = vec![0.0; budget.tensor_len()];
/// let mut positions = vec![0_i64; budget.positions_len()];
/// let mut preprocessor = Preprocessor::new(grid.spec())?;
/// preprocessor.run(&frame, grid.pad(preprocessor.spec(), &mut pixels)?)?;
/// grid.write_positions(&mut positions)?;
/// # Ok::<(), nearside_vision::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PatchBudget {
    /// Width and height of a patch in pixels.
    pub side: u32,
    /// Columns and rows of patches come in multiples of this: how many the encoder pools into one token along each side.
    pub multiple: u32,
    /// The most patches, which is the length of the tensor.
    pub most: u32,
}

impl PatchBudget {
    /// Gemma 4's: patches of 16x16 pixels, of which 3x3 become a token. It was trained for 70, 140, 280 (its default),
    /// 560 and 1120 tokens a picture.
    pub const fn gemma4(tokens: u32) -> Self {
        Self { side: 16, multiple: 3, most: tokens.saturating_mul(9) }
    }

    /// The patches of a picture of this size: upright, what is left of it after a crop. See
    /// [`Frame::upright_size`](crate::Frame::upright_size), [`Photo::width`](crate::Photo::width) and
    /// [`Photo::height`](crate::Photo::height).
    ///
    /// # Errors
    /// [`Error::EmptyFrame`]; [`Error::InvalidSpec`] for a budget that is not possible; [`Error::PictureTooThin`] if a
    /// side would be longer than 16384 pixels, more than three hundred times the other.
    pub fn grid(&self, width: u32, height: u32) -> Result<PatchGrid> {
        self.validate()?;
        if width == 0 || height == 0 {
            return Err(Error::EmptyFrame { width, height });
        }
        let block = u64::from(self.side) * u64::from(self.multiple);
        let blocks = self.blocks([width, height]);
        let longer = u64::from(blocks[0].max(blocks[1])) * block;
        if longer > MAX_SIDE {
            return Err(Error::PictureTooThin { width, height, longer, limit: MAX_SIDE });
        }
        let [columns, rows] = blocks.map(|blocks| blocks * self.multiple);
        Ok(PatchGrid { budget: *self, columns, rows })
    }

    /// Elements of the tensor of pixels, of three channels.
    pub fn tensor_len(&self) -> usize {
        self.len_with(3)
    }

    /// Numbers in the tensor of positions: two for each patch.
    pub fn positions_len(&self) -> usize {
        (self.most as usize).saturating_mul(2)
    }

    fn len_with(&self, channels: usize) -> usize {
        let side = self.side as usize;
        [side, side, channels].into_iter().fold(self.most as usize, usize::saturating_mul)
    }

    /// Blocks of `multiple` x `multiple` patches across and down, as transformers' Gemma 4 processor counts them, in
    /// doubles as well.
    fn blocks(&self, picture: [u32; 2]) -> [u32; 2] {
        let [width, height] = picture.map(u64::from);
        let block = f64::from(self.side) * f64::from(self.multiple);
        let pixels = f64::from(self.most) * f64::from(self.side) * f64::from(self.side);
        let factor = (pixels / (width * height) as f64).sqrt();
        let whole = picture.map(|len| (factor * f64::from(len) / block).floor() as u32);
        let most = self.most / (self.multiple * self.multiple);
        match whole {
            // Only by rounding: there is room for one.
            [0, 0] => [1, 1],
            // So thin that all blocks lie in a row.
            [_, 0] => [most, 1],
            [0, _] => [1, most],
            whole => whole,
        }
    }

    fn validate(&self) -> Result<()> {
        let Self { side, multiple, most } = *self;
        let refuse = |field, value: u32, expected| {
            Err(Error::InvalidSpec { field, value: value.to_string(), expected })
        };
        if side == 0 || u64::from(side) > MAX_SIDE {
            return refuse("patch side", side, "between 1 and 16384");
        }
        if multiple == 0 || u64::from(side) * u64::from(multiple) > MAX_SIDE {
            return refuse("multiple", multiple, "at least 1, and with the side at most 16384 pixels");
        }
        if most < multiple * multiple {
            return refuse("most patches", most, "at least the multiple squared");
        }
        Ok(())
    }
}

/// The patches of a picture of one size: made by [`PatchBudget::grid`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PatchGrid {
    budget: PatchBudget,
    columns: u32,
    rows: u32,
}

impl PatchGrid {
    /// Patches from left to right.
    pub fn columns(&self) -> u32 {
        self.columns
    }

    /// Patches from top to bottom.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Patches of the picture. The rest of the tensor is padding.
    pub fn patches(&self) -> u32 {
        self.columns * self.rows
    }

    /// Tokens that the encoder makes of them.
    pub fn tokens(&self) -> u32 {
        self.patches() / (self.budget.multiple * self.budget.multiple)
    }

    /// Width to which the picture is resized, in pixels.
    pub fn width(&self) -> u32 {
        self.columns * self.budget.side
    }

    /// Height to which the picture is resized, in pixels.
    pub fn height(&self) -> u32 {
        self.rows * self.budget.side
    }

    /// What makes the patches: stretched to [`Self::width`] and [`Self::height`] by [`Filter::BicubicAntialias`], RGB
    /// as f32 on 0..1, as Gemma 4 takes it. Other elements, channels, mean and std may be put in.
    pub fn spec(&self) -> ImageSpec {
        ImageSpec {
            fit: Fit::Stretch,
            filter: Filter::BicubicAntialias,
            layout: Layout::Patches { side: self.budget.side },
            ..ImageSpec::new(self.width(), self.height())
        }
    }

    /// Fills the padding of `out`, the tensor of all patches, with what stands for 0 in the element of `spec`, and gives
    /// what is left for [`Preprocessor::run`](crate::Preprocessor::run).
    ///
    /// # Errors
    /// [`Error::WrongOutputType`], or [`Error::WrongPatchesLength`] if `out` does not hold [`PatchBudget::most`]
    /// patches. `out` is then untouched.
    pub fn pad<'o>(&self, spec: &ImageSpec, out: impl Into<TensorMut<'o>>) -> Result<TensorMut<'o>> {
        let out = out.into();
        out.expect(spec.element)?;
        let needs = self.budget.len_with(spec.channels.count());
        self.expect("pixels", out.len(), needs)?;
        let patch = needs / self.budget.most as usize;
        let (picture, padding) = out.split_at(patch * self.patches() as usize);
        padding.fill_zero(spec.element);
        Ok(picture)
    }

    /// Writes column and row of each patch, x before y, and -1 for both of padding: `[1, most, 2]`, in `i64`, `i32` or
    /// whatever the encoder takes.
    ///
    /// # Errors
    /// [`Error::WrongPatchesLength`] if `out` does not hold [`PatchBudget::positions_len`] numbers; it is then
    /// untouched.
    pub fn write_positions<T: From<i16>>(&self, out: &mut [T]) -> Result<()> {
        self.expect("positions", out.len(), self.budget.positions_len())?;
        let places = (0..self.rows).flat_map(|row| (0..self.columns).map(move |column| [column, row]));
        let places = places.map(|place| place.map(|at| at as i16));
        for (out, place) in out.as_chunks_mut().0.iter_mut().zip(places.chain(std::iter::repeat([-1; 2]))) {
            *out = place.map(T::from);
        }
        Ok(())
    }

    fn expect(&self, what: &'static str, has: usize, needs: usize) -> Result<()> {
        if has == needs {
            return Ok(());
        }
        Err(Error::WrongPatchesLength { what, has, needs, patches: self.budget.most })
    }
}
