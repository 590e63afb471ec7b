//! Clips: `.y4m` files, or raw frames one after another.

use crate::args::{FRAME_RATES, FrameArgs, RawLayout};
use crate::error::{Error, Result};
use crate::regular;
use nearside_pipeline::vision::{ChromaSiting, Frame, Range};
use std::cell::Cell;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use y4m::Colorspace;

/// A clip that is read frame by frame.
pub(crate) struct Clip {
    path: PathBuf,
    source: Source,
    /// Frames a second, if the clip says so.
    pub(crate) fps: Option<f64>,
    frames: u64,
}

enum Source {
    Y4m { decoder: Box<y4m::Decoder<Counting>>, consumed: Rc<Cell<u64>> },
    Raw { file: BufReader<File>, layout: RawLayout, buffer: Vec<u8> },
}

/// Large enough for any camera, small enough that a nonsensical header can't take all memory.
const MAX_FRAME_BYTES: usize = 1 << 28;

impl Clip {
    pub(crate) fn open(path: &Path, args: &FrameArgs) -> Result<Self> {
        let wrong = |reason: String| Error::Clip { path: path.to_owned(), reason };
        let file = regular::open(path)?;
        let mut file = BufReader::with_capacity(1 << 20, file);
        if let Some(layout) = args.raw() {
            let frame_bytes = layout.frame_bytes();
            if frame_bytes == 0 || frame_bytes > MAX_FRAME_BYTES {
                return Err(wrong(format!(
                    "a frame would have {frame_bytes} bytes; 1 to {MAX_FRAME_BYTES} are possible"
                )));
            }
            let source = Source::Raw { file, layout, buffer: vec![0; frame_bytes] };
            return Ok(Self { path: path.to_owned(), source, fps: None, frames: 0 });
        }
        check_sides(&mut file).map_err(wrong)?;
        let limits = y4m::Limits { bytes: MAX_FRAME_BYTES };
        let consumed = Rc::new(Cell::new(0));
        let file = Counting { file, consumed: Rc::clone(&consumed) };
        let decoder = y4m::Decoder::new_with_limits(file, limits)
            .map_err(|error| wrong(format!("it is not a .y4m clip ({error})")))?;
        let colorspace = decoder.get_colorspace();
        if !matches!(
            colorspace,
            Colorspace::C420 | Colorspace::C420jpeg | Colorspace::C420paldv | Colorspace::C420mpeg2
        ) {
            return Err(wrong(format!("its colour space {colorspace:?} is not supported, 8-bit 4:2:0 is")));
        }
        let rate = decoder.get_framerate();
        // 0:0 says that the rate is unknown.
        let fps = (rate.num > 0 && rate.den > 0).then(|| rate.num as f64 / rate.den as f64);
        if let Some(fps) = fps.filter(|fps| !FRAME_RATES.contains(fps)) {
            return Err(wrong(format!(
                "its header has {fps} frames a second; 0.001 to 1000000 are possible"
            )));
        }
        Ok(Self {
            path: path.to_owned(),
            source: Source::Y4m { decoder: Box::new(decoder), consumed },
            fps,
            frames: 0,
        })
    }

