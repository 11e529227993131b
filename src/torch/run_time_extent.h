// Plans that serve many lengths: which words of a plan key depend on one extent that differs from
// call to call, and how a module is built for all its values (hlo/extent.h).
//
// A key that differs from an earlier one of the same structure in sizes only is `a + b * extent` in
// every word that differs. The op's row is lowered at a few values of the extent: what it makes of
// them must be one and the same module, in which all that differs is such a number again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hlo/extent.h"
#include "hlo/module.h"

namespace neuron::pytorch {

// A word of a key that is a size, a stride or an integer argument.
struct KeyField {
  enum class Kind : uint8_t { kSize, kStride, kInteger };
  Kind kind = Kind::kSize;
  size_t word = 0;
  int owner = 0;    // number of the device tensor, or position of the argument
  int element = 0;  // dimension, or element of a list; -1: the argument itself
};

struct ExtentKey {
  // In order of words. The leading one is the extent itself.
  std::vector<std::pair<size_t, hlo::Linear>> words;
  size_t leading = 0;  // index into words
  bool operator==(const ExtentKey&) const = default;
};

// Hash of the words that are no fields.
uint64_t StructureHash(std::span<const uint64_t> key, std::span<const KeyField> fields);

// nullopt: they differ in other words than fields, or not by one extent.
std::optional<ExtentKey> FitExtent(std::span<const uint64_t> before, std::span<const uint64_t> now,
                                   std::span<const KeyField> fields);

// The extent for which `pattern`, with `extent`'s words, is `key`; nullopt if none at least 2 is.
// Sizes of 1 are left to exact plans: they broadcast.
std::optional<int64_t> MatchExtent(std::span<const uint64_t> pattern, const ExtentKey& extent,
                                   std::span<const uint64_t> key);

// Values at which a row is lowered for comparison. No sizes that models have.
inline constexpr int64_t kSampleExtents[] = {37, 53, 89};

// A scalar constant of the module whose value depends on the extent, by its position among all
// instructions of the entry.
struct ExtentConstant {
  size_t instruction = 0;
  DType dtype = DType::kF32;
  hlo::Linear value;
};

// `general` was lowered at `extent`, `samples` at kSampleExtents. Unimplemented with the first
// difference that no size explains.
StatusOr<std::vector<ExtentConstant>> CompareModules(const hlo::Module& general, int64_t extent,
                                                     std::span<const hlo::Module> samples);

// Those constants become scalar parameters from number `first_parameter` on, in order.
void ReplaceConstants(hlo::Module& module, std::span<const ExtentConstant> constants,
                      int64_t first_parameter);

}  // namespace neuron::pytorch
