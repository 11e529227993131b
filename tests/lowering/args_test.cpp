#include "lowering/args.h"

#include <gtest/gtest.h>

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Shape;

TEST(PromoteTypes, FollowsTorch) {
  EXPECT_EQ(PromoteTypes(DType::kF16, DType::kBF16), DType::kF32);
  EXPECT_EQ(PromoteTypes(DType::kU8, DType::kS8), DType::kS16);
  EXPECT_EQ(PromoteTypes(DType::kPred, DType::kU8), DType::kU8);
  EXPECT_EQ(PromoteTypes(DType::kS64, DType::kBF16), DType::kBF16);
  EXPECT_EQ(PromoteTypes(DType::kF64, DType::kC64), DType::kC128);
}

class ArgsTest : public testing::Test {
 protected:
  TensorArg Tensor(DType dtype, std::vector<int64_t> dims) {
    return {b_.Parameter(next_++, Shape::Array(dtype, std::move(dims)))};
  }
  static ScalarArg Number(double value) {
    return {.kind = ScalarArg::Kind::kFloat, .run_time = true, .number = value};
  }
  Builder b_{"test"};
  int64_t next_ = 0;
};

TEST_F(ArgsTest, DimensionedTensorsOutrankZeroDimAndNumbers) {
  const TensorArg bf16 = Tensor(DType::kBF16, {4});
  const TensorArg f64 = Tensor(DType::kF64, {});
  const TensorArg s32 = Tensor(DType::kS32, {4});
  EXPECT_EQ(Args(b_, "op", {bf16, f64}, 3).ResultType({0, 1}), DType::kBF16);
  EXPECT_EQ(Args(b_, "op", {s32, f64}, 3).ResultType({0, 1}), DType::kF64);
  EXPECT_EQ(Args(b_, "op", {s32, Number(0.5)}, 3).ResultType({0, 1}), DType::kF32);
  EXPECT_EQ(Args(b_, "op", {bf16, Number(0.5)}, 3).ResultType({0, 1}), DType::kBF16);
}

TEST_F(ArgsTest, RunTimeScalarIsOneParameterPerDtype) {
  Args args(b_, "op", {Number(0.3)}, 5);
  const hlo::Value a = args.scalar(0, DType::kF32);
  EXPECT_EQ(args.scalar(0, DType::kF32).instruction(), a.instruction());
  args.scalar(0, DType::kF64);
  ASSERT_EQ(args.scalar_parameters().size(), 2u);
  EXPECT_EQ(args.scalar_parameters()[1].hlo_parameter, 6);
  EXPECT_EQ(args.scalar_parameters()[1].dtype, DType::kF64);
}

TEST_F(ArgsTest, WrongKindNamesOverloadAndPosition) {
  Args args(b_, "aten::op", {Number(1)}, 0);
  args.text(0);
  EXPECT_NE(b_.status().message().find("aten::op: argument 0 is number"), std::string_view::npos)
      << b_.status().ToString();
}

TEST_F(ArgsTest, ReportMakesARecord) {
  const hlo::Value index = b_.Parameter(0, Shape::Array(DType::kS32, {3, 2}));
  Args args(b_, "op", {}, 1, 7);
  args.Report(DataError::kIndexOutOfRange, 1,
              b_.Compare(hlo::Comparison::kGe, index, b_.ConstantInt(DType::kS32, 10)), index);
  ASSERT_TRUE(args.error_record().has_value());
  EXPECT_EQ(args.error_record()->shape(), Shape::Array(DType::kS32, {kErrorWords}));
  EXPECT_TRUE(b_.status().ok()) << b_.status().ToString();
}

}  // namespace
}  // namespace neuron::lowering
