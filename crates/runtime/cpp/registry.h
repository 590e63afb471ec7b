#pragma once

#include "rust/cxx.h"

namespace nearside {

struct GuardFacts;

rust::Vec<rust::String> registered_delegates();
/// Whether a registered delegate says that it can run here; it may open a vendor's library to find out.
bool delegate_says_available(const std::string& id);
rust::Vec<rust::String> registered_operators();
rust::Vec<rust::String> own_operators();
bool has_operator(const std::string& name);
rust::Vec<GuardFacts> guarded_operators();

} // namespace nearside
