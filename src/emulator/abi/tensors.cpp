// nrt_tensor_*: memory.
#include <chrono>
#include <cstring>
#include <thread>

#include "emulator/abi/objects.h"
#include "emulator/abi/storage_epoch.h"

namespace neuron::emulator::abi {

Storage::~Storage() {
  if (core != nullptr) core->hbm().Free(block);
}

Outcome RequireTensor(const nrt_tensor_t* tensor) {
  if (tensor == nullptr || tensor->magic != kTensorMagic)
    return InvalidHandle("no tensor is at ", static_cast<const void*>(tensor),
                         "; was it freed before?");
  return {};
}

std::atomic<uint64_t>& StorageEpoch() {
  static std::atomic<uint64_t> epoch{1};
  return epoch;
}

namespace {

Outcome Range(const nrt_tensor_t* tensor, uint64_t offset, uint64_t size) {
  NEURON_ABI_RETURN_IF_ERROR(RequireTensor(tensor));
  const auto bytes = static_cast<uint64_t>(tensor->bytes);
  if (offset > bytes || size > bytes - offset)
    return InvalidArgument("bytes [", offset, ", ", offset + size, ") of tensor '", tensor->name,
                           "', which has ", bytes);
  if (size > 0 && tensor->data() == nullptr)
    return InvalidArgument("tensor '", tensor->name, "' has no storage");
  return {};
}

Outcome Allocate(nrt_tensor_placement_t placement, int vnc, size_t size, const char* name,
                 nrt_tensor_t** out) {
  if (out == nullptr) return InvalidArgument("tensor is null");
  if (size == 0) return InvalidArgument("a tensor of 0 bytes was asked for");
  auto storage = std::make_shared<Storage>();
  NEURON_ABI_RETURN_IF_ERROR(RequireMachine(&storage->machine));
  const auto bytes = static_cast<int64_t>(size);
  switch (placement) {
    case NRT_TENSOR_PLACEMENT_DEVICE: {
      NEURON_ASSIGN_OR_RETURN(Core* const core, storage->machine->core(vnc));
      NEURON_ASSIGN_OR_RETURN(storage->block, core->hbm().Allocate(bytes));
      storage->core = core;
      storage->data = storage->block.host;
      storage->address = storage->block.address;
      break;
    }
    case NRT_TENSOR_PLACEMENT_HOST:
      storage->owned = std::make_unique<char[]>(size);
      storage->data = storage->address = storage->owned.get();
      break;
    default:
      return InvalidArgument("placement ", static_cast<int>(placement), " is not known");
  }
  auto* tensor = new nrt_tensor;
  tensor->storage = std::move(storage);
  tensor->bytes = bytes;
  tensor->name = name == nullptr ? "" : name;
  *out = tensor;
  return {};
}

}  // namespace
}  // namespace neuron::emulator::abi

namespace abi = neuron::emulator::abi;
using neuron::InvalidArgument;

extern "C" {

NRT_STATUS nrt_tensor_allocate(nrt_tensor_placement_t placement, int vnc, size_t size,
                               const char* name, nrt_tensor_t** tensor) {
  return abi::Call("nrt_tensor_allocate",
                   [&] { return abi::Allocate(placement, vnc, size, name, tensor); });
}

NRT_STATUS nrt_tensor_allocate_empty(const char* name, nrt_tensor_t** tensor) {
  return abi::Call("nrt_tensor_allocate_empty", [&]() -> abi::Outcome {
    if (tensor == nullptr) return InvalidArgument("tensor is null");
    *tensor = new nrt_tensor;
    (*tensor)->name = name == nullptr ? "" : name;
    return {};
  });
}

NRT_STATUS nrt_tensor_attach_buffer(nrt_tensor_t* tensor, void* buffer, size_t size) {
  return abi::Call("nrt_tensor_attach_buffer", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireTensor(tensor));
    auto storage = std::make_shared<abi::Storage>();
    storage->data = storage->address = static_cast<char*>(buffer);
    tensor->storage = std::move(storage);
    tensor->offset = 0;
    tensor->bytes = static_cast<int64_t>(size);
    ++abi::StorageEpoch();
    return {};
  });
}

NRT_STATUS nrt_tensor_allocate_slice(const nrt_tensor_t* source, size_t offset, size_t size,
                                     const char* name, nrt_tensor_t** tensor) {
  return abi::Call("nrt_tensor_allocate_slice", [&]() -> abi::Outcome {
    if (tensor == nullptr) return InvalidArgument("tensor is null");
    NEURON_ABI_RETURN_IF_ERROR(abi::Range(source, offset, size));
    auto* slice = new nrt_tensor;
    slice->storage = source->storage;
    slice->offset = source->offset + static_cast<int64_t>(offset);
    slice->bytes = static_cast<int64_t>(size);
    slice->name = name == nullptr ? "" : name;
    *tensor = slice;
    return {};
  });
}

void nrt_tensor_free(nrt_tensor_t** tensor) {
  if (tensor == nullptr || abi::RequireTensor(*tensor).code != NRT_SUCCESS) return;
  (*tensor)->magic = 0;
  delete *tensor;
  *tensor = nullptr;
}

size_t nrt_tensor_get_size(const nrt_tensor_t* tensor) {
  return abi::RequireTensor(tensor).code == NRT_SUCCESS ? static_cast<size_t>(tensor->bytes) : 0;
}

