// nearside::gated.out, whose work is done by src/kernels/gated.

#include "call.h"
#include "kernels.h"

namespace nearside::kernels {
namespace {

/// As in the operator's schema.
enum Argument {
  kX,
  kActivation,
  kOut,
  kArguments,
};

} // namespace

void gated(Context& context, Stack stack) {
  Call call("nearside::gated.out", context, stack, kArguments);
  const GatedCall given{
      call.tensor(kX),
      call.text(kActivation),
      call.out(kOut, {call.size(kX, 0), call.size(kX, 1), call.size(kX, 2) / 2}),
  };
  call.run([&] { return run_gated(given); });
}

} // namespace nearside::kernels
