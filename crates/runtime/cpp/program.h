#pragma once

#include "loader.h"

#include "rust/cxx.h"

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/executor/program.h>

#include <memory>

namespace nearside {

/// An ExecuTorch program and the loader that it reads from.
class Program {
 public:
  Program(
      std::unique_ptr<executorch::runtime::DataLoader> loader, executorch::runtime::Program program)
      : loader_(std::move(loader)), program_(std::move(program)) {}

  /// `keeping`: the loader, or null if what it gives stays anyway.
  void set_keeping(KeepingLoader* keeping) {
    keeping_ = keeping;
  }

  /// From now on, what delegates are given stays in memory as long as the program does.
  void keep_segments() const {
    if (keeping_ != nullptr) {
      keeping_->keep();
    }
  }

  const executorch::runtime::Program& get() const {
    return program_;
  }

 private:
  std::unique_ptr<executorch::runtime::DataLoader> loader_;
  KeepingLoader* keeping_ = nullptr;
  executorch::runtime::Program program_;
};

/// The two ways in. Each returns null and sets `code` on failure.
/// `file`, a descriptor, must stay open as long as the program and every method loaded from it.
std::unique_ptr<Program> open_file(int32_t file, uint64_t bytes, uint32_t& code);
/// `bytes` must outlive the program and every method loaded from it. `droppable`: they map a file.
std::unique_ptr<Program> open_bytes(rust::Slice<const uint8_t> bytes, bool droppable, uint32_t& code);

} // namespace nearside
