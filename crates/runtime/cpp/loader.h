#pragma once

#include <executorch/runtime/core/data_loader.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace nearside {

/// Hands out parts of memory that the Rust side owns, without copying.
class MemoryLoader final : public executorch::runtime::DataLoader {
 public:
  /// `droppable`: the memory maps a file, so that pages given back are read again when they are needed.
  MemoryLoader(const uint8_t* data, size_t bytes, bool droppable)
      : data_(data), bytes_(bytes), droppable_(droppable) {}

  executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size, const SegmentInfo& info) const override;
  executorch::runtime::Error load_into(
      size_t offset, size_t size, const SegmentInfo& info, void* buffer) const override;
  executorch::runtime::Result<size_t> size() const override {
    return bytes_;
  }

  const uint8_t* data() const {
    return data_;
  }
  size_t bytes() const {
    return bytes_;
  }

 private:
  const uint8_t* data_;
  size_t bytes_;
  bool droppable_;
};

/// Reads from a file that the Rust side has open: that one has been checked, whatever is at its path by now.
class FileLoader final : public executorch::runtime::DataLoader {
 public:
  FileLoader(int file, size_t bytes) : file_(file), bytes_(bytes) {}

  executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size, const SegmentInfo& info) const override;
  executorch::runtime::Error load_into(
      size_t offset, size_t size, const SegmentInfo& info, void* buffer) const override;
  executorch::runtime::Result<size_t> size() const override {
    return bytes_;
  }

 private:
  int file_;
  size_t bytes_;
};

/// Passes on what another loader reads, and can keep payloads in memory: ExecuTorch's XNNPACK delegate frees its own
/// even if XNNPACK goes on reading weights in it that it did not pack. (It keeps such weights if they have names, as
/// those of today's exporter do.)
class KeepingLoader final : public executorch::runtime::DataLoader {
 public:
  explicit KeepingLoader(std::unique_ptr<executorch::runtime::DataLoader> inner) : inner_(std::move(inner)) {}

  /// From now on, keeps what is loaded for delegates.
  void keep() {
    keep_ = true;
  }

  executorch::runtime::Result<executorch::runtime::FreeableBuffer> load(
      size_t offset, size_t size, const SegmentInfo& info) const override;
  executorch::runtime::Error load_into(
      size_t offset, size_t size, const SegmentInfo& info, void* buffer) const override {
    return inner_->load_into(offset, size, info, buffer);
  }
  executorch::runtime::Result<size_t> size() const override {
    return inner_->size();
  }

 private:
  std::unique_ptr<executorch::runtime::DataLoader> inner_;
  std::atomic<bool> keep_{false};
  mutable std::mutex mutex_;
  /// By offset and size: a method that is loaded again is given the same.
  mutable std::map<std::pair<size_t, size_t>, executorch::runtime::FreeableBuffer> kept_;
};

/// A view of `data` that gives its whole pages back when it is freed, if they are `droppable`.
executorch::runtime::FreeableBuffer view(const void* data, size_t bytes, bool droppable);

} // namespace nearside
