#include "hlo/builder.h"

#include <gtest/gtest.h>

namespace neuron::hlo {
namespace {

const Shape kMatrix = Shape::Array(DType::kF32, {2, 3});

TEST(Builder, ScalarsBroadcast) {
  Builder b("scale");
  const Value x = b.Parameter(0, kMatrix), s = b.Parameter(1, Shape::Array(DType::kF32, {}));
  EXPECT_EQ(b.Multiply(s, x).shape().ToString(), "f32[2,3]");
  EXPECT_EQ(b.Select(b.Constant(DType::kPred, 1), x, s).shape().ToString(), "f32[2,3]");
  EXPECT_EQ(b.Clamp(s, x, s).shape().ToString(), "f32[2,3]");
  EXPECT_TRUE(b.status().ok());
}

TEST(Builder, FirstFailureIsKept) {
  Builder b("bad");
  const Value x = b.Parameter(0, kMatrix), y = b.Parameter(1, Shape::Array(DType::kF32, {3}));
  const Value bad = b.Add(x, y);
  EXPECT_FALSE(bad.valid());
  EXPECT_EQ(bad.dim(5), 1);
  b.Exp(b.Transpose(bad, {1, 0}));
  const StatusOr<Module> module = std::move(b).Build(bad);
  ASSERT_FALSE(module.ok());
  EXPECT_NE(module.status().message().find("add(f32[2,3], f32[3])"), std::string::npos)
      << module.status().message();
}

TEST(Builder, ReductionsAndCombiners) {
  Builder b("reduce");
  const Value x = b.Parameter(0, kMatrix);
  EXPECT_EQ(b.ReduceSum(x, {1, 0}).shape().ToString(), "f32[]");
  EXPECT_EQ(b.ReduceMax(x, {0}).shape().ToString(), "f32[3]");
  EXPECT_EQ(b.Combiner(Opcode::kAdd, DType::kF32), b.Combiner(Opcode::kAdd, DType::kF32));
  const Value lowest = b.ReduceMax(b.Convert(x, DType::kS32), {0});
  EXPECT_EQ(lowest.instruction()->operand(1)->attributes().literal.AsInt64(), INT32_MIN);
}

TEST(Builder, BroadcastToFollowsNumPy) {
  Builder b("broadcast");
  const Value x = b.Parameter(0, Shape::Array(DType::kF32, {3, 1}));
  EXPECT_EQ(b.BroadcastTo(x, {2, 3, 4}).shape().ToString(), "f32[2,3,4]");
  EXPECT_EQ(b.BroadcastTo(x, {3, 1}).instruction(), x.instruction());
  EXPECT_TRUE(b.status().ok());
  b.BroadcastTo(x, {4, 4});
  EXPECT_NE(b.status().message().find("does not stretch"), std::string::npos);
}

TEST(Builder, LoopAndBranch) {
  Builder b("control");
  const Shape counter = Shape::Array(DType::kS32, {});
  const Value n = b.Parameter(0, counter);
  Computation* more = b.SubComputation("more", {counter}, [](Builder& c, auto v) {
    return c.Compare(Comparison::kLt, v[0], c.Constant(DType::kS32, 10));
  });
  Computation* next = b.SubComputation("next", {counter}, [](Builder& c, auto v) {
    return c.Add(v[0], c.Constant(DType::kS32, 1));
  });
  const Value done = b.While(more, next, n);
  Computation* const branches[] = {next, next};
  const Value arguments[] = {done, n};
  const Value chosen = b.Conditional(b.Constant(DType::kPred, 1), branches, arguments);
  const StatusOr<Module> module = std::move(b).Build(chosen);
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  const std::vector<Computation*> order = module->PostOrder();
  ASSERT_EQ(order.size(), 3u);
  EXPECT_EQ(order.back(), module->entry());
}

TEST(Builder, SubComputationFailureReachesTheModule) {
  Builder b("inner");
  const Value x = b.Parameter(0, kMatrix);
  b.SubComputation("f", {kMatrix}, [&](Builder& c, auto v) { return c.Add(v[0], x); });
  EXPECT_NE(b.status().message().find("another computation"), std::string::npos);
}

TEST(Literal, ConvertsOnce) {
  // 1 + 2^-8 + 2^-40 is above the middle of two bf16: rounding through float would go down.
  const double x = 1.0 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(Literal::Scalar(DType::kBF16, x).AsDouble(), 1.0 + 0x1p-7);
  EXPECT_EQ(Literal::Scalar(DType::kF16, 1.0 + 0x1p-11 + 0x1p-40).AsDouble(), 1.0 + 0x1p-10);
  EXPECT_EQ(Literal::Scalar(DType::kF32, (int64_t{1} << 54) + 3).AsDouble(), 0x1p54);
  EXPECT_EQ(Literal::Scalar(DType::kS32, 2.9).AsInt64(), 2);
  EXPECT_EQ(Literal::Scalar(DType::kS8, 1e9).AsInt64(), 127);
  EXPECT_EQ(Literal::Scalar(DType::kU8, int64_t{-1}).AsInt64(), 255);
  EXPECT_EQ(Literal::Scalar(DType::kS64, (int64_t{1} << 62) + 1).AsInt64(), (int64_t{1} << 62) + 1);
  EXPECT_EQ(Literal::Scalar(DType::kPred, 0.5).AsInt64(), 1);
  EXPECT_EQ(Literal::Scalar(DType::kF4E2M1FN, -2.4).AsDouble(), -2.0);
  EXPECT_EQ(Literal::Scalar(DType::kF8E8M0FNU, 0.25).AsDouble(), 0.25);
}

TEST(Literal, Splat) {
  EXPECT_TRUE(Literal::S64Vector({5, 5, 5}).IsSplat());
  EXPECT_FALSE(Literal::S64Vector({5, 5, 6}).IsSplat());
}

}  // namespace
}  // namespace neuron::hlo
