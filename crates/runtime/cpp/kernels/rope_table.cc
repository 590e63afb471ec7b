// nearside::rope_table.out, whose work is done by src/kernels/rope_table.

#include "call.h"
#include "kernels.h"

namespace nearside::kernels {
namespace {

/// As in the operator's schema.
enum Argument {
  kCachePosition,
  kFrequencies,
  kOut,
  kArguments,
};

} // namespace

void rope_table(Context& context, Stack stack) {
  Call call("nearside::rope_table.out", context, stack, kArguments);
  const RopeTableCall given{
      call.tensor(kCachePosition),
      call.tensor(kFrequencies),
      call.out(kOut, {call.size(kCachePosition, 0), 2 * call.size(kFrequencies, 0)}),
  };
  call.run([&] { return run_rope_table(given); });
}

} // namespace nearside::kernels
