// Philox random state of a device: a 64-bit seed and a 64-bit offset in 128-bit counters. What an
// op draws depends only on them and on the element's index, never on tiling.
#pragma once

#include <ATen/core/Generator.h>
#include <c10/core/GeneratorImpl.h>

#include <utility>

namespace neuron::pytorch {

class PhiloxGenerator final : public c10::GeneratorImpl {
 public:
  explicit PhiloxGenerator(int device);
  static c10::DeviceType device_type();

  void set_current_seed(uint64_t seed) override;
  void set_offset(uint64_t offset) override;
  uint64_t get_offset() const override;
  uint64_t current_seed() const override;
  uint64_t seed() override;
  void set_state(const c10::TensorImpl& state) override;
  c10::intrusive_ptr<c10::TensorImpl> get_state() const override;

  // Seed and offset of a call that draws `counters` 128-bit counters; moves the offset on.
  // Requires mutex_ held.
  std::pair<uint64_t, uint64_t> Draw(uint64_t counters);

 private:
  PhiloxGenerator* clone_impl() const override;
  uint64_t seed_;
  uint64_t offset_ = 0;
};

const at::Generator& DefaultGenerator(int device);  // negative: of the current device
at::Generator NewGenerator(int device);
// The generator of a call: `given` if defined (checked to be ours), else the device's default.
PhiloxGenerator* GeneratorFor(const std::optional<at::Generator>& given, int device);

}  // namespace neuron::pytorch
