#include "method.h"

#include "guard.h"
#include "guards/guards.h"

#include "nearside-runtime/src/bridge.rs.h"

#include <executorch/runtime/core/evalue.h>
#include <executorch/runtime/core/exec_aten/util/dim_order_util.h>
#include <executorch/runtime/core/exec_aten/util/tensor_util.h>

namespace nearside {
namespace {

using executorch::aten::ScalarType;
using executorch::aten::Tensor;
using executorch::aten::TensorImpl;
using executorch::runtime::Error;
using executorch::runtime::EValue;
using executorch::runtime::Span;

std::vector<Span<uint8_t>> spans(rust::Slice<const ArenaSpan> arenas) {
  std::vector<Span<uint8_t>> result;
  result.reserve(arenas.size());
  for (const ArenaSpan& arena : arenas) {
    result.emplace_back(arena.data, arena.bytes);
  }
  return result;
}

} // namespace

Method::Method(rust::Slice<const ArenaSpan> arenas)
    : arenas_(spans(arenas)),
      planned_(Span<Span<uint8_t>>(arenas_.data(), arenas_.size())),
      memory_(&method_allocator_, &planned_) {}

void Method::set_traced(size_t events) {
  constexpr size_t kNameBytes = 48;
  tracer_ = std::make_unique<Tracer>(events, events * kNameBytes);
}

void Method::start_trace() {
  if (tracer_) {
    tracer_->start();
  }
}

bool Method::stop_trace() {
  return tracer_ == nullptr || tracer_->stop();
}

rust::Slice<const TraceEvent> Method::trace_events() const {
  return tracer_ ? tracer_->events() : rust::Slice<const TraceEvent>();
}

rust::Slice<const uint8_t> Method::trace_text() const {
  return tracer_ ? tracer_->text() : rust::Slice<const uint8_t>();
}

uint32_t Method::load(
    const Program& program, const std::string& name, const DataMap* data,
    rust::Slice<const DelegateOption> options) {
  const TracedLoad traced(tracer_.get());
  return guarded([&] {
    if (const Error error = options_.set(options); error != Error::Ok) {
      return error;
    }
    auto method = program.get().load_method(
        name.c_str(), &memory_, tracer_.get(), data, &options_.map(), guarded_kernels());
    if (!method.ok()) {
      return method.error();
    }
    method_.emplace(std::move(method.get()));
    shapes_.resize(method_->inputs_size());
    return set_fixed_inputs();
  });
}

bool Method::delegate_option(DelegateOption& option) const {
  return options_.read(option);
}

/// Inputs that are no tensors have the value that they were exported with; ExecuTorch takes no other.
Error Method::set_fixed_inputs() {
  for (size_t i = 0; i < method_->inputs_size(); i++) {
    const EValue value = method_->get_input(i);
    if (!value.isTensor()) {
      if (Error error = method_->set_input(value, i); error != Error::Ok) {
        return error;
      }
    }
  }
  return Error::Ok;
}

uint32_t Method::place_output(size_t index, uint8_t* data, size_t bytes) {
  return guarded([&] { return method_->set_output_data_ptr(data, bytes, index); });
}

uint32_t Method::place_buffer(const std::string& name, uint8_t* data, size_t bytes) {
  return guarded([&] {
    auto tensor = method_->get_attribute(name);
    return tensor.ok() ? executorch::runtime::internal::set_tensor_data(tensor.get(), data, bytes) : tensor.error();
  });
}

uint32_t Method::bind_tensor(
    size_t index, int8_t dtype, rust::Slice<const int32_t> sizes, rust::Slice<const uint8_t> dim_order,
    const uint8_t* data) {
  if (!method_ || index >= shapes_.size() || sizes.size() > kMaxDims || dim_order.size() != sizes.size()) {
    return static_cast<uint32_t>(Error::InvalidArgument);
  }
  Shape& shape = shapes_[index];
  std::copy(sizes.begin(), sizes.end(), shape.sizes.begin());
  std::copy(dim_order.begin(), dim_order.end(), shape.dim_order.begin());
  const Error strides = executorch::runtime::dim_order_to_stride(
      shape.sizes.data(), shape.dim_order.data(), sizes.size(), shape.strides.data());
  if (strides != Error::Ok) {
    return static_cast<uint32_t>(strides);
  }
  return guarded([&] {
    TensorImpl impl(
        static_cast<ScalarType>(dtype), static_cast<ssize_t>(sizes.size()), shape.sizes.data(),
        const_cast<uint8_t*>(data), shape.dim_order.data(), shape.strides.data());
    return method_->set_input(EValue(Tensor(&impl)), index);
  });
}

uint32_t Method::execute() {
  return guarded([&] { return method_ ? method_->execute() : Error::InvalidState; });
}

size_t Method::output_count() const {
  return method_ ? method_->outputs_size() : 0;
}

OutputValue Method::output(size_t index) const {
  OutputValue result{};
  if (!method_ || index >= method_->outputs_size()) {
    return result;
  }
  const EValue& value = method_->get_output(index);
  result.tag = static_cast<uint32_t>(value.tag);
  if (value.isTensor()) {
    const Tensor& tensor = value.toTensor();
    result.dtype = static_cast<int8_t>(tensor.scalar_type());
    result.sizes = tensor.sizes().data();
    result.dims = tensor.sizes().size();
    result.data = static_cast<const uint8_t*>(tensor.const_data_ptr());
    result.bytes = tensor.nbytes();
  } else if (value.isInt()) {
    result.integer = value.toInt();
  } else if (value.isDouble()) {
    result.real = value.toDouble();
  } else if (value.isBool()) {
    result.integer = value.toBool() ? 1 : 0;
  }
  return result;
}

std::unique_ptr<Method> new_method(rust::Slice<const ArenaSpan> arenas) {
  return std::make_unique<Method>(arenas);
}

} // namespace nearside
