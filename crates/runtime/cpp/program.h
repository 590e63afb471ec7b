#pragma once

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

  const executorch::runtime::Program& get() const {
    return program_;
  }

 private:
  std::unique_ptr<executorch::runtime::DataLoader> loader_;
  executorch::runtime::Program program_;
};

/// The two ways in. Each returns null and sets `code` on failure.
std::unique_ptr<Program> open_file(const std::string& path, uint32_t& code);
/// `bytes` must outlive the program and every method loaded from it. `droppable`: they map a file.
std::unique_ptr<Program> open_bytes(rust::Slice<const uint8_t> bytes, bool droppable, uint32_t& code);

} // namespace nearside
