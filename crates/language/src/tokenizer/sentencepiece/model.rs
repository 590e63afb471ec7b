//! What a SentencePiece model says (google/sentencepiece, `src/sentencepiece_model.proto`).

use super::super::pieces::{Kind, Piece};
use super::super::pipeline::damaged;
use super::wire::{Fields, Value};
use crate::error::Result;

/// The message `ModelProto`, with the schema's defaults.
pub(super) struct Model<'a> {
    pub(super) pieces: Vec<Piece>,
    pub(super) algorithm: i32,
    pub(super) byte_fallback: bool,
    pub(super) unk_id: i32,
    pub(super) bos_id: i32,
    pub(super) eos_id: i32,
    pub(super) charsmap: &'a [u8],
    pub(super) add_dummy_prefix: bool,
    pub(super) remove_extra_whitespaces: bool,
    pub(super) escape_whitespaces: bool,
    pub(super) whitespace_as_suffix: bool,
}

impl<'a> Model<'a> {
    /// Reads the message.
    pub(super) fn read(contents: &'a [u8], name: &str) -> Result<Self> {
        let mut model = Self {
            pieces: Vec::new(),
            algorithm: 1,
            byte_fallback: false,
            unk_id: 0,
            bos_id: 1,
            eos_id: 2,
            charsmap: &[],
            add_dummy_prefix: true,
            remove_extra_whitespaces: true,
            escape_whitespaces: true,
            whitespace_as_suffix: false,
        };
        let bad = |what: &str| damaged(name, format!("{what}, so that it is no SentencePiece model"));
        for field in Fields::of(contents) {
            let (number, value) = field.ok_or_else(|| bad("it is cut short or not protobuf"))?;
            let read = match number {
                1 => value.bytes().and_then(piece).map(|piece| model.pieces.push(piece)),
                2 => value.bytes().and_then(|message| model.trainer(message)),
                3 => value.bytes().and_then(|message| model.normalizer(message)),
                _ => Some(()),
            };
            read.ok_or_else(|| bad(&format!("its field {number} is damaged")))?;
        }
        if model.pieces.is_empty() { Err(bad("it has no pieces")) } else { Ok(model) }
    }

    fn trainer(&mut self, message: &[u8]) -> Option<()> {
        for field in Fields::of(message) {
            let (number, value) = field?;
            match number {
                3 => self.algorithm = value.number()?,
                24 => self.whitespace_as_suffix = value.flag()?,
                35 => self.byte_fallback = value.flag()?,
                40 => self.unk_id = value.number()?,
                41 => self.bos_id = value.number()?,
                42 => self.eos_id = value.number()?,
                _ => {}
            }
        }
        Some(())
    }

    fn normalizer(&mut self, message: &'a [u8]) -> Option<()> {
        for field in Fields::of(message) {
            let (number, value) = field?;
            match number {
                2 => self.charsmap = value.bytes()?,
                3 => self.add_dummy_prefix = value.flag()?,
                4 => self.remove_extra_whitespaces = value.flag()?,
                5 => self.escape_whitespaces = value.flag()?,
                _ => {}
            }
        }
        Some(())
    }
}

fn piece(message: &[u8]) -> Option<Piece> {
    let mut piece = Piece { text: String::new(), score: 0.0, kind: Kind::Normal };
    for field in Fields::of(message) {
        match field? {
            (1, value) => piece.text = value.text()?.to_owned(),
            (2, value) => piece.score = value.float().filter(|score| score.is_finite())?,
            (3, value @ Value::Varint(_)) => piece.kind = Kind::of(value.number()?)?,
            _ => {}
        }
    }
    Some(piece)
}
