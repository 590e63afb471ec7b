//! nearside-vision itself.

use nearside_vision::{
    BufferLayout, Filter, Fit, Frame, ImageSpec, Layout, Matrix, Photo, Preprocessor, Range, Rect, Rotation,
};

use crate::task::{Contender, Error, FrameJson, Result, SpecJson, elements};

const BY: &str = "nearside-vision";

fn refused(error: nearside_vision::Error) -> Error {
    Error::Refused(error.to_string())
}

fn unsupported<T>(what: &'static str, value: &str) -> Result<T> {
    Err(Error::Unsupported { by: BY, what, value: value.to_owned() })
}

/// Frames to tensors.
pub(crate) struct OfFrame {
    json: FrameJson,
    layout: BufferLayout,
    rotation: Rotation,
    matrix: Matrix,
    range: Range,
    tensor: Tensor,
}

impl OfFrame {
    pub(crate) fn new(json: FrameJson, spec: &SpecJson) -> Result<Self> {
        let layout = json.layout.parse().map_err(refused)?;
        let rotation = Rotation::from_degrees(json.rotation).map_err(refused)?;
        let matrix = match json.matrix.as_str() {
            "bt601" => Matrix::Bt601,
            "bt709" => Matrix::Bt709,
            other => return unsupported("matrix", other),
        };
        let range = match json.range.as_str() {
            "limited" => Range::Limited,
            "full" => Range::Full,
            other => return unsupported("range", other),
        };
        if json.siting != "center" {
            return unsupported("siting", &json.siting);
        }
        Ok(Self { layout, rotation, matrix, range, tensor: Tensor::new(spec)?, json })
    }
}

impl Contender for OfFrame {
    fn output_bytes(&self) -> usize {
        self.tensor.bytes()
    }

    fn run(&mut self, frame: &[u8], out: &mut [u8]) -> Result<()> {
        let FrameJson { width, height, row_stride, crop, mirror, .. } = self.json;
        let frame = self.layout.frame(frame, width, height, row_stride, None).map_err(refused)?;
        let crop = crop.map(|[x, y, width, height]| Rect { x, y, width, height });
        let (rotation, matrix, range) = (self.rotation, self.matrix, self.range);
        self.tensor.fill(&Frame { crop, rotation, mirror, matrix, range, ..frame }, out)
    }
}

/// Image files to tensors.
pub(crate) struct OfPhoto {
    tensor: Tensor,
}

impl OfPhoto {
    pub(crate) fn new(spec: &SpecJson) -> Result<Self> {
        Ok(Self { tensor: Tensor::new(spec)? })
    }
}

impl Contender for OfPhoto {
    fn output_bytes(&self) -> usize {
        self.tensor.bytes()
    }

    fn run(&mut self, file: &[u8], out: &mut [u8]) -> Result<()> {
        let photo = Photo::decode(file).map_err(refused)?;
        self.tensor.fill(&photo.frame(), out)
    }
}

/// What comes out.
struct Tensor {
    preprocessor: Preprocessor,
}

impl Tensor {
    fn new(json: &SpecJson) -> Result<Self> {
        if json.channels != "rgb" {
            return unsupported("order of channels", &json.channels);
        }
        if json.element != "f32" {
            return unsupported("element", &json.element);
        }
        let fit = match json.fit.as_str() {
            "stretch" => Fit::Stretch,
            "letterbox" => Fit::Letterbox { pad: json.pad },
            "center_crop" => Fit::CenterCrop { fraction: json.fraction },
            other => return unsupported("fit", other),
        };
        let filter = match json.filter.as_str() {
            "bilinear" => Filter::Bilinear,
            "antialias" => Filter::BilinearAntialias,
            other => return unsupported("filter", other),
        };
        let layout = match json.layout.as_str() {
            "nchw" => Layout::Nchw,
            "nhwc" => Layout::Nhwc,
            other => return unsupported("layout", other),
        };
        let SpecJson { width, height, mean, std, .. } = *json;
        let spec = ImageSpec { width, height, fit, filter, mean, std, layout };
        Ok(Self { preprocessor: Preprocessor::new(spec).map_err(refused)? })
    }

    fn bytes(&self) -> usize {
        self.preprocessor.output_len() * size_of::<f32>()
    }

    fn fill(&mut self, frame: &Frame<'_>, out: &mut [u8]) -> Result<()> {
        let out = elements::<f32>(out, self.preprocessor.output_len())?;
        self.preprocessor.run(frame, out).map_err(refused)
    }
}
