// Whole numbers: processors trap on a division by zero and on the lowest number by -1. kernels/prim_ops checks for
// neither, kernels/portable/cpu for zero only.

#include "call.h"

namespace nearside::guards {
namespace {

constexpr const char* kByZero = "a whole number is divided by zero";
constexpr const char* kOverflow = "the lowest whole number is divided by -1";

const char* check_quotient(int64_t a, int64_t b) {
  if (b == 0) {
    return kByZero;
  }
  return b == -1 && a == std::numeric_limits<int64_t>::min() ? kOverflow : nullptr;
}

const char* prim(const Call& call) {
  const EValue& a = call.value(0);
  const EValue& b = call.value(1);
  return a.isInt() && b.isInt() ? check_quotient(a.toInt(), b.toInt()) : nullptr;
}

template <typename T>
bool has(const Tensor& tensor, T value) {
  const T* data = tensor.const_data_ptr<T>();
  return std::find(data, data + tensor.numel(), value) != data + tensor.numel();
}

bool has_minus_one(const Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case ScalarType::Char:
      return has<int8_t>(tensor, -1);
    case ScalarType::Short:
      return has<int16_t>(tensor, -1);
    case ScalarType::Int:
      return has<int32_t>(tensor, -1);
    case ScalarType::Long:
      return has<int64_t>(tensor, -1);
    default:
      return false;
  }
}

/// Whether the tensor has the lowest number of `type`, of which a narrower one has none.
bool has_lowest(const Tensor& tensor, ScalarType type) {
  if (tensor.scalar_type() != type) {
    return false;
  }
  return type == ScalarType::Int ? has<int32_t>(tensor, std::numeric_limits<int32_t>::min())
                                 : has<int64_t>(tensor, std::numeric_limits<int64_t>::min());
}

bool is_wide(ScalarType type) {
  // Narrower types are divided as 32-bit numbers, which the quotient fits.
  return type == ScalarType::Int || type == ScalarType::Long;
}

const char* by_tensor(const Call& call) {
  const Tensor& a = call.tensor(0);
  const Tensor& b = call.tensor(1);
  const ScalarType type = executorch::runtime::promoteTypes(a.scalar_type(), b.scalar_type());
  return is_wide(type) && has_lowest(a, type) && has_minus_one(b) ? kOverflow : nullptr;
}

/// `value` as the kernels convert it to whole numbers of `type`.
int64_t narrowed(int64_t value, ScalarType type) {
  switch (type) {
    case ScalarType::Byte:
      return static_cast<uint8_t>(value);
    case ScalarType::Char:
      return static_cast<int8_t>(value);
    case ScalarType::Short:
      return static_cast<int16_t>(value);
    case ScalarType::Int:
      return static_cast<int32_t>(value);
    default:
      return value;
  }
}

const char* by_scalar(const Call& call) {
  const Tensor& a = call.tensor(0);
  const EValue& b = call.value(1);
  if (!executorch::runtime::isIntegralType(a.scalar_type(), true) || b.isDouble()) {
    return nullptr;
  }
  // With a truth value, the kernels work in the scalar's type, which is the widest.
  const ScalarType type = a.scalar_type() == ScalarType::Bool ? ScalarType::Long : a.scalar_type();
  const int64_t divisor = b.isBool() ? static_cast<int64_t>(b.toBool()) : narrowed(b.toInt(), type);
  if (divisor == 0) {
    return kByZero;
  }
  return divisor == -1 && is_wide(type) && has_lowest(a, type) ? kOverflow : nullptr;
}

constexpr Guard kGuards[] = {
    {"aten::div.Scalar_mode_out", 5, by_scalar},
    {"aten::div.out_mode", 5, by_tensor},
    {"aten::floor_divide.out", 4, by_tensor},
    {"aten::remainder.Scalar_out", 4, by_scalar},
    {"aten::remainder.Tensor_out", 4, by_tensor},
    {"executorch_prim::floordiv.Scalar", 3, prim},
    {"executorch_prim::floordiv.int", 3, prim},
    {"executorch_prim::mod.Scalar", 3, prim},
    {"executorch_prim::mod.int", 3, prim},
};

} // namespace

Span<const Guard> division() {
  return {kGuards, std::size(kGuards)};
}

} // namespace nearside::guards
