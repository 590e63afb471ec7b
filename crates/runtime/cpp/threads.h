#pragma once

#include <cstddef>
#include <cstdint>

namespace nearside {

struct Work;

size_t thread_count();
bool set_thread_count(uint32_t threads);
/// Does the tasks `0..tasks` on the pool's threads, the calling one among them, and returns when all are done.
void run_on_pool(const Work& work, size_t tasks);

} // namespace nearside
