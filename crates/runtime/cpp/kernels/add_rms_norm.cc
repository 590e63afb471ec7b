// nearside::add_rms_norm.out, whose work is done by src/kernels/rms_norm.

#include "call.h"
#include "kernels.h"

namespace nearside::kernels {
namespace {

/// As in the operator's schema.
enum Argument {
  kX,
  kDelta,
  kWeight,
  kEps,
  kSum,
  kNormed,
  kArguments,
};

} // namespace

void add_rms_norm(Context& context, Stack stack) {
  Call call("nearside::add_rms_norm.out", context, stack, kArguments);
  const AddRmsNormCall given{
      call.tensor(kX),
      call.tensor(kDelta),
      call.tensor(kWeight),
      call.number(kEps),
      call.out_like(kSum, kX),
      call.out_like(kNormed, kX),
  };
  call.run([&] { return run_add_rms_norm(given); });
}

} // namespace nearside::kernels
