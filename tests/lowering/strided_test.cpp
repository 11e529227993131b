// Shapes and opcodes of strided views; tests/lowering/test_strided.py checks the values by XLA.
#include "lowering/strided.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Module;
using hlo::Opcode;
using hlo::Shape;

struct Case {
  std::vector<int64_t> sizes, strides;
  bool irregular = false;  // needs gather or scatter
};

class StridedTest : public testing::TestWithParam<Case> {};

bool Has(const Module& module, Opcode opcode) {
  return std::ranges::any_of(module.entry()->instructions(),
                             [&](const auto& i) { return i->opcode() == opcode; });
}

TEST_P(StridedTest, ReadsWithoutGather) {
  const auto& [sizes, strides, irregular] = GetParam();
  Builder b("read");
  const Shape flat = Shape::Array(DType::kF32, {FlatExtent(sizes, strides)});
  auto module = std::move(b).Build(FromStrided(b, b.Parameter(0, flat), sizes, strides));
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(module->entry()->root()->shape().dims, sizes);
  EXPECT_EQ(Has(*module, Opcode::kGather), irregular);
}

TEST_P(StridedTest, WritesWithoutScatter) {
  const auto& [sizes, strides, irregular] = GetParam();
  if (irregular || std::ranges::count(strides, 0) > 0) GTEST_SKIP() << "overlaps";
  Builder b("write");
  const Shape flat = Shape::Array(DType::kF32, {FlatExtent(sizes, strides)});
  const hlo::Value value = b.Parameter(1, Shape::Array(DType::kF32, sizes));
  auto module = std::move(b).Build(ToStrided(b, b.Parameter(0, flat), value, strides));
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(module->entry()->root()->shape(), flat);
  EXPECT_FALSE(Has(*module, Opcode::kScatter));
}

INSTANTIATE_TEST_SUITE_P(Cases, StridedTest,
                         testing::Values(Case{{2, 3}, {3, 1}}, Case{{3, 2}, {1, 3}},
                                         Case{{4, 3}, {5, 1}}, Case{{2, 3, 4}, {24, 8, 1}},
                                         Case{{2, 3, 4}, {24, 1, 6}}, Case{{5}, {3}},
                                         Case{{3, 4}, {8, 2}}, Case{{2, 1, 3}, {3, 7, 1}},
                                         Case{{2, 3}, {0, 1}}, Case{{2, 3}, {1, 0}}, Case{{}, {}},
                                         Case{{2, 2}, {0, 0}}, Case{{3, 2}, {1, 1}, true}));

}  // namespace
}  // namespace neuron::lowering
