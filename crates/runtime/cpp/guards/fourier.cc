// kernels/optimized/cpu/op_fft_*.cpp look at the last dimension before they check it, and read as many frequencies as the
// output's size asks for.

#include "call.h"

namespace nearside::guards {
namespace {

const char* check_dims(const Tensor& input, Ints dims) {
  uint32_t seen = 0;
  for (int64_t dim : dims) {
    if (!within(dim, 0, input.dim() - 1) || (seen & (1u << dim)) != 0) {
      return "a dimension is out of range or given twice";
    }
    seen |= 1u << dim;
  }
  return dims.empty() ? "no dimension is given" : nullptr;
}

const char* fft_r2c_out(const Call& call) {
  return check_dims(call.tensor(0), call.integers(1));
}

const char* fft_c2r_out(const Call& call) {
  const Tensor& input = call.tensor(0);
  const Ints dims = call.integers(1);
  if (const char* problem = check_dims(input, dims)) {
    return problem;
  }
  const int64_t last = call.integer(3);
  const bool enough = within(last, 1, kMaxSize) && last / 2 + 1 <= input.size(dims[dims.size() - 1]);
  return enough ? nullptr : "the output is longer than the input has frequencies for";
}

constexpr Guard kGuards[] = {
    {"aten::_fft_c2r.out", 6, fft_c2r_out},
    {"aten::_fft_r2c.out", 6, fft_r2c_out},
};

} // namespace

Span<const Guard> fourier() {
  return {kGuards, std::size(kGuards)};
}

} // namespace nearside::guards
