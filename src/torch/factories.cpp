// empty and empty_strided: every other factory is built on them or is a lowering row.
#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/TensorFactories.h>
#include <c10/core/MemoryFormat.h>
#include <torch/library.h>

#include "torch/device.h"
#include "torch/storage.h"

namespace neuron::pytorch {
namespace {

int DeviceOrCurrent(std::optional<c10::Device> device) {
  const int index = device.has_value() && device->has_index() ? device->index() : CurrentDevice();
  TORCH_CHECK(index < DeviceCount(), "neuron: no device ", index, "; there are ", DeviceCount(),
              " (torch.neuron.device_count())");
  return index;
}

void CheckOptions(std::optional<c10::Layout> layout, std::optional<bool> pin_memory) {
  TORCH_CHECK_NOT_IMPLEMENTED(!layout.has_value() || *layout == c10::Layout::Strided,
                              "neuron tensors are strided, got layout ", *layout);
  TORCH_CHECK(!pin_memory.value_or(false), "Only dense CPU tensors can be pinned");
}

at::ScalarType DtypeOrDefault(std::optional<at::ScalarType> dtype) {
  return dtype.has_value() ? *dtype : c10::get_default_dtype_as_scalartype();
}

// What torch.use_deterministic_algorithms asks for: nobody sees memory that nobody wrote.
at::Tensor Deterministic(at::Tensor out) {
  const at::Context& context = at::globalContext();
  if (context.deterministicAlgorithms() && context.deterministicFillUninitializedMemory())
      [[unlikely]]
    at::native::fill_empty_deterministic_(out);
  return out;
}

at::Tensor EmptyMemoryFormat(at::IntArrayRef sizes, std::optional<at::ScalarType> dtype,
                             std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                             std::optional<bool> pin_memory,
                             std::optional<c10::MemoryFormat> memory_format) {
  CheckOptions(layout, pin_memory);
  for (const int64_t size : sizes)
    TORCH_CHECK(size >= 0, "Trying to create tensor with negative dimension ", size, ": ", sizes);
  at::Tensor out = EmptyContiguous(DeviceOrCurrent(device), sizes, DtypeOrDefault(dtype));
  if (memory_format.has_value() && *memory_format != c10::MemoryFormat::Contiguous)
    out.unsafeGetTensorImpl()->empty_tensor_restride(*memory_format);
  return Deterministic(std::move(out));
}

at::Tensor EmptyWithStrides(at::IntArrayRef sizes, at::IntArrayRef strides,
                            std::optional<at::ScalarType> dtype, std::optional<c10::Layout> layout,
                            std::optional<c10::Device> device, std::optional<bool> pin_memory) {
  CheckOptions(layout, pin_memory);
  TORCH_CHECK(sizes.size() == strides.size(), "dimensionality of sizes (", sizes.size(),
              ") must match dimensionality of strides (", strides.size(), ")");
  return Deterministic(
      EmptyStrided(DeviceOrCurrent(device), sizes, strides, DtypeOrDefault(dtype)));
}

// Autograd's zero without memory, which no kernel of ours could read: zeros with memory.
at::Tensor EfficientZeroTensor(at::IntArrayRef sizes, std::optional<at::ScalarType> dtype,
                               std::optional<c10::Layout> layout, std::optional<c10::Device> device,
                               std::optional<bool> pin_memory) {
  at::Tensor out = EmptyMemoryFormat(sizes, dtype, layout, device, pin_memory, std::nullopt);
  return out.zero_();
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_efficientzerotensor", TORCH_FN(EfficientZeroTensor));
  m.impl("empty.memory_format", TORCH_FN(EmptyMemoryFormat));
  m.impl("empty_strided", TORCH_FN(EmptyWithStrides));
}

}  // namespace
}  // namespace neuron::pytorch
