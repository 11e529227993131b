// nrt_tensor_*: memory.
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "base/environment.h"
#include "emulator/abi/objects.h"
#include "emulator/abi/storage_epoch.h"
#include "emulator/abi/tensor_access.h"

namespace neuron::emulator::abi {

namespace {

// HBM that tensors hold, by the address that users see.
class DeviceMemory {
 public:
  static DeviceMemory& Get() {
    static auto* const memory = new DeviceMemory;  // outlives every static destructor
    return *memory;
  }
  void Add(const Hbm::Block& block) {
    const std::lock_guard lock(mutex_);
    blocks_[reinterpret_cast<uintptr_t>(block.address)] = block;
  }
  void Remove(const Hbm::Block& block) {
    const std::lock_guard lock(mutex_);
    blocks_.erase(reinterpret_cast<uintptr_t>(block.address));
  }
  // Where the emulator reaches these bytes; nullptr if not all of them are one tensor's.
  char* Find(const void* address, uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto at = reinterpret_cast<uintptr_t>(address);
    auto found = blocks_.upper_bound(at);
    if (found == blocks_.begin()) return nullptr;
    --found;
    const uint64_t offset = at - found->first;
    const auto size = static_cast<uint64_t>(found->second.bytes);
    return offset <= size && bytes <= size - offset ? found->second.host + offset : nullptr;
  }

 private:
  std::mutex mutex_;
  std::map<uintptr_t, Hbm::Block> blocks_;
};

}  // namespace

Storage::~Storage() {
  if (core == nullptr) return;
  DeviceMemory::Get().Remove(block);
  core->hbm().Free(block);
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

Outcome CheckRange(const nrt_tensor_t* tensor, uint64_t offset, uint64_t size) {
  NEURON_ABI_RETURN_IF_ERROR(RequireTensor(tensor));
  const auto bytes = static_cast<uint64_t>(tensor->bytes);
  if (offset > bytes || size > bytes - offset)
    return InvalidArgument("bytes [", offset, ", ", offset + size, ") of tensor '", tensor->name,
                           "', which has ", bytes);
  if (size > 0 && tensor->data() == nullptr)
    return InvalidArgument("tensor '", tensor->name, "' has no storage");
  return {};
}

Outcome CheckCopy(const nrt_tensor_t* source, uint64_t source_offset,
                  const nrt_tensor_t* destination, uint64_t destination_offset, uint64_t size) {
  NEURON_ABI_RETURN_IF_ERROR(CheckRange(source, source_offset, size));
  NEURON_ABI_RETURN_IF_ERROR(CheckRange(destination, destination_offset, size));
  if (size == 0) return {};
  const Core* from = source->storage->core;
  const Core* to = destination->storage->core;
  if (from != nullptr && to != nullptr && from != to)
    return InvalidArgument("source is in the HBM of core ", from->vnc(), ", destination of core ",
                           to->vnc(), "; copies stay inside one HBM");
  return {};
}

namespace {

// A slow link, for tests of asynchrony.
void DelayTransfer() {
  static const int64_t delay_us = ReadInteger(Variable::kCopyDelay).value_or(0);
  if (delay_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
}

}  // namespace

void ReadBytes(const nrt_tensor_t* tensor, uint64_t offset, uint64_t size, void* buffer) {
  DelayTransfer();
  if (size > 0) std::memcpy(buffer, tensor->data() + offset, size);
}

void WriteBytes(nrt_tensor_t* tensor, uint64_t offset, uint64_t size, const void* buffer) {
  DelayTransfer();
  if (size > 0) std::memcpy(tensor->data() + offset, buffer, size);
}

void CopyBytes(const nrt_tensor_t* source, uint64_t source_offset, nrt_tensor_t* destination,
               uint64_t destination_offset, uint64_t size) {
  if (size > 0)
    std::memmove(destination->data() + destination_offset, source->data() + source_offset, size);
}

namespace {

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
      DeviceMemory::Get().Add(storage->block);
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

// All of them are legal, or none is carried out.
template <typename Transfer>
Outcome ForEachOp(const nrt_tensor_batch_t* batches, uint64_t count, const Transfer& transfer) {
  if (batches == nullptr && count > 0) return InvalidArgument("batches is null");
  for (const bool check : {true, false})
    for (uint64_t b = 0; b < count; ++b)
      for (uint32_t i = 0; i < batches[b].num_ops; ++i) {
        const nrt_tensor_batch_op_t& op = batches[b].ops[i];
        if (!check) {
          transfer(batches[b], op);
          continue;
        }
        NEURON_ABI_RETURN_IF_ERROR(CheckRange(batches[b].tensor, op.offset, op.size));
        if (op.size > 0 && op.buffer == nullptr)
          return InvalidArgument("operation ", i, " of batch ", b, " has no buffer");
      }
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
    NEURON_ABI_RETURN_IF_ERROR(abi::CheckRange(source, offset, size));
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
    NEURON_ABI_RETURN_IF_ERROR(abi::CheckRange(tensor, offset, size));
    if (size > 0 && buffer == nullptr) return InvalidArgument("buffer is null");
    abi::ReadBytes(tensor, offset, size, buffer);
    return {};
  });
}

NRT_STATUS nrt_tensor_write(nrt_tensor_t* tensor, const void* buffer, size_t offset, size_t size) {
  return abi::Call("nrt_tensor_write", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::CheckRange(tensor, offset, size));
    if (size > 0 && buffer == nullptr) return InvalidArgument("buffer is null");
    abi::WriteBytes(tensor, offset, size, buffer);
    return {};
  });
}

