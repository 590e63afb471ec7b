#pragma once

#include "rust/cxx.h"

namespace nearside {

/// Forgets what ExecuTorch logged on this thread. Installs the hooks for logging and aborting on first use.
void start_log();

/// What ExecuTorch logged as errors on this thread since `start_log`, one line each.
rust::String logged_errors();

} // namespace nearside
