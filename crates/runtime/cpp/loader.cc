#include "loader.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

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

/// As `drop_pages`, with the pages around: the kernel maps up to 16 at each fault, so those of neighbours that were
/// dropped before come back. Whatever is still in use comes back when it is touched.
void drop_pages_around(void* context, void* data, size_t bytes) {
  const auto& whole = *static_cast<const MemoryLoader*>(context);
  constexpr size_t kFaultAround = 64 * 1024;
  auto* const first = static_cast<const uint8_t*>(data);
  const size_t start = static_cast<size_t>(first - whole.data());
  const size_t before = std::min(start, kFaultAround);
  const size_t after = std::min(whole.bytes() - start - bytes, kFaultAround);
  drop_pages(nullptr, const_cast<uint8_t*>(first - before), before + bytes + after);
}

bool within(size_t offset, size_t size, size_t bytes) {
  return offset <= bytes && size <= bytes - offset;
}

/// What XNNPACK's kernels may read past the end of a weight (`XNN_EXTRA_BYTES`).
constexpr size_t kSlack = 128;
/// ExecuTorch wants its programs aligned so, kernels their constants.
constexpr std::align_val_t kAlign{64};

void release(void*, void* data, size_t) {
  ::operator delete(data, kAlign);
}

} // namespace

Result<FreeableBuffer> FileLoader::load(size_t offset, size_t size, const SegmentInfo& info) const {
  if (!within(offset, size, bytes_)) {
    return Error::InvalidArgument;
  }
  void* const data = ::operator new(size + kSlack, kAlign, std::nothrow);
  if (data == nullptr) {
    return Error::MemoryAllocationFailed;
  }
  if (const Error error = load_into(offset, size, info, data); error != Error::Ok) {
    release(nullptr, data, size);
    return error;
  }
  std::memset(static_cast<uint8_t*>(data) + size, 0, kSlack);
  return FreeableBuffer(data, size, &release);
}

Error FileLoader::load_into(size_t offset, size_t size, const SegmentInfo&, void* buffer) const {
  if (!within(offset, size, bytes_)) {
    return Error::InvalidArgument;
  }
  auto* to = static_cast<uint8_t*>(buffer);
  while (size > 0) {
    const ssize_t read = pread(file_, to, size, static_cast<off_t>(offset));
    if (read < 0 && errno == EINTR) {
      continue;
    }
    if (read <= 0) {
      return Error::AccessFailed;
    }
    to += read;
    offset += static_cast<size_t>(read);
    size -= static_cast<size_t>(read);
  }
  return Error::Ok;
}

Result<FreeableBuffer> KeepingLoader::load(size_t offset, size_t size, const SegmentInfo& info) const {
  if (!keep_ || info.segment_type != SegmentInfo::Type::Backend) {
    return inner_->load(offset, size, info);
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  auto place = kept_.find({offset, size});
  if (place == kept_.end()) {
    Result<FreeableBuffer> loaded = inner_->load(offset, size, info);
    if (!loaded.ok()) {
      return loaded.error();
    }
    place = kept_.emplace(std::pair(offset, size), std::move(loaded.get())).first;
  }
  return view(place->second.data(), place->second.size(), false);
}

FreeableBuffer view(const void* data, size_t bytes, bool droppable) {
  return FreeableBuffer(data, bytes, droppable ? &drop_pages : nullptr);
}

Result<FreeableBuffer> MemoryLoader::load(size_t offset, size_t size, const SegmentInfo&) const {
  if (!within(offset, size, bytes_)) {
    return Error::InvalidArgument;
  }
  return FreeableBuffer(
      data_ + offset, size, droppable_ ? &drop_pages_around : nullptr, const_cast<MemoryLoader*>(this));
}

Error MemoryLoader::load_into(size_t offset, size_t size, const SegmentInfo&, void* buffer) const {
  if (!within(offset, size, bytes_)) {
    return Error::InvalidArgument;
  }
  std::memcpy(buffer, data_ + offset, size);
  return Error::Ok;
}

} // namespace nearside
