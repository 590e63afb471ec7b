// nearside::rms_norm.out, whose work is done by src/kernels/rms_norm.

#include "call.h"
#include "kernels.h"

namespace nearside::kernels {
namespace {

/// As in the operator's schema.
enum Argument {
  kX,
  kWeight,
  kEps,
  kOut,
  kArguments,
};

} // namespace

void rms_norm(Context& context, Stack stack) {
  Call call("nearside::rms_norm.out", context, stack, kArguments);
  const RmsNormCall given{
      call.tensor(kX),
      call.tensor(kWeight),
      call.number(kEps),
      call.out_like(kOut, kX),
  };
  call.run([&] { return run_rms_norm(given); });
}

} // namespace nearside::kernels