NRT_STATUS nrt_tensor_read_batch(const nrt_tensor_batch_t* batches, uint64_t count, bool) {
  return abi::Call("nrt_tensor_read_batch", [&] {
    return abi::ForEachOp(batches, count, [](const nrt_tensor_batch_t& b, const auto& op) {
      abi::ReadBytes(b.tensor, op.offset, op.size, op.buffer);
    });
  });
}

NRT_STATUS nrt_tensor_write_batch(const nrt_tensor_batch_t* batches, uint64_t count, bool) {
  return abi::Call("nrt_tensor_write_batch", [&] {
    return abi::ForEachOp(batches, count, [](const nrt_tensor_batch_t& b, const auto& op) {
      abi::WriteBytes(const_cast<nrt_tensor_t*>(b.tensor), op.offset, op.size, op.buffer);
    });
  });
}

NRT_STATUS nrt_tensor_memset(nrt_tensor_t* tensor, uint64_t offset, int value, size_t size) {
  return abi::Call("nrt_tensor_memset", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::CheckRange(tensor, offset, size));
    if (size > 0) std::memset(tensor->data() + offset, value, size);
    return {};
  });
}

NRT_STATUS nrt_tensor_copy(const nrt_tensor_t* source, size_t source_offset,
                           nrt_tensor_t* destination, size_t destination_offset, size_t size) {
  return abi::Call("nrt_tensor_copy", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(
        abi::CheckCopy(source, source_offset, destination, destination_offset, size));
    abi::CopyBytes(source, source_offset, destination, destination_offset, size);
    return {};
  });
}

NRT_STATUS nrt_memcpy_to_device(void* destination_va, const void* source, size_t size) {
  return abi::Call("nrt_memcpy_to_device", [&]() -> abi::Outcome {
    std::shared_ptr<neuron::emulator::Machine> machine;
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireMachine(&machine));
    if (source == nullptr) return InvalidArgument("source is null");
    char* const to = abi::DeviceMemory::Get().Find(destination_va, size);
    if (to == nullptr)
      return InvalidArgument(size, " bytes at ", destination_va, " are no device memory");
    std::memcpy(to, source, size);
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
