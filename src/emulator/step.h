// Control flow of a program: loops and registers, as the executor and the scoreboard walk it.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "isa/program.h"

namespace neuron::emulator {

struct StepControl {
  enum class Kind : uint8_t {
    kOperation,
    kLoopBegin,
    kWhileBegin,
    kLoopEnd,
    kRegisterAlu,
    kRegisterLoad,
    kMeeting,  // with the other physical core: sendrecv, core_barrier
  };
  enum class Alu : uint8_t { kAdd, kSub, kMul, kMin, kMax, kFloordiv, kMod, kMove };

  Kind kind = Kind::kOperation;
  Alu alu = Alu::kMove;
  isa::Register reg = isa::kNoRegister;  // loop counter, destination
  isa::Affine a, b;                      // loop bounds, condition, operands
  int64_t step = 1;                      // of a loop
  uint32_t match = 0;                    // index of the matching begin or loop_end

  // kRegisterAlu: a op b. InvalidArgument for a division by zero.
  StatusOr<int64_t> Compute(const int64_t* registers) const;
};

StatusOr<StepControl> DecodeControl(const isa::Instruction& instruction, uint32_t index);

}  // namespace neuron::emulator
