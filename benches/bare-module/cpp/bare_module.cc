#include "bare_module.h"

#include "nearside-bare-module/src/bridge.rs.h"

#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>

#include <numeric>

namespace nearside_bare {
namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::extension::Module;
using executorch::runtime::Error;
using executorch::runtime::EValue;

Read failed(Error error) {
  return {static_cast<uint32_t>(error), 0.0f};
}

Read first_element(const EValue& value) {
  if (!value.isTensor() || value.toTensor().scalar_type() != ScalarType::Float || value.toTensor().numel() == 0) {
    return failed(Error::InvalidType);
  }
  return {0, value.toTensor().const_data_ptr<float>()[0]};
}

Module::LoadMode load_mode(uint8_t mode) {
  return mode == 0 ? Module::LoadMode::File : Module::LoadMode::Mmap;
}

} // namespace

BareModule::BareModule(const std::string& path, uint8_t mode) : module_(path, load_mode(mode)) {}

uint32_t BareModule::load(const std::string& method) {
  const Error error = module_.load_method(method);
  if (error == Error::Ok) {
    name_ = method;
    method_ = module_.method(method).get();
  }
  return static_cast<uint32_t>(error);
}

uint32_t BareModule::add_input(int8_t dtype, rust::Slice<const int32_t> sizes, const uint8_t* data) {
  Input& input = inputs_.emplace_back();
  input.sizes.assign(sizes.begin(), sizes.end());
  input.dim_order.resize(sizes.size());
  std::iota(input.dim_order.begin(), input.dim_order.end(), uint8_t{0});
  input.strides.resize(sizes.size());
  const Error error = executorch::runtime::dim_order_to_stride(
      input.sizes.data(), input.dim_order.data(), sizes.size(), input.strides.data());
  input.impl = std::make_unique<TensorImpl>(
      static_cast<ScalarType>(dtype), static_cast<ssize_t>(sizes.size()), input.sizes.data(),
      const_cast<uint8_t*>(data), input.dim_order.data(), input.strides.data());
  values_.emplace_back(Tensor(input.impl.get()));
  return static_cast<uint32_t>(error);
}

Read BareModule::module_execute() {
  auto outputs = module_.execute(name_, values_);
  return outputs.ok() ? first_element(outputs->at(0)) : failed(outputs.error());
}

Read BareModule::method_execute() {
  for (size_t i = 0; i < values_.size(); i++) {
    if (Error error = method_->set_input(values_[i], i); error != Error::Ok) {
      return failed(error);
    }
  }
  if (Error error = method_->execute(); error != Error::Ok) {
    return failed(error);
  }
  return first_element(method_->get_output(0));
}

std::unique_ptr<BareModule> open_module(const std::string& path, uint8_t mode) {
  return std::make_unique<BareModule>(path, mode);
}

} // namespace nearside_bare
