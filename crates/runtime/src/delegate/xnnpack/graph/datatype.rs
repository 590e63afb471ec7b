//! Element types of XNNPACK's values.

use crate::schema::xnnpack::fb_xnnpack::XNNDatatype;
use crate::tensor::DType;
use std::fmt;

/// The types that a payload may use. XNNPACK's packed types (`qpint8`, `pfp32`) are its own and never in a payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Datatype {
    F32,
    F16,
    Bf16,
    I32,
    /// Signed, one scale and zero point.
    QInt8,
    /// Unsigned, one scale and zero point.
    QUint8,
    /// A bias with one scale.
    QInt32,
    /// Weights with a scale a channel.
    QcInt8,
    /// A bias with a scale a channel.
    QcInt32,
    /// Weights of 4 bits with a scale a channel.
    QcInt4,
    /// Weights of 4 bits with a scale a block of input channels.
    QbInt4,
    /// Activations that are quantised as they come, with a scale and zero point a row.
    QdInt8,
}

use Datatype::*;

/// Each type with its number, its name and its bits an element.
const TYPES: [(Datatype, XNNDatatype, &str, u64); 12] = [
    (F32, XNNDatatype::xnn_datatype_fp32, "fp32", 32),
    (F16, XNNDatatype::xnn_datatype_fp16, "fp16", 16),
    (Bf16, XNNDatatype::xnn_datatype_bf16, "bf16", 16),
    (I32, XNNDatatype::xnn_datatype_int32, "int32", 32),
    (QInt8, XNNDatatype::xnn_datatype_qint8, "qint8", 8),
    (QUint8, XNNDatatype::xnn_datatype_quint8, "quint8", 8),
    (QInt32, XNNDatatype::xnn_datatype_qint32, "qint32", 32),
    (QcInt8, XNNDatatype::xnn_datatype_qcint8, "qcint8", 8),
    (QcInt32, XNNDatatype::xnn_datatype_qcint32, "qcint32", 32),
    (QcInt4, XNNDatatype::xnn_datatype_qcint4, "qcint4", 4),
    (QbInt4, XNNDatatype::xnn_datatype_qbint4, "qbint4", 4),
    (QdInt8, XNNDatatype::xnn_datatype_qdint8, "qdint8", 8),
];

impl Datatype {
    /// The type of this number.
    ///
    /// # Errors
    /// One clause, for numbers that this version does not know and for XNNPACK's inner types.
    pub(super) fn read(raw: XNNDatatype) -> Result<Self, String> {
        match TYPES.iter().find(|row| row.1 == raw) {
            Some(row) => Ok(row.0),
            None => match raw.variant_name() {
                Some(name) => Err(format!("has the type {name}, which no payload can hold")),
                None => Err(format!("has the unknown type {}: it needs a newer XNNPACK", raw.0)),
            },
        }
    }

    pub(super) fn bits(self) -> u64 {
        TYPES.iter().find(|row| row.0 == self).map_or(0, |row| row.3)
    }

    /// Whether it has a scale and zero point for all of its elements.
    pub(super) fn is_per_tensor(self) -> bool {
        matches!(self, QInt8 | QUint8 | QInt32)
    }

    /// Whether it has a scale a channel.
    pub(super) fn is_per_channel(self) -> bool {
        matches!(self, QcInt8 | QcInt32 | QcInt4)
    }

    /// Whether an argument of `dtype` holds such elements; XNNPACK reads and writes it in place.
    ///
    /// Indices come as int32 and ExecuTorch widens them in the output's own memory, hence int64 for outputs.
    pub(super) fn fits(self, dtype: DType, output: bool) -> bool {
        match self {
            F32 => dtype == DType::F32,
            F16 => dtype == DType::F16,
            Bf16 => dtype == DType::BF16,
            I32 => dtype == DType::I32 || (output && dtype == DType::I64),
            QInt8 => dtype == DType::I8,
            QUint8 => dtype == DType::U8,
            QInt32 | QcInt8 | QcInt32 | QcInt4 | QbInt4 | QdInt8 => false,
        }
    }
}

impl fmt::Display for Datatype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(TYPES.iter().find(|row| row.0 == *self).map_or("?", |row| row.2))
    }
}
