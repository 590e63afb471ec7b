// kernels/portable/cpu/op_native_group_norm.cpp multiplies sizes that a program may make wrap;
// kernels/optimized/cpu/op_log_softmax.cpp divides by the input's size.

#include "call.h"

namespace nearside::guards {
namespace {

const char* native_group_norm_out(const Call& call) {
  const int64_t sizes[] = {call.integer(3), call.integer(4), call.integer(5)};
  if (!all_within({sizes, 3}, 0, kMaxSize) || !product({sizes, 3}).has_value()) {
    return "N, C or HxW is out of range";
  }
  return within(call.integer(6), 1, kMaxSize) ? nullptr : "the number of groups is not positive";
}

const char* log_softmax_out(const Call& call) {
  return call.tensor(0).numel() > 0 ? nullptr : "the input has no elements";
}

constexpr Guard kGuards[] = {
    {"aten::_log_softmax.out", 5, log_softmax_out},
    {"aten::native_group_norm.out", 12, native_group_norm_out},
};

} // namespace

Span<const Guard> normalisation() {
  return {kGuards, std::size(kGuards)};
}

} // namespace nearside::guards
