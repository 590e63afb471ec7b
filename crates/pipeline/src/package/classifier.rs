//! What a package says of a classifier's input and output.

use super::manifest::{Classify, Output, ParseError};
use super::{files, labels};
use crate::error::{Error, Result};
use nearside_vision::ImageSpec;
use std::path::Path;
use std::sync::Arc;

/// A classifier's input and output.
#[derive(Debug, Clone)]
pub struct Classifier {
    pub(crate) labels: Arc<[Arc<str>]>,
    pub(crate) image_spec: ImageSpec,
    pub(crate) input_sizes: [i32; 4],
    pub(crate) output: Output,
}

impl Classifier {
    pub(super) fn read(root: &Path, manifest_path: &Path, classify: &Classify) -> Result<Self> {
        let wrong = |ParseError(reason)| Error::Manifest { path: manifest_path.to_owned(), reason };
        Ok(Self {
            image_spec: classify.image.spec().map_err(wrong)?,
            input_sizes: classify.image.input_sizes(),
            output: classify.output,
            labels: labels::read(&files::verified(root, manifest_path, &classify.labels)?)?,
        })
    }

    /// The labels, by class.
    pub fn labels(&self) -> &Arc<[Arc<str>]> {
        &self.labels
    }

    /// How pixels become the input.
    pub fn image_spec(&self) -> &ImageSpec {
        &self.image_spec
    }

    /// The shape of the input: one image, in the manifest's layout.
    pub fn input_sizes(&self) -> [i32; 4] {
        self.input_sizes
    }

    /// What the output means.
    pub fn output(&self) -> Output {
        self.output
    }
}
