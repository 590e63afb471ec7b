//! From a frame to a tensor.

use crate::colour::YuvToRgb;
use crate::emit::{At, Emitter, Tile};
use crate::frame::{Pixel, Sample, Source, Sources, rgb565};
use crate::geometry::Orientation;
use crate::kernels::{FixedYuvToRgb, InstructionSet, Kernels};
use crate::placement::{AxisPlacement, place};
use crate::resample::{Fixed, Linear, Pillow, Same, Way};
use crate::taps::Axis;
use crate::{ChromaSiting, Error, Fit, Frame, ImageSpec, PixelFormat, Rect, Result, TensorMut};

/// Turns frames into the tensor that an [`ImageSpec`] describes.
///
/// It holds the tap tables and the work space of the last geometry (size, crop, rotation, mirror, format), so that
/// frames of the same geometry cost no allocation and no set-up. Results do not depend on what was run before.
#[derive(Debug)]
pub struct Preprocessor {
    spec: ImageSpec,
    instruction_set: InstructionSet,
    emitter: Emitter,
    /// What the tables below were made for.
    geometry: Option<Geometry>,
    plan: Plan,
    fixed: Fixed,
    pillow: Pillow,
    linear: Linear,
    same: Same,
    tile: Tile,
    /// Pixels of formats that are unpacked first.
    unpacked: Vec<u8>,
}

/// Everything in a frame that the tables depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Geometry {
    width: u32,
    height: u32,
    region: Rect,
    orientation: Orientation,
    siting: ChromaSiting,
    format: PixelFormat,
    pixel: Pixel,
    /// Sources, and bytes from one chroma sample to the next.
    chroma: [usize; 2],
}

/// What follows from the geometry.
#[derive(Clone, Copy, Debug)]
struct Plan {
    way: Way,
    transpose: bool,
    /// Of the sensor, x, then y.
    axes: [Axis; 2],
    /// Upright x, then y.
    placement: [AxisPlacement; 2],
}

impl Preprocessor {
    /// A preprocessor for `spec`.
    ///
    /// # Errors
    /// [`Error::InvalidSpec`] if the specification cannot be followed.
    pub fn new(spec: ImageSpec) -> Result<Self> {
        spec.validate()?;
        let placement = AxisPlacement { source_len: 1, scaled_len: 1, window: 0, dest: 0, len: 1 };
        let axis = sensor_axis(placement, 1, 0, false, false);
        let (axes, placement) = ([axis; 2], [placement; 2]);
        Ok(Self {
            spec,
            instruction_set: InstructionSet::best(),
            emitter: Emitter::new(&spec),
            geometry: None,
            plan: Plan { way: Way::Linear { area: false }, transpose: false, axes, placement },
            fixed: Fixed::default(),
            pillow: Pillow::default(),
            linear: Linear::default(),
            same: Same::default(),
            tile: Tile::default(),
            unpacked: Vec::new(),
        })
    }

    /// The specification that it follows.
    pub fn spec(&self) -> &ImageSpec {
        &self.spec
    }

    /// Elements of the tensor: channels x height x width.
    pub fn output_len(&self) -> usize {
        self.spec.len()
    }

    /// The vector instructions that it uses.
    pub fn instruction_set(&self) -> InstructionSet {
        self.instruction_set
    }

    /// Uses other vector instructions, for tests and measurements: results are the same. Where the processor does not
    /// have them, [`InstructionSet::Scalar`] is used.
    pub fn set_instruction_set(&mut self, set: InstructionSet) {
        self.geometry = None;
        self.instruction_set = if set.is_available() { set } else { InstructionSet::Scalar };
    }

