// kernels/portable/cpu/op_upsample_*.cpp and op_grid_sampler_2d.cpp find elements in an input that they take to have some,
// the latter divides by a span that is zero in small integers, and its NEON form (kernels/optimized) takes the output's
// size for granted.

#include "call.h"

#include <array>
#include <cmath>

namespace nearside::guards {
namespace {

constexpr int64_t kBicubic = 2;
constexpr int64_t kReflection = 2;

const char* check_has_elements(const Tensor& input) {
  return input.numel() > 0 ? nullptr : "the input has no elements";
}

const char* upsample_out(const Call& call) {
  return check_has_elements(call.tensor(0));
}

const char* upsample_aa_out(const Call& call) {
  for (size_t at : {size_t{3}, size_t{4}}) {
    if (!call.is_none(at)) {
      const double scale = call.value(at).toDouble();
      if (!std::isfinite(scale) || scale <= 0) {
        return "a scale is not positive";
      }
    }
  }
  return check_has_elements(call.tensor(0));
}

/// Whether the last place of a row keeps its number in the element type.
bool holds_index(ScalarType type, int64_t size) {
  const float last = static_cast<float>(size - 1);
  if (type == ScalarType::Half) {
    return static_cast<float>(executorch::aten::Half(last)) < static_cast<float>(size);
  }
  if (type == ScalarType::BFloat16) {
    return static_cast<float>(executorch::aten::BFloat16(last)) < static_cast<float>(size);
  }
  return true;
}

const char* grid_sampler_2d_out(const Call& call) {
  const Tensor& input = call.tensor(0);
  const Tensor& grid = call.tensor(1);
  const Tensor& out = call.tensor(5);
  if (!executorch::runtime::isFloatingType(input.scalar_type())) {
    return "the input's elements are whole numbers";
  }
  if (const char* problem = check_has_elements(input)) {
    return problem;
  }
  if (input.dim() != 4 || grid.dim() != 4 || out.dim() != 4) {
    return "input, grid and output have not 4 dimensions";
  }
  if (call.integer(2) == kBicubic && call.integer(3) == kReflection &&
      !(holds_index(input.scalar_type(), input.size(2)) && holds_index(input.scalar_type(), input.size(3)))) {
    return "the input is too large for its element type to count its rows";
  }
  const std::array<executorch::aten::SizesType, 4> sizes = {
      static_cast<int32_t>(input.size(0)), static_cast<int32_t>(input.size(1)), static_cast<int32_t>(grid.size(1)),
      static_cast<int32_t>(grid.size(2))};
  const auto resized = executorch::runtime::resize_tensor(
      out, ArrayRef<executorch::aten::SizesType>(sizes.data(), sizes.size()));
  return resized == executorch::runtime::Error::Ok ? nullptr : "the output has not the grid's size";
}

constexpr Guard kGuards[] = {
    {"aten::_upsample_bilinear2d_aa.out", 7, upsample_aa_out},
    {"aten::grid_sampler_2d.out", 7, grid_sampler_2d_out},
    {"aten::upsample_bilinear2d.vec_out", 6, upsample_out},
    {"aten::upsample_nearest2d.vec_out", 5, upsample_out},
};

} // namespace

Span<const Guard> resampling() {
  return {kGuards, std::size(kGuards)};
}

} // namespace nearside::guards
