#include "threads.h"

// The package has no threadpool.h, but exports these. Only non-virtual members are called, through a pointer that the
// library owns, so the class's layout does not matter.
namespace executorch::extension::threadpool {
class ThreadPool {
 public:
  size_t get_thread_count() const;
  bool _unsafe_reset_threadpool(uint32_t num_threads);
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

} // namespace nearside
