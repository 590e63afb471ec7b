// Kernels of kernels/portable/cpu that copy elements about: sizes and factors that wrap or divide by zero when they are
// multiplied, and one dimension more than the arrays that they write shapes to.

#include "call.h"

namespace nearside::guards {
namespace {

constexpr ssize_t kMaxDims = executorch::runtime::kTensorDimensionLimit;
/// The largest factor whose square fits 32 bits.
constexpr int64_t kMaxFactor = 32767;

const char* as_strided_copy_out(const Call& call) {
  const Tensor& input = call.tensor(0);
  const Ints size = call.integers(1);
  const Ints stride = call.integers(2);
  const int64_t offset = call.is_none(3) ? 0 : call.integer(3);
  const int64_t elements = input.numel();
  if (!all_within(size, 0, kMaxSize) || !all_within(stride, 0, kMaxSize) || !within(offset, 0, elements)) {
    return "a size, stride or offset is outside the input";
  }
  if (size.size() != stride.size() || size.size() > static_cast<size_t>(kMaxDims)) {
    return "there is not one stride for each size";
  }
  int64_t last = offset;
  for (size_t i = 0; i < size.size(); i++) {
    if (size[i] == 0) {
      return nullptr;
    }
    // At most 2^62 each: seen before they can wrap.
    last += (size[i] - 1) * stride[i];
    if (last >= elements) {
      return "it reaches beyond the input";
    }
  }
  return last < elements ? nullptr : "it reaches beyond the input";
}

/// Whether it is what an empty list of numbers is: it may be joined to anything.
bool is_nothing(const Tensor& tensor) {
  return tensor.dim() == 1 && tensor.numel() == 0;
}

const char* cat_out(const Call& call) {
  const ArrayRef<Tensor> tensors = call.tensors(0);
  int64_t dim = call.integer(1);
  const Tensor* first = nullptr;
  for (const Tensor& tensor : tensors) {
    if (is_nothing(tensor)) {
      continue;
    }
    if (first == nullptr) {
      first = &tensor;
      dim += dim < 0 ? tensor.dim() : 0;
    }
    if (tensor.dim() != first->dim()) {
      return "the tensors differ in their number of dimensions";
    }
    for (ssize_t d = 0; d < tensor.dim(); d++) {
      if (d != dim && tensor.size(d) != first->size(d)) {
        return "the tensors differ in more than the dimension that they are joined by";
      }
    }
  }
  return nullptr;
}

const char* stack_out(const Call& call) {
  for (const Tensor& tensor : call.tensors(0)) {
    if (tensor.dim() >= kMaxDims) {
      return "the result has too many dimensions";
    }
  }
  return nullptr;
}

const char* unfold_copy_out(const Call& call) {
  return call.tensor(0).dim() < kMaxDims ? nullptr : "the result has too many dimensions";
}

const char* pixel_shuffle_out(const Call& call) {
  return within(call.integer(1), 1, kMaxFactor) ? nullptr : "the factor is out of range";
}

const char* repeat_out(const Call& call) {
  return all_within(call.integers(1), 0, kMaxSize) ? nullptr : "a number of repeats is out of range";
}

const char* split_with_sizes_copy_out(const Call& call) {
  const ArrayRef<Tensor> outs = call.tensors(3);
  for (const Tensor& out : outs) {
    if (out.scalar_type() != outs[0].scalar_type()) {
      return "the outputs' elements differ in type";
    }
  }
  int64_t sum = 0;
  for (int64_t size : call.integers(1)) {
    sum += within(size, 0, kMaxSize) ? size : kMaxSize;
    if (sum > kMaxSize) {
      return "the sizes are more than the input has";
    }
  }
  return nullptr;
}

/// For one size that is left open, the kernels divide by the product of the others.
const char* check_view(Ints sizes) {
  int64_t others = 1;
  bool is_open = false;
  for (int64_t size : sizes) {
    if (size == -1) {
      is_open = true;
    } else if (!within(size, 0, kMaxSize) || __builtin_mul_overflow(others, size, &others)) {
      return "a size is out of range";
    }
  }
  return is_open && others == 0 ? "a size can't be found out where another is zero" : nullptr;
}

const char* view(const Call& call) {
  return check_view(call.integers(1));
}

const char* view_as_real_copy_out(const Call& call) {
  return call.tensor(1).dim() == call.tensor(0).dim() + 1 ? nullptr : "the output has not one dimension more";
}

constexpr Guard kGuards[] = {
    {"aten::as_strided_copy.out", 6, as_strided_copy_out},
    {"aten::cat.out", 4, cat_out},
    {"aten::pixel_shuffle.out", 4, pixel_shuffle_out},
    {"aten::pixel_unshuffle.out", 4, pixel_shuffle_out},
    {"aten::repeat.out", 4, repeat_out},
    {"aten::split_with_sizes_copy.out", 5, split_with_sizes_copy_out},
    {"aten::stack.out", 4, stack_out},
    {"aten::unfold_copy.out", 6, unfold_copy_out},
    {"aten::view_as_real_copy.out", 3, view_as_real_copy_out},
    {"aten::view_copy.out", 4, view},
    {"executorch_prim::et_view.default", 3, view},
};

} // namespace

Span<const Guard> shapes() {
  return {kGuards, std::size(kGuards)};
}

} // namespace nearside::guards
