//! JPEG, decoded strictly and to the last bit as libjpeg does it.
//!
//! No crate in Rust gives libjpeg's numbers, which networks were trained on, and none is both strict and as fast at
//! reduced sizes; libjpeg itself would put C in front of hostile bytes and into every cross build.
//!
//! In the order of the data: [`markers`] finds segments; [`tables`], [`frame`] and [`scan`] read their headers; [`bits`]
//! and [`huffman`] read numbers, [`baseline`] (two at a time, by [`pairs`]) and [`progressive`] coefficients; these go to
//! samples at once ([`sequential`]) or when all are there ([`buffered`]); [`picture`] has [`idct`] make samples of them,
//! [`plane`] bring those to the size of the picture, and [`colour`] make RGB. [`processor`] and [`dispatch`] choose what
//! the processor can do; the unsafe code is in these two and in `idct/avx2.rs` and `colour/avx2.rs`.

mod baseline;
mod bits;
mod buffered;
mod colour;
mod dispatch;
mod frame;
mod huffman;
mod idct;
mod markers;
mod pairs;
mod picture;
mod plane;
mod processor;
mod progressive;
mod scan;
mod sequential;
mod standard_tables;
mod tables;

use image::metadata::Orientation;

use super::{PhotoOptions, Pixels};
use crate::{Error, Result};
use bits::Segment;
use buffered::{Buffered, Coefficients};
use colour::Colours;
use frame::Frame;
use markers::{END_OF_IMAGE, Markers, START_OF_SCAN};
use picture::{Picture, scaled};
use processor::Processor;
use progressive::State;
use scan::{Scan, ScanTables, walk};
use sequential::Sequential;
use tables::Tables;

/// Most scans in a file. Encoders write about ten; each costs a walk over the whole picture.
const MAX_SCANS: usize = 100;

/// Decodes baseline and progressive JPEG of any colour space to RGB, and reads the orientation.
pub(super) fn decode(bytes: &[u8], options: &PhotoOptions) -> Result<Pixels> {
    let mut markers = Markers::new(bytes);
    let mut tables = Tables::new();
    let (frame, scan) = read_headers(&mut markers, &mut tables, options)?;
    let orientation = tables.orientation.unwrap_or(Orientation::NoTransforms);
    let scale = options.at_least.map_or(8, |least| smallest_scale(&frame, orientation, least));
    let steps = frame.components.iter().map(|component| tables.quantisation[component.quantisation & 3]);
    let steps = steps.collect::<Option<_>>().ok_or_else(|| corrupt("a quantisation table is missing"))?;
    let mut picture = Picture::new(&frame, steps, Colours::of(&frame, &tables), scale)?;

    // One scan with everything is used up as it is read.
    let buffered = frame.progressive || scan.components.len() < frame.components.len();
    let coefficients = if buffered { frame.coefficient_bytes() } else { 0 };
    // A scan's data are copied without stuffing.
    let memory = picture.bytes().saturating_add(coefficients).saturating_add(bytes.len() as u64);
    options.limits.check_picture(frame.width as u64, frame.height as u64, memory)?;
    picture.allocate();

    let mut decoder = Decoder { markers, tables, frame: &frame, picture: &mut picture };
    dispatch::run(&mut decoder, scan, buffered)?;
    let Picture { width, height, rgb, .. } = picture;
    Ok(Pixels { width: width as u32, height: height as u32, rgb, orientation })
}

/// Reads up to the first scan's header, and that.
fn read_headers(
    markers: &mut Markers<'_>,
    tables: &mut Tables,
    options: &PhotoOptions,
) -> Result<(Frame, Scan)> {
    let mut frame = None;
    loop {
        match markers.segment()? {
            (START_OF_SCAN, payload) => {
                let frame = frame.ok_or_else(|| corrupt("its size is missing"))?;
                let scan = Scan::read(&frame, payload)?;
                return Ok((frame, scan));
            }
            (END_OF_IMAGE, _) => return Err(corrupt("it has no picture")),
            (marker @ (0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcf | 0xf7), payload) => {
                if frame.is_some() {
                    return Err(corrupt("it has two sizes"));
                }
                let read = Frame::read(marker, payload)?;
                // Before anything else is made of it.
                options.limits.check_picture(read.width as u64, read.height as u64, 0)?;
                frame = Some(read);
            }
            (marker, payload) => tables.read(marker, payload)?,
        }
    }
}

