// nrt_*_tensor_set: named tensors of an execution.
#include "emulator/abi/objects.h"

namespace neuron::emulator::abi {

nrt_tensor_t* TensorSet::Find(const std::string& name) const {
  for (const auto& [key, tensor] : tensors)
    if (key == name) return tensor;
  return nullptr;
}

Outcome RequireSet(const nrt_tensor_set_t* set, const TensorSet** found) {
  *found = static_cast<const TensorSet*>(set);
  if (set == nullptr || (*found)->magic != kSetMagic)
    return InvalidHandle("no tensor set is at ", set, "; was it destroyed before?");
  return {};
}

uint64_t NextVersion() {
  static std::atomic<uint64_t> version{0};
  return ++version;
}

}  // namespace neuron::emulator::abi

namespace abi = neuron::emulator::abi;
using neuron::InvalidArgument;

extern "C" {

NRT_STATUS nrt_allocate_tensor_set(nrt_tensor_set_t** set) {
  return abi::Call("nrt_allocate_tensor_set", [&]() -> abi::Outcome {
    if (set == nullptr) return InvalidArgument("set is null");
    auto* made = new abi::TensorSet;
    made->version = abi::NextVersion();
    *set = made;
    return {};
  });
}

void nrt_destroy_tensor_set(nrt_tensor_set_t** set) {
  const abi::TensorSet* found = nullptr;
  if (set == nullptr || abi::RequireSet(*set, &found).code != NRT_SUCCESS) return;
  auto* mine = static_cast<abi::TensorSet*>(*set);
  mine->magic = 0;
  delete mine;
  *set = nullptr;
}

NRT_STATUS nrt_add_tensor_to_tensor_set(nrt_tensor_set_t* set, const char* name,
                                        nrt_tensor_t* tensor) {
  return abi::Call("nrt_add_tensor_to_tensor_set", [&]() -> abi::Outcome {
    const abi::TensorSet* found = nullptr;
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireSet(set, &found));
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireTensor(tensor));
    if (name == nullptr) return InvalidArgument("name is null");
    auto* mine = static_cast<abi::TensorSet*>(set);
    mine->version = abi::NextVersion();
    for (auto& [key, value] : mine->tensors) {
      if (key != name) continue;
      value = tensor;
      return {};
    }
    mine->tensors.emplace_back(name, tensor);
    return {};
  });
}

NRT_STATUS nrt_get_tensor_from_tensor_set(nrt_tensor_set_t* set, const char* name,
                                          nrt_tensor_t** tensor) {
  return abi::Call("nrt_get_tensor_from_tensor_set", [&]() -> abi::Outcome {
    const abi::TensorSet* found = nullptr;
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireSet(set, &found));
    if (name == nullptr || tensor == nullptr) return InvalidArgument("name or tensor is null");
    nrt_tensor_t* const member = found->Find(name);
    if (member == nullptr)
      return {NRT_FAILURE, neuron::NotFound("the set has no tensor '", name, "'")};
    *tensor = member;
    return {};
  });
}

}  // extern "C"
