#pragma once

#include "rust/cxx.h"

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/executor/program.h>

#include <memory>

namespace nearside {

struct MethodFacts;

/// An ExecuTorch program and the loader that it reads from.
class Program {
 public:
  Program(
      std::unique_ptr<executorch::runtime::DataLoader> loader, executorch::runtime::Program program)
      : loader_(std::move(loader)), program_(std::move(program)) {}

  size_t method_count() const;
  /// The name of method `index`, or an empty string where there is none.
  rust::String method_name(size_t index) const;
  /// ExecuTorch's error code, 0 if `facts` was filled in.
  uint32_t method_facts(const std::string& name, MethodFacts& facts) const;

  const executorch::runtime::Program& get() const {
    return program_;
  }

 private:
  std::unique_ptr<executorch::runtime::DataLoader> loader_;
  executorch::runtime::Program program_;
};

/// The three ways in. Each returns null and sets `code` on failure.
std::unique_ptr<Program> open_mapped(const std::string& path, uint32_t& code);
std::unique_ptr<Program> open_file(const std::string& path, uint32_t& code);
/// `bytes` must outlive the program and every method loaded from it.
std::unique_ptr<Program> open_bytes(rust::Slice<const uint8_t> bytes, uint32_t& code);

} // namespace nearside
