#include "emulator/decoder.h"
#include "emulator/row_program.h"

namespace neuron::emulator {
namespace {

Status Decode(const DecodeInput& input, Operation* op) {
  RowBuilder rows(input, op, "dst");
  rows.ChooseDomain();
  const auto old = rows.Load("dst");
  const auto src = input.in.Tile("src") != nullptr ? rows.Load("src") : rows.Scalar("src");
  const auto predicate =
      rows.LoadAs("predicate", Domain::kSigned, input.in.Tile("predicate")->dtype);
  const bool reverse = input.in.Flag("reverse_pred");
  rows.Store(reverse ? rows.Select(predicate, old, src) : rows.Select(predicate, src, old), "dst");
  rows.Finish();
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_tensor_copy_predicated;
const InstructionSemantics kSemantics_tensor_copy_predicated{Decode};

}  // namespace neuron::emulator
