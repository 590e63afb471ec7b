#pragma once

#include <executorch/runtime/kernel/operator_registry.h>

namespace nearside {

/// The kernels of ours, whose work is done in Rust (`src/kernels`). Methods are given them when they are loaded; they are
/// not in ExecuTorch's registry.
executorch::runtime::Span<const executorch::runtime::Kernel> own_kernels();

namespace kernels {
using Context = executorch::runtime::KernelRuntimeContext;
using Stack = executorch::runtime::Span<executorch::runtime::EValue*>;
using Function = void(Context&, Stack);

Function add_rms_norm;
Function attention;
Function embedding;
Function gated;
Function linear;
Function rms_norm;
Function rope_table;
Function rotary_attention;
} // namespace kernels

} // namespace nearside
