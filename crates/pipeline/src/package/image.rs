//! The manifest's image entry as vision's terms.

use super::manifest::{self, ImageEntry, ParseError};
use nearside_vision::{Filter, Fit, ImageSpec, Layout};

impl ImageEntry {
    /// How pixels become the input.
    ///
    /// # Errors
    /// A size, crop, mean or std that is not possible.
    pub fn spec(&self) -> Result<ImageSpec, ParseError> {
        let spec = ImageSpec {
            fit: match self.fit {
                manifest::Fit::Stretch => Fit::Stretch,
                manifest::Fit::Letterbox => Fit::Letterbox { pad: self.pad },
                manifest::Fit::CenterCrop => Fit::CenterCrop { fraction: self.crop_fraction },
            },
            filter: match self.filter {
                manifest::Filter::Bilinear => Filter::Bilinear,
                manifest::Filter::BilinearAntialias => Filter::BilinearAntialias,
            },
            mean: self.mean,
            std: self.std,
            layout: match self.layout {
                manifest::Layout::Nchw => Layout::Nchw,
                manifest::Layout::Nhwc => Layout::Nhwc,
            },
            ..ImageSpec::new(self.width, self.height)
        };
        spec.validate().map_err(|error| ParseError(format!("image: {error}")))?;
        Ok(spec)
    }
}
