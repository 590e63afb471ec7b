// nearside::attention.out, whose work is done by src/kernels/attention.

#include "call.h"
#include "kernels.h"

namespace nearside::kernels {
namespace {

/// As in the operator's schema.
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

} // namespace

void attention(Context& context, Stack stack) {
  Call call("nearside::attention.out", context, stack, kArguments);
  const AttentionCall given{
      call.tensor(kQuery),
      call.tensor(kKey),
      call.tensor(kValue),
      call.tensor(kKeyCache),
      call.tensor(kValueCache),
      call.tensor(kCachePosition),
      call.optional_tensor(kVisibleUntil),
      call.number(kScale),
      call.integer(kWindow),
      call.out_like(kOut, kQuery),
  };
  call.run([&] { return run_attention(given); });
}

} // namespace nearside::kernels
