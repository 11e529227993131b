// Costs of GpSimd kernels grow as their work does, and never fall below their elements.
#include "isa/gpsimd_costs.h"

#include <gtest/gtest.h>

#include "isa/kernel_parameters.h"

namespace neuron::isa {
namespace {

TEST(GpSimdCosts, SortIsNLogN) {
  const auto cycles = [](int64_t n) {
    const SortParameters p{.dims = {n}, .dimension = 0, .keys = {{}}, .comparator = {}};
    return GpSimdKernelCycles("sort", Pack(p), 2.0 * static_cast<double>(n));
  };
  EXPECT_NEAR(cycles(1 << 20) / cycles(1 << 10), 1024 * 2.0, 1e-6);
}

TEST(GpSimdCosts, DotCountsItsProducts) {
  WideDotParameters p{.batch = {2}, .m = {8}, .n = {8}, .k = {64}, .lhs = {}, .rhs = {}};
  const double once = GpSimdKernelCycles("wide_dot", Pack(p), 1);
  p.k = {128};
  EXPECT_DOUBLE_EQ(GpSimdKernelCycles("wide_dot", Pack(p), 1), 2 * once);
}

TEST(GpSimdCosts, UnknownKernelsAndParametersCostTheirElements) {
  EXPECT_DOUBLE_EQ(GpSimdKernelCycles("no_such_kernel", {}, 1280), 10);
  EXPECT_DOUBLE_EQ(GpSimdKernelCycles("sort", {}, 1280), 10);
  const SortParameters odd{.dims = {4}, .dimension = 7, .keys = {}, .comparator = {}};
  EXPECT_GE(GpSimdKernelCycles("sort", Pack(odd), 1280), 10);
}

}  // namespace
}  // namespace neuron::isa
