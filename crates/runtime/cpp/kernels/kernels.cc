#include "kernels.h"

#include <iterator>

namespace nearside {

using executorch::runtime::Kernel;

executorch::runtime::Span<const Kernel> own_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel("nearside::attention.out", kernels::attention),
      Kernel("nearside::embedding.out", kernels::embedding),
      Kernel("nearside::linear.out", kernels::linear),
  };
  return {kKernels, std::size(kKernels)};
}

} // namespace nearside