void* nrt_tensor_get_va(const nrt_tensor_t* tensor) {
  if (abi::RequireTensor(tensor).code != NRT_SUCCESS || tensor->storage == nullptr) return nullptr;
  return tensor->storage->address + tensor->offset;
}

NRT_STATUS nrt_tensor_read(const nrt_tensor_t* tensor, void* buffer, size_t offset, size_t size) {
  return abi::Call("nrt_tensor_read", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::Range(tensor, offset, size));
    if (size > 0) std::memcpy(buffer, tensor->data() + offset, size);
    return {};
  });
}

NRT_STATUS nrt_tensor_write(nrt_tensor_t* tensor, const void* buffer, size_t offset, size_t size) {
  return abi::Call("nrt_tensor_write", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::Range(tensor, offset, size));
    if (size > 0) std::memcpy(tensor->data() + offset, buffer, size);
    return {};
  });
}

NRT_STATUS nrt_tensor_read_batch(const nrt_tensor_batch_t* batches, uint64_t count, bool) {
  return abi::Call("nrt_tensor_read_batch", [&]() -> abi::Outcome {
    for (uint64_t b = 0; b < count; ++b)
      for (uint32_t i = 0; i < batches[b].num_ops; ++i) {
        const nrt_tensor_batch_op_t& op = batches[b].ops[i];
        NEURON_ABI_RETURN_IF_ERROR(abi::Range(batches[b].tensor, op.offset, op.size));
        std::memcpy(op.buffer, batches[b].tensor->data() + op.offset, op.size);
      }
    return {};
  });
}

NRT_STATUS nrt_tensor_write_batch(const nrt_tensor_batch_t* batches, uint64_t count, bool) {
  return abi::Call("nrt_tensor_write_batch", [&]() -> abi::Outcome {
    for (uint64_t b = 0; b < count; ++b)
      for (uint32_t i = 0; i < batches[b].num_ops; ++i) {
        const nrt_tensor_batch_op_t& op = batches[b].ops[i];
        NEURON_ABI_RETURN_IF_ERROR(abi::Range(batches[b].tensor, op.offset, op.size));
        std::memcpy(batches[b].tensor->data() + op.offset, op.buffer, op.size);
      }
    return {};
  });
}

NRT_STATUS nrt_tensor_memset(nrt_tensor_t* tensor, uint64_t offset, int value, size_t size) {
  return abi::Call("nrt_tensor_memset", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::Range(tensor, offset, size));
    if (size > 0) std::memset(tensor->data() + offset, value, size);
    return {};
  });
}

NRT_STATUS nrt_tensor_copy(const nrt_tensor_t* source, size_t source_offset,
                           nrt_tensor_t* destination, size_t destination_offset, size_t size) {
  return abi::Call("nrt_tensor_copy", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::Range(source, source_offset, size));
    NEURON_ABI_RETURN_IF_ERROR(abi::Range(destination, destination_offset, size));
    const neuron::emulator::Core* from = source->storage->core;
    const neuron::emulator::Core* to = destination->storage->core;
    if (from != nullptr && to != nullptr && from != to)
      return InvalidArgument("source is in the HBM of core ", from->vnc(), ", destination of core ",
                             to->vnc(), "; copies stay inside one HBM");
    std::memmove(destination->data() + destination_offset, source->data() + source_offset, size);
    return {};
  });
}

NRT_STATUS nrt_tensor_get_device_allocation_info(const nrt_tensor_t* tensor,
                                                 nrt_tensor_device_allocation_info_t* info) {
  return abi::Call("nrt_tensor_get_device_allocation_info", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireTensor(tensor));
    if (info == nullptr) return InvalidArgument("info is null");
    if (tensor->storage == nullptr || tensor->storage->core == nullptr)
      return InvalidArgument("tensor '", tensor->name, "' is not in HBM");
    info->physical_address = reinterpret_cast<uint64_t>(tensor->storage->address) + tensor->offset;
    info->size = static_cast<size_t>(tensor->storage->block.bytes - tensor->offset);
    info->hbm_index = tensor->storage->core->vnc();
    return {};
  });
}

NRT_STATUS nrt_tensor_check_output_completion(const nrt_tensor_t* tensor, int64_t timeout_us,
                                              uint64_t expected) {
  return abi::Call("nrt_tensor_check_output_completion", [&]() -> abi::Outcome {
    if (tensor == nullptr) return InvalidArgument("tensor is null");
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireTensor(tensor));
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = Clock::now() + std::chrono::microseconds(timeout_us);
    while (tensor->completions.load(std::memory_order_acquire) < expected) {
      if (timeout_us >= 0 && Clock::now() >= end)
        return neuron::Timeout(tensor->completions.load(), " executions have written tensor '",
                               tensor->name, "', ", expected, " expected");
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    return {};
  });
}

NRT_STATUS nrt_tensor_reset_output_completion(nrt_tensor_t* tensor) {
  return abi::Call("nrt_tensor_reset_output_completion", [&]() -> abi::Outcome {
    if (tensor == nullptr) return InvalidArgument("tensor is null");
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireTensor(tensor));
    tensor->completions = 0;
    return {};
  });
}

}  // extern "C"
