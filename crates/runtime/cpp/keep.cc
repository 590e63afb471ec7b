// The kernel and delegate libraries do their work from static initialisers, so nothing refers to them and
// `--as-needed` would drop them. Each address below makes the linker keep one.

#include <executorch/runtime/core/exec_aten/exec_aten.h>
#include <executorch/runtime/kernel/kernel_runtime_context.h>

extern "C" int xnn_deinitialize();
#ifdef NEARSIDE_OPENVINO
// OpenvinoBackend::is_available() const, by its name in the library: there is no header to declare it.
extern "C" int openvino_is_available() __asm__("_ZNK10executorch8backends8openvino15OpenvinoBackend12is_availableEv");
#endif
#ifdef NEARSIDE_QNN
extern "C" void QnnExecuTorchBackendRegister(void*);
#endif

namespace torch::executor::native {
using executorch::aten::Scalar;
using executorch::aten::Tensor;
Tensor& opt_add_out(
    executorch::runtime::KernelRuntimeContext&, const Tensor&, const Tensor&, const Scalar&, Tensor&);
Tensor& quantized_add_out(
    const Tensor&, double, int64_t, int64_t, int64_t, const Tensor&, double, int64_t, int64_t, int64_t, double,
    int64_t, int64_t, int64_t, Tensor&);
} // namespace torch::executor::native

namespace nearside {
namespace {
using QuantizedAdd = executorch::aten::Tensor& (*)(
    const executorch::aten::Tensor&, double, int64_t, int64_t, int64_t, const executorch::aten::Tensor&, double,
    int64_t, int64_t, int64_t, double, int64_t, int64_t, int64_t, executorch::aten::Tensor&);
} // namespace

const void* kept_libraries(size_t index) {
  static const void* const kept[] = {
      reinterpret_cast<const void*>(&xnn_deinitialize),
      reinterpret_cast<const void*>(&torch::executor::native::opt_add_out),
      reinterpret_cast<const void*>(static_cast<QuantizedAdd>(&torch::executor::native::quantized_add_out)),
#ifdef NEARSIDE_OPENVINO
      reinterpret_cast<const void*>(&openvino_is_available),
#endif
#ifdef NEARSIDE_QNN
      reinterpret_cast<const void*>(&QnnExecuTorchBackendRegister),
#endif
  };
  return index < sizeof(kept) / sizeof(kept[0]) ? kept[index] : nullptr;
}
} // namespace nearside
