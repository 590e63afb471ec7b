#include "delegate_options.h"

#include "guard.h"

#include "nearside-runtime/src/bridge.rs.h"

#include <executorch/runtime/backend/interface.h>

#include <algorithm>
#include <cstring>

namespace nearside {
namespace {

using executorch::runtime::BackendOption;
using executorch::runtime::Error;
using executorch::runtime::Span;
using Text = std::array<char, executorch::runtime::kMaxOptionValueLength>;

/// The Rust side has checked that key and text fit.
template <size_t N>
void copy(char (&to)[N], const rust::String& from) {
  const size_t length = std::min(from.size(), N - 1);
  std::memcpy(to, from.data(), length);
  to[length] = '\0';
}

BackendOption with_key(const rust::String& key) {
  BackendOption option;
  copy(option.key, key);
  return option;
}

BackendOption to_executorch(const DelegateOption& option) {
  BackendOption result = with_key(option.key);
  switch (option.kind) {
    case DelegateOptionKind::Int:
      result.value = static_cast<int>(option.integer);
      break;
    case DelegateOptionKind::Text: {
      Text text{};
      std::memcpy(text.data(), option.text.data(), std::min(option.text.size(), text.size() - 1));
      result.value = text;
      break;
    }
    default:
      result.value = option.flag;
  }
  return result;
}

void from_executorch(const BackendOption& from, DelegateOption& to) {
  if (const int* integer = std::get_if<int>(&from.value)) {
    to.kind = DelegateOptionKind::Int;
    to.integer = *integer;
  } else if (const bool* flag = std::get_if<bool>(&from.value)) {
    to.kind = DelegateOptionKind::Bool;
    to.flag = *flag;
  } else if (const Text* text = std::get_if<Text>(&from.value)) {
    to.kind = DelegateOptionKind::Text;
    to.text = rust::String::lossy(text->data(), strnlen(text->data(), text->size()));
  }
}

} // namespace

Error LoadBackendOptions::set(rust::Slice<const DelegateOption> options) {
  for (const DelegateOption& option : options) {
    const std::string delegate(option.delegate);
    auto entry = std::find_if(
        entries_.begin(), entries_.end(), [&](const Entry& known) { return known.delegate == delegate; });
    if (entry == entries_.end()) {
      entry = entries_.insert(entry, Entry{delegate, {}});
    }
    entry->options.push_back(to_executorch(option));
  }
  for (Entry& entry : entries_) {
    const Error error = map_.set_options(
        entry.delegate.c_str(), Span<BackendOption>(entry.options.data(), entry.options.size()));
    if (error != Error::Ok) {
      return error;
    }
  }
  return Error::Ok;
}

bool LoadBackendOptions::read(DelegateOption& option) const {
  for (const BackendOption& known : map_.get_options(std::string(option.delegate).c_str())) {
    if (known.key == std::string(option.key)) {
      from_executorch(known, option);
      return true;
    }
  }
  return false;
}

uint32_t set_delegate_option(const DelegateOption& option) {
  return guarded([&] {
    BackendOption set = to_executorch(option);
    return executorch::runtime::set_option(std::string(option.delegate).c_str(), Span<BackendOption>(&set, 1));
  });
}

bool get_delegate_option(DelegateOption& option) {
  // A delegate that doesn't know the option leaves the value as it is, so ask twice with values of two types.
  auto ask = [&](BackendOption& asked) {
    return guarded([&] {
      return executorch::runtime::get_option(
          std::string(option.delegate).c_str(), Span<BackendOption>(&asked, 1));
    }) == 0;
  };
  BackendOption as_int = with_key(option.key);
  BackendOption as_text = as_int;
  as_int.value = -1;
  as_text.value = Text{};
  if (!ask(as_int) || !ask(as_text) || as_int.value.index() != as_text.value.index()) {
    return false;
  }
  from_executorch(as_int, option);
  return true;
}

} // namespace nearside
