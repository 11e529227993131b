#include "compiler/wide_dot.h"

#include <algorithm>

#include "compiler/gpsimd.h"
#include "compiler/operands.h"
#include "isa/kernel_parameters.h"

namespace neuron::compiler {
namespace {

bool Has(const Dims& list, size_t value) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(value)) != list.end();
}

}  // namespace

Status EmitWideDot(EmitContext& ctx, const Kernel& kernel) {
  const hlo::Instruction& dot = *kernel.hero;
  const hlo::DotDimensions& numbers = dot.attributes().dot;
  NEURON_ASSIGN_OR_RETURN(const View lhs, OperandView(ctx, dot.operand(0)));
  NEURON_ASSIGN_OR_RETURN(const View rhs, OperandView(ctx, dot.operand(1)));
  isa::WideDotParameters p;
  p.lhs.offset = lhs.offset;
  p.rhs.offset = rhs.offset;
  for (size_t i = 0; i < numbers.lhs_batch.size(); ++i) {
    const auto l = static_cast<size_t>(numbers.lhs_batch[i]);
    p.batch.push_back(lhs.sizes[l]);
    p.lhs.strides.push_back(lhs.strides[l]);
    p.rhs.strides.push_back(rhs.strides[static_cast<size_t>(numbers.rhs_batch[i])]);
  }
  const auto free = [](const View& view, const Dims& batch, const Dims& contracting, Dims& sizes,
                       Dims& strides) {
    for (size_t d = 0; d < view.sizes.size(); ++d) {
      if (Has(batch, d) || Has(contracting, d)) continue;
      sizes.push_back(view.sizes[d]);
      strides.push_back(view.strides[d]);
    }
  };
  free(lhs, numbers.lhs_batch, numbers.lhs_contracting, p.m, p.lhs.strides);
  free(rhs, numbers.rhs_batch, numbers.rhs_contracting, p.n, p.rhs.strides);
  for (size_t i = 0; i < numbers.lhs_contracting.size(); ++i) {
    const auto l = static_cast<size_t>(numbers.lhs_contracting[i]);
    p.k.push_back(lhs.sizes[l]);
    p.lhs.strides.push_back(lhs.strides[l]);
    p.rhs.strides.push_back(rhs.strides[static_cast<size_t>(numbers.rhs_contracting[i])]);
  }
  EmitGpSimd(ctx, "wide_dot", 1,
             {FlatTile(ctx, &dot, dot.shape().dtype), FlatTile(ctx, lhs.base, lhs.dtype),
              FlatTile(ctx, rhs.base, rhs.dtype)},
             p);
  return OkStatus();
}

}  // namespace neuron::compiler
