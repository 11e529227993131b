#include <bit>
#include <vector>

#include "emulator/decoder.h"
#include "emulator/reduction.h"
#include "emulator/row_io.h"
#include "emulator/scalar_operand.h"
#include "isa/operands.h"

namespace neuron::emulator {
namespace {

struct Cumulative : Operation::Payload {
  const KernelTable* kernels = nullptr;
  UnaryKernel unary = nullptr;
  BinaryKernel op0 = nullptr, op1 = nullptr;
  ScalarOperand imm0, imm1;
  isa::ReduceCmd command{};
  float identity = 0;
  float* accumulator = nullptr;
};

Status Execute(const Operation& operation, Execution& execution) {
  const auto& scan = operation.as<Cumulative>();
  ResolvedTiles<4> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  std::vector<uint32_t> buffer;
  for (int64_t row = 0; row < dst.rows(); ++row) {
    uint32_t* x = ReadWholeRow(*scan.kernels, Domain::kFloat, tiles.tile[1], row, &buffer);
    const float imm0 = scan.imm0.At(tiles.tile, row, execution.registers);
    if (scan.unary != nullptr) {
      scan.unary(x, x, dst.elements());
    } else {
      scan.op0(x, x, &imm0, dst.elements());
    }
    float r = scan.identity;
    if (scan.command == isa::ReduceCmd::kReduce) r = scan.accumulator[row];
    if (scan.command == isa::ReduceCmd::kLoadReduce)
      r = scan.imm1.At(tiles.tile, row, execution.registers);
    for (int64_t i = 0; i < dst.elements(); ++i) {
      scan.op1(&r, x + i, &r, 1);
      x[i] = std::bit_cast<uint32_t>(r);
    }
    scan.accumulator[row] = r;
    WriteWholeRow(*scan.kernels, Domain::kFloat, dst, row, x);
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto scan = std::make_unique<Cumulative>();
  scan->kernels = &input.kernels;
  const auto binary = [&](isa::AluOp alu, OperandForm form) {
    return input.kernels
        .binary[static_cast<int>(Domain::kFloat)][static_cast<int>(alu)][static_cast<int>(form)];
  };
  const isa::AluOp op0 = input.in.Alu("op0");
  const isa::AluOp op1 = input.in.Alu("op1");
  scan->unary = input.kernels.unary[static_cast<int>(Domain::kFloat)][static_cast<int>(op0)];
  scan->op0 = binary(op0, OperandForm::kRowValue);
  scan->op1 = binary(op1, OperandForm::kRowRow);
  if ((scan->op0 == nullptr && scan->unary == nullptr) || scan->op1 == nullptr)
    return Unimplemented(NameOf(*op), ": operator ", isa::RowOf(op0).name, " on fp32");
  scan->command = static_cast<isa::ReduceCmd>(input.in.Integer("reduce_cmd", 3));
  scan->identity = std::bit_cast<float>(ReduceIdentity(Domain::kFloat, op1));
  scan->accumulator = input.core.vector_accumulator(*input.in.Tile("dst"));
  input.AddTile(op, "dst");
  input.AddTile(op, "src");
  scan->imm0 = ScalarOperand::Decode(input, op, "imm0");
  scan->imm1 = ScalarOperand::Decode(input, op, "imm1");
  op->execute = Execute;
  op->payload = std::move(scan);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_tensor_scalar_cumulative;
const InstructionSemantics kSemantics_tensor_scalar_cumulative{Decode};

}  // namespace neuron::emulator
