#pragma once

#include "rust/cxx.h"

#include <executorch/runtime/backend/backend_options_map.h>

#include <string>
#include <vector>

namespace nearside {

struct DelegateOption;

/// Load options by delegate, with the memory that ExecuTorch's map only refers to. Must outlive what is loaded with it.
class LoadBackendOptions {
 public:
  /// ExecuTorch's error code, 0 if all were taken.
  executorch::runtime::Error set(rust::Slice<const DelegateOption> options);

  /// Fills in the value that the map has for the option; false if it has none.
  bool read(DelegateOption& option) const;

  const executorch::runtime::LoadBackendOptionsMap& map() const {
    return map_;
  }

 private:
  struct Entry {
    std::string delegate;
    std::vector<executorch::runtime::BackendOption> options;
  };

  std::vector<Entry> entries_;
  executorch::runtime::LoadBackendOptionsMap map_;
};

/// Sets an option of the delegate itself, for the process. ExecuTorch's error code.
uint32_t set_delegate_option(const DelegateOption& option);
/// Fills in what the delegate itself says that the option is; false if it says nothing.
bool get_delegate_option(DelegateOption& option);

} // namespace nearside
