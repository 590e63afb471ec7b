// nearside::attention.out, whose work is done by src/kernels/attention.

#include "kernels.h"

#include "nearside-runtime/src/bridge.rs.h"

#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/log.h>

#include <optional>

namespace nearside::kernels {
namespace {

using executorch::aten::Tensor;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::Span;

constexpr char kName[] = "nearside::attention.out";

/// As in the operator's schema; the out is passed once more after them.
enum Argument {
  kQuery,
  kKey,
  kValue,
  kKeyCache,
  kValueCache,
  kCachePosition,
  kVisibleUntil,
  kScale,
  kWindow,
  kOut,
  kArguments,
};

KernelTensor described(const Tensor& tensor) {
  return {
      static_cast<int8_t>(tensor.scalar_type()),
      executorch::runtime::tensor_is_default_dim_order(tensor),
      tensor.sizes().data(),
      tensor.sizes().size(),
      static_cast<uint8_t*>(tensor.mutable_data_ptr()),
      tensor.nbytes(),
  };
}

/// A number that an instruction computes may come as either kind.
std::optional<double> number(const EValue& value) {
  if (value.isDouble()) {
    return value.toDouble();
  }
  return value.isInt() ? std::optional<double>(static_cast<double>(value.toInt())) : std::nullopt;
}

bool are_tensors(Span<EValue*> stack) {
  for (const Argument at : {kQuery, kKey, kValue, kKeyCache, kValueCache, kCachePosition, kOut}) {
    if (!stack[at]->isTensor()) {
      return false;
    }
  }
  return stack[kVisibleUntil]->isTensor() || stack[kVisibleUntil]->isNone();
}

} // namespace

void attention(KernelRuntimeContext& context, Span<EValue*> stack) {
  const executorch::runtime::internal::EventTracerProfileOpScope profiled(context.internal_event_tracer(), kName);
  const auto fail = [&](const char* problem) {
    ET_LOG(Error, "%s: %s", kName, problem);
    context.fail(Error::InvalidArgument);
  };
  if (stack.size() <= kOut || !are_tensors(stack)) {
    return fail("an argument is missing, or is no tensor");
  }
  const std::optional<double> scale = number(*stack[kScale]);
  if (!scale || !stack[kWindow]->isInt()) {
    return fail("scale or window is no number");
  }
  const auto tensor = [&](Argument at) { return stack[at]->toTensor(); };
  Tensor out = tensor(kOut);
  if (executorch::runtime::resize_tensor(out, tensor(kQuery).sizes()) != Error::Ok) {
    return fail("out can't take the shape of query");
  }
  const bool has_visible_until = stack[kVisibleUntil]->isTensor();
  const AttentionCall call{
      described(tensor(kQuery)),
      described(tensor(kKey)),
      described(tensor(kValue)),
      described(tensor(kKeyCache)),
      described(tensor(kValueCache)),
      described(tensor(kCachePosition)),
      has_visible_until,
      has_visible_until ? described(tensor(kVisibleUntil)) : KernelTensor{},
      *scale,
      stack[kWindow]->toInt(),
      described(out),
  };
  const rust::String problem = run_attention(call);
  if (!problem.empty()) {
    fail(std::string(problem).c_str());
  }
}

} // namespace nearside::kernels
