#include "kernels.h"

#include <iterator>

namespace nearside {

using executorch::runtime::Kernel;

executorch::runtime::Span<const Kernel> own_kernels() {
  static constexpr Kernel kKernels[] = {
      Kernel("nearside::attention.out", kernels::attention),
  };
  return {kKernels, std::size(kKernels)};
}

} // namespace nearside
