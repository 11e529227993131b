#include <limits>

#include "emulator/decoder.h"
#include "emulator/row_program.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  RowBuilder rows(input, op, "dst", false);
  IotaPattern index;
  index.offset = input.in.Integer("range_start");
  index.num_dims = 1;
  index.step[0] = 1;
  index.count[0] = input.in.Tile("dst")->MaxElementsPerPartition();
  const auto i = rows.ToFloat(rows.Iota(index));
  NEURON_ASSIGN_OR_RETURN(const auto first,
                          rows.Alu(input.in.Alu("comp_op0"), i, rows.Scalar("bound0")));
  NEURON_ASSIGN_OR_RETURN(const auto second,
                          rows.Alu(input.in.Alu("comp_op1"), i, rows.Scalar("bound1")));
  NEURON_ASSIGN_OR_RETURN(const auto inside, rows.Alu(isa::AluOp::kLogicalAnd, first, second));
  const auto x = rows.Select(inside, rows.Load("on_true_tile"),
                             rows.Constant(std::numeric_limits<float>::lowest()));
  rows.Store(x, "dst");
  NEURON_RETURN_IF_ERROR(rows.Reduce(
      x, isa::AluOp::kMaximum, static_cast<isa::ReduceCmd>(input.in.Integer("reduce_cmd", 3)),
      input.core.vector_accumulator(*input.in.Tile("dst")), "", "reduce_res", false));
  rows.Finish();
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_range_select;
const InstructionSemantics kSemantics_range_select{Decode};

}  // namespace neuron::emulator
