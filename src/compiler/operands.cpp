#include "compiler/operands.h"

#include "compiler/movement.h"

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

StatusOr<AccessPattern> DenseOperand(EmitContext& ctx, const hlo::Instruction* operand) {
  NEURON_ASSIGN_OR_RETURN(const View view, OperandView(ctx, operand));
  const int64_t bytes = ByteSize(view.dtype), elements = Product(view.sizes);
  const auto flat = [&](uint16_t tensor, int64_t offset) {
    return AccessPattern::Hbm(view.dtype, tensor, Affine(offset), Count(1), 0,
                              {{1, Count(elements)}});
  };
  const Buffer buffer = ctx.BufferOf(view.base);
  if (view.IsDense()) return flat(buffer.tensor, buffer.byte_offset + view.offset * bytes);
  const uint16_t scratch = ctx.b.AddTensor({.name = StrCat("dense", ctx.b.program().tensors.size()),
                                            .kind = isa::TensorKind::kScratch,
                                            .bytes = elements * bytes});
  const HbmView to{.tensor = scratch,
                   .dtype = view.dtype,
                   .byte_offset = Affine(0),
                   .strides = DenseStrides(view.sizes)};
  NEURON_RETURN_IF_ERROR(EmitCopy(ctx, view.sizes, to, HbmViewOf(ctx, view)));
  return flat(scratch, 0);
}

AccessPattern FlatTile(const EmitContext& ctx, const hlo::Instruction* base, DType dtype) {
  const Buffer buffer = ctx.BufferOf(base);
  const int64_t elements = base->shape().num_bytes() / ByteSize(dtype);
  return AccessPattern::Hbm(dtype, buffer.tensor, Affine(buffer.byte_offset), Count(1), 0,
                            {{1, Count(elements)}});
}

}  // namespace neuron::compiler
