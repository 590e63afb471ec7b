#include "registry.h"

#include "guards/call.h"
#include "guards/guards.h"
#include "kernels/kernels.h"

#include "guard.h"

#include "nearside-runtime/src/bridge.rs.h"

#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/kernel/operator_registry.h>

namespace nearside {

const void* kept_libraries(size_t index); // keep.cc: also makes the linker take that object

rust::Vec<rust::String> registered_delegates() {
  rust::Vec<rust::String> delegates;
  if (kept_libraries(0) == nullptr) {
    return delegates;
  }
  for (size_t i = 0; i < executorch::runtime::get_num_registered_backends(); i++) {
    auto name = executorch::runtime::get_backend_name(i);
    if (name.ok()) {
      delegates.push_back(rust::String::lossy(name.get()));
    }
  }
  return delegates;
}

bool delegate_says_available(const std::string& id) {
  bool available = false;
  guarded([&] {
    auto* backend = executorch::runtime::get_backend_class(id.c_str());
    available = backend != nullptr && backend->is_available();
    return 0;
  });
  return available;
}

rust::Vec<rust::String> registered_operators() {
  rust::Vec<rust::String> operators;
  if (kept_libraries(0) == nullptr) {
    return operators;
  }
  for (const auto& kernel : executorch::runtime::get_registered_kernels()) {
    operators.push_back(rust::String::lossy(kernel.name_));
  }
  for (const auto& kernel : own_kernels()) {
    operators.push_back(rust::String::lossy(kernel.name_));
  }
  return operators;
}

rust::Vec<rust::String> own_operators() {
  rust::Vec<rust::String> operators;
  for (const auto& kernel : own_kernels()) {
    operators.push_back(rust::String::lossy(kernel.name_));
  }
  return operators;
}

bool has_operator(const std::string& name) {
  for (const auto& kernel : own_kernels()) {
    if (name == kernel.name_) {
      return true;
    }
  }
  return kept_libraries(0) != nullptr && executorch::runtime::registry_has_op_function(name.c_str());
}

rust::Vec<GuardFacts> guarded_operators() {
  rust::Vec<GuardFacts> operators;
  for (const guards::Guard& guard : guards::all()) {
    operators.push_back({rust::String::lossy(guard.name), guard.values});
  }
  return operators;
}

} // namespace nearside
