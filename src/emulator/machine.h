// The emulated machine: one chip with its logical cores, private to the process or, under a name,
// shared with others, each of which has cores and memory of its own.
//
// Read once from the environment (NEURON_PLATFORM_TARGET_OVERRIDE, NEURON_LOGICAL_NC_CONFIG,
// NEURON_RT_VISIBLE_CORES, NEURON_RT_NUM_CORES, TORCHNEURON_MACHINE, TORCHNEURON_HBM_BYTES,
// TORCHNEURON_GUARD). A core is taken, and host memory for it, when it is first used.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/status.h"
#include "emulator/core_lease.h"
#include "emulator/counters.h"
#include "emulator/memory.h"
#include "emulator/random_lanes.h"
#include "isa/access_pattern.h"
#include "isa/instruction.h"
#include "isa/target.h"

namespace neuron::emulator {

struct MachineConfig {
  isa::Target target = isa::Target::kTrn2;
  int logical_nc_config = 1;
  int total_cores = 0;             // logical cores of the chip
  std::vector<int> visible_cores;  // logical core of each vnc
  std::string name;                // "": private to the process
  bool any_cores = false;          // as many as visible_cores has, whichever are free
  int64_t hbm_bytes = 0;           // of one logical core
  bool guard = false;
};
// The message of a failure lists the names or ranges that are known.
StatusOr<MachineConfig> ReadMachineConfig();

// A physical core; the first of a logical core stands for it. One executable runs on a logical core
// at a time: hold `mutex` of its first while executing.
class Core {
 public:
  Core(const MachineConfig& config, int vnc);
  // The other physical core of a logical core: memories and engines of its own, the same HBM.
  StatusOr<Core*> Second();

  Status Claim();  // takes the core and maps SBUF and PSUM; idempotent
  void Adopt(std::unique_ptr<CoreLease> lease) { lease_ = std::move(lease); }
  int vnc() const { return vnc_; }
  isa::Target target() const { return target_; }
  const OnChipMemory& sbuf() const { return sbuf_; }
  const OnChipMemory& psum() const { return psum_; }
  // Tiles of SBUF that only dots read, in the order in which the host reads them (packed_tile.h):
  // as many bytes as SBUF has.
  char* packed() const { return packed_.data(); }
  Hbm& hbm() { return *hbm_; }
  // The memories of a host thread that works on another iteration of the same loop
  // (shared_loop.h). Numbers from 1 on; nullptr if the host refuses the memory.
  struct OwnMemories {
    OnChipMemory sbuf, psum;
    Mapping packed;
  };
  const OwnMemories* own_memories(int worker);
  // Reduce registers of the Vector and Scalar engines, one per partition, from the pattern's first.
  float* vector_accumulator(const isa::AccessPattern& at) { return vector_ + at.start_partition; }
  float* scalar_accumulator(const isa::AccessPattern& at) { return scalar_ + at.start_partition; }

  // Of Vector (four generators a lane) or GpSimd (one).
  RandomLanes& random(isa::Engine engine) {
    return engine == isa::Engine::kGpSimd ? gpsimd_random_ : vector_random_;
  }

  std::mutex mutex;
  Counters counters;                       // under the mutex
  std::atomic<int64_t> device_time_ps{0};  // virtual clock

 private:
  Core(const Core& first, std::shared_ptr<Hbm> hbm)
      : vnc_(first.vnc_), target_(first.target_), hbm_(std::move(hbm)) {}

  const int vnc_;
  const isa::Target target_;
  std::string machine_;  // its name
  int number_ = 0;       // of the logical core
  std::unique_ptr<CoreLease> lease_;
  std::mutex claim_;
  std::unique_ptr<Core> second_;
  bool claimed_ = false;
  OnChipMemory sbuf_, psum_;
  Mapping packed_;
  std::map<int, std::unique_ptr<OwnMemories>> own_memories_;  // by worker
  float vector_[isa::kPartitions] = {};
  float scalar_[isa::kPartitions] = {};
  RandomLanes vector_random_{4}, gpsimd_random_{1};
  std::shared_ptr<Hbm> hbm_;
};

class Machine {
 public:
  explicit Machine(MachineConfig config);
  // With the cores that are free, if it has a name; fails if they are fewer than asked for.
  static StatusOr<std::shared_ptr<Machine>> Create(MachineConfig config);
  const MachineConfig& config() const { return config_; }
  int num_cores() const { return static_cast<int>(cores_.size()); }
  StatusOr<Core*> core(int vnc);   // for use: claims it
  StatusOr<Core*> known(int vnc);  // to ask about it

 private:
  const MachineConfig config_;
  std::vector<std::unique_ptr<Core>> cores_;
};

}  // namespace neuron::emulator
