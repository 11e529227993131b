// Dots become Tensor engine programs: no GpSimd kernel, and as many multiplications as the
// arithmetic says.
#include <gtest/gtest.h>

#include "compiler/compiler.h"
#include "hlo/builder.h"

namespace neuron::compiler {
namespace {

using hlo::Shape;

StatusOr<CompiledProgram> CompileDot(DType dtype, std::vector<int64_t> lhs,
                                     std::vector<int64_t> rhs, const hlo::DotDimensions& dims) {
  hlo::Builder b("dot");
  const hlo::Value x = b.Parameter(0, Shape::Array(dtype, std::move(lhs)));
  const hlo::Value y = b.Parameter(1, Shape::Array(dtype, std::move(rhs)));
  NEURON_ASSIGN_OR_RETURN(const hlo::Module module, std::move(b).Build(b.Dot(x, y, dims)));
  return Compile(module, {});
}

int64_t CountOf(const isa::Program& program, isa::Opcode opcode) {
  int64_t n = 0;
  for (const isa::Instruction& i : program.instructions) n += i.opcode == opcode;
  return n;
}

constexpr auto kMatrices = [](int64_t rhs_contracting) {
  return hlo::DotDimensions{.lhs_contracting = {1},
                            .rhs_contracting = {rhs_contracting},
                            .lhs_batch = {},
                            .rhs_batch = {}};
};

TEST(Dot, FloatsRunOnTheTensorEngine) {
  for (DType dtype : {DType::kF32, DType::kBF16, DType::kF16})
    for (int64_t contracting : {0, 1}) {
      const auto compiled = CompileDot(
          dtype, {300, 257},
          contracting == 0 ? std::vector<int64_t>{257, 70} : std::vector<int64_t>{70, 257},
          kMatrices(contracting));
      ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
      EXPECT_GT(CountOf(compiled->program, isa::Opcode::nc_matmul), 0);
      EXPECT_EQ(CountOf(compiled->program, isa::Opcode::gpsimd_kernel), 0);
    }
}

TEST(Dot, ProgramSizeDoesNotGrowWithRowsOrBatches) {
  size_t sizes[2];
  int i = 0;
  for (int64_t n : {4, 64}) {
    const auto compiled = CompileDot(
        DType::kF32, {n, 3 * n, 128 * n, 64}, {n, 3 * n, 64, 96},
        {.lhs_contracting = {3}, .rhs_contracting = {2}, .lhs_batch = {0, 1}, .rhs_batch = {0, 1}});
    ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
    sizes[i++] = compiled->program.instructions.size();
  }
  EXPECT_EQ(sizes[0], sizes[1]);
}

TEST(Dot, WideNumbersAreOneGpSimdKernel) {
  for (DType dtype : {DType::kS8, DType::kS32, DType::kS64, DType::kF64, DType::kC64}) {
    const auto compiled = CompileDot(dtype, {5, 6}, {6, 7}, kMatrices(0));
    ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
    EXPECT_EQ(CountOf(compiled->program, isa::Opcode::gpsimd_kernel), 1);
    EXPECT_EQ(CountOf(compiled->program, isa::Opcode::nc_matmul), 0);
  }
}

TEST(Dot, AnEmptyContractionIsZero) {
  const auto compiled = CompileDot(DType::kF32, {3, 0}, {0, 4}, kMatrices(0));
  ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
  EXPECT_EQ(CountOf(compiled->program, isa::Opcode::memset), 1);
}

}  // namespace
}  // namespace neuron::compiler
