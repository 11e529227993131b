#include "isa/access_pattern.h"

#include <gtest/gtest.h>

namespace neuron::isa {
namespace {

TEST(Affine, AddsMergesAndEvaluates) {
  const Affine a = Affine::Of(1, 4096, 128) + Affine::Of(2, -8);
  const Affine b = a + Affine::Of(1, 4, 2);
  const int64_t registers[] = {0, 10, 3};
  EXPECT_EQ(b.Evaluate(registers), 128 + 2 + 4100 * 10 - 8 * 3);
  EXPECT_EQ((b * 2).Evaluate(registers), 2 * b.Evaluate(registers));
  EXPECT_EQ(ToString(b), "r1*4100-r2*8+130");
  EXPECT_TRUE((Affine::Of(1) + Affine::Of(1, -1, 5)).is_constant());
  EXPECT_EQ(Affine::Of(1) + Affine::Of(1, -1, 5), Affine(5));
}

TEST(AccessPattern, FootprintOnChipIsOfOnePartition) {
  const auto tile = AccessPattern::Sbuf(DType::kF32, 0, 128, 0x400, {{1, 512}});
  EXPECT_EQ(Footprint(tile, nullptr).begin, 0x400);
  EXPECT_EQ(Footprint(tile, nullptr).end, 0x400 + 2048);
  EXPECT_EQ(tile.MaxElementsPerPartition(), 512);
}

TEST(AccessPattern, FootprintOfNegativeAndZeroSteps) {
  const auto tile = AccessPattern::Psum(DType::kBF16, 0, 4, 100, {{-3, 5}, {0, 7}, {10, 2}});
  EXPECT_EQ(Footprint(tile, nullptr).begin, 100 - 12 * 2);
  EXPECT_EQ(Footprint(tile, nullptr).end, 100 + 10 * 2 + 2);
}

TEST(AccessPattern, FootprintInHbmSpansRowsAndReadsRegisters) {
  const auto rows = AccessPattern::Hbm(DType::kF32, 2, Affine::Of(0, 4, 8), Count(128, 1), 64,
                                       {{1, Count(64, 2)}});
  EXPECT_EQ(Footprint(rows, nullptr).begin, 8);
  EXPECT_EQ(Footprint(rows, nullptr).end, 8 + (127 * 64 + 63 + 1) * 4);
  const int64_t registers[] = {5, 3, 2};
  EXPECT_EQ(Footprint(rows, registers).begin, 28);
  EXPECT_EQ(Footprint(rows, registers).end, 28 + (2 * 64 + 1 + 1) * 4);
  const int64_t none[] = {5, 0, 2};
  EXPECT_EQ(Footprint(rows, none).begin, Footprint(rows, none).end);
}

TEST(AccessPattern, StepsComeFromRegisters) {
  AccessPattern rows = AccessPattern::Hbm(DType::kF32, 2, 8, 3, 64, {{16, 2}, {1, 4}});
  EXPECT_TRUE(rows.is_constant());
  rows.partition_step_from = 0;
  rows.dims[0].step_from = 1;
  EXPECT_FALSE(rows.is_constant());
  const int64_t registers[] = {100, 10};
  EXPECT_EQ(Footprint(rows, registers).begin, 8);
  EXPECT_EQ(Footprint(rows, registers).end, 8 + (2 * 100 + 10 + 3 + 1) * 4);
  EXPECT_EQ(ToString(rows), "hbm %2 f32 @8 [3 step r0][(r1, 2), (1, 4)]");
}

TEST(AccessPattern, Text) {
  EXPECT_EQ(ToString(AccessPattern::Sbuf(DType::kF32, 0, 128, 0x400, {{1, 512}})),
            "sbuf[0:128] f32 @0x400 [(1, 512)]");
  EXPECT_EQ(
      ToString(AccessPattern::Hbm(DType::kBF16, 2, Affine::Of(3, 4096, 128), 128, 64, {{1, 64}})),
      "hbm %2 bf16 @r3*4096+128 [128 step 64][(1, 64)]");
  EXPECT_EQ(ToString(AccessPattern::Psum(DType::kF32, 32, Count(32, 4), Affine::Of(1), {})),
            "psum[32:32+r4<=32] f32 @r1 []");
}

}  // namespace
}  // namespace neuron::isa
