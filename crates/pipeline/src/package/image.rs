//! The manifest's image entry as vision's terms.

use super::manifest::{self, ImageEntry};
use nearside_vision::{Filter, Fit, ImageSpec, Layout};

pub(super) fn spec(entry: &ImageEntry) -> nearside_vision::Result<ImageSpec> {
    let spec = ImageSpec {
        fit: match entry.fit {
            manifest::Fit::Stretch => Fit::Stretch,
            manifest::Fit::Letterbox => Fit::Letterbox { pad: entry.pad },
            manifest::Fit::CenterCrop => Fit::CenterCrop { fraction: entry.crop_fraction },
        },
        filter: match entry.filter {
            manifest::Filter::Bilinear => Filter::Bilinear,
            manifest::Filter::BilinearAntialias => Filter::BilinearAntialias,
        },
        mean: entry.mean,
        std: entry.std,
        layout: match entry.layout {
            manifest::Layout::Nchw => Layout::Nchw,
            manifest::Layout::Nhwc => Layout::Nhwc,
        },
        ..ImageSpec::new(entry.width, entry.height)
    };
    spec.validate()?;
    Ok(spec)
}
