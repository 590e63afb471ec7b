// Kernels of kernels/portable/cpu that count elements before they write them: counts that wrap; and topk, which steps
// through any layout as if it were row by row.

#include "call.h"

namespace nearside::guards {
namespace {

template <typename T>
bool sum_fits(const Tensor& tensor) {
  const T* data = tensor.const_data_ptr<T>();
  int64_t sum = 0;
  for (ssize_t i = 0; i < tensor.numel(); i++) {
    if (!within(data[i], 0, kMaxSize) || (sum += data[i]) > kMaxSize) {
      return false;
    }
  }
  return true;
}

const char* repeat_interleave_out(const Call& call) {
  const Tensor& repeats = call.tensor(0);
  const bool fits = repeats.scalar_type() == ScalarType::Long ? sum_fits<int64_t>(repeats)
      : repeats.scalar_type() == ScalarType::Int              ? sum_fits<int32_t>(repeats)
                                                              : true;
  return fits ? nullptr : "a number of repeats is negative, or they are too many";
}

const char* masked_select_out(const Call& call) {
  const Tensor& input = call.tensor(0);
  const Tensor& mask = call.tensor(1);
  int64_t elements = 1;
  for (ssize_t back = 1; back <= std::max(input.dim(), mask.dim()); back++) {
    const int64_t a = back <= input.dim() ? input.size(input.dim() - back) : 1;
    const int64_t b = back <= mask.dim() ? mask.size(mask.dim() - back) : 1;
    if (__builtin_mul_overflow(elements, std::max(a, b), &elements) || elements > kMaxSize) {
      return "input and mask together are too large";
    }
  }
  return nullptr;
}

const char* topk_values(const Call& call) {
  const bool by_rows = executorch::runtime::tensor_is_default_dim_order(call.tensor(0));
  return by_rows ? nullptr : "the input is not in row-major order";
}

constexpr Guard kGuards[] = {
    {"aten::masked_select.out", 4, masked_select_out},
    {"aten::repeat_interleave.Tensor_out", 4, repeat_interleave_out},
    {"aten::topk.values", 8, topk_values},
};

} // namespace

Span<const Guard> selection() {
  return {kGuards, std::size(kGuards)};
}

} // namespace nearside::guards
