// kernels/portable/cpu/util/kernel_ops_util.cpp checks the window's size in place of stride and dilation; the backward
// pass writes where its indices say; adaptive pooling loops over 64-bit sizes that it allocated as 32-bit ones.

#include "call.h"

namespace nearside::guards {
namespace {

/// Far wider than any window, and too few for the loops over it to take long.
constexpr int64_t kWindowBeyondInput = 1024;
/// Up to here a float holds every whole number.
constexpr int64_t kExactInFloat = 1 << 24;

const char* check_window(const Tensor& input, Ints kernel, Ints stride, Ints dilation) {
  if (!all_within(stride, 1, kMaxSize) || !all_within(dilation, 1, kMaxSize)) {
    return "a stride or dilation is not positive";
  }
  if (input.dim() < 2) {
    return nullptr;
  }
  for (size_t i = 0; i < kernel.size(); i++) {
    const int64_t height = input.size(input.dim() - 2);
    const int64_t width = input.size(input.dim() - 1);
    if (!within(kernel[i], 1, 3 * std::max(height, width) + kWindowBeyondInput)) {
      return "the window is not positive or much larger than the input";
    }
  }
  return nullptr;
}

const char* avg_pool2d_out(const Call& call) {
  return check_window(call.tensor(0), call.integers(1), call.integers(2), {});
}

const char* max_pool2d_out(const Call& call) {
  return check_window(call.tensor(0), call.integers(1), call.integers(2), call.integers(4));
}

const char* max_pool2d_backward(const Call& call) {
  const Tensor& gradient = call.tensor(0);
  const Tensor& input = call.tensor(1);
  const Tensor& indices = call.tensor(7);
  if (const char* problem = check_window(input, call.integers(2), call.integers(3), call.integers(5))) {
    return problem;
  }
  if (input.dim() < 3 || indices.scalar_type() != ScalarType::Long) {
    return nullptr;
  }
  if (indices.numel() != gradient.numel()) {
    return "there is not one index for each gradient";
  }
  const int64_t plane = input.size(input.dim() - 2) * input.size(input.dim() - 1);
  const int64_t* data = indices.const_data_ptr<int64_t>();
  for (ssize_t i = 0; i < indices.numel(); i++) {
    if (!within(data[i], -1, plane - 1)) {
      return "an index is outside the input";
    }
  }
  return nullptr;
}

const char* adaptive_avg_pool2d_out(const Call& call) {
  const Tensor& input = call.tensor(0);
  const Ints size = call.integers(1);
  if (!all_within(size, 1, kMaxSize)) {
    return "the output's size is not positive";
  }
  if (size.size() != 2 || input.dim() < 2) {
    return nullptr;
  }
  // The kernel finds the ends of its windows in float, which beyond this rounds them past the input.
  const bool exact = size[0] * input.size(input.dim() - 2) <= kExactInFloat &&
      size[1] * input.size(input.dim() - 1) <= kExactInFloat;
  return exact ? nullptr : "the input is too large to be pooled to this size";
}

constexpr Guard kGuards[] = {
    {"aten::_adaptive_avg_pool2d.out", 4, adaptive_avg_pool2d_out},
    {"aten::avg_pool2d.out", 9, avg_pool2d_out},
    {"aten::max_pool2d_with_indices.out", 9, max_pool2d_out},
    {"aten::max_pool2d_with_indices_backward.grad_input", 10, max_pool2d_backward},
};

} // namespace

Span<const Guard> pooling() {
  return {kGuards, std::size(kGuards)};
}

} // namespace nearside::guards
