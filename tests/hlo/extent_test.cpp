// Sizes that depend on a run-time extent: arithmetic on them is that on the polynomials they are.
#include "hlo/extent.h"

#include <gtest/gtest.h>

namespace neuron::hlo {
namespace {

TEST(Extent, SizesAreTakenApart) {
  for (const int64_t coefficient : {-3, -1, 0, 1, 12, 4096}) {
    for (const int64_t constant : {-70000, -1, 0, 1, 513, 70000}) {
      const int64_t n = constant + coefficient * kExtent;
      EXPECT_EQ(TakeApart(n), (Linear{constant, coefficient}));
      EXPECT_EQ(IsRunTime(n), coefficient != 0);
      EXPECT_TRUE(IsMeaningful(n));
      EXPECT_EQ(AtBound(n, 100), constant + 100 * coefficient);
    }
  }
}

TEST(Extent, SumsProductsAndQuotientsAreThoseOfPolynomials) {
  const int64_t rows = kExtent + 1;
  EXPECT_EQ(TakeApart(rows * 64 - 64), (Linear{0, 64}));
  EXPECT_EQ(TakeApart(rows * 64 / 64), (Linear{1, 1}));
  EXPECT_EQ(TakeApart(12 * kExtent / kExtent), (Linear{12, 0}));
}

// An extent has no divisors: half of it is no size, whatever the other half is multiplied with.
TEST(Extent, PartsOfAnExtentAreNoSizes) {
  for (const int64_t divisor : {2, 3, 8, 16}) {
    EXPECT_NE(kExtent % divisor, 0);
    EXPECT_FALSE(IsMeaningful(kExtent / divisor));
  }
}

TEST(Extent, WithoutAnExtentEveryNumberIsItself) {
  EXPECT_EQ(AtBound(kExtent, 0), kExtent);
  EXPECT_EQ(AtBound(int64_t{1} << 40, 0), int64_t{1} << 40);
}

}  // namespace
}  // namespace neuron::hlo
