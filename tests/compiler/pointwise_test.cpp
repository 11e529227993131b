// Elementwise modules compile to programs that verify and touch every byte they should.
#include <gtest/gtest.h>

#include "compiler/compiler.h"
#include "hlo/builder.h"

namespace neuron::compiler {
namespace {

using hlo::Builder;
using hlo::Shape;
using hlo::Value;

StatusOr<CompiledProgram> CompileRoot(Builder& b, Value root, Options options = {}) {
  NEURON_ASSIGN_OR_RETURN(const hlo::Module module, std::move(b).Build(root));
  return Compile(module, options);
}

int64_t CountOf(const isa::Program& program, isa::Opcode opcode) {
  int64_t n = 0;
  for (const isa::Instruction& i : program.instructions) n += i.opcode == opcode;
  return n;
}

TEST(Pointwise, SixteenElementsAreOneInstructionEach) {
  Builder b("add");
  const Value x = b.Parameter(0, Shape::Array(DType::kF32, {16}));
  const Value y = b.Parameter(1, Shape::Array(DType::kF32, {4, 4}));
  const auto compiled = CompileRoot(b, b.Add(x, b.Reshape(y, {16})));
  ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
  EXPECT_EQ(CountOf(compiled->program, isa::Opcode::tensor_tensor), 1);
  EXPECT_EQ(compiled->program.instructions.size(), 4u) << isa::Disassemble(compiled->program);
  EXPECT_EQ(compiled->signature.buffers.size(), 3u);
}

TEST(Pointwise, ProgramSizeDoesNotGrowWithElements) {
  size_t sizes[2];
  int i = 0;
  for (int64_t n : {int64_t{1} << 20, int64_t{1} << 24}) {
    Builder b("mul");
    const Value x = b.Parameter(0, Shape::Array(DType::kF32, {n}));
    const auto compiled = CompileRoot(b, b.Multiply(x, x));
    ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
    sizes[i++] = compiled->program.instructions.size();
  }
  EXPECT_EQ(sizes[0], sizes[1]);
}

class PointwiseDTypes : public ::testing::TestWithParam<DType> {};

TEST_P(PointwiseDTypes, ChainsOverManyShapesVerify) {
  const DType dtype = GetParam();
  for (const std::vector<int64_t>& dims : std::vector<std::vector<int64_t>>{{},
                                                                            {1},
                                                                            {0, 3},
                                                                            {7},
                                                                            {129},
                                                                            {1000003},
                                                                            {3, 5, 7},
                                                                            {33, 4097},
                                                                            {2, 3, 100000},
                                                                            {300, 2, 2}}) {
    Builder b("chain");
    const Value x = b.Parameter(0, Shape::Array(dtype, dims));
    const Value row = b.Parameter(
        1, Shape::Array(dtype, dims.empty() ? dims : std::vector<int64_t>{dims.back()}));
    const Value wide = b.BroadcastTo(row, dims);
    const Value sum = b.Add(b.Multiply(x, wide), b.Full(x.shape(), 2));
    const Value small = b.Compare(hlo::Comparison::kLt, sum, wide);
    const Value root = b.Select(small, sum, b.Convert(b.Convert(x, DType::kF32), dtype));
    const auto compiled = CompileRoot(b, root);
    ASSERT_TRUE(compiled.ok()) << Shape::Array(dtype, dims).ToString() << ": "
                               << compiled.status().ToString();
  }
}

INSTANTIATE_TEST_SUITE_P(Narrow, PointwiseDTypes,
                         ::testing::Values(DType::kF32, DType::kBF16, DType::kF16, DType::kS32,
                                           DType::kU8),
                         [](const auto& info) { return std::string(DTypeName(info.param)); });

TEST(Pointwise, ScalarsComeFromTheBlock) {
  Builder b("scale");
  const Value x = b.Parameter(0, Shape::Array(DType::kF32, {1024}));
  const Value s = b.Parameter(1, Shape::Array(DType::kF32, {}));
  Options options;
  options.parameters = {ParameterPlace::kBuffer, ParameterPlace::kScalarBlock};
  const auto compiled = CompileRoot(b, b.Multiply(x, s), options);
  ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
  EXPECT_EQ(compiled->signature.first_scalar_slot, 2);
  EXPECT_EQ(compiled->signature.num_slots, 3);
  EXPECT_EQ(compiled->signature.scalar_parameters, std::vector<int64_t>{1});
  EXPECT_EQ(CountOf(compiled->program, isa::Opcode::dma_copy), 2) << "the scalar is a register";
}

TEST(Pointwise, AliasedResultReplacesItsParameter) {
  Builder b("add_");
  const Value x = b.Parameter(0, Shape::Array(DType::kF32, {100}));
  b.Alias(0, 0);
  const auto compiled = CompileRoot(b, b.Add(x, x));
  ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
  ASSERT_EQ(compiled->signature.buffers.size(), 1u);
  EXPECT_EQ(compiled->signature.buffers[0].parameter, 0);
  EXPECT_EQ(compiled->signature.buffers[0].output, 0);
}

TEST(Pointwise, ParameterReadLaterIsNotOverwritten) {
  Builder b("late");
  const Value x = b.Parameter(0, Shape::Array(DType::kF32, {64, 64}));
  const Value flipped = b.Transpose(x, {1, 0});
  b.Alias(0, 0);
  const auto compiled = CompileRoot(b, b.Add(x, flipped));
  ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
  bool scratch = false;
  for (const isa::TensorDecl& t : compiled->program.tensors)
    scratch |= t.kind == isa::TensorKind::kScratch && t.bytes >= 64 * 64 * 4;
  EXPECT_TRUE(scratch);
}

TEST(Container, CarriesTheSignature) {
  Builder b("add");
  const Value x = b.Parameter(0, Shape::Array(DType::kF32, {16}));
  const auto compiled = CompileRoot(b, b.Add(x, x));
  ASSERT_TRUE(compiled.ok());
  const std::string container = ToContainer(*compiled);
  const auto signature = ReadSignature(container);
  ASSERT_TRUE(signature.ok()) << signature.status().ToString();
  ASSERT_EQ(signature->buffers.size(), 2u);
  EXPECT_EQ(signature->buffers[1].output, 0);
  EXPECT_EQ(signature->num_slots, 2);
  EXPECT_FALSE(BuildId().empty());
}

TEST(Compile, SameModuleSameBytes) {
  std::string bytes[2];
  for (std::string& s : bytes) {
    Builder b("twice");
    const Value x = b.Parameter(0, Shape::Array(DType::kBF16, {33, 65}));
    const auto compiled = CompileRoot(b, b.Tanh(b.Exp(x)));
    ASSERT_TRUE(compiled.ok());
    s = ToContainer(*compiled);
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

}  // namespace
}  // namespace neuron::compiler
