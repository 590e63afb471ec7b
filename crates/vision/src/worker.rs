//! What one thread does for a frame: all of the tensor's rows, or some.

use std::ops::Range;

use crate::colour::YuvToRgb;
use crate::emit::{Area, At, Band, Emitter, Tile};
use crate::frame::{Pixel, Source};
use crate::geometry::Orientation;
use crate::kernels::{FixedYuvToRgb, InstructionSet, Kernels};
use crate::placement::{AxisPlacement, place};
use crate::resample::{Fixed, Linear, Pillow, Same, Way};
use crate::taps::Axis;
use crate::{ChromaSiting, Fit, Frame, ImageSpec, PixelFormat, Rect};

/// Tables and work space for one geometry.
#[derive(Debug, Default)]
pub(crate) struct Worker {
    /// What the tables are made for, and what follows from it.
    plan: Option<(Geometry, Plan)>,
    fixed: Fixed,
    pillow: Pillow,
    linear: Linear,
    same: Same,
    tile: Tile,
}

/// What a worker is given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task<'a> {
    pub(crate) spec: &'a ImageSpec,
    pub(crate) emitter: &'a Emitter,
    pub(crate) instruction_set: InstructionSet,
    pub(crate) frame: &'a Frame<'a>,
    pub(crate) sources: &'a [Source<'a>],
}

/// Everything that the tables depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Geometry {
    instruction_set: InstructionSet,
    width: u32,
    height: u32,
    region: Rect,
    orientation: Orientation,
    siting: ChromaSiting,
    format: PixelFormat,
    pixel: Pixel,
    /// Bytes from one sample to the next in each source, as far as there are any.
    strides: [usize; 3],
    /// Rows of the tensor.
    rows: Range<u32>,
}

/// What follows from the geometry.
#[derive(Clone, Copy, Debug)]
struct Plan {
    way: Way,
    transpose: bool,
    /// Of the sensor, x, then y.
    axes: [Axis; 2],
    /// Where the picture lies in the band, upright.
    picture: Area,
}

impl Worker {
    /// Writes the rows `rows` of the tensor to `out`, which holds those only.
    pub(crate) fn run(&mut self, task: &Task<'_>, rows: Range<u32>, out: &mut Band<'_>) {
        let Task { spec, emitter, instruction_set, frame, sources } = *task;
        let kernels = Kernels::of(instruction_set);
        let (packed, pixel) = sources[0].packed();
        let band_rows = rows.len();
        let plan = self.prepare(task, pixel, rows);
        let Plan { way, transpose, axes, picture } = plan;
        if let Fit::Letterbox { pad } = spec.fit {
            emitter.fill_around(kernels, pad, picture, band_rows, out);
        }
        let At { x, y } = picture.at;
        if axes.iter().any(|axis| axis.len == 0) {
            return;
        }
        match way {
            Way::Fixed(_) => self.fixed.begin(sources),
            Way::Same { .. } => self.same.begin(sources),
            Way::Pillow(_) => self.pillow.begin(),
            Way::Linear { .. } => self.linear.begin(),
        }
        let exact = YuvToRgb::new(frame.matrix, frame.range, frame.format.sample().bits());
        let conversion = FixedYuvToRgb::new(&exact);
        let of_yuv = frame.format.is_yuv().then_some(&conversion);

        let rows = axes[1].len as usize;
        for first in (0..rows).step_by(self.tile.rows()) {
            let count = self.tile.rows().min(rows - first);
            // Rows come as the sensor has them; in the tile they lie as in the upright picture.
            let upright = if axes[1].backwards { rows - first - count } else { first };
            let at = if transpose { At { x: x + upright, y } } else { At { x, y: y + upright } };
            if let Way::Same { .. } = way
                && let Some((pixels, blue_first)) = emitter.pixels_of_four(at, axes[0].len as usize, out)
            {
                self.same.row_of_four(kernels, sources, &conversion, first, blue_first, pixels);
                continue;
            }
            for row in first..first + count {
                let place = if axes[1].backwards { rows - 1 - row } else { row } - upright;
                let lines = self.tile.row_mut(place);
                match way {
                    Way::Same { .. } => self.same.row(kernels, sources, &conversion, row, lines),
                    Way::Fixed(_) => self.fixed.row(kernels, sources, of_yuv, row, lines),
                    Way::Pillow(_) => self.pillow.row(kernels, &packed, &pixel, row, lines),
                    Way::Linear { .. } => {
                        self.linear.row(kernels, &packed, &pixel, frame.width as usize, row, lines);
                    }
                }
            }
            emitter.write(kernels, &mut self.tile, count, at, transpose, out);
        }
    }

    /// Makes the tables, unless they are those of the last time.
    fn prepare(&mut self, task: &Task<'_>, pixel: Pixel, rows: Range<u32>) -> Plan {
        let Task { spec, instruction_set, frame, sources, .. } = *task;
        let orientation = Orientation::new(frame.rotation, frame.mirror);
        let region = frame.region();
        let geometry = Geometry {
            instruction_set,
            width: frame.width,
            height: frame.height,
            region,
            orientation,
            siting: frame.chroma_siting,
            format: frame.format,
            pixel,
            strides: [0, 1, 2].map(|index| sources.get(index).map_or(0, |source| source.pixel_stride)),
            rows: rows.clone(),
        };
        if let Some((last, plan)) = &self.plan
            && *last == geometry
        {
            return *plan;
        }
        let Rect { x, y, width, height } = region;
        let Orientation { transpose, flip_sensor_x, flip_sensor_y } = orientation;
        let upright = if transpose { [height, width] } else { [width, height] };
        let [across, down] = place(spec.fit, upright, [spec.width, spec.height]);
        let down = down.part(rows.clone());
        let [along_x, along_y] = if transpose { [down, across] } else { [across, down] };
        let axes = [
            sensor_axis(along_x, frame.width, x, flip_sensor_x, false),
            sensor_axis(along_y, frame.height, y, flip_sensor_y, flip_sensor_y),
        ];
        let siting = frame.chroma_siting;
        let way = Way::of(spec.filter, frame.format.is_yuv(), sources, &axes, transpose, siting);
        if axes.iter().all(|axis| axis.len > 0) {
            match way {
                Way::Fixed(kernel) => {
                    self.fixed.prepare(kernel, &axes, siting, Kernels::of(instruction_set).lanes);
                }
                Way::Same { nearest } => self.same.prepare(&axes, nearest),
                Way::Pillow(kernel) => self.pillow.prepare(kernel, &axes, transpose, &pixel),
                Way::Linear { area } => self.linear.prepare(area, &axes, transpose, &pixel),
            }
        }
        self.tile.prepare(axes[0].len as usize, transpose);
        let at = At { x: across.dest as usize, y: down.dest as usize };
        let picture = Area { at, width: across.len as usize, height: down.len as usize };
        let plan = Plan { way, transpose, axes, picture };
        self.plan = Some((geometry, plan));
        plan
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
