// Rows of tiles with random dimensions, gathered and scattered from any element to any other.
#include "emulator/tile.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace neuron::emulator {
namespace {

struct RandomRow {
  explicit RandomRow(uint32_t seed) : random(seed) {
    constexpr int32_t kBytes[] = {1, 2, 4, 8, 16};
    shape.element_bytes = kBytes[Pick(5)];
    shape.num_dims = Pick(5);
    for (int d = 0; d < shape.num_dims; ++d) {
      shape.count[d] = 1 + Pick(d == 3 ? 40 : 7);
      shape.stride[d] = Pick(4) == 0 ? 0 : int64_t{Pick(23) - 8} * shape.element_bytes;
    }
    if (shape.num_dims > 0 && Pick(2) == 0) shape.stride[shape.num_dims - 1] = shape.element_bytes;
    shape.Normalise();
  }
  int Pick(int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); }
  int64_t OffsetOf(int64_t index) const {
    int64_t offset = 0;
    for (int d = shape.num_dims - 1; d >= 0; --d) {
      offset += index % shape.count[d] * shape.stride[d];
      index /= shape.count[d];
    }
    return offset;
  }

  std::mt19937 random;
  TileShape shape;
};

TEST(Rows, AreGatheredAndScatteredFromAnyElementOn) {
  constexpr int64_t kHalf = 1 << 16;  // on both sides of the first element
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    RandomRow row(seed);
    std::vector<char> memory(2 * kHalf);
    for (char& byte : memory) byte = static_cast<char>(row.random());
    char* const at = memory.data() + kHalf;
    const int64_t bytes = row.shape.element_bytes;
    const int64_t first = row.Pick(static_cast<int>(row.shape.elements));
    const int64_t n = row.Pick(static_cast<int>(row.shape.elements - first) + 1);
    std::vector<char> want(static_cast<size_t>(n * bytes));
    for (int64_t i = 0; i < n; ++i)
      std::memcpy(want.data() + i * bytes, at + row.OffsetOf(first + i), bytes);
    std::vector<char> got(want.size());
    GatherRow(row.shape, at, first, n, got.data());
    ASSERT_EQ(got, want) << "seed " << seed;

    // Back, other values; where elements share an address any of them may remain.
    std::vector<char> after = memory;
    for (char& byte : got) byte = static_cast<char>(row.random());
    ScatterRow(row.shape, after.data() + kHalf, first, n, got.data());
    std::vector<bool> written(memory.size());
    for (int64_t i = 0; i < n; ++i)
      std::fill_n(written.begin() + kHalf + row.OffsetOf(first + i), bytes, true);
    for (size_t i = 0; i < memory.size(); ++i) {
      if (written[i]) continue;
      ASSERT_EQ(after[i], memory[i]) << "seed " << seed << ", byte " << i;
    }
    const bool repeats = [&] {
      for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j < i; ++j)
          if (std::abs(row.OffsetOf(first + i) - row.OffsetOf(first + j)) < bytes) return true;
      return false;
    }();
    if (repeats) continue;
    for (int64_t i = 0; i < n; ++i)
      ASSERT_EQ(std::memcmp(after.data() + kHalf + row.OffsetOf(first + i), got.data() + i * bytes,
                            static_cast<size_t>(bytes)),
                0)
          << "seed " << seed << ", element " << i;
  }
}

}  // namespace
}  // namespace neuron::emulator
