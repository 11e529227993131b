// A number, a register or one fp32 per row: the scalar operand of an instruction that is no row
// program.
#pragma once

#include "emulator/decoder.h"

namespace neuron::emulator {

class ScalarOperand {
 public:
  // Appends its tile, if it is one, to op->tiles.
  static ScalarOperand Decode(const DecodeInput& input, Operation* op, std::string_view name,
                              double otherwise = 0);
  // As fp32. `tiles` are the operation's, resolved.
  float At(const Tile* tiles, int64_t row, const int64_t* registers) const;

 private:
  const KernelTable* kernels_ = nullptr;
  float number_ = 0;
  isa::Register register_ = isa::kNoRegister;
  int tile_ = -1;
};

}  // namespace neuron::emulator
