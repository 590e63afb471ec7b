//! libyuv, as Debian packages it (`libyuv-dev`, or `libyuv0` alone), opened at run time: a machine without it has
//! one row less. It has no pkg-config file.

use std::ffi::c_int;

use libloading::{Library, Symbol};

use crate::task::{Contender, Error, FrameJson, Result, at_least};

const BY: &str = "libyuv";

const NAMES: [&str; 3] = ["libyuv.so.0", "libyuv.so", "libyuv.dylib"];

/// `kFilterBilinear` of `FilterMode` in `libyuv/scale.h`.
const FILTER_BILINEAR: c_int = 2;

/// `NV12ToABGR` in `libyuv/convert_argb.h`: bytes R, G, B, A; BT.601, limited range; chroma repeated.
type Nv12ToAbgr =
    unsafe extern "C" fn(*const u8, c_int, *const u8, c_int, *mut u8, c_int, c_int, c_int) -> c_int;

/// `I420ToARGBMatrixFilter` there. ABGR is ARGB with U and V, and the matrix's halves, exchanged.
type I420ToArgbMatrixFilter = unsafe extern "C" fn(
    *const u8,
    c_int,
    *const u8,
    c_int,
    *const u8,
    c_int,
    *mut u8,
    c_int,
    *const u8,
    c_int,
    c_int,
    c_int,
) -> c_int;

/// Frames to RGBA at full size.
pub(crate) struct ToRgba {
    library: Library,
    width: usize,
    height: usize,
    interpolate: bool,
}

impl ToRgba {
    pub(crate) fn new(frame: &FrameJson, interpolate: bool) -> Result<Self> {
        let layout = if interpolate { "i420" } else { "nv12" };
        for (what, value, expected) in [
            ("frame layout with this filter", &frame.layout, layout),
            ("matrix", &frame.matrix, "bt601"),
            ("range", &frame.range, "limited"),
        ] {
            if value != expected {
                return Err(Error::Unsupported { by: BY, what, value: value.clone() });
            }
        }
        let library = NAMES
            .iter()
            // SAFETY: libyuv has no initialiser that could do harm.
            .find_map(|name| unsafe { Library::new(*name) }.ok())
            .ok_or_else(|| Error::Absent("libyuv is not installed (Debian: libyuv-dev)".to_owned()))?;
        let (width, height) = (frame.width as usize, frame.height as usize);
        Ok(Self { library, width, height, interpolate })
    }

    fn nearest(&self, frame: &[u8], out: &mut [u8]) -> Result<c_int> {
        let [width, height] = [self.width as c_int, self.height as c_int];
        let chroma_stride = (self.width.div_ceil(2) * 2) as c_int;
        let (luma, chroma) = frame.split_at(self.width * self.height);
        let convert: Symbol<'_, Nv12ToAbgr> = self.symbol("NV12ToABGR")?;
        // SAFETY: `run` has checked that the planes and the output hold that many rows of these strides.
        Ok(unsafe {
            convert(
                luma.as_ptr(),
                width,
                chroma.as_ptr(),
                chroma_stride,
                out.as_mut_ptr(),
                4 * width,
                width,
                height,
            )
        })
    }

    fn interpolated(&self, frame: &[u8], out: &mut [u8]) -> Result<c_int> {
        let [width, height] = [self.width as c_int, self.height as c_int];
        let chroma_stride = self.width.div_ceil(2);
        let (luma, chroma) = frame.split_at(self.width * self.height);
        let (u, v) = chroma.split_at(chroma_stride * self.height.div_ceil(2));
        let convert: Symbol<'_, I420ToArgbMatrixFilter> = self.symbol("I420ToARGBMatrixFilter")?;
        // SAFETY: it is a constant structure, of which only the address is used.
        let matrix: Symbol<'_, *const u8> =
            unsafe { self.library.get(b"kYvuI601Constants\0") }.map_err(absent)?;
        let chroma_stride = chroma_stride as c_int;
        // SAFETY: as above.
        Ok(unsafe {
            convert(
                luma.as_ptr(),
                width,
                v.as_ptr(),
                chroma_stride,
                u.as_ptr(),
                chroma_stride,
                out.as_mut_ptr(),
                4 * width,
                matrix.try_as_raw_ptr().unwrap_or_default().cast(),
                width,
                height,
                FILTER_BILINEAR,
            )
        })
    }

    fn symbol<T>(&self, name: &str) -> Result<Symbol<'_, T>> {
        // SAFETY: the types are those of libyuv's headers.
        unsafe { self.library.get(name.as_bytes()) }.map_err(absent)
    }
}

fn absent(error: libloading::Error) -> Error {
    Error::Absent(error.to_string())
}

impl Contender for ToRgba {
    fn output_bytes(&self) -> usize {
        4 * self.width * self.height
    }

    fn run(&mut self, frame: &[u8], out: &mut [u8]) -> Result<()> {
        let Self { width, height, .. } = *self;
        at_least("frame", frame, width * height + 2 * width.div_ceil(2) * height.div_ceil(2))?;
        at_least("output", out, self.output_bytes())?;
        let status = if self.interpolate { self.interpolated(frame, out) } else { self.nearest(frame, out) }?;
        if status == 0 { Ok(()) } else { Err(Error::Refused(format!("libyuv says {status}"))) }
    }
}
