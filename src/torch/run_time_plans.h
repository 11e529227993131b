// When an op gets a plan for all lengths, and which calls it serves.
//
// An op's first call of a key has an exact plan, whose program knows every size. When a second key
// differs by one extent, an exact plan is made for it, too, and a plan for all lengths beside it
// (BuildRunTimePlan): from then on a new length is a hit. Keys that have an exact plan keep using
// it.
//
// Layers of another width look like lengths, but exact programs are faster. So a length gets its
// exact plan after all if it comes back after one that has an exact plan came back, too (a cache
// that grows never does; a few per plan, since batches of all lengths may), or if it is served very
// often among the latest few.
//
// TORCHNEURON_RUN_TIME_EXTENTS=1 turns it on; results are to have the same bits.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "torch/run_time_extent.h"

namespace neuron::pytorch {

struct Call;
struct OpEntry;
struct Plan;

class RunTimePlans {
 public:
  RunTimePlans();
  ~RunTimePlans();

  static bool Enabled();

  // The plan that serves this key, or nullptr; sets call.extent. Nullptr as well where the key has
  // come to deserve its exact plan. `latest`: the exact plan that ran since the last one from here.
  Plan* Find(Call& call, const Plan* latest);
  // The key has got an exact plan. If an earlier one differs by one extent: which words depend on
  // it. Each answer is given once.
  std::optional<ExtentKey> Note(const Call& call, std::span<const KeyField> fields);
  void Add(std::unique_ptr<Plan> plan);

 private:
  // Lengths that a plan served lately, and how often.
  struct Served {
    int64_t extent = 0;
    int count = 0, returns = 0;
    uint64_t last = 0;
  };
  struct Entry {
    std::unique_ptr<Plan> plan;
    Served served[8];
    uint64_t uses = 0;
    int returned = 0;  // lengths that got exact plans since they came back
  };
  static bool DeservesExact(Entry& entry, int64_t extent, bool sibling);

  std::mutex mutex_;
  std::unordered_map<uint64_t, std::vector<std::vector<uint64_t>>> seen_;  // by StructureHash
  std::vector<std::pair<uint64_t, ExtentKey>> tried_;                      // by PatternHash
  std::vector<std::unique_ptr<Entry>> plans_;
  size_t latest_ = 0;  // of plans_
};

// How many plans for all lengths were made and used, and tried without success, in this process.
struct RunTimePlanStatistics {
  int64_t built = 0, hits = 0, refused = 0;
};
RunTimePlanStatistics GetRunTimePlanStatistics();
void CountRefusedRunTimePlan(const std::string& op, const std::string& why);

}  // namespace neuron::pytorch
