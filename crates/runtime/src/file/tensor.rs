//! A tensor's entry in a program: shape, type and where its elements are.

use super::program::Tables;
use super::value::{Dynamism, FileTensor, Initial, Storage};
use crate::schema::program::executorch_flatbuffer as fb;
use crate::tensor::{DType, byte_length};

type Checked<T> = Result<T, String>;

/// ExecuTorch's limit (`kTensorDimensionLimit`).
const MAX_RANK: usize = 16;

pub(super) fn read(
    tables: &Tables<'_>,
    tensor: fb::Tensor<'_>,
    planned_bytes: &[u64],
) -> Checked<FileTensor> {
    if tensor.storage_offset() != 0 {
        return Err("its elements do not start at the start of its memory".into());
    }
    let dynamism = match tensor.shape_dynamism() {
        fb::TensorShapeDynamism::STATIC => Dynamism::Static,
        fb::TensorShapeDynamism::DYNAMIC_BOUND => Dynamism::Bounded,
        fb::TensorShapeDynamism::DYNAMIC_UNBOUND => Dynamism::Unbounded,
        other => return Err(format!("its kind of shape, {}, is not known", other.0)),
    };
    let layout = layout(tensor.scalar_type().0, tensor.sizes(), tensor.dim_order())?;
    let storage = storage(tables, tensor, layout.bytes, planned_bytes)?;
    check_alignment(&storage, layout.dtype)?;
    let name = tensor.extra_tensor_info().and_then(|info| info.fully_qualified_name());
    Ok(FileTensor {
        dtype: layout.dtype,
        sizes: layout.sizes,
        dim_order: layout.dim_order,
        dynamism,
        storage,
        name: name.map(str::to_owned),
        bytes: layout.bytes,
    })
}

/// The shape and type of a tensor, in a program or in a data file.
pub(super) struct Layout {
    pub(super) dtype: DType,
    pub(super) sizes: Vec<i32>,
    pub(super) dim_order: Vec<u8>,
    pub(super) bytes: u64,
}

pub(super) fn layout(
    dtype: i8,
    sizes: Option<flatbuffers::Vector<'_, i32>>,
    dim_order: Option<flatbuffers::Vector<'_, u8>>,
) -> Checked<Layout> {
    let dtype = DType::from_raw(dtype);
    let sizes: Vec<i32> = sizes.ok_or("it has no shape")?.iter().collect();
    let dim_order: Vec<u8> = dim_order.ok_or("it has no order of dimensions")?.iter().collect();
    if sizes.len() > MAX_RANK {
        return Err(format!("it has {} dimensions, at most {MAX_RANK} are possible", sizes.len()));
    }
    let mut sorted = dim_order.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..sizes.len() as u8) {
        return Err(format!("the order of its {} dimensions is {dim_order:?}", sizes.len()));
    }
    if dtype.element_bytes().is_none() {
        return Err(format!("its elements are of {dtype}, which is not known"));
    }
    let bytes = byte_length(&sizes, dtype).filter(|&bytes| isize::try_from(bytes).is_ok());
    let bytes = bytes.ok_or_else(|| format!("its shape {sizes:?} is impossible"))? as u64;
    Ok(Layout { dtype, sizes, dim_order, bytes })
}

fn storage(
    tables: &Tables<'_>,
    tensor: fb::Tensor<'_>,
    bytes: u64,
    planned_bytes: &[u64],
) -> Checked<Storage> {
    let info = tensor.extra_tensor_info();
    let external = match info.map(|info| (info.location(), info)) {
        Some((fb::TensorDataLocation::EXTERNAL, info)) => {
            let key = info.fully_qualified_name().filter(|key| !key.is_empty());
            Some(key.ok_or("its data is in another file, under no name")?.to_owned())
        }
        Some((fb::TensorDataLocation::SEGMENT, _)) | None => None,
        Some((other, _)) => return Err(format!("its data is in place {}, which is not known", other.0)),
    };
    let buffer = tensor.data_buffer_idx();
    let Some(allocation) = tensor.allocation_info() else {
        return match (external, buffer) {
            (Some(key), _) => Ok(Storage::External { key }),
            (None, 0) => Ok(Storage::Caller),
            (None, buffer) => tables.constant(buffer, bytes).map(Storage::Constant),
        };
    };
    let initial = match (external, buffer) {
        (Some(key), _) => Some(Initial::External(key)),
        (None, 0) => None,
        (None, buffer) => Some(Initial::File(tables.initial(buffer, bytes)?)),
    };
    let id = allocation.memory_id();
    let offset = u64::from(allocation.memory_offset_high()) << 32 | u64::from(allocation.memory_offset_low());
    let arena = (id as usize).checked_sub(1).filter(|&arena| arena < planned_bytes.len());
    let arena = arena.ok_or_else(|| format!("it is in arena {id}, there are {}", planned_bytes.len()))?;
    if offset.checked_add(bytes).is_none_or(|end| end > planned_bytes[arena]) {
        return Err(format!(
            "it has {bytes} bytes at {offset} of arena {id}, which has {}",
            planned_bytes[arena]
        ));
    }
    Ok(Storage::Planned { arena, offset, initial })
}

/// Kernels read elements where they are.
fn check_alignment(storage: &Storage, dtype: DType) -> Checked<()> {
    let at = match storage {
        Storage::Constant(range) => range.start,
        Storage::Planned { offset, .. } => *offset,
        Storage::External { .. } | Storage::Caller => return Ok(()),
    };
    match dtype.element_bytes() {
        Some(bytes) if !at.is_multiple_of(bytes as u64) => {
            Err(format!("its {dtype} elements start at byte {at}"))
        }
        _ => Ok(()),
    }
}
