#pragma once

#include <executorch/runtime/kernel/operator_registry.h>

#include <vector>

namespace nearside {

/// Our kernels and every one of the process, for a method to be loaded with: those that trust their arguments check them
/// first.
///
/// What a call passes is known only when it is made: sizes are dynamic, numbers computed, indices read from tensors.
executorch::runtime::Span<const executorch::runtime::Kernel> guarded_kernels();

namespace guards {
struct Guard;
/// The guards of all families.
std::vector<Guard> all();
} // namespace guards

} // namespace nearside
