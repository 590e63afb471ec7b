#pragma once

#include "data_map.h"
#include "delegate_options.h"
#include "program.h"
#include "tracer.h"

#include <executorch/extension/memory_allocator/malloc_memory_allocator.h>
#include <executorch/runtime/core/hierarchical_allocator.h>
#include <executorch/runtime/executor/memory_manager.h>
#include <executorch/runtime/executor/method.h>

#include <array>
#include <vector>

namespace nearside {

struct ArenaSpan;
struct OutputValue;

/// A loaded ExecuTorch method over arenas that the caller owns. Binding, executing and reading outputs allocate nothing.
class Method {
 public:
  explicit Method(rust::Slice<const ArenaSpan> arenas);

  /// Has the load and traced runs recorded; before `load`. There is room for so many events at first.
  void set_traced(size_t events);
  /// `data` may be null; else it must outlive the method.
  uint32_t load(
      const Program& program, const std::string& name, const DataMap* data,
      rust::Slice<const DelegateOption> options);
  /// Gives an output that is not memory planned a place of its own.
  uint32_t place_output(size_t index, uint8_t* data, size_t bytes);
  /// The same for a mutable buffer, by its name.
  uint32_t place_buffer(const std::string& name, uint8_t* data, size_t bytes);
  /// Fills in the load option that the method was given; false if it was given none.
  bool delegate_option(DelegateOption& option) const;
  /// `data` must stay valid until `execute` returns: an input that is not memory planned is aliased.
  uint32_t bind_tensor(
      size_t index, int8_t dtype, rust::Slice<const int32_t> sizes, rust::Slice<const uint8_t> dim_order,
      const uint8_t* data);
  uint32_t execute();
  /// Records what runs until `stop_trace`, which says whether there was room for all; the next time there is.
  void start_trace();
  bool stop_trace();
  rust::Slice<const TraceEvent> trace_events() const;
  rust::Slice<const uint8_t> trace_text() const;
  size_t output_count() const;
  OutputValue output(size_t index) const;

 private:
  static constexpr size_t kMaxDims = 16; // kTensorDimensionLimit of ExecuTorch

  executorch::runtime::Error set_fixed_inputs();

  struct Shape {
    std::array<int32_t, kMaxDims> sizes{};
    std::array<uint8_t, kMaxDims> dim_order{};
    std::array<int32_t, kMaxDims> strides{};
  };

  std::vector<executorch::runtime::Span<uint8_t>> arenas_;
  executorch::runtime::HierarchicalAllocator planned_;
  executorch::extension::MallocMemoryAllocator method_allocator_;
  executorch::runtime::MemoryManager memory_;
  std::unique_ptr<Tracer> tracer_; // null unless traced
  LoadBackendOptions options_;
  std::optional<executorch::runtime::Method> method_;
  std::vector<Shape> shapes_;
};

std::unique_ptr<Method> new_method(rust::Slice<const ArenaSpan> arenas);

} // namespace nearside
