#include "compiler/operands.h"

namespace neuron::compiler {
namespace {

constexpr int64_t kLargestIotaBytes = int64_t{16} << 20;

// A canonical iota has one dimension.
std::string IotaBytes(const hlo::Instruction& iota) {
  const DType dtype = iota.shape().dtype;
  std::string bytes;
  for (int64_t i = 0; i < iota.shape().num_elements(); ++i)
    bytes += IsInteger(dtype) ? hlo::Literal::Scalar(dtype, i).bytes()
                              : hlo::Literal::Scalar(dtype, static_cast<double>(i)).bytes();
  return bytes;
}

}  // namespace

StatusOr<View> OperandView(EmitContext& ctx, const hlo::Instruction* operand) {
  const View view = ctx.plan.ViewOf(operand);
  if (ctx.HasBuffer(view.base)) return view;
  if (view.base->opcode() == hlo::Opcode::kConstant) {
    ctx.SetBuffer(view.base, ctx.ConstantBuffer(view.base->attributes().literal.bytes()));
    return view;
  }
  if (view.base->opcode() == hlo::Opcode::kIota &&
      view.base->shape().num_bytes() <= kLargestIotaBytes) {
    ctx.SetBuffer(view.base, ctx.ConstantBuffer(IotaBytes(*view.base)));
    return view;
  }
  return Unimplemented("compiler: ", view.base->name(), " = ", view.base->shape().ToString(), " ",
                       hlo::OpcodeName(view.base->opcode()), " is read from HBM, but is not there");
}

AccessPattern FlatTile(const EmitContext& ctx, const hlo::Instruction* base, DType dtype) {
  const Buffer buffer = ctx.BufferOf(base);
  const int64_t elements = base->shape().num_bytes() / ByteSize(dtype);
  return AccessPattern::Hbm(dtype, buffer.tensor, Affine(buffer.byte_offset), Count(1), 0,
                            {{1, Count(elements)}});
}

}  // namespace neuron::compiler
