#pragma once

#include <cstddef>
#include <cstdint>

namespace nearside {

size_t thread_count();
bool set_thread_count(uint32_t threads);

} // namespace nearside
