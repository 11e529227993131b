#include "emulator/decoder.h"
#include "emulator/row_program.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  RowBuilder rows(input, op, "dst");
  rows.ChooseDomain();
  const auto affine = rows.Iota(IotaPattern::From(input.in));
  NEURON_ASSIGN_OR_RETURN(const auto predicate,
                          rows.CompareToZero(input.in.Alu("cmp_op", isa::AluOp::kEqual), affine));
  const auto on_true = rows.Load("on_true_tile");
  rows.Store(rows.Select(predicate, on_true, rows.Constant(input.in.Number("on_false_value"))),
             "dst");
  rows.Finish();
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_affine_select;
const InstructionSemantics kSemantics_affine_select{Decode};

}  // namespace neuron::emulator
