#include "runtime/errors.h"

#include <gtest/gtest.h>

#include "runtime/runtime.h"

namespace neuron::runtime {
namespace {

Status Of(ErrorRecord record, const char* launch) { return FromErrorRecord(record, launch); }

TEST(Errors, EachCodeHasItsStatusAndSaysTheIndex) {
  EXPECT_TRUE(Of({}, "aten::index").ok());
  EXPECT_TRUE(IsOutOfRange(Of({1, 0, 2, -7, -1, 1, 5}, "aten::index")));
  EXPECT_EQ(Of({1, 0, 2, -7, -1, 1, 5}, "aten::index").message(),
            "aten::index: index -7 is out of bounds for dimension 1 with size 5, in operand 2");
  EXPECT_EQ(Of({1, 0, 1, 5, 1, -1, 6}, "aten::take").message(),
            "aten::take: index 4294967301 is out of bounds for 6 elements, in operand 1");
  EXPECT_TRUE(IsInvalidArgument(Of({2, 0, 0, 0, 0}, "aten::floor_divide")));
  EXPECT_TRUE(IsFailedPrecondition(Of({3, 0, 0, 0, 0}, "aten::_assert_async")));
  EXPECT_TRUE(IsInvalidArgument(Of({4, 0, 0, 0, 0}, "aten::multinomial")));
  EXPECT_EQ(Of({5, 0, 1, 0, 0}, "aten::binary_cross_entropy").message(),
            "aten::binary_cross_entropy: all elements of operand 1 should be between 0 and 1");
  EXPECT_TRUE(IsInvalidArgument(Of({6, 0, 2, 9, 0, 0, 5}, "aten::gather")));
  EXPECT_TRUE(IsInvalidArgument(Of({7, 0, 0, 0, 0}, "aten::multinomial")));
  EXPECT_TRUE(IsInternal(Of({99, 0, 0, 5, 0}, "aten::index")));
}

TEST(Errors, InsideAGraphTheOpIsNamedToo) {
  SetOpNamer([](int32_t op) -> std::string_view {
    return op == 7 ? "aten::embedding" : op == 8 ? "aten::gather" : "";
  });
  EXPECT_EQ(Of({1, 7, 1, 12, 0, 0, 9}, "graph_0").message(),
            "graph_0: aten::embedding: index 12 is out of bounds for dimension 0 with size 9, in "
            "operand 1");
  EXPECT_EQ(Of({1, 7, 1, 12, 0, 0, 9}, "aten::embedding").message(),
            "aten::embedding: index 12 is out of bounds for dimension 0 with size 9, in operand 1");
  EXPECT_EQ(
      Of({1, 8, 1, 12, 0, 0, 9}, "aten::gather.out").message(),
      "aten::gather.out: index 12 is out of bounds for dimension 0 with size 9, in operand 1");
  EXPECT_EQ(Of({1, 9, 1, 12, 0, 0, 9}, "graph_0").message(),
            "graph_0: index 12 is out of bounds for dimension 0 with size 9, in operand 1");
  EXPECT_EQ(Of({1, 7, 1, 12, 0, 0, 9}, nullptr).message(),
            "aten::embedding: index 12 is out of bounds for dimension 0 with size 9, in operand 1");
  SetOpNamer(nullptr);
}

}  // namespace
}  // namespace neuron::runtime
