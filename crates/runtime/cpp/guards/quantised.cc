// kernels/quantized/cpu: packed embeddings read whatever row an index names, scales and zero points are read as of the
// type that the output or each other has, and choose_qparams aborts on worker threads for what is not a number.

#include "call.h"

#include <cmath>

namespace nearside::guards {
namespace {

/// From this size on, op_choose_qparams.cpp works on threads of which none catches an abort.
constexpr ssize_t kParallel = 512;

template <typename T>
bool all_rows(const Tensor& indices, int64_t rows) {
  const T* data = indices.const_data_ptr<T>();
  for (ssize_t i = 0; i < indices.numel(); i++) {
    if (!within(data[i], 0, rows - 1)) {
      return false;
    }
  }
  return true;
}

const char* check_embedding(const Call& call, int64_t per_byte, size_t out_at, bool scales_as_out) {
  const Tensor& weight = call.tensor(0);
  const Tensor& scales = call.tensor(1);
  const auto zero_points = call.tensor_or_none(2);
  const Tensor& indices = call.tensor(5);
  const Tensor& out = call.tensor(out_at);
  if (weight.dim() != 2 || scales.dim() < 1 || scales.dim() > 2) {
    return "the weight has not 2 dimensions, or the scales not 1 or 2";
  }
  if (out.dim() != indices.dim() + 1) {
    return "the output has not one dimension more than the indices";
  }
  int64_t width = 0;
  if (__builtin_mul_overflow(static_cast<int64_t>(weight.size(1)), per_byte, &width) || width > kMaxSize) {
    return "the weight is too wide";
  }
  if (scales.dim() == 2 && !within(scales.size(1), 1, width)) {
    return "a row has no group, or more than it has elements";
  }
  if (width == 0 || scales.numel() > kMaxSize) {
    return "the weight is empty, or has too many groups";
  }
  if (zero_points.has_value() && zero_points->scalar_type() != scales.scalar_type()) {
    return "scales and zero points differ in type";
  }
  if (scales_as_out && scales.scalar_type() != out.scalar_type()) {
    return "scales and output differ in type";
  }
  const bool rows = indices.scalar_type() == ScalarType::Long ? all_rows<int64_t>(indices, weight.size(0))
      : indices.scalar_type() == ScalarType::Int              ? all_rows<int32_t>(indices, weight.size(0))
                                                              : true;
  return rows ? nullptr : "an index is outside the weight";
}

template <int64_t kPerByte>
const char* embedding_out(const Call& call) {
  return check_embedding(call, kPerByte, 6, true);
}

template <int64_t kPerByte>
const char* embedding_dtype_out(const Call& call) {
  return check_embedding(call, kPerByte, 7, false);
}

const char* check_zero_points(const Tensor& zero_points) {
  return zero_points.scalar_type() == ScalarType::Long ? nullptr : "the zero points are not 64-bit numbers";
}

const char* dequantize_per_channel_out(const Call& call) {
  const auto zero_points = call.tensor_or_none(2);
  if (zero_points.has_value()) {
    if (const char* problem = check_zero_points(*zero_points)) {
      return problem;
    }
  }
  // The fast way for int8 writes float without a look at the output.
  const bool fast = call.tensor(0).scalar_type() == ScalarType::Char && call.is_none(7);
  return fast && call.tensor(8).scalar_type() != ScalarType::Float ? "the output's elements are not float" : nullptr;
}

const char* dequantize_per_token_out(const Call& call) {
  return check_zero_points(call.tensor(2));
}

const char* choose_qparams_out(const Call& call) {
  return call.tensor(0).numel() > 0 ? nullptr : "the input has no elements";
}

const char* choose_qparams_per_token_out(const Call& call) {
  const Tensor& input = call.tensor(0);
  if (input.numel() == 0) {
    return "the input has no elements";
  }
  if (input.numel() < kParallel || input.scalar_type() != ScalarType::Float) {
    return nullptr;
  }
  const float* data = input.const_data_ptr<float>();
  const bool numbers = std::none_of(data, data + input.numel(), [](float x) { return std::isnan(x); });
  return numbers ? nullptr : "the input has elements that are not numbers";
}

const char* mixed_linear_out(const Call& call) {
  const Tensor& input = call.tensor(0);
  const Tensor& scales = call.tensor(2);
  if (input.dim() != 2 || input.size(1) == 0) {
    return "the input has not 2 dimensions, or empty rows";
  }
  return scales.dim() == 2 && scales.size(1) == 0 ? "a row has no group" : nullptr;
}

constexpr Guard kGuards[] = {
    {"quantized_decomposed::choose_qparams.Tensor_out", 8, choose_qparams_out},
    {"quantized_decomposed::choose_qparams_per_token_asymmetric.out", 5, choose_qparams_per_token_out},
    {"quantized_decomposed::dequantize_per_channel.out", 10, dequantize_per_channel_out},
    {"quantized_decomposed::dequantize_per_token.out", 9, dequantize_per_token_out},
    {"quantized_decomposed::embedding_2bit.dtype_out", 9, embedding_dtype_out<4>},
    {"quantized_decomposed::embedding_2bit.out", 8, embedding_out<4>},
    {"quantized_decomposed::embedding_4bit.dtype_out", 9, embedding_dtype_out<2>},
    {"quantized_decomposed::embedding_4bit.out", 8, embedding_out<2>},
    {"quantized_decomposed::embedding_byte.dtype_out", 9, embedding_dtype_out<1>},
    {"quantized_decomposed::embedding_byte.out", 8, embedding_out<1>},
    {"quantized_decomposed::mixed_linear.out", 7, mixed_linear_out},
};

} // namespace

Span<const Guard> quantised() {
  return {kGuards, std::size(kGuards)};
}

} // namespace nearside::guards
