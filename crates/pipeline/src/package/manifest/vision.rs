//! How a picture stands among the tokens: the entry `vision`.

use super::{ParseError, at_least, nullable};
use serde::{Deserialize, Serialize};

/// How a picture stands among the tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VisionEntry {
    /// How many tokens a picture takes the place of.
    pub tokens_per_image: u32,
    /// The token that stands in each of these places.
    pub image_token_id: u32,
    /// The token before them, if there is one.
    #[serde(deserialize_with = "nullable")]
    pub begin_image_id: Option<u32>,
    /// The token after them, if there is one.
    #[serde(deserialize_with = "nullable")]
    pub end_image_id: Option<u32>,
    /// Whether a picture's rows see each other, not only those before them: they must then come in
    /// one call.
    pub bidirectional: bool,
}

impl VisionEntry {
    pub(super) fn check(&self) -> Result<(), ParseError> {
        at_least("vision: tokens_per_image", self.tokens_per_image, 1)
    }
}
