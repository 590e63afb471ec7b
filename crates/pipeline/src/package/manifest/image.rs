//! How pixels become the input tensor: the entry `image`, and the same in vision's terms.

use super::ParseError;
use nearside_vision::ImageSpec;
use serde::{Deserialize, Serialize};

/// How pixels become the input tensor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageEntry {
    /// Width of the input, pixels.
    pub width: u32,
    /// Height of the input, pixels.
    pub height: u32,
    /// How the picture is fitted into it.
    pub fit: Fit,
    /// `center_crop` only: the share of the shorter side that is kept, 0 < share <= 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub crop_fraction: f32,
    /// `letterbox` only: the colour of the bars, RGB.
    #[serde(default, skip_serializing_if = "is_black")]
    pub pad: [u8; 3],
    /// How it is resampled.
    pub filter: Filter,
    /// Subtracted from values scaled to 0..=1, RGB.
    pub mean: [f32; 3],
    /// Divides what is left, RGB.
    pub std: [f32; 3],
    /// The order of the dimensions.
    pub layout: Layout,
    /// The order of the colours.
    #[serde(default, skip_serializing_if = "is_rgb")]
    pub channels: Channels,
}

/// How a picture is fitted into the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// Stretched, losing its aspect ratio.
    Stretch,
    /// Whole, with bars.
    Letterbox,
    /// The largest centred part with the input's aspect ratio, times `crop_fraction`.
    CenterCrop,
}

/// How a picture is resampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Filter {
    /// Pillow's `NEAREST`.
    Nearest,
    /// OpenCV's `INTER_LINEAR`.
    Bilinear,
    /// Pillow's `BILINEAR`: the support grows with the scale.
    BilinearAntialias,
    /// Pillow's `BICUBIC`: the support grows with the scale.
    BicubicAntialias,
    /// OpenCV's `INTER_AREA`.
    Area,
}

/// The order of a tensor's dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// Planes of colours.
    Nchw,
    /// Interleaved colours.
    Nhwc,
}

/// The order of a tensor's colours. Mean, std and pad are RGB with either.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channels {
    /// Red first.
    #[default]
    Rgb,
    /// Blue first.
    Bgr,
}

impl ImageEntry {
    /// The shape of the input: one image, in the entry's layout.
    pub fn input_sizes(&self) -> [i32; 4] {
        // What `spec` lets pass has sides of at most 16384.
        let (width, height) = (self.width as i32, self.height as i32);
        match self.layout {
            Layout::Nchw => [1, 3, height, width],
            Layout::Nhwc => [1, height, width, 3],
        }
    }

    /// How pixels become the input.
    ///
    /// # Errors
    /// A size, crop, mean or std that is not possible.
    pub fn spec(&self) -> Result<ImageSpec, ParseError> {
        let spec = ImageSpec {
            fit: match self.fit {
                Fit::Stretch => nearside_vision::Fit::Stretch,
                Fit::Letterbox => nearside_vision::Fit::Letterbox { pad: self.pad },
                Fit::CenterCrop => nearside_vision::Fit::CenterCrop { fraction: self.crop_fraction },
            },
            filter: match self.filter {
                Filter::Nearest => nearside_vision::Filter::Nearest,
                Filter::Bilinear => nearside_vision::Filter::Bilinear,
                Filter::BilinearAntialias => nearside_vision::Filter::BilinearAntialias,
                Filter::BicubicAntialias => nearside_vision::Filter::BicubicAntialias,
                Filter::Area => nearside_vision::Filter::Area,
            },
            mean: self.mean,
            std: self.std,
            layout: match self.layout {
                Layout::Nchw => nearside_vision::Layout::Nchw,
                Layout::Nhwc => nearside_vision::Layout::Nhwc,
            },
            channels: match self.channels {
                Channels::Rgb => nearside_vision::Channels::Rgb,
                Channels::Bgr => nearside_vision::Channels::Bgr,
            },
            ..ImageSpec::new(self.width, self.height)
        };
        spec.validate().map_err(|error| ParseError(format!("image: {error}")))?;
        Ok(spec)
    }
}

fn one() -> f32 {
    1.0
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn is_one(fraction: &f32) -> bool {
    *fraction == 1.0
}

fn is_black(pad: &[u8; 3]) -> bool {
    *pad == [0; 3]
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_rgb(channels: &Channels) -> bool {
    *channels == Channels::Rgb
}

#[cfg(test)]
mod tests {
    use super::ImageEntry;
    use nearside_vision::{Channels, Filter};

    const ENTRY: &str = r#"{
        "width": 8, "height": 6, "fit": "stretch", "filter": "FILTER", "mean": [0.1, 0.2, 0.3],
        "std": [1.0, 1.0, 1.0], "layout": "nhwc"
    }"#;

    fn entry(text: &str) -> ImageEntry {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn every_filter_has_its_name_in_the_manifest() {
        for (name, filter) in [
            ("nearest", Filter::Nearest),
            ("bilinear", Filter::Bilinear),
            ("bilinear_antialias", Filter::BilinearAntialias),
            ("bicubic_antialias", Filter::BicubicAntialias),
            ("area", Filter::Area),
        ] {
            assert_eq!(entry(&ENTRY.replace("FILTER", name)).spec().unwrap().filter, filter);
        }
    }

    #[test]
    fn colours_are_rgb_unless_the_manifest_says_otherwise() {
        let rgb = ENTRY.replace("FILTER", "area");
        assert_eq!(entry(&rgb).spec().unwrap().channels, Channels::Rgb);
        for (name, channels) in [("rgb", Channels::Rgb), ("bgr", Channels::Bgr)] {
            let said = rgb.replace("\"nhwc\"", &format!("\"nhwc\", \"channels\": \"{name}\""));
            let entry = entry(&said);
            assert_eq!(entry.spec().unwrap().channels, channels);
            // As read, and as other versions wrote it before there was a choice.
            let written = serde_json::to_string(&entry).unwrap();
            assert_eq!(written.contains("channels"), channels == Channels::Bgr);
            assert_eq!(serde_json::from_str::<ImageEntry>(&written).unwrap(), entry);
        }
    }

    #[test]
    fn the_published_schema_names_the_same_choices() {
        let schema: serde_json::Value =
            serde_json::from_str(include_str!("../../../../../docs/manifest.schema.json")).unwrap();
        let image = &schema["$defs"]["image"]["properties"];
        let text = ENTRY.replace("FILTER", "area");
        let base: serde_json::Value = serde_json::from_str(&text).unwrap();
        for (field, count) in [("fit", 3), ("filter", 5), ("layout", 2), ("channels", 2)] {
            let names = image[field]["enum"].as_array().unwrap();
            assert_eq!(names.len(), count, "{field}");
            for name in names {
                let mut entry = base.clone();
                entry[field] = name.clone();
                assert!(serde_json::from_value::<ImageEntry>(entry).is_ok(), "{field} {name}");
            }
        }
    }
}
