// The plan for all lengths of a call: lowered at several values of its extent and compiled once.
#include <algorithm>
#include <bit>

#include "lowering/strided.h"
#include "torch/plan.h"
#include "torch/plan_builder.h"

namespace neuron::pytorch {
namespace {

// A call whose extent is another: kExtent, or a sample.
struct AssumedCall {
  std::vector<AssumedSizes> sizes;
  std::vector<c10::IValue> arguments;
};

// False: the memory that strides reach over is too large for sizes of 64 bits.
bool Reaches(const AssumedSizes& tensor) {
  __int128 reach = 1;
  for (size_t d = 0; d < tensor.sizes.size(); ++d)
    reach += static_cast<__int128>(tensor.sizes[d]) * tensor.strides[d];
  return reach < __int128{1} << 58;
}

std::optional<AssumedCall> Assume(std::span<const c10::IValue> arguments, const Call& call,
                                  std::span<const KeyField> fields, const ExtentKey& key,
                                  int64_t extent) {
  AssumedCall out;
  out.arguments.assign(arguments.begin(), arguments.end());
  for (const at::Tensor* tensor : call.tensors)
    out.sizes.push_back({tensor->sizes().vec(), tensor->strides().vec()});
  std::vector<bool> strided(out.sizes.size());
  const auto set = [&](const KeyField& field, int64_t value) {
    const auto owner = static_cast<size_t>(field.owner);
    const auto element = static_cast<size_t>(field.element);
    switch (field.kind) {
      case KeyField::Kind::kSize:
        out.sizes[owner].sizes[element] = value;
        break;
      case KeyField::Kind::kStride:
        out.sizes[owner].strides[element] = value;
        break;
      case KeyField::Kind::kInteger: {
        if (field.element < 0) {
          out.arguments[owner] = value;
          break;
        }
        std::vector<int64_t> list = out.arguments[owner].toIntVector();
        list[element] = value;
        out.arguments[owner] = list;
        break;
      }
    }
  };
  for (const KeyField& field : fields)
    if (field.kind == KeyField::Kind::kStride) strided[static_cast<size_t>(field.owner)] = true;
  for (const auto& [word, line] : key.words)
    for (const KeyField& field : fields)
      if (field.word == word) set(field, line.At(extent));
  for (size_t i = 0; i < out.sizes.size(); ++i) {
    if (!strided[i]) out.sizes[i].strides = RowMajorStrides(out.sizes[i].sizes);
    if (!Reaches(out.sizes[i])) return std::nullopt;
  }
  return out;
}

// Extents that a plan for all lengths is built for, the first that compiles: rows that are reduced
// whole have an end (compiler/planner.cpp), and so has memory for what lies between two kernels.
std::vector<int64_t> Bounds(int64_t extent) {
  const auto doubled = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent) + 1));
  std::vector<int64_t> bounds;
  for (const int64_t bound : {hlo::kMostExtent, int64_t{8192}, int64_t{4096}, 4 * doubled, doubled})
    if (bound > extent && (bounds.empty() || bound < bounds.back())) bounds.push_back(bound);
  return bounds;
}

}  // namespace

std::unique_ptr<Plan> BuildRunTimePlan(OpEntry& entry, const c10::OperatorHandle& op,
                                       std::span<const c10::IValue> arguments, const Call& call,
                                       std::span<const KeyField> fields, const ExtentKey& extent,
                                       std::string* why) {
  try {
    std::vector<hlo::Module> samples;
    for (const int64_t sample : kSampleExtents) {
      const auto assumed = Assume(arguments, call, fields, extent, sample);
      if (!assumed) return *why = "sizes are too large", nullptr;
      PlanBuilder builder(entry, op, assumed->arguments, call, assumed->sizes);
      StatusOr<hlo::Module> module = builder.BuildModuleForSizes();
      if (!module.ok()) return *why = module.status().ToString(), nullptr;
      samples.push_back(*std::move(module));
    }
    // A row that makes a table or unrolls is found out before it does so at kExtent.
    if (const auto same = CompareModules(samples[0], kSampleExtents[0], samples); !same.ok())
      return *why = same.status().ToString(), nullptr;
    const auto assumed = Assume(arguments, call, fields, extent, hlo::kExtent);
    if (!assumed) return *why = "sizes are too large", nullptr;
    const int64_t now = static_cast<int64_t>(call.key[extent.words[extent.leading].first]);
    for (const int64_t bound : Bounds(now)) {
      PlanBuilder builder(entry, op, assumed->arguments, call, assumed->sizes);
      StatusOr<hlo::Module> module = builder.BuildModuleForSizes();
      if (!module.ok()) return *why = module.status().ToString(), nullptr;
      const auto constants = CompareModules(*module, hlo::kExtent, samples);
      if (!constants.ok()) return *why = constants.status().ToString(), nullptr;
      auto plan = builder.CompileForAllLengths(*std::move(module), *constants, extent, bound);
      if (plan.ok()) return *std::move(plan);
      *why = plan.status().ToString();
    }
  } catch (const c10::Error& error) {
    *why = error.what_without_backtrace();
  } catch (const std::exception& error) {
    const std::string text = TakePythonError();
    *why = text.empty() ? error.what() : text;
  }
  return nullptr;
}

}  // namespace neuron::pytorch
