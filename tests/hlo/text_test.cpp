#include <gtest/gtest.h>

#include "hlo/builder.h"

namespace neuron::hlo {
namespace {

Shape F32(std::vector<int64_t> dims) { return Shape::Array(DType::kF32, std::move(dims)); }

TEST(Text, Golden) {
  Builder b("softmax");
  const Value x = b.Parameter(0, F32({2, 3}), "x");
  b.SetMetadata("aten::_softmax");
  const Value e = b.Exp(b.Subtract(x, b.Broadcast(b.ReduceMax(x, {1}), {2, 3}, {0})));
  const Value y = b.Divide(e, b.Broadcast(b.ReduceSum(e, {1}), {2, 3}, {0}));
  b.Alias(0, 0);
  const StatusOr<Module> module = std::move(b).Build(y);
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  EXPECT_EQ(module->ToText(/*with_metadata=*/false),
            R"(HloModule softmax, input_output_alias={ {}: (0, {}, may-alias) }

maximum_f32 {
  parameter.5 = f32[] parameter(0)
  parameter.6 = f32[] parameter(1)
  ROOT maximum.7 = f32[] maximum(parameter.5, parameter.6)
}

add_f32 {
  parameter.14 = f32[] parameter(0)
  parameter.15 = f32[] parameter(1)
  ROOT add.16 = f32[] add(parameter.14, parameter.15)
}

ENTRY main {
  x = f32[2,3] parameter(0)
  constant.3 = f32[] constant(-inf)
  reduce.8 = f32[2] reduce(x, constant.3), dimensions={1}, to_apply=maximum_f32
  broadcast.9 = f32[2,3] broadcast(reduce.8), dimensions={0}
  subtract.10 = f32[2,3] subtract(x, broadcast.9)
  exponential.11 = f32[2,3] exponential(subtract.10)
  constant.12 = f32[] constant(0)
  reduce.17 = f32[2] reduce(exponential.11, constant.12), dimensions={1}, to_apply=add_f32
  broadcast.18 = f32[2,3] broadcast(reduce.17), dimensions={0}
  ROOT divide.19 = f32[2,3] divide(exponential.11, broadcast.18)
}
)");
  EXPECT_NE(module->ToText().find("metadata={op_name=\"aten::_softmax\"}"), std::string::npos);
}

std::string TextOf(const Literal& literal) {
  Builder b("m");
  const StatusOr<Module> module = std::move(b).Build(b.Constant(literal));
  const std::string text = module->ToText();
  const size_t from = text.find("constant(") + 9;
  return text.substr(from, text.find(")\n") - from);
}

TEST(Text, LiteralsReadBackExactly) {
  EXPECT_EQ(TextOf(Literal::Scalar(DType::kF32, 0.1)), "0.1");
  EXPECT_EQ(TextOf(Literal::Scalar(DType::kF64, 0.1f)), "0.10000000149011612");
  EXPECT_EQ(TextOf(Literal::Scalar(DType::kPred, 1.0)), "true");
  EXPECT_EQ(TextOf(Literal::Scalar(DType::kU64, int64_t{-1})), "18446744073709551615");
  EXPECT_EQ(TextOf(Literal::ScalarComplex(DType::kC64, {1, -2})), "(1, -2)");
  EXPECT_EQ(TextOf(Literal::S64Vector({1, -2})), "{1, -2}");
}

}  // namespace
}  // namespace neuron::hlo
