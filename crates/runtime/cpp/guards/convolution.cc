// kernels/portable/cpu/op_convolution.cpp and op_convolution_backward.cpp divide by `groups`, compare the bias's length
// with nothing (`a == b ? c : d`) and call a null function for a bias of a type that they don't know.

#include "call.h"

namespace nearside::guards {
namespace {

bool is_real(ScalarType type) {
  return executorch::runtime::isRealHBBF16Type(type) && type != ScalarType::Bool;
}

const char* check_groups(int64_t groups) {
  return within(groups, 1, kMaxSize) ? nullptr : "the number of groups is not positive";
}

const char* convolution_out(const Call& call) {
  const int64_t groups = call.integer(8);
  if (const char* problem = check_groups(groups)) {
    return problem;
  }
  const Tensor& weight = call.tensor(1);
  const auto bias = call.tensor_or_none(2);
  if (!bias.has_value() || weight.dim() < 2) {
    return nullptr;
  }
  const int64_t channels = call.truth(6) ? groups * weight.size(1) : weight.size(0);
  if (bias->dim() != 1 || bias->size(0) != channels) {
    return "the bias has another length than the output has channels";
  }
  return is_real(bias->scalar_type()) ? nullptr : "the bias's elements are no numbers";
}

const char* convolution_backward_out(const Call& call) {
  if (const char* problem = check_groups(call.integer(9))) {
    return problem;
  }
  const ArrayRef<bool> mask = call.value(10).toBoolList();
  if (mask.size() != 3) {
    return "output_mask has not 3 entries";
  }
  const Tensor& weight = call.tensor(2);
  const Tensor& bias_gradient = call.tensor(13);
  if (!mask[2] || weight.dim() == 0) {
    return nullptr;
  }
  const auto bias_sizes = call.integers_or_none(3);
  const bool fits = bias_sizes.has_value()
      ? bias_sizes->size() == 1 && (*bias_sizes)[0] == weight.size(0) && bias_gradient.dim() == 1
      : bias_gradient.numel() >= weight.size(0);
  return fits ? nullptr : "the bias's gradient is shorter than the output has channels";
}

constexpr Guard kGuards[] = {
    {"aten::convolution.out", 11, convolution_out},
    {"aten::convolution_backward.out", 15, convolution_backward_out},
};

} // namespace

Span<const Guard> convolution() {
  return {kGuards, std::size(kGuards)};
}

} // namespace nearside::guards
