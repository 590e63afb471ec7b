//! nearside-vision itself.

use nearside_vision::{
    BufferLayout, Channels, ChromaSiting, Element, Filter, Fit, Frame, ImageSpec, InstructionSet, Layout,
    Matrix, Photo, PhotoOptions, Preprocessor, Quantization, Range, Rect, Rotation,
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
    chroma_siting: ChromaSiting,
    tensor: Tensor,
}

impl OfFrame {
    pub(crate) fn new(json: FrameJson, spec: &SpecJson) -> Result<Self> {
        let layout = json.layout.parse().map_err(refused)?;
        let rotation = Rotation::from_degrees(json.rotation).map_err(refused)?;
        let matrix = match json.matrix.as_str() {
            "bt601" => Matrix::Bt601,
            "bt709" => Matrix::Bt709,
            "bt2020" => Matrix::Bt2020,
            other => return unsupported("matrix", other),
        };
        let range = match json.range.as_str() {
            "limited" => Range::Limited,
            "full" => Range::Full,
            other => return unsupported("range", other),
        };
        let chroma_siting = match json.siting.as_str() {
            "center" => ChromaSiting::Center,
            "left" => ChromaSiting::Left,
            other => return unsupported("siting", other),
        };
        Ok(Self { layout, rotation, matrix, range, chroma_siting, tensor: Tensor::new(spec)?, json })
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
        let Self { rotation, matrix, range, chroma_siting, .. } = *self;
        self.tensor.fill(&Frame { crop, rotation, mirror, matrix, range, chroma_siting, ..frame }, out)
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
        let ImageSpec { width, height, .. } = *self.tensor.preprocessor.spec();
        let options = PhotoOptions { at_least: Some((width, height)), ..PhotoOptions::default() };
        let photo = Photo::decode_with(file, &options).map_err(refused)?;
        self.tensor.fill(&photo.frame(), out)
    }
}

/// What comes out.
struct Tensor {
    preprocessor: Preprocessor,
}

impl Tensor {
    fn new(json: &SpecJson) -> Result<Self> {
        let fit = match json.fit.as_str() {
            "stretch" => Fit::Stretch,
            "letterbox" => Fit::Letterbox { pad: json.pad },
            "center_crop" => Fit::CenterCrop { fraction: json.fraction },
            other => return unsupported("fit", other),
        };
        let filter = match json.filter.as_str() {
            "nearest" => Filter::Nearest,
            "bilinear" => Filter::Bilinear,
            "antialias" => Filter::BilinearAntialias,
            "bicubic" => Filter::BicubicAntialias,
            "area" => Filter::Area,
            other => return unsupported("filter", other),
        };
        let layout = match json.layout.as_str() {
            "nchw" => Layout::Nchw,
            "nhwc" => Layout::Nhwc,
            other => return unsupported("layout", other),
        };
        let channels = match json.channels.as_str() {
            "rgb" => Channels::Rgb,
            "bgr" => Channels::Bgr,
            "rgba" => Channels::Rgba,
            "bgra" => Channels::Bgra,
            other => return unsupported("order of channels", other),
        };
        let element = match json.element.as_str() {
            "f32" => Element::F32,
            "u8" => Element::U8(Quantization::PIXELS_U8),
            other => return unsupported("element", other),
        };
        let SpecJson { width, height, mean, std, .. } = *json;
        let spec = ImageSpec { width, height, fit, filter, mean, std, layout, channels, element };
        let mut preprocessor = Preprocessor::new(spec).map_err(refused)?;
        if let Some(name) = &json.instructions {
            preprocessor.set_instruction_set(instruction_set(name)?);
        }
        Ok(Self { preprocessor })
    }

    fn bytes(&self) -> usize {
        self.preprocessor.output_len() * self.element_bytes()
    }

    fn element_bytes(&self) -> usize {
        if self.preprocessor.spec().element == Element::F32 { size_of::<f32>() } else { 1 }
    }

    fn fill(&mut self, frame: &Frame<'_>, out: &mut [u8]) -> Result<()> {
        let len = self.preprocessor.output_len();
        if self.element_bytes() == 1 {
            return self.preprocessor.run(frame, elements::<u8>(out, len)?).map_err(refused);
        }
        self.preprocessor.run(frame, elements::<f32>(out, len)?).map_err(refused)
    }
}

/// The vector instructions of a name, if this processor has them.
fn instruction_set(name: &str) -> Result<InstructionSet> {
    let named = |set: &InstructionSet| format!("{set:?}").to_lowercase() == name && set.is_available();
    match InstructionSet::ALL.into_iter().find(named) {
        Some(set) => Ok(set),
        None => unsupported("such instructions here", name),
    }
}
