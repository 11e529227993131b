#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace tensor_tensor_scan_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kOnChip, kNumbers, "[P, N]"),
    In("data0", kOnChip, kNumbers, "[P, N]"),
    In("data1", kOnChip, kNumbers, "[P, N]; not in PSUM together with data0"),
    Scalar("initial", "scalar or [P, 1]"),
    Value("op0", OperandKind::kAlu, "arithmetic operator"),
    Value("op1", OperandKind::kAlu, "arithmetic operator"),
    Optional(Value("reverse0", OperandKind::kFlag, "1: swap op0's sides")),
    Optional(Value("reverse1", OperandKind::kFlag, "1: swap op1's sides")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(
      CheckSameShape(instruction, "tensor_tensor_scan.shape", {kDst, kData0, kData1}));
  NEURON_RETURN_IF_ERROR(
      CheckPerPartitionScalar(instruction, "tensor_tensor_scan.operand", kInitial, kData0));
  NEURON_RETURN_IF_ERROR(CheckNotBothPsum(instruction, "tensor_tensor_scan.psum", kData0, kData1));
  for (const size_t operand : {size_t{kOp0}, size_t{kOp1}}) {
    const AluRow& row = RowOf(std::get<AluOp>(instruction.operands[operand]));
    if (row.bitvec || row.arity != 2)
      return InvalidArgument("tensor_tensor_scan.alu: ", row.name,
                             " is no binary arithmetic operator");
  }
  return CheckAlu(instruction, "tensor_tensor_scan.alu", {kOp0, kOp1});
}

double Cost(const CostInput& input) {
  return EngineCycles(input, 2 * static_cast<double>(input.elements[kDst]));
}

}  // namespace

constinit const InstructionDef kDef_tensor_tensor_scan{
    .mnemonic = "tensor_tensor_scan",
    .summary = "Scan along the free dimension with two operators.",
    .doc =
        "r[i] = (data0[i] op0 r[i-1]) op1 data1[i] along each partition, r[-1] = initial, in "
        "fp32; dst = r rounded. reverse0: r[i-1] op0 data0[i]; reverse1: data1[i] op1 (...).",
    .engines = Bit(Engine::kVector),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "144 + 2 N",
    .source = "NKI 0.6 reference, nki.isa.tensor_tensor_scan",
};

}  // namespace neuron::isa
