#pragma once

#include "rust/cxx.h"

namespace nearside {

struct DelegateFacts;

rust::Vec<DelegateFacts> registered_delegates();
rust::Vec<rust::String> registered_operators();
bool has_operator(const std::string& name);

} // namespace nearside
