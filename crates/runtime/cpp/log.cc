#include "log.h"

#include "guard.h"

#include <executorch/runtime/platform/platform.h>
#include <executorch/runtime/platform/runtime.h>

#include <algorithm>
#include <cstring>

namespace nearside {
namespace {

/// Fixed in size, so that logging during an execute allocates nothing.
struct Log {
  char text[2048];
  size_t length = 0;
};
thread_local Log log;

void keep_errors(
    et_timestamp_t, et_pal_log_level_t level, const char*, const char*, size_t, const char* message, size_t length) {
  if (level != kError && level != kFatal) {
    return;
  }
  const size_t room = sizeof(log.text) - log.length;
  const size_t take = std::min(length, room > 0 ? room - 1 : 0);
  std::memcpy(log.text + log.length, message, take);
  log.length += take;
  if (log.length < sizeof(log.text)) {
    log.text[log.length++] = '\n';
  }
}

/// Reached on a kernel's worker thread it still ends the process: nothing catches there.
[[noreturn]] void throw_aborted() {
  throw Aborted();
}

} // namespace

void start_log() {
  static const bool installed = [] {
    executorch::runtime::runtime_init();
    return executorch::runtime::register_pal(executorch::runtime::PalImpl::create(
        nullptr, &throw_aborted, nullptr, nullptr, &keep_errors, nullptr, nullptr, __FILE__));
  }();
  (void)installed;
  log.length = 0;
}

rust::String logged_errors() {
  size_t length = log.length;
  while (length > 0 && log.text[length - 1] == '\n') {
    length--;
  }
  return rust::String::lossy(log.text, length);
}

} // namespace nearside
