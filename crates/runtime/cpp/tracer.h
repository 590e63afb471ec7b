#pragma once

#include "rust/cxx.h"

#include <executorch/runtime/core/data_loader.h>
#include <executorch/runtime/core/event_tracer.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace nearside {

struct TraceEvent;
enum class TraceKind : uint8_t;

/// Keeps what ExecuTorch and its delegates tell of a load or a run, in memory that is set aside before. Events beyond it
/// are counted, not kept.
class Tracer final : public executorch::runtime::EventTracer {
 public:
  Tracer(size_t events, size_t text_bytes);
  ~Tracer() override;

  /// Forgets what was kept, and keeps from now on.
  void start();
  /// Whether all was kept since `start`. If not, there is room for as much the next time.
  bool stop();
  rust::Slice<const TraceEvent> events() const;
  /// What the events' names are parts of.
  rust::Slice<const uint8_t> text() const;

  /// The number of the new event, -1 if it is not kept.
  int64_t begin(TraceKind kind, const char* name, int64_t instruction, int64_t detail);
  void end(int64_t event);

  using ChainID = executorch::runtime::ChainID;
  using DebugHandle = executorch::runtime::DebugHandle;
  using DelegateDebugIntId = executorch::runtime::DelegateDebugIntId;
  using Entry = executorch::runtime::EventTracerEntry;
  using Tensor = executorch::aten::Tensor;
  template <typename T>
  using Result = executorch::runtime::Result<T>;

  void create_event_block(const char*) override {}
  Entry start_profiling(const char* name, ChainID chain, DebugHandle handle) override;
  void end_profiling(Entry entry) override;
  Entry start_profiling_delegate(const char* name, DelegateDebugIntId id) override;
  void end_profiling_delegate(Entry entry, const void*, size_t) override;
  void log_profiling_delegate(
      const char* name, DelegateDebugIntId id, et_timestamp_t start, et_timestamp_t end, const void*, size_t) override;

  // Values and allocations are not traced.
  void track_allocation(executorch::runtime::AllocatorID, size_t) override {}
  executorch::runtime::AllocatorID track_allocator(const char*) override {
    return 0;
  }
  Result<bool> log_evalue(const executorch::runtime::EValue&, executorch::runtime::LoggedEValueType) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(const char*, DelegateDebugIntId, const Tensor&) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(
      const char*, DelegateDebugIntId, const executorch::runtime::ArrayRef<Tensor>) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(const char*, DelegateDebugIntId, const int&) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(const char*, DelegateDebugIntId, const bool&) override {
    return false;
  }
  Result<bool> log_intermediate_output_delegate(const char*, DelegateDebugIntId, const double&) override {
    return false;
  }
  void set_delegation_intermediate_output_filter(executorch::runtime::EventTracerFilterBase*) override {}

 private:
  TraceEvent* add(TraceKind kind, const char* name, int64_t instruction, int64_t detail);
  void reserve(size_t events, size_t text_bytes);

  std::unique_ptr<TraceEvent[]> events_;
  std::unique_ptr<uint8_t[]> text_;
  size_t event_room_ = 0;
  size_t text_room_ = 0;
  // Delegates may report from threads of their own.
  std::atomic<size_t> event_count_{0};
  std::atomic<size_t> text_bytes_{0};
  /// The instruction that runs; ExecuTorch runs one at a time.
  std::atomic<int64_t> instruction_{-1};
  std::atomic<bool> recording_{false};
};

/// While it lives, the payloads of delegates that this thread loads are told to the tracer, which may be null: from when
/// one is loaded until its delegate frees it.
class TracedLoad {
 public:
  explicit TracedLoad(Tracer* tracer);
  ~TracedLoad();
  TracedLoad(const TracedLoad&) = delete;
  TracedLoad& operator=(const TracedLoad&) = delete;
};

/// `inner`, seen by `TracedLoad`.
std::unique_ptr<executorch::runtime::DataLoader> traceable(std::unique_ptr<executorch::runtime::DataLoader> inner);

} // namespace nearside
