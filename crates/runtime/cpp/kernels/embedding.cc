// nearside::embedding.out, whose work is done by src/kernels/embedding.

#include "call.h"
#include "kernels.h"

namespace nearside::kernels {
namespace {

/// As in the operator's schema.
enum Argument {
  kTokens,
  kWeight,
  kColumns,
  kBits,
  kScale,
  kOut,
  kArguments,
};

} // namespace

void embedding(Context& context, Stack stack) {
  Call call("nearside::embedding.out", context, stack, kArguments);
  const int64_t columns = call.integer(kColumns);
  const EmbeddingCall given{
      call.tensor(kTokens),
      call.tensor(kWeight),
      columns,
      call.integer(kBits),
      call.number(kScale),
      call.out(kOut, {call.size(kTokens, 0), call.size(kTokens, 1), columns}),
  };
  call.run([&] { return run_embedding(given); });
}

} // namespace nearside::kernels
