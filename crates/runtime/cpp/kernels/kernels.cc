#include "kernels.h"

#include <iterator>

namespace nearside {

using executorch::runtime::Kernel;

executorch::runtime::Span<const Kernel> own_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel("nearside::add_rms_norm.out", kernels::add_rms_norm),
      Kernel("nearside::attention.out", kernels::attention),
      Kernel("nearside::embedding.out", kernels::embedding),
      Kernel("nearside::gated.out", kernels::gated),
      Kernel("nearside::linear.out", kernels::linear),
      Kernel("nearside::rms_norm.out", kernels::rms_norm),
      Kernel("nearside::rope_table.out", kernels::rope_table),
      Kernel("nearside::rotary_attention.out", kernels::rotary_attention),
  };
  return {kKernels, std::size(kKernels)};
}

} // namespace nearside
