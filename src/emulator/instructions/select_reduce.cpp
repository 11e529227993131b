#include "emulator/decoder.h"
#include "emulator/row_program.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  const auto command = static_cast<isa::ReduceCmd>(input.in.Integer("reduce_cmd"));
  const bool reduces = command != isa::ReduceCmd::kIdle || input.in.Has("reduce_res");
  RowBuilder rows(input, op, "dst", !reduces);
  const auto predicate =
      rows.LoadAs("predicate", Domain::kSigned, input.in.Tile("predicate")->dtype);
  const auto yes = rows.Load("on_true");
  const auto no = rows.Scalar("on_false");
  const auto x = input.in.Flag("reverse_pred") ? rows.Select(predicate, no, yes)
                                               : rows.Select(predicate, yes, no);
  rows.Store(x, "dst");
  if (reduces)
    NEURON_RETURN_IF_ERROR(rows.Reduce(x, isa::AluOp::kMaximum, command,
                                       input.core.vector_accumulator(*input.in.Tile("dst")), "",
                                       "reduce_res", false));
  rows.Finish();
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_select_reduce;
const InstructionSemantics kSemantics_select_reduce{Decode};

}  // namespace neuron::emulator
