#include "loader.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

namespace nearside {
namespace {

using executorch::runtime::Error;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::Result;

/// A delegate that has packed its weights frees the segment: without this, the file's pages would stay resident beside
/// the packed ones.
void drop_pages(void*, void* data, size_t bytes) {
  static const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t start = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = (start + page - 1) / page * page;
  const uintptr_t end = (start + bytes) / page * page;
  if (first < end) {
    madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
  }
}

bool within(size_t offset, size_t size, size_t bytes) {
  return offset <= bytes && size <= bytes - offset;
}

} // namespace

FreeableBuffer view(const void* data, size_t bytes, bool droppable) {
  return FreeableBuffer(data, bytes, droppable ? &drop_pages : nullptr);
}

Result<FreeableBuffer> MemoryLoader::load(size_t offset, size_t size, const SegmentInfo&) const {
  if (!within(offset, size, bytes_)) {
    return Error::InvalidArgument;
  }
  return view(data_ + offset, size, droppable_);
}

Error MemoryLoader::load_into(size_t offset, size_t size, const SegmentInfo&, void* buffer) const {
  if (!within(offset, size, bytes_)) {
    return Error::InvalidArgument;
  }
  std::memcpy(buffer, data_ + offset, size);
  return Error::Ok;
}

} // namespace nearside
