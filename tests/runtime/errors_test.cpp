#include "runtime/errors.h"

#include <gtest/gtest.h>

#include "runtime/runtime.h"

namespace neuron::runtime {
namespace {

Status Of(ErrorRecord record, const char* launch) { return FromErrorRecord(record, launch); }

TEST(Errors, EachCodeHasItsStatusAndSaysTheIndex) {
  EXPECT_TRUE(Of({0, 0, 0, 0, 0}, "aten::index").ok());
  EXPECT_TRUE(IsOutOfRange(Of({1, 0, 2, -7, -1}, "aten::index")));
  EXPECT_EQ(Of({1, 0, 2, -7, -1}, "aten::index").message(),
            "aten::index: index -7 is out of range in operand 2");
  EXPECT_EQ(Of({1, 0, 1, 5, 1}, "aten::index").message(),
            "aten::index: index 4294967301 is out of range in operand 1");
  EXPECT_TRUE(IsInvalidArgument(Of({2, 0, 0, 5, 0}, "aten::floor_divide")));
  EXPECT_TRUE(IsFailedPrecondition(Of({3, 0, 0, 5, 0}, "aten::_assert_async")));
  EXPECT_TRUE(IsInvalidArgument(Of({4, 0, 0, 5, 0}, "aten::multinomial")));
  EXPECT_TRUE(IsInternal(Of({99, 0, 0, 5, 0}, "aten::index")));
}

TEST(Errors, InsideAGraphTheOpIsNamedToo) {
  SetOpNamer([](int32_t op) -> std::string_view {
    return op == 7 ? "aten::embedding" : op == 8 ? "aten::gather" : "";
  });
  EXPECT_EQ(Of({1, 7, 1, 12, 0}, "graph_0").message(),
            "graph_0: aten::embedding: index 12 is out of range in operand 1");
  EXPECT_EQ(Of({1, 7, 1, 12, 0}, "aten::embedding").message(),
            "aten::embedding: index 12 is out of range in operand 1");
  EXPECT_EQ(Of({1, 8, 1, 12, 0}, "aten::gather.out").message(),
            "aten::gather.out: index 12 is out of range in operand 1");
  EXPECT_EQ(Of({1, 9, 1, 12, 0}, "graph_0").message(),
            "graph_0: index 12 is out of range in operand 1");
  EXPECT_EQ(Of({1, 7, 1, 12, 0}, nullptr).message(),
            "aten::embedding: index 12 is out of range in operand 1");
  SetOpNamer(nullptr);
}

}  // namespace
}  // namespace neuron::runtime
