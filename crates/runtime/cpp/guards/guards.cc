#include "guards.h"

#include "call.h"

#include "kernels/kernels.h"

#include <executorch/runtime/kernel/kernel_runtime_context.h>
#include <executorch/runtime/platform/log.h>

#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace nearside {
namespace {

using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Kernel;
using executorch::runtime::KernelRuntimeContext;
using executorch::runtime::OpFunction;
using executorch::runtime::Span;
using guards::Guard;

/// A guard and the kernel that it stands before.
struct Slot {
  Guard guard;
  OpFunction kernel;
};

// Kernels are plain functions, so that each guarded one needs a function of its own.
constexpr size_t kSlots = 128;
std::array<Slot, kSlots> slots;

template <size_t kSlot>
void run(KernelRuntimeContext& context, Span<EValue*> stack) {
  const Slot& slot = slots[kSlot];
  // With another number of values, the kernel refuses by itself.
  if (stack.size() == slot.guard.values) {
    if (const char* problem = slot.guard.check(guards::Call(stack))) {
      ET_LOG(Error, "%s: %s", slot.guard.name, problem);
      context.fail(Error::InvalidArgument);
      return;
    }
  }
  slot.kernel(context, stack);
}

template <size_t... kSlot>
constexpr std::array<OpFunction, kSlots> functions(std::index_sequence<kSlot...>) {
  return {&run<kSlot>...};
}

std::vector<Kernel> guard_all() {
  static constexpr auto run_slot = functions(std::make_index_sequence<kSlots>());
  const std::vector<Guard> all = guards::all();
  // First: they hold even if an app has registered one of that name.
  const Span<const Kernel> own = own_kernels();
  std::vector<Kernel> kernels(own.begin(), own.end());
  size_t used = 0;
  for (Kernel kernel : executorch::runtime::get_registered_kernels()) {
    for (const Guard& guard : all) {
      if (std::strcmp(guard.name, kernel.name_) == 0) {
        // Too few slots is a mistake in this file: the tests would not get past the first method.
        slots.at(used) = Slot{guard, kernel.op_};
        kernel.op_ = run_slot.at(used++);
        break;
      }
    }
    kernels.push_back(kernel);
  }
  return kernels;
}

} // namespace

std::vector<guards::Guard> guards::all() {
  std::vector<Guard> all;
  for (auto family :
       {convolution(), pooling(), resampling(), shapes(), selection(),
        division(), normalisation(), fourier(), element_types(),
        quantised()}) {
    all.insert(all.end(), family.begin(), family.end());
  }
  return all;
}

Span<const Kernel> guarded_kernels() {
  static const std::vector<Kernel> kernels = guard_all();
  return {kernels.data(), kernels.size()};
}

} // namespace nearside