    /// Gives the next frame to `use_frame`. `false` after the last.
    pub(crate) fn next(&mut self, use_frame: impl FnOnce(Frame<'_>) -> Result<()>) -> Result<bool> {
        let more = self.read(use_frame)?;
        self.frames += u64::from(more);
        if self.frames == 0 {
            return Err(Error::Clip { path: self.path.clone(), reason: "the clip has no frames".into() });
        }
        Ok(more)
    }

    fn read(&mut self, use_frame: impl FnOnce(Frame<'_>) -> Result<()>) -> Result<bool> {
        let path = &self.path;
        let wrong = |reason: String| Error::Clip { path: path.clone(), reason };
        match &mut self.source {
            Source::Y4m { decoder, consumed } => {
                let before = consumed.get();
                let range = if full_range(decoder.get_raw_params()) { Range::Full } else { Range::Limited };
                let chroma_siting = siting(decoder.get_colorspace());
                let (width, height) = (decoder.get_width(), decoder.get_height());
                let frame = match decoder.read_frame() {
                    Ok(frame) => frame,
                    Err(y4m::Error::EOF) if consumed.get() == before => return Ok(false),
                    Err(y4m::Error::EOF) => return Err(wrong("its last frame is cut short".into())),
                    Err(error) => return Err(wrong(format!("a frame can't be read ({error})"))),
                };
                let side = |side: usize| {
                    u32::try_from(side).map_err(|_| wrong(format!("{side} pixels are too many")))
                };
                let (width, height) = (side(width)?, side(height)?);
                let plane = |bytes, row_stride| nearside_pipeline::vision::Plane {
                    bytes,
                    row_stride,
                    pixel_stride: 1,
                };
                let chroma = width.div_ceil(2) as usize;
                let planes = [
                    plane(frame.get_y_plane(), width as usize),
                    plane(frame.get_u_plane(), chroma),
                    plane(frame.get_v_plane(), chroma),
                ];
                let frame = Frame::yuv420(planes, width, height).map_err(nearside_pipeline::Error::from)?;
                use_frame(Frame { range, chroma_siting, ..frame })?;
            }
            Source::Raw { file, layout, buffer } => {
                let read = |error| Error::Read { path: path.clone(), source: error };
                let mut filled = 0;
                while filled < buffer.len() {
                    match file.read(&mut buffer[filled..]).map_err(read)? {
                        0 => break,
                        bytes => filled += bytes,
                    }
                }
                if filled == 0 {
                    return Ok(false);
                }
                // The last frame may lack padding, as cameras give it: whether what is there suffices, the frame knows.
                let frame = layout.frame(&buffer[..filled]).map_err(|source| Error::Pipeline {
                    place: Some(format!("{}: frame {}", path.display(), self.frames)),
                    source,
                })?;
                use_frame(frame)?;
            }
        }
        Ok(true)
    }
}

/// Where the chroma columns sit, as FFmpeg writes it: `420mpeg2` is on the left, `420paldv` there and on the upper row,
/// `420jpeg` and plain `420` are in the centre.
fn siting(colorspace: Colorspace) -> ChromaSiting {
    match colorspace {
        Colorspace::C420mpeg2 | Colorspace::C420paldv => ChromaSiting::Left,
        _ => ChromaSiting::Center,
    }
}

/// Counts what is read: the decoder does not tell a clip that ends from one that is cut short.
struct Counting {
    file: BufReader<File>,
    consumed: Rc<Cell<u64>>,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.consumed.set(self.consumed.get() + read as u64);
        Ok(read)
    }
}

/// FFmpeg and x264 write the range as this extension.
fn full_range(header: &[u8]) -> bool {
    header.split(|byte| *byte == b' ').any(|field| field == b"XCOLORRANGE=FULL")
}

/// The decoder multiplies the sides without a look: refuses those that no frame has. Consumes nothing.
fn check_sides(file: &mut BufReader<File>) -> std::result::Result<(), String> {
    const MAX_SIDE: u64 = 1 << 14;
    let head = file.fill_buf().map_err(|error| error.to_string())?;
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    for field in
        line.split(|byte| *byte == b' ').skip(1).filter(|field| matches!(field.first(), Some(b'W' | b'H')))
    {
        let side = std::str::from_utf8(&field[1..]).ok().and_then(|text| text.parse::<u64>().ok());
        if !side.is_some_and(|side| (1..=MAX_SIDE).contains(&side)) {
            return Err(format!(
                "its header has the side `{}`; 1 to {MAX_SIDE} pixels are possible",
                field.escape_ascii()
            ));
        }
    }
    Ok(())
}
