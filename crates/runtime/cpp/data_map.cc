#include "data_map.h"

#include "loader.h"

#include <algorithm>
#include <cstring>

namespace nearside {

using executorch::aten::ScalarType;
using executorch::runtime::Error;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::Result;
using executorch::runtime::Span;
using executorch::runtime::TensorLayout;

void DataMap::add(
    rust::Str key, rust::Slice<const uint8_t> data, bool droppable, bool is_tensor, int8_t dtype,
    rust::Slice<const int32_t> sizes, rust::Slice<const uint8_t> dim_order) {
  Entry entry{std::string(key), data.data(), data.size(), droppable, std::nullopt};
  if (is_tensor) {
    auto layout = TensorLayout::create(
        Span<const int32_t>(sizes.data(), sizes.size()), Span<const uint8_t>(dim_order.data(), dim_order.size()),
        static_cast<ScalarType>(dtype));
    if (layout.ok()) {
      entry.layout.emplace(layout.get());
    }
  }
  entries_.push_back(std::move(entry));
}

const DataMap::Entry* DataMap::find(std::string_view key) const {
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), key, [](const Entry& entry, std::string_view k) { return entry.key < k; });
  return found != entries_.end() && found->key == key ? &*found : nullptr;
}

Result<const TensorLayout> DataMap::get_tensor_layout(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr || !entry->layout) {
    return Error::NotFound;
  }
  return *entry->layout;
}

Result<FreeableBuffer> DataMap::get_data(std::string_view key) const {
  const Entry* entry = find(key);
  if (entry == nullptr) {
    return Error::NotFound;
  }
  return view(entry->data, entry->bytes, entry->droppable);
}

Error DataMap::load_data_into(std::string_view key, void* buffer, size_t size) const {
  const Entry* entry = find(key);
  if (entry == nullptr) {
    return Error::NotFound;
  }
  if (size > entry->bytes) {
    return Error::InvalidExternalData;
  }
  std::memcpy(buffer, entry->data, size);
  return Error::Ok;
}

Result<uint32_t> DataMap::get_num_keys() const {
  return static_cast<uint32_t>(entries_.size());
}

Result<const char*> DataMap::get_key(uint32_t index) const {
  if (index >= entries_.size()) {
    return Error::InvalidArgument;
  }
  return entries_[index].key.c_str();
}

std::unique_ptr<DataMap> new_data_map() {
  return std::make_unique<DataMap>();
}

} // namespace nearside
