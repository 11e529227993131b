#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace tensor_tensor_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    In("data1", kOnChip, kNumbers, "[P, N]"),
    In("data2", kOnChip, kNumbers, "[P, N]; not in PSUM together with data1"),
    Value("op", OperandKind::kAlu, "binary operator"),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(
      CheckSameShape(instruction, "tensor_tensor.shape", {kDst, kData1, kData2}));
  NEURON_RETURN_IF_ERROR(CheckNotBothPsum(instruction, "tensor_tensor.psum", kData1, kData2));
  const AluRow& row = RowOf(std::get<AluOp>(instruction.operands[kOp]));
  if (row.arity != 2)
    return InvalidArgument("tensor_tensor.alu: ", row.name, " is unary; use tensor_scalar");
  if (row.op == AluOp::kPower && instruction.engine != Engine::kGpSimd)
    return InvalidArgument("tensor_tensor.engine: power runs on gpsimd alone, got ",
                           EngineName(instruction.engine), "; its tiles lie in SBUF");
  return CheckAlu(instruction, "tensor_tensor.alu", {kOp});
}

double Cost(const CostInput& input) {
  return EngineCycles(input, TwoInputCycles(input, kDst, kData1, kData2));
}

}  // namespace

constinit const InstructionDef kDef_tensor_tensor{
    .mnemonic = "tensor_tensor",
    .summary = "Combine two tiles element by element.",
    .doc =
        "dst = data1 op data2, element by element. All tiles have the same partitions and "
        "elements.",
    .engines = Bit(Engine::kVector) | Bit(Engine::kGpSimd),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + 2 N; 144 + N with 16-bit tiles or an input in PSUM; GpSimd 150 + 2 N",
    .source = "NKI 0.6 reference, nki.isa.tensor_tensor",
};

}  // namespace neuron::isa
