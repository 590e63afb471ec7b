#include "call.h"

#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/platform/log.h>

#include <array>
#include <limits>

namespace nearside::kernels {

using executorch::aten::ArrayRef;
using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::kTensorDimensionLimit;
using executorch::runtime::Span;

namespace {

KernelTensor described(const Tensor& tensor) {
  return {
      true,
      static_cast<int8_t>(tensor.scalar_type()),
      executorch::runtime::tensor_is_default_dim_order(tensor),
      tensor.sizes().data(),
      tensor.sizes().size(),
      static_cast<uint8_t*>(tensor.mutable_data_ptr()),
      tensor.nbytes(),
  };
}

} // namespace

Call::Call(const char* name, KernelRuntimeContext& context, Span<EValue*> stack, size_t arguments)
    : name_(name),
      context_(context),
      stack_(stack),
      arguments_(arguments),
      profiled_(context.internal_event_tracer(), name) {
  if (stack.size() < arguments) {
    wrong(stack.size(), "is missing");
  }
}

KernelTensor Call::tensor(size_t at) {
  const EValue* value = argument(at);
  if (value == nullptr || !value->isTensor()) {
    wrong(at, "is no tensor");
    return {};
  }
  return described(value->toTensor());
}

KernelTensor Call::optional_tensor(size_t at) {
  const EValue* value = argument(at);
  return value != nullptr && value->isNone() ? KernelTensor{} : tensor(at);
}

double Call::number(size_t at) {
  const EValue* value = argument(at);
  if (value != nullptr && value->isDouble()) {
    return value->toDouble();
  }
  return static_cast<double>(integer(at));
}

int64_t Call::integer(size_t at) {
  const EValue* value = argument(at);
  if (value == nullptr || !value->isInt()) {
    wrong(at, "is no number");
    return 0;
  }
  return value->toInt();
}

KernelText Call::text(size_t at) {
  const EValue* value = argument(at);
  if (value == nullptr || !value->isString()) {
    wrong(at, "is no text");
    return {};
  }
  const auto text = value->toString();
  return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
}

int64_t Call::size(size_t at, size_t dimension) {
  const KernelTensor given = tensor(at);
  if (dimension >= given.dims) {
    wrong(at, "has too few dimensions");
    return 0;
  }
  return given.sizes[dimension];
}

KernelTensor Call::out(size_t at, std::initializer_list<int64_t> sizes) {
  std::array<int32_t, kTensorDimensionLimit> fitting{};
  size_t dims = 0;
  for (const int64_t size : sizes) {
    if (size < 0 || size > std::numeric_limits<int32_t>::max() || dims == fitting.size()) {
      wrong(at, "would have a size that no tensor has");
      return {};
    }
    fitting[dims++] = static_cast<int32_t>(size);
  }
  return resized(at, fitting.data(), dims);
}

KernelTensor Call::out_like(size_t at, size_t other) {
  const KernelTensor given = tensor(other);
  return resized(at, given.sizes, given.dims);
}

KernelTensor Call::resized(size_t at, const int32_t* sizes, size_t dims) {
  if (!tensor(at).given || !problem_.empty()) {
    return {};
  }
  Tensor out = stack_[at]->toTensor();
  if (executorch::runtime::resize_tensor(out, ArrayRef<int32_t>(sizes, dims)) != Error::Ok) {
    wrong(at, "can't take the shape that the call gives it");
  }
  return described(out);
}

const EValue* Call::argument(size_t at) const {
  return at < stack_.size() && at < arguments_ ? stack_[at] : nullptr;
}

void Call::wrong(size_t at, const char* what) {
  if (problem_.empty()) {
    problem_ = "argument " + std::to_string(at) + " " + what;
  }
}

void Call::fail() {
  ET_LOG(Error, "%s: %s", name_, problem_.c_str());
  context_.fail(Error::InvalidArgument);
}

} // namespace nearside::kernels
