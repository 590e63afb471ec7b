#pragma once

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/core/exec_aten/util/scalar_type_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>

namespace nearside::guards {

using executorch::aten::ArrayRef;
using executorch::aten::Scalar;
using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::runtime::EValue;
using executorch::runtime::Span;
using Ints = ArrayRef<int64_t>;

constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();

/// A kernel call as it is made: its arguments in the order of the operator's schema, which Rust has checked.
class Call {
 public:
  explicit Call(Span<EValue*> stack) : stack_(stack) {}

  const Tensor& tensor(size_t at) const {
    return stack_[at]->toTensor();
  }
  std::optional<Tensor> tensor_or_none(size_t at) const {
    return stack_[at]->toOptional<Tensor>();
  }
  ArrayRef<Tensor> tensors(size_t at) const {
    return stack_[at]->toTensorList();
  }
  int64_t integer(size_t at) const {
    return stack_[at]->toInt();
  }
  bool truth(size_t at) const {
    return stack_[at]->toBool();
  }
  Ints integers(size_t at) const {
    return stack_[at]->toIntList();
  }
  std::optional<Ints> integers_or_none(size_t at) const {
    return stack_[at]->toOptional<Ints>();
  }
  bool is_none(size_t at) const {
    return stack_[at]->isNone();
  }
  const EValue& value(size_t at) const {
    return *stack_[at];
  }
  size_t size() const {
    return stack_.size();
  }

 private:
  Span<EValue*> stack_;
};

/// Null if the kernel may be called, else what is wrong, in words.
using Check = const char* (*)(const Call&);

/// A check for an operator whose calls pass `values` values.
struct Guard {
  const char* name;
  size_t values;
  Check check;
};

inline bool within(int64_t value, int64_t least, int64_t most) {
  return value >= least && value <= most;
}

inline bool all_within(Ints values, int64_t least, int64_t most) {
  for (int64_t value : values) {
    if (!within(value, least, most)) {
      return false;
    }
  }
  return true;
}

inline bool same_sizes(const Tensor& a, const Tensor& b) {
  return a.sizes().equals(b.sizes());
}

/// A product that must not wrap; none if it does.
inline std::optional<int64_t> product(Ints values) {
  int64_t result = 1;
  for (int64_t value : values) {
    if (__builtin_mul_overflow(result, value, &result)) {
      return std::nullopt;
    }
  }
  return result;
}

// The families; each is a list of guards.
Span<const Guard> convolution();
Span<const Guard> pooling();
Span<const Guard> resampling();
Span<const Guard> shapes();
Span<const Guard> selection();
Span<const Guard> division();
Span<const Guard> normalisation();
Span<const Guard> fourier();
Span<const Guard> element_types();
Span<const Guard> quantised();

} // namespace nearside::guards
