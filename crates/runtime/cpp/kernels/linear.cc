// nearside::linear.out, whose work is done by src/kernels/linear.

#include "call.h"
#include "kernels.h"

namespace nearside::kernels {
namespace {

/// As in the operator's schema.
enum Argument {
  kX,
  kWeight,
  kBias,
  kRows,
  kBits,
  kOut,
  kArguments,
};

} // namespace

void linear(Context& context, Stack stack) {
  Call call("nearside::linear.out", context, stack, kArguments);
  const int64_t rows = call.integer(kRows);
  const LinearCall given{
      call.tensor(kX),
      call.tensor(kWeight),
      call.optional_tensor(kBias),
      rows,
      call.integer(kBits),
      call.out(kOut, {call.size(kX, 0), call.size(kX, 1), rows}),
  };
  call.run([&] { return run_linear(given); });
}

} // namespace nearside::kernels
