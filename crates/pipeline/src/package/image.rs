//! The manifest's image entry as vision's terms.

use super::manifest::{self, ImageEntry, ParseError};
use nearside_vision::{Channels, Filter, Fit, ImageSpec, Layout};

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
                manifest::Filter::Nearest => Filter::Nearest,
                manifest::Filter::Bilinear => Filter::Bilinear,
                manifest::Filter::BilinearAntialias => Filter::BilinearAntialias,
                manifest::Filter::BicubicAntialias => Filter::BicubicAntialias,
                manifest::Filter::Area => Filter::Area,
            },
            mean: self.mean,
            std: self.std,
            layout: match self.layout {
                manifest::Layout::Nchw => Layout::Nchw,
                manifest::Layout::Nhwc => Layout::Nhwc,
            },
            channels: match self.channels {
                manifest::Channels::Rgb => Channels::Rgb,
                manifest::Channels::Bgr => Channels::Bgr,
            },
            ..ImageSpec::new(self.width, self.height)
        };
        spec.validate().map_err(|error| ParseError(format!("image: {error}")))?;
        Ok(spec)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            serde_json::from_str(include_str!("../../../../docs/manifest.schema.json")).unwrap();
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
