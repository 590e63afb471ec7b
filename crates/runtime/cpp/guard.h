#pragma once

#include <cstdint>
#include <exception>
#include <new>

#include <executorch/runtime/core/error.h>

namespace nearside {

/// Our own code, beside ExecuTorch's: it found a state that it would have ended the process for.
constexpr uint32_t kAborted = 0xffffffff;

/// Thrown in place of ExecuTorch's abort.
struct Aborted : std::exception {};

/// Runs `work`, which gives an error code. What ExecuTorch would abort for becomes `kAborted`: damaged programs must not
/// take the app with them. Its library need not be built to be unwound, so destructors may not run: what was being used may leak and
/// must not be used again.
template <typename Work>
uint32_t guarded(Work&& work) noexcept {
  try {
    return static_cast<uint32_t>(work());
  } catch (const Aborted&) {
    return kAborted;
  } catch (const std::bad_alloc&) {
    return static_cast<uint32_t>(executorch::runtime::Error::MemoryAllocationFailed);
  } catch (...) {
    return static_cast<uint32_t>(executorch::runtime::Error::Internal);
  }
}

} // namespace nearside
