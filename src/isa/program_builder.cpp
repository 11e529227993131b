#include "isa/program_builder.h"

#include <algorithm>

namespace neuron::isa {

ProgramBuilder::ProgramBuilder(std::string name, Target target) {
  program_.name = std::move(name);
  program_.target = target;
  program_.sources.emplace_back();
}

uint16_t ProgramBuilder::AddTensor(TensorDecl decl) {
  const auto taken = [&](const std::string& name) {
    return std::any_of(program_.tensors.begin(), program_.tensors.end(),
                       [&](const TensorDecl& t) { return t.name == name; });
  };
  const std::string name = decl.name;
  for (int i = 1; taken(decl.name); ++i) decl.name = StrCat(name, i);
  program_.tensors.push_back(std::move(decl));
  return static_cast<uint16_t>(program_.tensors.size() - 1);
}

uint16_t ProgramBuilder::AddConstant(std::string name, std::string bytes) {
  TensorDecl decl;
  decl.name = std::move(name);
  decl.kind = TensorKind::kConstant;
  decl.bytes = static_cast<int64_t>(bytes.size());
  decl.constant = static_cast<uint32_t>(program_.constants.size());
  program_.constants.push_back(std::move(bytes));
  return AddTensor(std::move(decl));
}

Register ProgramBuilder::AddRegister(RegisterDecl decl) {
  NEURON_CHECK(program_.registers.size() < kNoRegister, "a program has at most ", kNoRegister,
               " registers");
  program_.registers.push_back(decl);
  return static_cast<Register>(program_.registers.size() - 1);
}

uint32_t ProgramBuilder::AddSource(std::string source) {
  if (program_.sources.back() == source) return static_cast<uint32_t>(program_.sources.size() - 1);
  program_.sources.push_back(std::move(source));
  return static_cast<uint32_t>(program_.sources.size() - 1);
}

Instruction& ProgramBuilder::Emit(Opcode opcode, Engine engine, std::vector<Operand> operands) {
  Instruction& instruction = program_.instructions.emplace_back();
  instruction.opcode = opcode;
  instruction.engine = engine;
  instruction.operands = std::move(operands);
  instruction.source = source_;
  return instruction;
}

Register ProgramBuilder::LoopBegin(Affine begin, Affine end, int64_t step, int64_t max_value) {
  const Register counter = AddRegister({.min = 0, .max = max_value});
  Emit(Opcode::loop_begin, Engine::kSync, {RegisterOperand{counter}, begin, end, step});
  return counter;
}

void ProgramBuilder::LoopEnd() { Emit(Opcode::loop_end, Engine::kSync, {}); }

Register ProgramBuilder::Minimum(Affine a, Affine b, int64_t max_value) {
  const Register result = AddRegister({.min = 0, .max = max_value});
  Emit(Opcode::register_alu, Engine::kSync, {RegisterOperand{result}, std::string("min"), a, b});
  return result;
}

StatusOr<Program> ProgramBuilder::Build() && {
  NEURON_RETURN_IF_ERROR(Verify(program_));
  return std::move(program_);
}

}  // namespace neuron::isa
