//! From a frame to a tensor.

use crate::colour::YuvToRgb;
use crate::frame::{Sample, Source, Sources};
use crate::geometry::Orientation;
use crate::placement::{AxisPlacement, place};
use crate::taps::{Axis, Taps};
use crate::{ChromaSiting, Error, Fit, Frame, ImageSpec, Layout, Rect, Result, convert, resample};

/// Turns frames into the tensor that an [`ImageSpec`] describes.
///
/// It holds the tap tables and the work space of the last geometry (size, crop, rotation, mirror), so that frames of
/// the same geometry cost no allocation and no set-up. Results do not depend on what was run before.
#[derive(Debug)]
pub struct Preprocessor {
    spec: ImageSpec,
    /// What the tables below were made for.
    geometry: Option<Geometry>,
    orientation: Orientation,
    /// Upright x, then y.
    placement: [AxisPlacement; 2],
    /// Along sensor x, then y, at full and at half resolution.
    taps: [[Taps; 2]; 2],
    /// A row of source bytes mixed down the columns.
    mixed: Vec<f32>,
    /// A row of the three channels, resampled.
    lines: Vec<f32>,
}

/// Everything in a frame that the tables depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Geometry {
    width: u32,
    height: u32,
    region: Rect,
    orientation: Orientation,
    siting: ChromaSiting,
}

impl Preprocessor {
    /// A preprocessor for `spec`.
    ///
    /// # Errors
    /// [`Error::InvalidSpec`] if the specification cannot be followed.
    pub fn new(spec: ImageSpec) -> Result<Self> {
        spec.validate()?;
        let unplaced = AxisPlacement { source_len: 1, scaled_len: 1, window: 0, dest: 0, len: 1 };
        Ok(Self {
            spec,
            geometry: None,
            orientation: Orientation { transpose: false, flip_sensor_x: false, flip_sensor_y: false },
            placement: [unplaced; 2],
            taps: Default::default(),
            mixed: Vec::new(),
            lines: Vec::new(),
        })
    }

    /// The specification that it follows.
    pub fn spec(&self) -> &ImageSpec {
        &self.spec
    }

    /// Floats in the tensor: 3 x height x width.
    pub fn output_len(&self) -> usize {
        3 * self.spec.width as usize * self.spec.height as usize
    }

    /// Writes the tensor of `frame` to `out`, all of it: f32 `[1, 3, height, width]` or `[1, height, width, 3]`, RGB.
    ///
    /// # Errors
    /// [`Error::WrongOutputLength`] if `out` does not hold [`Self::output_len`] floats, or any error of
    /// [`Frame::validate`]. `out` is then untouched.
    pub fn run(&mut self, frame: &Frame<'_>, out: &mut [f32]) -> Result<()> {
        if out.len() != self.output_len() {
            let ImageSpec { width, height, .. } = self.spec;
            return Err(Error::WrongOutputLength { has: out.len(), needs: self.output_len(), width, height });
        }
        frame.validate()?;
        self.prepare(frame);
        self.fill_bars(out);

        let sources = Sources::of(frame);
        let bits = frame.format.sample().bits();
        let conversion = frame.format.is_yuv().then(|| YuvToRgb::new(frame.matrix, frame.range, bits));
        let [columns, rows] = self.sensor_axes().map(|axis| axis.len as usize);
        for row in 0..rows {
            for source in sources.iter() {
                self.resample_row(source, row, columns);
            }
            let lines = split_lines(&mut self.lines, columns);
            if let Some(coefficients) = &conversion {
                convert::yuv_to_rgb(lines, coefficients);
            }
            self.write_row(row, columns, out);
        }
        Ok(())
    }

    /// Makes the tables for the geometry of `frame`, unless they are those of the last one.
    fn prepare(&mut self, frame: &Frame<'_>) {
        let orientation = Orientation::new(frame.rotation, frame.mirror);
        let geometry = Geometry {
            width: frame.width,
            height: frame.height,
            region: frame.region(),
            orientation,
            siting: frame.chroma_siting,
        };
        if self.geometry == Some(geometry) {
            return;
        }
        let Rect { x, y, width, height } = geometry.region;
        let upright = if orientation.transpose { [height, width] } else { [width, height] };
        self.orientation = orientation;
        self.placement = place(self.spec.fit, upright, [self.spec.width, self.spec.height]);
        let [sensor_x, sensor_y] = self.sensor_axes();
        let axes = [
            Axis {
                siting: frame.chroma_siting,
                ..sensor_axis(sensor_x, frame.width, x, orientation.flip_sensor_x)
            },
            sensor_axis(sensor_y, frame.height, y, orientation.flip_sensor_y),
        ];
        for (taps, axis) in self.taps.iter_mut().zip(&axes) {
            for (taps, halved) in taps.iter_mut().zip([false, true]) {
                taps.rebuild(self.spec.filter, axis, halved);
            }
        }
        self.geometry = Some(geometry);
    }

