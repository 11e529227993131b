// What the ABI's opaque handles point to.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator/abi/call.h"
#include "emulator/core_programs.h"

namespace neuron::emulator::abi {

// Bytes that tensors share: HBM of a core, host memory, or a caller's buffer.
struct Storage {
  std::shared_ptr<Machine> machine;
  Core* core = nullptr;           // nullptr: not in HBM
  Hbm::Block block;               // HBM
  std::unique_ptr<char[]> owned;  // host placement
  char* data = nullptr;           // where the emulator reads and writes
  char* address = nullptr;        // what nrt_tensor_get_va answers
  ~Storage();
};

// Handles start with a word that says what they are, so that a wrong or freed one is noticed.
inline constexpr uint64_t kTensorMagic = 0x6e72745f74656e73;
inline constexpr uint64_t kModelMagic = 0x6e72745f6d6f6465;
inline constexpr uint64_t kSetMagic = 0x6e72745f73657473;

struct TensorSet {
  uint64_t magic = kSetMagic;
  uint64_t version = 0;  // unique over all sets and changes
  std::vector<std::pair<std::string, nrt_tensor_t*>> tensors;
  nrt_tensor_t* Find(const std::string& name) const;
};

Outcome RequireTensor(const nrt_tensor_t* tensor);
Outcome RequireSet(const nrt_tensor_set_t* set, const TensorSet** found);
uint64_t NextVersion();

}  // namespace neuron::emulator::abi

struct nrt_tensor {
  uint64_t magic = neuron::emulator::abi::kTensorMagic;
  std::shared_ptr<neuron::emulator::abi::Storage> storage;
  int64_t offset = 0;
  int64_t bytes = 0;
  std::string name;
  std::atomic<uint64_t> completions{0};  // executions that wrote it

  char* data() const { return storage == nullptr ? nullptr : storage->data + offset; }
};

struct nrt_model {
  uint64_t magic = neuron::emulator::abi::kModelMagic;
  std::shared_ptr<neuron::emulator::Machine> machine;
  neuron::emulator::Core* core = nullptr;
  std::unique_ptr<neuron::emulator::CorePrograms> programs;  // one per physical core
  // What the last execution's sets were bound to; valid for the same versions.
  uint64_t input_version = 0, output_version = 0, storage_epoch = 0;
  std::vector<std::vector<neuron::emulator::BoundTensor>> bound;  // by core
  std::vector<nrt_tensor_t*> written;
};
