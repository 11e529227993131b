#include "torch/run_time_plans.h"

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "base/environment.h"
#include "torch/call.h"
#include "torch/plan.h"

namespace neuron::pytorch {
namespace {

constexpr size_t kMostKeys = 32;   // of one structure that are compared with a new one
constexpr size_t kMostPlans = 64;  // for all lengths, per op
// A length that comes back so often among the few latest is no length but a shape of the model: an
// exact program is worth its compilation. A decoder's length is used once per layer.
constexpr int kOften = 512;
constexpr int kReturns = 2;       // the first one follows the exact plans that made this one
constexpr int kMostReturned = 4;  // per plan

struct Counters {
  std::atomic<int64_t> built{0}, hits{0}, refused{0};
};
Counters& Count() {
  static Counters counters;
  return counters;
}

size_t Differences(std::span<const uint64_t> a, std::span<const uint64_t> b) {
  size_t n = 0;
  for (size_t i = 0; i < a.size(); ++i) n += a[i] != b[i] ? 1 : 0;
  return n;
}

// Of what the plans of one extent key have in common.
uint64_t PatternHash(std::span<const uint64_t> key, const ExtentKey& extent) {
  std::vector<uint64_t> pattern(key.begin(), key.end());
  for (const auto& [word, line] : extent.words) pattern[word] = 0;
  return HashKey(pattern);
}

bool LeadsByArgument(const ExtentKey& key, std::span<const KeyField> fields) {
  const size_t word = key.words[key.leading].first;
  return std::ranges::any_of(fields, [&](const KeyField& field) {
    return field.word == word && field.kind == KeyField::Kind::kInteger;
  });
}

}  // namespace

RunTimePlans::RunTimePlans() = default;
RunTimePlans::~RunTimePlans() = default;

bool RunTimePlans::Enabled() {
  // A compiler command takes HLO of static sizes.
  static const bool enabled =
      ReadSwitch(Variable::kRunTimeExtents) && !Read(Variable::kCompiler).has_value();
  return enabled;
}

// `sibling`: a length that has an exact plan was used since the last one that has not.
bool RunTimePlans::DeservesExact(Entry& entry, int64_t extent, bool sibling) {
  ++entry.uses;
  Served* served = entry.served;
  for (Served& have : entry.served) {
    if (have.extent == extent) {
      served = &have;
      break;
    }
    if (have.last < served->last) served = &have;
  }
  if (served->extent != extent) {
    *served = Served();
    served->extent = extent;
  }
  served->last = entry.uses;
  if (sibling && ++served->returns >= kReturns && entry.returned < kMostReturned) {
    ++entry.returned;
    return true;
  }
  return ++served->count >= kOften;
}

Plan* RunTimePlans::Find(Call& call, const Plan* latest) {
  const std::lock_guard lock(mutex_);
  for (size_t i = 0; i < plans_.size(); ++i) {
    const size_t at = (latest_ + i) % plans_.size();
    Entry& entry = *plans_[at];
    const auto extent = MatchExtent(entry.plan->key, *entry.plan->extent_key, call.key);
    if (!extent || *extent > entry.plan->extent_bound) continue;
    latest_ = at;
    const bool sibling =
        latest != nullptr && MatchExtent(entry.plan->key, *entry.plan->extent_key, latest->key);
    if (DeservesExact(entry, *extent, sibling)) return nullptr;
    call.extent = *extent;
    Count().hits.fetch_add(1, std::memory_order_relaxed);
    return entry.plan.get();
  }
  return nullptr;
}

std::optional<ExtentKey> RunTimePlans::Note(const Call& call, std::span<const KeyField> fields) {
  const uint64_t structure = StructureHash(call.key, fields);
  const std::lock_guard lock(mutex_);
  auto& keys = seen_[structure];
  // The most alike, and the later: a batch differs in one place from its own layer's. An argument
  // is a length only where no size differs: most integers are dimensions.
  std::optional<ExtentKey> found;
  size_t fewest = SIZE_MAX;
  for (const auto& key : keys) {
    if (key.size() != call.key.size()) continue;
    size_t differences = Differences(key, call.key);
    if (differences == 0 || differences > fewest) continue;
    std::optional<ExtentKey> fit = FitExtent(key, call.key, fields);
    if (fit && LeadsByArgument(*fit, fields)) differences += call.key.size();
    if (!fit || differences > fewest) continue;
    const auto same = std::pair{PatternHash(call.key, *fit), *fit};
    if (std::ranges::find(tried_, same) != tried_.end()) continue;
    found = std::move(fit);
    fewest = differences;
  }
  if (keys.size() >= kMostKeys) keys.erase(keys.begin());
  keys.emplace_back(call.key.begin(), call.key.end());
  if (!found || plans_.size() >= kMostPlans) return std::nullopt;
  tried_.emplace_back(PatternHash(call.key, *found), *found);
  return found;
}

void RunTimePlans::Add(std::unique_ptr<Plan> plan) {
  Count().built.fetch_add(1, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  auto entry = std::make_unique<Entry>();
  entry->plan = std::move(plan);
  plans_.push_back(std::move(entry));
}

RunTimePlanStatistics GetRunTimePlanStatistics() {
  return {Count().built.load(), Count().hits.load(), Count().refused.load()};
}

void CountRefusedRunTimePlan(const std::string& op, const std::string& why) {
  Count().refused.fetch_add(1, std::memory_order_relaxed);
  if (ReadInteger(Variable::kLogLevel).value_or(0) >= 3)
    std::fprintf(stderr, "torchneuron: %s: no plan for all lengths: %s\n", op.c_str(), why.c_str());
}

}  // namespace neuron::pytorch
