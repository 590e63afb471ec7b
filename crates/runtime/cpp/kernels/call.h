#pragma once

#include "nearside-runtime/src/bridge.rs.h"

#include <executorch/runtime/core/event_tracer_hooks.h>
#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

namespace nearside::kernels {

/// A call of one of our operators: gives its arguments as Rust takes them, by their position in the schema.
///
/// What can't be given is the call's problem, the first one of all; then `run` fails the call with it. So whoever asks need
/// not look at each answer.
class Call {
 public:
  /// `arguments`: as many as the schema has, outs included. Outs are passed once more after them.
  Call(
      const char* name,
      executorch::runtime::KernelRuntimeContext& context,
      executorch::runtime::Span<executorch::runtime::EValue*> stack,
      size_t arguments);

  KernelTensor tensor(size_t at);
  /// Not `given` if it is none.
  KernelTensor optional_tensor(size_t at);
  /// A number that an instruction computes may come as either kind.
  double number(size_t at);
  int64_t integer(size_t at);
  KernelText text(size_t at);
  /// A tensor's size along a dimension.
  int64_t size(size_t at, size_t dimension);
  /// An out, once it was given this shape.
  KernelTensor out(size_t at, std::initializer_list<int64_t> sizes);
  /// An out, once it was given the shape of another tensor.
  KernelTensor out_like(size_t at, size_t other);

  /// Does the work unless there is a problem, and fails the call if that gives one.
  template <typename Work>
  void run(Work&& work) {
    if (problem_.empty()) {
      problem_ = std::string(work());
    }
    if (!problem_.empty()) {
      fail();
    }
  }

 private:
  const executorch::runtime::EValue* argument(size_t at) const;
  KernelTensor resized(size_t at, const int32_t* sizes, size_t dims);
  void wrong(size_t at, const char* what);
  void fail();

  const char* name_;
  executorch::runtime::KernelRuntimeContext& context_;
  executorch::runtime::Span<executorch::runtime::EValue*> stack_;
  size_t arguments_;
  executorch::runtime::internal::EventTracerProfileOpScope profiled_;
  std::string problem_;
};

} // namespace nearside::kernels
