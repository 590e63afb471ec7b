//! Resizing in 16-bit fixed point: first down the columns, where all bytes of a row are treated alike, then along the
//! row, channel by channel.

use crate::ChromaSiting;
use crate::frame::{Sample, Source};
use crate::kernels::{FixedYuvToRgb, Kernels};
use crate::taps::{Axis, Kernel, Precision, Taps};

/// Tables and work space.
#[derive(Debug, Default)]
pub(crate) struct Fixed {
    /// Whether halves are rounded to the even byte where nothing is converted: as OpenCV does it but for areas of two by
    /// two.
    half_to_even: bool,
    /// Along x, then y, at full and at half resolution.
    taps: [[Taps; 2]; 2],
    /// A row of samples, channels interleaved as in the source.
    mixed: Vec<i16>,
    /// One channel of it.
    channel: Vec<i16>,
    /// Sums of a row of 10-bit samples.
    sums: Vec<i32>,
    /// A row of the three channels, resampled.
    lines: [Vec<i16>; 3],
    /// The last rows of the sources, where they are not whole.
    last_rows: [Vec<u8>; 3],
}

impl Fixed {
    /// `lanes` are those of the kernels that will be used.
    pub(crate) fn prepare(&mut self, kernel: Kernel, axes: &[Axis; 2], siting: ChromaSiting, lanes: usize) {
        let halves = |axis: &Axis| u64::from(axis.source_len) == 2 * axis.scaled_len;
        self.half_to_even = !axes.iter().all(halves);
        // Chroma is sited to the left along the rows of the sensor only.
        let sitings = [siting, ChromaSiting::Center];
        for ((taps, axis), siting) in self.taps.iter_mut().zip(axes).zip(sitings) {
            for (taps, halved) in taps.iter_mut().zip([None, Some(siting)]) {
                taps.rebuild(kernel, axis, halved, Precision::Fixed);
            }
        }
        for taps in &mut self.taps[0] {
            taps.pack(lanes);
        }
        for line in &mut self.lines {
            line.resize(axes[0].len as usize, 0);
        }
    }

    /// To be called once for each frame.
    pub(crate) fn begin(&mut self, sources: &[Source<'_>]) {
        for (last_row, source) in self.last_rows.iter_mut().zip(sources) {
            let columns = self.taps[0][usize::from(source.halved_x)].span();
            source.complete_last_row(columns, last_row);
        }
    }

    /// Row `row` of the result as bytes of red, green and blue. Without `conversion` it is that already.
    pub(crate) fn row(
        &mut self,
        kernels: &Kernels,
        sources: &[Source<'_>],
        conversion: Option<&FixedYuvToRgb>,
        row: usize,
        out: [&mut [u8]; 3],
    ) {
        for (index, source) in sources.iter().enumerate() {
            self.resample(kernels, source, index, row);
        }
        let lines = self.lines.each_ref().map(|line| &line[..]);
        match conversion {
            Some(conversion) => kernels.yuv_to_rgb(lines, conversion, out),
            None => {
                let even = self.half_to_even;
                lines.into_iter().zip(out).for_each(|(line, out)| kernels.round(line, even, out));
            }
        }
    }

    /// Resamples the channels of one source for one row.
    fn resample(&mut self, kernels: &Kernels, source: &Source<'_>, index: usize, row: usize) {
        let [x, y] = &self.taps;
        let (x, y) = (&x[usize::from(source.halved_x)], &y[usize::from(source.halved_y)]);
        let columns = x.span();
        let (start, weights) = y.get(row);
        let rows =
            source.rows(y.span().start + start, weights.len(), columns.clone(), &self.last_rows[index]);
        let weights = y.padded(row);
        // Weights are read with their padding, and so are samples.
        let room = columns.len() + x.stride();
        let channels = self.lines.iter_mut().zip(source.offsets);
        let channels = channels.filter_map(|(line, offset)| offset.map(|offset| (line, offset)));
        if source.sample == Sample::P010 {
            self.channel.resize(room.max(self.channel.len()), 0);
            self.sums.resize(columns.len().max(self.sums.len()), 0);
            for (line, offset) in channels {
                let (sums, samples) = (&mut self.sums[..columns.len()], &mut self.channel[..columns.len()]);
                kernels.mix_p010(&rows, weights, source.pixel_stride, offset, sums, samples);
                kernels.mix_along(&self.channel, x, line);
            }
            return;
        }
        if let [None, Some(u), Some(v)] = source.offsets
            && source.pixel_stride == 2
        {
            let [_, u_line, v_line] = &mut self.lines;
            let lines = if u < v { [u_line, v_line] } else { [v_line, u_line] };
            let [first, second] = [&mut self.mixed, &mut self.channel];
            if !x.packed_pairs().is_empty() {
                first.resize((2 * room).max(first.len()), 0);
                kernels.mix_rows(&rows, weights, &mut first[..rows.len()]);
                return kernels.mix_pairs_along(first, x, lines.map(|line| &mut line[..]));
            }
            first.resize(room.max(first.len()), 0);
            second.resize(room.max(second.len()), 0);
            let pair = [&mut first[..columns.len()], &mut second[..columns.len()]];
            kernels.mix_row_pairs(&rows, weights, pair);
            for (line, samples) in lines.into_iter().zip([first, second]) {
                kernels.mix_along(samples, x, line);
            }
            return;
        }
        self.mixed.resize((rows.len() + x.stride()).max(self.mixed.len()), 0);
        let mixed = &mut self.mixed[..rows.len()];
        kernels.mix_rows(&rows, weights, mixed);
        if source.pixel_stride == 1 {
            return channels.for_each(|(line, _)| kernels.mix_along(&self.mixed, x, line));
        }
        self.channel.resize(room.max(self.channel.len()), 0);
        for (line, offset) in channels {
            kernels.pick16(mixed, source.pixel_stride, offset, &mut self.channel[..columns.len()]);
            kernels.mix_along(&self.channel, x, line);
        }
    }
}
