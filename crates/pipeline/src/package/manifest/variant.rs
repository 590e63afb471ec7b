//! An exported program of the model.

use super::{FileEntry, ParseError, Quality, present};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One exported program of the model. `Q` is the quality of its task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Variant<Q = Quality> {
    /// Its name, such as `xnnpack-int8`.
    pub name: String,
    /// The `.pte` file.
    pub program: FileEntry,
    /// `.ptd` files that it needs.
    #[serde(default)]
    pub external_data: Vec<FileEntry>,
    /// The method to run, or of several the one to begin with: `forward`, or `text_decoder`.
    pub method: String,
    /// The ExecuTorch that exported it.
    pub executorch: String,
    /// The torch that exported it.
    pub torch: String,
    /// The torchao that quantised it.
    pub torchao: String,
    /// The quantisation scheme, `none` for fp32.
    pub quantisation: String,
    /// Weights that share a scale, where the scheme has groups.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub group_size: Option<u32>,
    /// How int4 values were chosen, such as `hqq`.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub rounding: Option<String>,
    /// Bits of a value of the embedding table.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub embedding_bits: Option<u32>,
    /// What a decoder's attention is made of: `plain` operators, or the `fused` one.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub attention: Option<String>,
    /// What a decoder keeps keys and values as: `f32`, `f16`, or `int8` with a scale a row. It is f32 where it is left out.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub kv_cache: Option<String>,
    /// Ids of the delegates that its methods need.
    pub delegates: Vec<String>,
    /// Operators left on portable kernels, in any of its methods.
    pub operators: Vec<String>,
    /// Operator calls inside delegates / all calls, at export, over all methods.
    pub coverage: f64,
    /// Sum of the methods' planned arenas, with what they share counted once.
    pub planned_bytes: u64,
    /// What each method needs, if there are several.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<MethodEntry>>,
    /// Measured against eager fp32; or [`Variant::unmeasured`] says why not.
    #[serde(
        default = "Option::default",
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    #[serde(bound(deserialize = "Q: Deserialize<'de>"))]
    pub quality: Option<Q>,
    /// Why its quality was not measured at export, such as a delegate that the machine lacked.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub unmeasured: Option<String>,
    /// The command that made it.
    pub export_command: String,
}

/// What one method of several needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodEntry {
    /// Its name.
    pub name: String,
    /// Ids of the delegates that it needs.
    pub delegates: Vec<String>,
    /// Operators left on portable kernels.
    pub operators: Vec<String>,
    /// Operator calls inside delegates / all calls, at export.
    pub coverage: f64,
    /// Sum of its planned arenas.
    pub planned_bytes: u64,
}

impl<Q> Variant<Q> {
    /// The names of its methods; the one to begin with is among them.
    pub fn method_names(&self) -> Vec<&str> {
        match &self.methods {
            None => vec![&self.method],
            Some(methods) => methods.iter().map(|method| method.name.as_str()).collect(),
        }
    }

    /// Ids of the delegates that the method called `name` needs.
    pub fn delegates_of(&self, name: &str) -> &[String] {
        let methods = self.methods.as_deref().unwrap_or_default();
        methods.iter().find(|method| method.name == name).map_or(&self.delegates, |method| &method.delegates)
    }

    /// The same with the quality in another type.
    pub(super) fn with_quality<R>(self, quality: impl FnOnce(Q) -> R) -> Variant<R> {
        Variant {
            name: self.name,
            program: self.program,
            external_data: self.external_data,
            method: self.method,
            executorch: self.executorch,
            torch: self.torch,
            torchao: self.torchao,
            quantisation: self.quantisation,
            group_size: self.group_size,
            rounding: self.rounding,
            embedding_bits: self.embedding_bits,
            attention: self.attention,
            kv_cache: self.kv_cache,
            delegates: self.delegates,
            operators: self.operators,
            coverage: self.coverage,
            planned_bytes: self.planned_bytes,
            methods: self.methods,
            quality: self.quality.map(quality),
            unmeasured: self.unmeasured,
            export_command: self.export_command,
        }
    }

    pub(super) fn check(&self) -> Result<(), ParseError> {
        let wrong = |reason: &str| Err(ParseError(format!("the variant `{}` {reason}", self.name)));
        let names = self.method_names();
        if names.iter().collect::<BTreeSet<_>>().len() < names.len() {
            return wrong("has two methods of one name");
        }
        if self.methods.is_some() && names.len() < 2 {
            return wrong("has `methods` and fewer than two of them");
        }
        match (&self.quality, &self.unmeasured) {
            (None, None) => return wrong("has neither `quality` nor, in `unmeasured`, why there is none"),
            (Some(_), Some(_)) => return wrong("has both `quality` and `unmeasured`"),
            (None, Some(reason)) if reason.is_empty() => return wrong("has an empty `unmeasured`"),
            _ => {}
        }
        if !names.contains(&self.method.as_str()) {
            return wrong(&format!("has no method `{}` among its methods", self.method));
        }
        Ok(())
    }
}
