#pragma once

#include "rust/cxx.h"

#include <executorch/runtime/core/named_data_map.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nearside {

/// Data outside a program, by name: what the Rust side read from `.ptd` files and keeps in memory.
class DataMap final : public executorch::runtime::NamedDataMap {
 public:
  /// `data`, `sizes` and `dim_order` must outlive the map. Without `dim_order` it is a delegate's own data.
  void add(
      rust::Str key, rust::Slice<const uint8_t> data, bool droppable, bool is_tensor, int8_t dtype,
      rust::Slice<const int32_t> sizes, rust::Slice<const uint8_t> dim_order);

  executorch::runtime::Result<const executorch::runtime::TensorLayout> get_tensor_layout(
      std::string_view key) const override;
  executorch::runtime::Result<executorch::runtime::FreeableBuffer> get_data(std::string_view key) const override;
  executorch::runtime::Error load_data_into(std::string_view key, void* buffer, size_t size) const override;
  executorch::runtime::Result<uint32_t> get_num_keys() const override;
  executorch::runtime::Result<const char*> get_key(uint32_t index) const override;

 private:
  struct Entry {
    std::string key;
    const uint8_t* data;
    size_t bytes;
    bool droppable;
    std::optional<executorch::runtime::TensorLayout> layout;
  };
  const Entry* find(std::string_view key) const;

  std::vector<Entry> entries_; // sorted by key, as they are added
};

std::unique_ptr<DataMap> new_data_map();

} // namespace nearside
