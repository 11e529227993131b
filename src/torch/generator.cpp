#include "torch/generator.h"

#include <ATen/EmptyTensor.h>
#include <ATen/Utils.h>

#include <cstring>
#include <vector>

#include "torch/device.h"

namespace neuron::pytorch {
namespace {

constexpr size_t kStateBytes = 16;  // seed, offset: as CUDA's, so checkpoints look alike

int IndexOrCurrent(int device) { return device < 0 ? CurrentDevice() : device; }

}  // namespace

PhiloxGenerator::PhiloxGenerator(int device)
    : c10::GeneratorImpl(DeviceAt(device), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1)),
      seed_(c10::detail::getNonDeterministicRandom()) {}

c10::DeviceType PhiloxGenerator::device_type() { return kDeviceType; }

void PhiloxGenerator::set_current_seed(uint64_t seed) {
  seed_ = seed;
  offset_ = 0;
}
void PhiloxGenerator::set_offset(uint64_t offset) { offset_ = offset; }
uint64_t PhiloxGenerator::get_offset() const { return offset_; }
uint64_t PhiloxGenerator::current_seed() const { return seed_; }

uint64_t PhiloxGenerator::seed() {
  set_current_seed(c10::detail::getNonDeterministicRandom());
  return seed_;
}

void PhiloxGenerator::set_state(const c10::TensorImpl& state) {
  at::detail::check_rng_state(state);
  TORCH_CHECK(state.numel() == static_cast<int64_t>(kStateBytes), "neuron RNG state must have ",
              kStateBytes, " bytes, got ", state.numel());
  const auto* bytes = static_cast<const uint8_t*>(state.data());
  std::memcpy(&seed_, bytes, sizeof(seed_));
  std::memcpy(&offset_, bytes + sizeof(seed_), sizeof(offset_));
}

c10::intrusive_ptr<c10::TensorImpl> PhiloxGenerator::get_state() const {
  at::Tensor state(at::detail::empty_cpu({static_cast<int64_t>(kStateBytes)}, at::kByte));
  auto* bytes = static_cast<uint8_t*>(state.data_ptr());
  std::memcpy(bytes, &seed_, sizeof(seed_));
  std::memcpy(bytes + sizeof(seed_), &offset_, sizeof(offset_));
  return state.getIntrusivePtr();
}

std::pair<uint64_t, uint64_t> PhiloxGenerator::Draw(uint64_t counters) {
  const std::pair<uint64_t, uint64_t> out{seed_, offset_};
  offset_ += counters;
  return out;
}

PhiloxGenerator* PhiloxGenerator::clone_impl() const {
  auto* copy = new PhiloxGenerator(device().index());
  copy->seed_ = seed_;
  copy->offset_ = offset_;
  return copy;
}

const at::Generator& DefaultGenerator(int device) {
  static auto* generators = [] {
    auto* all = new std::vector<at::Generator>;
    for (int i = 0; i < DeviceCount(); ++i) {
      all->push_back(at::make_generator<PhiloxGenerator>(i));
      all->back().set_current_seed(c10::default_rng_seed_val);
    }
    return all;
  }();
  const int index = IndexOrCurrent(device);
  TORCH_CHECK(index < static_cast<int>(generators->size()), "neuron: no device ", index);
  return (*generators)[static_cast<size_t>(index)];
}

at::Generator NewGenerator(int device) {
  at::Generator out = at::make_generator<PhiloxGenerator>(IndexOrCurrent(device));
  out.set_current_seed(c10::default_rng_seed_val);
  return out;
}

PhiloxGenerator* GeneratorFor(const std::optional<at::Generator>& given, int device) {
  const at::Generator& generator =
      given.has_value() && given->defined() ? *given : DefaultGenerator(device);
  TORCH_CHECK(generator.device().type() == kDeviceType,
              "Expected a 'neuron' device type for "
              "generator but found '",
              generator.device().type(), "'");
  return static_cast<PhiloxGenerator*>(generator.unsafeGetGeneratorImpl());
}

}  // namespace neuron::pytorch
