#include "tracer.h"

#include "nearside-runtime/src/bridge.rs.h"

#include <executorch/runtime/platform/platform.h>

#include <algorithm>
#include <cstring>

namespace nearside {
namespace {

using executorch::runtime::DataLoader;
using executorch::runtime::Error;
using executorch::runtime::EventTracerProfilingLevel;
using executorch::runtime::FreeableBuffer;
using executorch::runtime::Result;

uint64_t to_ns(et_timestamp_t ticks) {
  static const et_tick_ratio_t ratio = executorch::runtime::pal_ticks_to_ns_multiplier();
  return ticks * ratio.numerator / ratio.denominator;
}

uint64_t now_ns() {
  return to_ns(executorch::runtime::pal_current_ticks());
}

/// Numbers threads in the order in which they first report.
uint32_t thread_number() {
  static std::atomic<uint32_t> next{0};
  static thread_local const uint32_t number = next++;
  return number;
}

/// By the names that ExecuTorch gives its own events (runtime/executor/method.cpp and program.cpp of 1.5.1; those of
/// kernels are from codegen/gen.py).
TraceKind kind_of(const char* name) {
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  if (is("OPERATOR_CALL")) {
    return TraceKind::Operator;
  }
  if (is("DELEGATE_CALL")) {
    return TraceKind::Delegate;
  }
  if (is("MOVE_CALL") || is("JF_CALL") || is("FREE_CALL")) {
    return TraceKind::Control;
  }
  if (is("Method::execute")) {
    return TraceKind::Execute;
  }
  if (is("Program::load_method") || is("Method::init")) {
    return TraceKind::Load;
  }
  return TraceKind::Other;
}

thread_local Tracer* loading = nullptr;

/// A delegate's payload, given to it.
struct Payload {
  FreeableBuffer buffer;
  Tracer* tracer;
  int64_t event;
};

void free_payload(void* context, void*, size_t) {
  std::unique_ptr<Payload> payload(static_cast<Payload*>(context));
  payload->buffer.Free();
  // Freed later it says nothing of the load, and the tracer may be gone.
  if (payload->tracer == loading) {
    payload->tracer->end(payload->event);
  }
}

class TraceableLoader final : public DataLoader {
 public:
  explicit TraceableLoader(std::unique_ptr<DataLoader> inner) : inner_(std::move(inner)) {}

  Result<FreeableBuffer> load(size_t offset, size_t size, const SegmentInfo& info) const override {
    Tracer* tracer = loading;
    if (tracer == nullptr || info.segment_type != SegmentInfo::Type::Backend) {
      return inner_->load(offset, size, info);
    }
    const char* delegate = info.descriptor != nullptr ? info.descriptor : "";
    const int64_t event = tracer->begin(TraceKind::DelegateInit, delegate, -1, static_cast<int64_t>(offset));
    Result<FreeableBuffer> loaded = inner_->load(offset, size, info);
    if (!loaded.ok() || loaded->data() == nullptr) {
      return loaded;
    }
    const void* data = loaded->data();
    const size_t bytes = loaded->size();
    return FreeableBuffer(data, bytes, &free_payload, new Payload{std::move(loaded.get()), tracer, event});
  }

  Error load_into(size_t offset, size_t size, const SegmentInfo& info, void* buffer) const override {
    return inner_->load_into(offset, size, info, buffer);
  }

  Result<size_t> size() const override {
    return inner_->size();
  }

