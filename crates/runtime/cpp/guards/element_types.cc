// Kernels that read or write elements as of another type than they are, or divide whole numbers as if they were not:
// op_div.cpp of kernels/optimized, op_cumsum.cpp and op__to_dim_order_copy.cpp of kernels/portable.

#include "call.h"

namespace nearside::guards {
namespace {

using executorch::runtime::isComplexType;

const char* div_out(const Call& call) {
  const Tensor& a = call.tensor(0);
  const Tensor& b = call.tensor(1);
  const Tensor& out = call.tensor(2);
  const bool complex[] = {
      isComplexType(a.scalar_type()), isComplexType(b.scalar_type()), isComplexType(out.scalar_type())};
  if (!complex[0] && !complex[1] && !complex[2]) {
    return executorch::runtime::isFloatingType(out.scalar_type()) ? nullptr : "the output's elements are whole numbers";
  }
  const bool alike = a.scalar_type() == b.scalar_type() && a.scalar_type() == out.scalar_type() && same_sizes(a, b);
  return alike ? nullptr : "complex numbers are divided by what differs in shape or type";
}

const char* cumsum_out(const Call& call) {
  return executorch::runtime::isRealHBBF16Type(call.tensor(0).scalar_type()) ? nullptr : "the input's elements are no numbers";
}

const char* to_dim_order_copy_out(const Call& call) {
  const ScalarType from = call.tensor(0).scalar_type();
  const ScalarType to = call.tensor(3).scalar_type();
  return isComplexType(from) && isComplexType(to) && from != to ? "complex numbers are copied to others" : nullptr;
}

constexpr Guard kGuards[] = {
    {"aten::cumsum.out", 5, cumsum_out},
    {"aten::div.out", 4, div_out},
    {"dim_order_ops::_to_dim_order_copy.out", 5, to_dim_order_copy_out},
};

} // namespace

Span<const Guard> element_types() {
  return {kGuards, std::size(kGuards)};
}

} // namespace nearside::guards
