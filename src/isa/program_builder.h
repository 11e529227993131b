// Appends instructions to a Program with their operands in declaration order.
//
//   ProgramBuilder b("add", Target::kTrn2);
//   const uint16_t x = b.AddTensor({.name = "input0", .kind = TensorKind::kInput, .bytes = n * 4});
//   b.Emit(Opcode::dma_copy, Engine::kDma, {sbuf, hbm});
//   const Register i = b.LoopBegin(0, tiles, 1); ... b.LoopEnd();
// Missing optional operands at the end may be left out. Nothing is verified until Build().
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "isa/program.h"

namespace neuron::isa {

class ProgramBuilder {
 public:
  ProgramBuilder(std::string name, Target target);

  Target target() const { return program_.target; }
  // A name that is taken gets a number behind it.
  uint16_t AddTensor(TensorDecl decl);
  uint16_t AddConstant(std::string name, std::string bytes);
  Register AddRegister(RegisterDecl decl = {});
  uint32_t AddSource(std::string source);
  void SetSource(uint32_t source) { source_ = source; }  // of the instructions that follow

  Instruction& Emit(Opcode opcode, Engine engine, std::vector<Operand> operands);
  // Counter from begin to end (exclusive); [0, max_value] bounds it for footprints.
  Register LoopBegin(Affine begin, Affine end, int64_t step, int64_t max_value);
  void LoopEnd();
  // dst = min(a, b): the usual tail count. The register's range is [0, max_value].
  Register Minimum(Affine a, Affine b, int64_t max_value);

  Program& program() { return program_; }
  StatusOr<Program> Build() &&;  // verified

 private:
  Program program_;
  uint32_t source_ = 0;
};

}  // namespace neuron::isa
