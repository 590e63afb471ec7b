//! SentencePiece's `.model`.

mod model;
mod wire;

use super::Parts;
use super::pieces::{self, Algorithm, Settings};
use super::pipeline::damaged;
use crate::error::Result;
use model::Model;

/// Whether the file begins as a protobuf message of SentencePiece does: with a piece, or what goes around them.
pub(super) fn is_one(contents: &[u8]) -> bool {
    matches!(contents.first(), Some(0x0a | 0x12 | 0x1a))
}

/// Reads the file. As SentencePiece itself does unless told otherwise, it adds no token around a text.
pub(super) fn read(contents: &[u8], name: &str) -> Result<Parts> {
    let model = Model::read(contents, name)?;
    let algorithm = match model.algorithm {
        1 => Algorithm::Unigram,
        2 => Algorithm::MergesByScore,
        other => {
            let reason = format!("its model type is {other}; only unigram (1) and BPE (2) can be read");
            return Err(damaged(name, reason));
        }
    };
    if model.whitespace_as_suffix || !model.escape_whitespaces {
        return Err(damaged(name, "it has spaces behind words or not written as ▁, which can't be read"));
    }
    let count = model.pieces.len();
    let id = |id: i32| u32::try_from(id).ok().filter(|&id| (id as usize) < count);
    let settings = Settings {
        algorithm,
        unk: id(model.unk_id),
        byte_fallback: model.byte_fallback,
        charsmap: model.charsmap,
        add_dummy_prefix: model.add_dummy_prefix,
        remove_extra_whitespaces: model.remove_extra_whitespaces,
    };
    let (bos, eos) = (id(model.bos_id), id(model.eos_id));
    let inner = pieces::tokenizer(&model.pieces, &settings, name)?;
    Ok(Parts { bos, eos: eos.into_iter().collect(), ..Parts::of(inner, name)? })
}
