#include "threads.h"

#include "nearside-runtime/src/bridge.rs.h"

#include <executorch/runtime/core/function_ref.h>

// The package has no threadpool.h, but exports these. Only non-virtual members are called, through a pointer that the
// library owns, so the class's layout does not matter.
namespace executorch::extension::threadpool {
class ThreadPool {
 public:
  size_t get_thread_count() const;
  bool _unsafe_reset_threadpool(uint32_t num_threads);
  void run(executorch::runtime::FunctionRef<void(size_t)> task, size_t tasks);
};
ThreadPool* get_threadpool();
} // namespace executorch::extension::threadpool

namespace nearside {

using executorch::extension::threadpool::get_threadpool;

size_t thread_count() {
  auto* pool = get_threadpool();
  return pool != nullptr ? pool->get_thread_count() : 1;
}

bool set_thread_count(uint32_t threads) {
  auto* pool = get_threadpool();
  return pool != nullptr && pool->_unsafe_reset_threadpool(threads);
}

void run_on_pool(const Work& work, size_t tasks) {
  const auto task = [&work](size_t at) { do_task(work, at); };
  auto* pool = get_threadpool();
  if (pool != nullptr) {
    pool->run(task, tasks);
    return;
  }
  for (size_t at = 0; at < tasks; at++) {
    task(at);
  }
}

} // namespace nearside
