#pragma once

#include "rust/cxx.h"

#include <executorch/extension/module/module.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

namespace nearside_bare {

struct Read;

/// ExecuTorch's `Module` and the inputs that it is run on. Nothing of Nearside is in the way.
class BareModule {
 public:
  BareModule(const std::string& path, uint8_t mode);

  uint32_t load(const std::string& method);
  uint32_t add_input(int8_t dtype, rust::Slice<const int32_t> sizes, const uint8_t* data);
  /// `Module::execute`, as an app would call it.
  Read module_execute();
  /// The least that a run takes: `set_input`, `Method::execute`, `get_output`.
  Read method_execute();

 private:
  using Tensor = executorch::aten::Tensor;

  struct Input {
    std::vector<int32_t> sizes;
    std::vector<uint8_t> dim_order;
    std::vector<int32_t> strides;
    std::unique_ptr<executorch::aten::TensorImpl> impl;
  };

  executorch::extension::Module module_;
  std::string name_;
  executorch::runtime::Method* method_ = nullptr;
  std::deque<Input> inputs_;
  std::vector<executorch::runtime::EValue> values_;
};

std::unique_ptr<BareModule> open_module(const std::string& path, uint8_t mode);

} // namespace nearside_bare