    /// Writes the tensor of `frame` to `out`, all of it: `[1, channels, height, width]`, `[1, height, width,
    /// channels]` or `[1, patches, side * side * channels]` of the type that the specification names.
    ///
    /// # Errors
    /// [`Error::WrongOutputType`], [`Error::WrongOutputLength`] if `out` does not hold [`Self::output_len`] elements,
    /// or any error of [`Frame::validate`]. `out` is then untouched.
    pub fn run<'o>(&mut self, frame: &Frame<'_>, out: impl Into<TensorMut<'o>>) -> Result<()> {
        let mut out = out.into();
        out.expect(self.spec.element)?;
        if out.len() != self.output_len() {
            let ImageSpec { width, height, .. } = self.spec;
            return Err(Error::WrongOutputLength { has: out.len(), needs: self.output_len(), width, height });
        }
        frame.validate()?;
        let kernels = Kernels::of(self.instruction_set);
        let sources = Sources::of(frame);
        if frame.format == PixelFormat::Rgb565 {
            // Taken out, so that the rest can be lent while it is.
            let mut unpacked = std::mem::take(&mut self.unpacked);
            unpack_rgb565(&sources.as_slice()[0], frame, &mut unpacked);
            self.write(kernels, frame, &[Source::rgb(&unpacked, frame.width as usize)], &mut out);
            self.unpacked = unpacked;
        } else {
            self.write(kernels, frame, sources.as_slice(), &mut out);
        }
        Ok(())
    }

    fn write(
        &mut self,
        kernels: &Kernels,
        frame: &Frame<'_>,
        sources: &[Source<'_>],
        out: &mut TensorMut<'_>,
    ) {
        let (packed, pixel) = sources[0].packed();
        self.prepare(frame, sources, pixel);
        self.fill_bars(kernels, out);
        match self.plan.way {
            Way::Fixed(_) => self.fixed.begin(sources),
            Way::Same { .. } => self.same.begin(sources),
            Way::Pillow(_) => self.pillow.begin(),
            Way::Linear { .. } => self.linear.begin(),
        }
        let bits = frame.format.sample().bits();
        let exact = YuvToRgb::new(frame.matrix, frame.range, bits);
        let conversion = frame.format.is_yuv().then(|| FixedYuvToRgb::new(&exact));

        let Plan { way, transpose, axes, placement } = self.plan;
        let rows = axes[1].len as usize;
        for first in (0..rows).step_by(self.tile.rows()) {
            let count = self.tile.rows().min(rows - first);
            // Rows come as the sensor has them; in the tile they lie as in the upright picture.
            let upright = if axes[1].backwards { rows - first - count } else { first };
            let [x, y] = placement.map(|axis| axis.dest as usize);
            let at = if transpose { At { x: x + upright, y } } else { At { x, y: y + upright } };
            if let (Way::Same { .. }, Some(conversion)) = (way, &conversion)
                && let Some((pixels, blue_first)) = self.emitter.pixels_of_four(at, axes[0].len as usize, out)
            {
                self.same.row_of_four(kernels, sources, conversion, first, blue_first, pixels);
                continue;
            }
            for row in first..first + count {
                let place = if axes[1].backwards { rows - 1 - row } else { row } - upright;
                let lines = self.tile.row_mut(place);
                match (way, &conversion) {
                    (Way::Same { .. }, Some(conversion)) => {
                        self.same.row(kernels, sources, conversion, row, lines);
                    }
                    (Way::Fixed(_) | Way::Same { .. }, _) => {
                        self.fixed.row(kernels, sources, conversion.as_ref(), row, lines);
                    }
                    (Way::Pillow(_), _) => self.pillow.row(kernels, &packed, &pixel, row, lines),
                    (Way::Linear { .. }, _) => {
                        self.linear.row(kernels, &packed, &pixel, frame.width as usize, row, lines);
                    }
                }
            }
            self.emitter.write(kernels, &mut self.tile, count, at, transpose, out);
        }
    }

    /// Makes the tables for the geometry of `frame`, unless they are those of the last one.
    fn prepare(&mut self, frame: &Frame<'_>, sources: &[Source<'_>], pixel: Pixel) {
        let orientation = Orientation::new(frame.rotation, frame.mirror);
        let geometry = Geometry {
            width: frame.width,
            height: frame.height,
            region: frame.region(),
            orientation,
            siting: frame.chroma_siting,
            format: frame.format,
            pixel,
            chroma: [sources.len(), sources[sources.len() - 1].pixel_stride],
        };
        if self.geometry == Some(geometry) {
            return;
        }
        let Rect { x, y, width, height } = geometry.region;
        let transpose = orientation.transpose;
        let upright = if transpose { [height, width] } else { [width, height] };
        let placement = place(self.spec.fit, upright, [self.spec.width, self.spec.height]);
        let [along_x, along_y] = if transpose { [placement[1], placement[0]] } else { placement };
        let axes = [
            sensor_axis(along_x, frame.width, x, orientation.flip_sensor_x, false),
            sensor_axis(along_y, frame.height, y, orientation.flip_sensor_y, orientation.flip_sensor_y),
        ];
        let (yuv, siting) = (frame.format.is_yuv(), frame.chroma_siting);
        let way = Way::of(self.spec.filter, yuv, sources, &axes, transpose, siting);
        match way {
            Way::Fixed(kernel) => {
                self.fixed.prepare(kernel, &axes, siting, Kernels::of(self.instruction_set).lanes)
            }
            Way::Same { nearest } => self.same.prepare(&axes, nearest),
            Way::Pillow(kernel) => self.pillow.prepare(kernel, &axes, transpose, &pixel),
            Way::Linear { area } => self.linear.prepare(area, &axes, transpose, &pixel),
        }
        self.tile.prepare(axes[0].len as usize, transpose);
        self.plan = Plan { way, transpose, axes, placement };
        self.geometry = Some(geometry);
    }

    /// Gives the whole tensor the colour of the bars, if there are any.
    fn fill_bars(&self, kernels: &Kernels, out: &mut TensorMut<'_>) {
        let Fit::Letterbox { pad } = self.spec.fit else { return };
        let [x, y] = self.plan.placement;
        if x.len < self.spec.width || y.len < self.spec.height {
            self.emitter.fill(kernels, pad, out);
        }
    }
}

/// An axis of the sensor. Rows that are mirrored come backwards, since they are made from top to bottom; columns lie as
/// in the upright picture at once.
fn sensor_axis(
    placement: AxisPlacement,
    frame_len: u32,
    origin: u32,
    mirrored: bool,
    backwards: bool,
) -> Axis {
    let AxisPlacement { source_len, scaled_len, window, len, .. } = placement;
    Axis { frame_len, origin, source_len, scaled_len, window, len, mirrored, backwards }
}

/// The whole frame as RGB bytes.
fn unpack_rgb565(source: &Source<'_>, frame: &Frame<'_>, out: &mut Vec<u8>) {
    debug_assert_eq!(source.sample, Sample::Rgb565);
    let (width, height) = (frame.width as usize, frame.height as usize);
    out.resize(3 * width * height, 0);
    for (row, out) in out.chunks_exact_mut(3 * width).enumerate() {
        let bytes = source.rows(row, 1, 0..width, &[]).get(0);
        for (pixel, out) in bytes.chunks(source.pixel_stride).zip(out.as_chunks_mut().0) {
            *out = rgb565([pixel[0], pixel[1]]);
        }
    }
}