    /// The placement along sensor x, then y.
    fn sensor_axes(&self) -> [AxisPlacement; 2] {
        let [x, y] = self.placement;
        if self.orientation.transpose { [y, x] } else { [x, y] }
    }

    /// Resamples the channels of one source for one row, in sensor orientation.
    fn resample_row(&mut self, source: &Source<'_>, row: usize, columns: usize) {
        let [x_taps, y_taps] = &self.taps;
        let x_taps = &x_taps[usize::from(source.halved_x)];
        let y_taps = &y_taps[usize::from(source.halved_y)];
        self.mixed.resize(source.span_bytes(x_taps.span().len()), 0.0);
        resample::vertical(source, y_taps, row, x_taps, 0, &mut self.mixed);
        for (index, line) in split_lines(&mut self.lines, columns).into_iter().enumerate() {
            if let Some(offset) = source.offsets[index] {
                if source.sample == Sample::Rgb565 && index > 0 {
                    resample::vertical(source, y_taps, row, x_taps, index, &mut self.mixed);
                }
                resample::horizontal(&self.mixed, source.pixel_stride, offset, x_taps, line);
            }
        }
    }

    /// Writes the lines of sensor row `row`, which is a column of the tensor if the frame lies on its side.
    fn write_row(&mut self, row: usize, columns: usize, out: &mut [f32]) {
        let [x, y] = self.placement.map(|axis| axis.dest as usize);
        let width = self.spec.width as usize;
        let (first, step) = if self.orientation.transpose {
            (y * width + x + row, width)
        } else {
            ((y + row) * width + x, 1)
        };
        let (pixel, channel) = self.element_strides();
        for (index, line) in split_lines(&mut self.lines, columns).into_iter().enumerate() {
            let (scale, bias) = scale_and_bias(&self.spec, index);
            convert::normalise(line, scale, bias, out, first * pixel + index * channel, step * pixel);
        }
    }

    /// Floats from one pixel to the next, and from one channel to the next.
    fn element_strides(&self) -> (usize, usize) {
        match self.spec.layout {
            Layout::Nchw => (1, self.output_len() / 3),
            Layout::Nhwc => (3, 1),
        }
    }

    /// Gives the whole tensor the colour of the bars, if there are any.
    fn fill_bars(&self, out: &mut [f32]) {
        let Fit::Letterbox { pad } = self.spec.fit else { return };
        let [x, y] = self.placement;
        if x.len == self.spec.width && y.len == self.spec.height {
            return;
        }
        let (pixel, channel) = self.element_strides();
        let pixels = self.output_len() / 3;
        for (index, pad) in pad.into_iter().enumerate() {
            let (scale, bias) = scale_and_bias(&self.spec, index);
            let value = f32::from(pad) * scale + bias;
            out[index * channel..].iter_mut().step_by(pixel).take(pixels).for_each(|out| *out = value);
        }
    }
}

fn sensor_axis(placement: AxisPlacement, frame_len: u32, origin: u32, flip: bool) -> Axis {
    let AxisPlacement { source_len, scaled_len, window, len, .. } = placement;
    // The window is that of the upright picture; seen from the sensor, a flipped one begins at the other end.
    let window = if flip { scaled_len - window - u64::from(len) } else { window };
    Axis { frame_len, origin, source_len, scaled_len, window, len, flip, siting: ChromaSiting::Center }
}

/// The three lines of `columns` floats, which keep what they hold.
fn split_lines(lines: &mut Vec<f32>, columns: usize) -> [&mut [f32]; 3] {
    lines.resize(3 * columns, 0.0);
    let (first, rest) = lines.split_at_mut(columns);
    let (second, third) = rest.split_at_mut(columns);
    [first, second, third]
}

/// `(value / 255 - mean) / std` as one multiplication and one addition.
fn scale_and_bias(spec: &ImageSpec, channel: usize) -> (f32, f32) {
    let (mean, std) = (f64::from(spec.mean[channel]), f64::from(spec.std[channel]));
    ((1.0 / (255.0 * std)) as f32, (-mean / std) as f32)
}