 private:
  std::unique_ptr<DataLoader> inner_;
};

} // namespace

Tracer::Tracer(size_t events, size_t text_bytes) {
  set_event_tracer_profiling_level(EventTracerProfilingLevel::kProfileMethodOnly);
  reserve(events, text_bytes);
}

Tracer::~Tracer() = default;

void Tracer::reserve(size_t events, size_t text_bytes) {
  if (events > event_room_) {
    events_.reset(new TraceEvent[events]());
    event_room_ = events;
  }
  if (text_bytes > text_room_) {
    text_.reset(new uint8_t[text_bytes]());
    text_room_ = text_bytes;
  }
}

void Tracer::start() {
  event_count_ = 0;
  text_bytes_ = 0;
  instruction_ = -1;
  set_event_tracer_profiling_level(EventTracerProfilingLevel::kProfileAllEvents);
  recording_ = true;
}

bool Tracer::stop() {
  recording_ = false;
  set_event_tracer_profiling_level(EventTracerProfilingLevel::kProfileMethodOnly);
  if (event_count_ <= event_room_ && text_bytes_ <= text_room_) {
    return true;
  }
  reserve(2 * event_count_, 2 * text_bytes_);
  event_count_ = 0;
  text_bytes_ = 0;
  return false;
}

rust::Slice<const TraceEvent> Tracer::events() const {
  return {events_.get(), std::min<size_t>(event_count_, event_room_)};
}

rust::Slice<const uint8_t> Tracer::text() const {
  return {text_.get(), std::min<size_t>(text_bytes_, text_room_)};
}

TraceEvent* Tracer::add(TraceKind kind, const char* name, int64_t instruction, int64_t detail) {
  if (!recording_) {
    return nullptr;
  }
  const size_t length = name != nullptr ? std::strlen(name) : 0;
  const size_t name_at = text_bytes_.fetch_add(length);
  const size_t index = event_count_.fetch_add(1);
  if (index >= event_room_ || name_at + length > text_room_) {
    return nullptr;
  }
  if (length > 0) {
    std::memcpy(text_.get() + name_at, name, length);
  }
  TraceEvent& event = events_[index];
  event = {kind, thread_number(), instruction, detail, 0, 0, name_at, length};
  return &event;
}

int64_t Tracer::begin(TraceKind kind, const char* name, int64_t instruction, int64_t detail) {
  TraceEvent* event = add(kind, name, instruction, detail);
  if (event == nullptr) {
    return -1;
  }
  // Last, so that keeping the event is not counted to it.
  event->start_ns = now_ns();
  return event - events_.get();
}

void Tracer::end(int64_t event) {
  if (event >= 0 && recording_) {
    events_[event].end_ns = now_ns();
  }
}

Tracer::Entry Tracer::start_profiling(const char* name, ChainID chain, DebugHandle handle) {
  Entry entry{};
  entry.event_id = -1;
  if (std::strncmp(name, "native_call_", 12) == 0) {
    return entry; // the kernel, inside the event of its operator
  }
  const TraceKind kind = kind_of(name);
  const bool call = kind == TraceKind::Operator || kind == TraceKind::Delegate || kind == TraceKind::Control;
  if (call) {
    instruction_ = static_cast<int64_t>(chain == executorch::runtime::kUnsetChainId ? debug_handle_ : handle);
  }
  const bool inside = call || kind == TraceKind::Other;
  const bool named = kind == TraceKind::Other || kind == TraceKind::Load;
  entry.event_id = begin(kind, named ? name : nullptr, inside ? instruction_.load() : -1, -1);
  return entry;
}

void Tracer::end_profiling(Entry entry) {
  end(entry.event_id);
}

Tracer::Entry Tracer::start_profiling_delegate(const char* name, DelegateDebugIntId id) {
  Entry entry{};
  entry.event_id = begin(TraceKind::Inner, name, instruction_, id);
  return entry;
}

void Tracer::end_profiling_delegate(Entry entry, const void*, size_t) {
  end(entry.event_id);
}

void Tracer::log_profiling_delegate(
    const char* name, DelegateDebugIntId id, et_timestamp_t start, et_timestamp_t end, const void*, size_t) {
  if (TraceEvent* event = add(TraceKind::Inner, name, instruction_, id)) {
    event->start_ns = to_ns(start);
    event->end_ns = to_ns(end);
  }
}

TracedLoad::TracedLoad(Tracer* tracer) {
  loading = tracer;
}

TracedLoad::~TracedLoad() {
  loading = nullptr;
}

std::unique_ptr<DataLoader> traceable(std::unique_ptr<DataLoader> inner) {
  return std::make_unique<TraceableLoader>(std::move(inner));
}

} // namespace nearside
