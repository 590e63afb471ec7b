//! What a network wants to see.

mod element;

pub use element::{Element, Quantization};

use crate::{Error, Result};

/// Largest width and height of a tensor's picture.
const MAX_SIDE: u32 = 16_384;

/// The picture that a network takes, as the manifest of its package says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImageSpec {
    /// Width of the tensor's picture in pixels.
    pub width: u32,
    /// Height of the tensor's picture in pixels.
    pub height: u32,
    /// How a picture of another shape is made to fit.
    pub fit: Fit,
    /// How it is resampled.
    pub filter: Filter,
    /// Subtracted from the values on 0..1, in RGB order.
    pub mean: [f32; 3],
    /// What the difference is divided by, in RGB order.
    pub std: [f32; 3],
    /// Order of the tensor's axes.
    pub layout: Layout,
    /// Number and order of the channels.
    pub channels: Channels,
    /// Type of the tensor's elements.
    pub element: Element,
}

impl ImageSpec {
    /// Stretched, antialiased, values on 0..1, f32, RGB, NCHW.
    pub fn new(width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            fit: Fit::Stretch,
            filter: Filter::BilinearAntialias,
            mean: [0.0; 3],
            std: [1.0; 3],
            layout: Layout::Nchw,
            channels: Channels::Rgb,
            element: Element::F32,
        }
    }

    /// The picture itself as bytes, row by row, nothing normalised: what shows on a screen or goes into a file.
    pub fn pixels(width: u32, height: u32, channels: Channels) -> Self {
        let element = Element::U8(Quantization::PIXELS_U8);
        Self { layout: Layout::Nhwc, channels, element, ..Self::new(width, height) }
    }

    /// Elements of the tensor: channels x height x width.
    pub fn len(&self) -> usize {
        self.channels.count() * self.width as usize * self.height as usize
    }

    /// Never: a tensor has at least one pixel.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks every field.
    ///
    /// # Errors
    /// [`Error::InvalidSpec`] names the field, its value and what it must be.
    pub fn validate(&self) -> Result<()> {
        let refuse = |field, value: String, expected| Err(Error::InvalidSpec { field, value, expected });
        if let Layout::Patches { side: 0 } = self.layout {
            return refuse("patch side", "0".to_owned(), "at least 1");
        }
        for (field, side) in [("width", self.width), ("height", self.height)] {
            if side == 0 || side > MAX_SIDE {
                return refuse(field, side.to_string(), "between 1 and 16384");
            }
            if let Layout::Patches { side: patch } = self.layout
                && !side.is_multiple_of(patch)
            {
                return refuse(
                    field,
                    format!("{side} with patches of {patch}"),
                    "a multiple of the patches' side",
                );
            }
        }
        if let Fit::CenterCrop { fraction } = self.fit
            && !(fraction > 0.0 && fraction <= 1.0)
        {
            return refuse("crop fraction", fraction.to_string(), "above 0 and at most 1");
        }
        if self.mean.iter().any(|mean| !mean.is_finite()) {
            return refuse("mean", format!("{:?}", self.mean), "three finite numbers, for values on 0..1");
        }
        if self.std.iter().any(|std| !std.is_finite() || *std == 0.0) {
            return refuse(
                "std",
                format!("{:?}", self.std),
                "three finite numbers other than 0, for values on 0..1",
            );
        }
        if self.mean.iter().zip(self.std).any(|(mean, std)| !self.element.holds(*mean, std)) {
            return refuse(
                "std",
                format!("{:?} with mean {:?}", self.std, self.mean),
                "large enough for what comes out to be a finite number",
            );
        }
        self.element.validate()
    }
}

/// How a picture is made to fit a tensor of another shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fit {
    /// The whole picture, stretched.
    Stretch,
    /// The whole picture, scaled alike in both directions, centred, with bars in this RGB colour. The scaled size is
    /// rounded half to even; an odd bar is a pixel wider on the right or at the bottom.
    Letterbox {
        /// Colour of the bars, RGB.
        pad: [u8; 3],
    },
    /// The middle of the picture, as timm and torchvision do it: the picture is resized until its shorter side is
    /// `floor(size / fraction)`, then the centre is cut out.
    CenterCrop {
        /// Share of the shorter side that is kept, above 0 and at most 1: timm's `crop_pct`.
        fraction: f32,
    },
}

/// How a picture is resampled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The pixel under the middle of the output pixel: Pillow's `NEAREST`. Chroma is
    /// not interpolated either, as in OpenCV's `cvtColor` and libyuv's conversions. For labels, and for showing frames
    /// as they are.
    Nearest,
    /// The four nearest pixels, half-pixel centres, clamped at the edge: OpenCV's `INTER_LINEAR`. Aliases when it
    /// shrinks.
    Bilinear,
    /// A triangle as wide as the shrinking asks for: Pillow's `BILINEAR`, torchvision's `antialias=True`.
    #[default]
    BilinearAntialias,
    /// A cubic as wide as the shrinking asks for: Pillow's `BICUBIC` (a = -0.5), what most Hugging Face image
    /// processors use.
    BicubicAntialias,
    /// The mean over the area that an output pixel covers: OpenCV's `INTER_AREA`. Enlarges as that does, by a linear
    /// filter that leaves flat steps.
    Area,
}

/// Order of a tensor's axes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Layout {
    /// Channel, row, column: PyTorch.
    #[default]
    Nchw,
    /// Row, column, channel: TensorFlow.
    Nhwc,
    /// Square patches from left to right and top to bottom, each row by row with the channels of a pixel together:
    /// `[1, patches, side * side * channels]`, as encoders take it that have no convolution (Gemma 4). Width and
    /// height are multiples of `side`.
    Patches {
        /// Width and height of a patch in pixels.
        side: u32,
    },
}

/// Number and order of a tensor's channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Channels {
    /// Red, green, blue.
    #[default]
    Rgb,
    /// Blue, green, red.
    Bgr,
    /// Red, green, blue and an alpha of 1: opaque.
    Rgba,
    /// Blue, green, red and an alpha of 1: opaque.
    Bgra,
}

impl Channels {
    /// How many there are.
    pub fn count(self) -> usize {
        match self {
            Self::Rgb | Self::Bgr => 3,
            Self::Rgba | Self::Bgra => 4,
        }
    }

    /// Which of red (0), green (1) and blue (2) each of the first three channels is.
    pub(crate) fn colours(self) -> [usize; 3] {
        match self {
            Self::Rgb | Self::Rgba => [0, 1, 2],
            Self::Bgr | Self::Bgra => [2, 1, 0],
        }
    }
}
