// nearside::rotary_attention.out, whose work is done by src/kernels/rotary_attention.

#include "call.h"
#include "kernels.h"

#include <limits>

namespace nearside::kernels {
namespace {

/// As in the operator's schema.
enum Argument {
  kQkv,
  kQueryNorm,
  kKeyNorm,
  kEps,
  kTable,
  kKeyCache,
  kValueCache,
  kCachePosition,
  kVisibleUntil,
  kHeads,
  kScale,
  kWindow,
  kOut,
  kArguments,
};

} // namespace

void rotary_attention(Context& context, Stack stack) {
  Call call("nearside::rotary_attention.out", context, stack, kArguments);
  const int64_t heads = call.integer(kHeads);
  // Rust says so if there can't be as many.
  const bool possible = heads > 0 && heads <= std::numeric_limits<int32_t>::max();
  const int64_t dim = possible ? call.size(kQkv, 2) / (heads + 2 * call.size(kKeyCache, 0)) : 0;
  const RotaryAttentionCall given{
      call.tensor(kQkv),
      call.optional_tensor(kQueryNorm),
      call.optional_tensor(kKeyNorm),
      call.number(kEps),
      call.tensor(kTable),
      call.tensor(kKeyCache),
      call.tensor(kValueCache),
      call.tensor(kCachePosition),
      call.optional_tensor(kVisibleUntil),
      heads,
      call.number(kScale),
      call.integer(kWindow),
      call.out(kOut, {call.size(kQkv, 0), call.size(kQkv, 1), heads * dim}),
  };
  call.run([&] { return run_rotary_attention(given); });
}

} // namespace nearside::kernels
