// Modules with a run-time extent: one number, say how many tokens a cache has, is known at run time
// only, and sizes depend on it.
//
// Such a size is written `a + b * kExtent`. kExtent is a prime far above every static size, so that
// sums of such numbers, products with static ones, exact quotients and comparisons for equality are
// those of the polynomials that they stand for (Kronecker substitution). Shape rules and views do
// nothing else with sizes: a module with a run-time extent is built, checked and planned by the
// code that does it for any other. Whoever compares sizes with limits asks for their value at the
// bound, and the emitter takes them apart (compiler/extents.cpp). What is no such number, like
// half an extent, is told by a constant that is too large, and refused.
#pragma once

#include <cstdint>
#include <span>

namespace neuron::hlo {

inline constexpr int64_t kExtent = (int64_t{1} << 36) - 5;
inline constexpr int64_t kMostExtent = int64_t{1} << 22;  // no bound is above it

struct Linear {  // constant + coefficient * extent
  int64_t constant = 0;
  int64_t coefficient = 0;
  int64_t At(int64_t extent) const { return constant + coefficient * extent; }
  bool operator==(const Linear&) const = default;
};

constexpr bool IsRunTime(int64_t n) { return n >= kExtent / 2 || n <= -kExtent / 2; }

constexpr Linear TakeApart(int64_t n) {
  const int64_t half = n < 0 ? -(kExtent / 2) : kExtent / 2;
  const int64_t coefficient = (n + half) / kExtent;
  return {n - coefficient * kExtent, coefficient};
}

// False for what arithmetic on sizes that the representation does not know has made.
constexpr bool IsMeaningful(int64_t n) {
  const Linear parts = TakeApart(n);
  return parts.constant < int64_t{1} << 31 && parts.constant > -(int64_t{1} << 31);
}

// The size where the extent is `bound`, its largest; a static size as it is. 0: there is no extent.
constexpr int64_t AtBound(int64_t n, int64_t bound) {
  return bound > 0 && IsRunTime(n) ? TakeApart(n).At(bound) : n;
}

constexpr bool AnyRunTime(std::span<const int64_t> sizes) {
  for (const int64_t n : sizes)
    if (IsRunTime(n)) return true;
  return false;
}

}  // namespace neuron::hlo
