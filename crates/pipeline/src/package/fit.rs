//! Whether a program is the one that its manifest describes.

use super::manifest::{Embed, GenerationEntry, Task, Variant};
use super::{Classifier, Package};
use crate::error::{Error, Result};
use nearside_runtime::{DType, MethodMeta, TensorMeta, ValueMeta};

/// Compares what a method takes, gives and needs with what the manifest promises.
pub(crate) fn check_method(meta: &MethodMeta, variant: &Variant, package: &Package) -> Result<()> {
    check_delegates(meta, variant)?;
    if meta.name != variant.method {
        return Ok(());
    }
    let fit = Fit { meta, variant };
    match &package.manifest().task {
        Task::Classify(_) => fit.classify(package.classifier()?),
        Task::Embed(embed) => fit.embed(embed),
        Task::Generate(generate) => fit.generate(&generate.generation),
        Task::Describe(describe) => fit.generate(&describe.generation),
    }
}

fn check_delegates(meta: &MethodMeta, variant: &Variant) -> Result<()> {
    let sorted = |mut names: Vec<String>| {
        names.sort();
        names
    };
    let (found, promised) =
        (sorted(meta.delegates.clone()), sorted(variant.delegates_of(&meta.name).to_vec()));
    if found == promised {
        return Ok(());
    }
    let reason = if variant.methods.is_some() {
        format!("its method `{}` runs in {found:?}, the manifest says {promised:?}", meta.name)
    } else {
        format!("the program runs in {found:?}, the manifest says {promised:?}")
    };
    Err(Error::Mismatch { variant: variant.name.clone(), reason })
}

/// The method to begin with, and its variant.
struct Fit<'a> {
    meta: &'a MethodMeta,
    variant: &'a Variant,
}

impl Fit<'_> {
    fn differs<T>(&self, reason: String) -> Result<T> {
        Err(Error::Mismatch { variant: self.variant.name.clone(), reason })
    }

    fn classify(&self, classifier: &Classifier) -> Result<()> {
        let input = self.only(DType::F32, &self.meta.inputs, "takes")?;
        if input.sizes != classifier.input_sizes {
            return self.differs(format!(
                "the program takes {:?}, the manifest's image is {:?}",
                input.sizes, classifier.input_sizes
            ));
        }
        let output = self.only(DType::F32, &self.meta.outputs, "gives")?;
        let classes = classifier.labels.len();
        if elements(output) != Some(classes) {
            return self.differs(format!("the program gives {:?}, there are {classes} labels", output.sizes));
        }
        Ok(())
    }

    fn embed(&self, embed: &Embed) -> Result<()> {
        let input = self.only(DType::I64, &self.meta.inputs, "takes")?;
        self.check_tokens(input, embed.embedding.max_tokens)?;
        let output = self.only(DType::F32, &self.meta.outputs, "gives")?;
        let dimensions = embed.embedding.dimensions;
        if elements(output) != usize::try_from(dimensions).ok() {
            return self.differs(format!(
                "the program gives {:?}, the manifest's embedding has {dimensions} dimensions",
                output.sizes
            ));
        }
        Ok(())
    }

    /// Decoders of several makers differ in their inputs, but each ends in logits.
    fn generate(&self, generation: &GenerationEntry) -> Result<()> {
        let outputs = self.meta.outputs.get(..1).unwrap_or_default();
        let logits = self.only(DType::F32, outputs, "gives")?;
        let vocabulary = generation.vocab_size;
        if logits.sizes.last().copied() != i32::try_from(vocabulary).ok() {
            return self.differs(format!(
                "the program gives {:?}, the manifest's vocab_size is {vocabulary}",
                logits.sizes
            ));
        }
        Ok(())
    }

    /// Token ids `[1, n]`, n from 1 to at least `most`.
    fn check_tokens(&self, input: &TensorMeta, most: u32) -> Result<()> {
        match input.sizes[..] {
            [1, bound] if i64::from(bound) >= i64::from(most) && (input.dynamic || bound == 1) => Ok(()),
            _ => {
                let kind = if input.dynamic { "at most" } else { "exactly" };
                self.differs(format!(
                    "the program takes {kind} {:?}, the manifest says 1 to {most} tokens",
                    input.sizes
                ))
            }
        }
    }

    /// The only one of `values`, if it is a tensor of `dtype`.
    fn only<'v>(&self, dtype: DType, values: &'v [ValueMeta], does: &str) -> Result<&'v TensorMeta> {
        only(dtype, values).map_err(|found| Error::WrongTensor {
            variant: self.variant.name.clone(),
            method: self.meta.name.clone(),
            found: format!("{does} {found}"),
            wanted: dtype.to_string(),
        })
    }
}

/// The only value, if it is a tensor of `dtype`, else what there is.
fn only(dtype: DType, values: &[ValueMeta]) -> std::result::Result<&TensorMeta, String> {
    let [value] = values else { return Err(format!("{} values", values.len())) };
    match value {
        ValueMeta::Tensor(tensor) if tensor.dtype == dtype => Ok(tensor),
        ValueMeta::Tensor(tensor) => Err(format!("a tensor of {}", tensor.dtype)),
        ValueMeta::Other(kind) => Err(format!("a value of kind {kind}")),
    }
}

fn elements(tensor: &TensorMeta) -> Option<usize> {
    tensor.sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(usize::try_from(size).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(dtype: DType) -> ValueMeta {
        ValueMeta::Tensor(TensorMeta {
            name: String::new(),
            dtype,
            sizes: vec![1, 3, 8, 8],
            dynamic: false,
            dim_order: vec![0, 1, 2, 3],
            bytes: 768,
            memory_planned: false,
        })
    }

    #[test]
    fn what_is_not_one_tensor_of_the_type_is_named() {
        assert!(only(DType::F32, &[tensor(DType::F32)]).is_ok());
        assert!(only(DType::I64, &[tensor(DType::I64)]).is_ok());
        for (values, expected) in [
            (vec![tensor(DType::U8)], "a tensor of u8"),
            (vec![tensor(DType::I64)], "a tensor of i64"),
            (vec![tensor(DType::F16)], "a tensor of f16"),
            (vec![ValueMeta::Other("Int")], "a value of kind Int"),
            (vec![], "0 values"),
            (vec![tensor(DType::F32), tensor(DType::F32)], "2 values"),
        ] {
            assert_eq!(only(DType::F32, &values).unwrap_err(), expected);
        }
    }
}
