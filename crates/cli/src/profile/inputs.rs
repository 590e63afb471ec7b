//! What a profiled method is run on.

use crate::error::{Error, Result};
use crate::input::Input;
use nearside_pipeline::Package;
use nearside_pipeline::runtime::{DType, MethodMeta};
use nearside_pipeline::vision::{Photo, Preprocessor};
use std::path::Path;

/// The photo at `path`, prepared as the package says.
pub(super) fn photo(path: &Path, package: &Package) -> Result<Vec<Input>> {
    let at = |source: nearside_pipeline::vision::Error| Error::Pipeline {
        place: Some(path.display().to_string()),
        source: source.into(),
    };
    let classifier = package.classifier()?;
    let photo = Photo::open(path).map_err(at)?;
    let mut preprocessor = Preprocessor::new(*classifier.image_spec()).map_err(at)?;
    let mut pixels = vec![0.0f32; preprocessor.output_len()];
    preprocessor.run(&photo.frame(), &mut pixels).map_err(at)?;
    let bytes: Vec<u8> = pixels.iter().flat_map(|pixel| pixel.to_ne_bytes()).collect();
    Ok(vec![Input::new(DType::F32, classifier.input_sizes().to_vec(), &bytes)])
}

/// The same numbers each time, at the largest shape that each input takes: -1 to 1 for floats, 0 or 1 for `bool` and for
/// whole numbers of 16 bits or more, which may be positions or token ids, anything for bytes.
pub(super) fn pseudo_random(meta: &MethodMeta) -> Result<Vec<Input>> {
    /// Far more than any picture or prompt.
    const MAX_BYTES: usize = 1 << 28;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let tensors = || meta.inputs.iter().filter_map(|input| input.as_tensor());
    let bytes = tensors().map(|tensor| tensor.bytes).fold(0, usize::saturating_add);
    if bytes > MAX_BYTES {
        return Err(Error::Inputs(format!("its inputs take {bytes} bytes; at most {MAX_BYTES} are made up")));
    }
    tensors()
        .map(|tensor| {
            let elements: usize =
                tensor.sizes.iter().map(|&size| usize::try_from(size).unwrap_or(0)).product();
            let mut bytes = Vec::new();
            for _ in 0..elements {
                random
                    .push(tensor.dtype, &mut bytes)
                    .ok_or_else(|| Error::Inputs(format!("no input of type {} can be made", tensor.dtype)))?;
            }
            Ok(Input::new(tensor.dtype, tensor.sizes.clone(), &bytes))
        })
        .collect()
}

/// Vigna's xorshift64*.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// Adds one element. `None` for a type that this can't make.
    fn push(&mut self, dtype: DType, bytes: &mut Vec<u8>) -> Option<()> {
        let bits = self.next() >> 32;
        let float = bits as f32 / (1u64 << 31) as f32 - 1.0;
        let small = bits & 1;
        match dtype {
            DType::F32 => bytes.extend(float.to_ne_bytes()),
            DType::F64 => bytes.extend(f64::from(float).to_ne_bytes()),
            // The upper half of a float32 is a bfloat16.
            DType::BF16 => bytes.extend(((float.to_bits() >> 16) as u16).to_ne_bytes()),
            // Sign, exponent of 0.5 and a random mantissa: 0.5 to 1 and their negatives.
            DType::F16 => bytes.extend((((bits as u16) & 0x83ff) | 0x3800).to_ne_bytes()),
            DType::U8 | DType::I8 => bytes.push(bits as u8),
            DType::Bool => bytes.push(small as u8),
            DType::I16 | DType::U16 => bytes.extend((small as u16).to_ne_bytes()),
            DType::I32 | DType::U32 => bytes.extend((small as u32).to_ne_bytes()),
            DType::I64 | DType::U64 => bytes.extend(small.to_ne_bytes()),
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::pseudo_random;
    use nearside_pipeline::runtime::{DType, MethodMeta, TensorMeta, ValueMeta};

    #[test]
    fn inputs_that_fill_the_memory_are_not_made() {
        let tensor = TensorMeta {
            name: String::new(),
            dtype: DType::U8,
            sizes: vec![1 << 30, 1 << 20],
            dynamic: false,
            dim_order: vec![0, 1],
            bytes: 1 << 50,
            memory_planned: false,
        };
        let meta = MethodMeta {
            name: "forward".into(),
            inputs: vec![ValueMeta::Tensor(tensor)],
            outputs: Vec::new(),
            planned_bytes: Vec::new(),
            delegates: Vec::new(),
            instructions: 0,
        };
        let Err(error) = pseudo_random(&meta) else { panic!("they were made") };
        assert!(error.to_string().contains("1125899906842624 bytes"), "{error}");
    }
}
