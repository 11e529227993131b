// A program's steps with loops matched, as LoadedProgram decodes them, for tests of what is found
// in them.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "emulator/decode_step.h"
#include "emulator/program.h"

namespace neuron::emulator {

inline std::vector<Step> DecodedSteps(const isa::Program& program, Core& core) {
  std::vector<Step> steps;
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < program.instructions.size(); ++i) {
    auto step = DecodeStep(program, core, i);
    EXPECT_TRUE(step.ok()) << step.status().ToString();
    steps.push_back(*std::move(step));
    if (steps[i].control.kind == StepControl::Kind::kLoopBegin) open.push_back(i);
    if (steps[i].control.kind != StepControl::Kind::kLoopEnd) continue;
    steps[i].control.match = open.back();
    steps[open.back()].control.match = i;
    open.pop_back();
  }
  return steps;
}

}  // namespace neuron::emulator