/// The smallest scale in eighths at which the upright picture is at least so large.
fn smallest_scale(frame: &Frame, orientation: Orientation, (width, height): (u32, u32)) -> usize {
    let (width, height) =
        if super::orientation::swaps_axes(orientation) { (height, width) } else { (width, height) };
    let is_enough = |scale: &usize| {
        let [wide, high] = scaled(frame, *scale);
        wide >= width as usize && high >= height as usize
    };
    [1, 2, 4].into_iter().find(is_enough).unwrap_or(8)
}

/// What goes through the scans of a file.
struct Decoder<'a> {
    markers: Markers<'a>,
    tables: Tables,
    frame: &'a Frame,
    picture: &'a mut Picture,
}

impl Decoder<'_> {
    #[inline(always)]
    fn scans(&mut self, processor: impl Processor, first: Scan, buffered: bool) -> Result<()> {
        let segment = Segment::default();
        if buffered {
            self.many_scans(processor, first, segment)
        } else {
            self.one_scan(processor, &first, segment)
        }
    }

    /// A picture in one scan.
    #[inline(always)]
    fn one_scan(&mut self, processor: impl Processor, scan: &Scan, mut segment: Segment) -> Result<()> {
        let tables = ScanTables::new(self.frame, scan, &self.tables)?;
        let groups = scan.groups(self.frame);
        let mut sink = Sequential {
            processor,
            frame: self.frame,
            scan,
            tables: &tables,
            predicted: [0; 4],
            picture: self.picture,
        };
        walk(&mut self.markers, &mut segment, &self.tables, groups, &mut sink)?;
        match self.next_scan()? {
            None => Ok(()),
            Some(_) => Err(corrupt("its scans are not in order")),
        }
    }

    /// A picture in several scans.
    #[inline(always)]
    fn many_scans(&mut self, processor: impl Processor, first: Scan, mut segment: Segment) -> Result<()> {
        let mut coefficients = Coefficients::new(self.frame);
        let mut next = Some(first);
        let mut count = 0;
        while let Some(scan) = next {
            count += 1;
            if count > MAX_SCANS {
                return Err(Error::PhotoTooLarge {
                    what: "number of scans",
                    has: count as u64,
                    limit: MAX_SCANS as u64,
                });
            }
            coefficients.expect(self.frame, &scan)?;
            let tables = ScanTables::new(self.frame, &scan, &self.tables)?;
            let groups = scan.groups(self.frame);
            let mut sink = Buffered {
                frame: self.frame,
                scan: &scan,
                tables: &tables,
                state: State::default(),
                coefficients: &mut coefficients,
            };
            walk(&mut self.markers, &mut segment, &self.tables, groups, &mut sink)?;
            next = self.next_scan()?;
        }
        coefficients.check_complete()?;
        coefficients.reconstruct(processor, self.frame, self.picture);
        Ok(())
    }

    /// Reads up to the next scan's header; `None` at the end of the image.
    fn next_scan(&mut self) -> Result<Option<Scan>> {
        loop {
            match self.markers.segment()? {
                (END_OF_IMAGE, _) => return Ok(None),
                (START_OF_SCAN, payload) => return Scan::read(self.frame, payload).map(Some),
                (0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcf, _) => return Err(corrupt("it has two sizes")),
                (marker, payload) => self.tables.read(marker, payload)?,
            }
        }
    }
}

fn corrupt(reason: impl Into<String>) -> Error {
    Error::CorruptPhoto { format: "JPEG", reason: reason.into() }
}
