#include <cstdio>

#include "isa/program.h"
#include "isa/timing.h"

namespace neuron::isa {
namespace {

std::string_view KindName(TensorKind kind) {
  switch (kind) {
    case TensorKind::kInput:
      return "input";
    case TensorKind::kOutput:
      return "output";
    case TensorKind::kInOut:
      return "inout";
    case TensorKind::kScalars:
      return "scalars";
    case TensorKind::kConstant:
      return "constant";
    case TensorKind::kScratch:
      return "scratch";
  }
  return "?";
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

struct OperandText {
  std::string operator()(std::monostate) const { return "-"; }
  std::string operator()(const AccessPattern& tile) const { return ToString(tile); }
  std::string operator()(double value) const { return Number(value); }
  std::string operator()(int64_t value) const { return StrCat(value); }
  std::string operator()(const RegisterOperand& value) const { return StrCat("r", value.reg); }
  std::string operator()(const Affine& value) const { return ToString(value); }
  std::string operator()(AluOp op) const { return std::string(RowOf(op).name); }
  std::string operator()(ActivationFunction op) const { return std::string(RowOf(op).name); }
  std::string operator()(const std::string& text) const { return StrCat('"', text, '"'); }
  std::string operator()(const std::vector<int64_t>& values) const {
    std::string text = "[";
    for (size_t i = 0; i < values.size(); ++i) text += StrCat(i > 0 ? ", " : "", values[i]);
    return text + "]";
  }
};

std::string ToText(const Instruction& instruction) {
  const InstructionDef& row = DefOf(instruction.opcode);
  std::string text = StrCat(row.mnemonic);
  bool first = true;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    if (std::holds_alternative<std::monostate>(instruction.operands[i])) continue;
    text += StrCat(first ? " " : ", ",
                   i < row.operands.size() ? StrCat(row.operands[i].name, "=") : std::string(),
                   std::visit(OperandText(), instruction.operands[i]));
    first = false;
  }
  return text;
}

std::string Semaphores(std::string_view what, const std::vector<SemaphoreUse>& uses) {
  std::string text;
  for (const SemaphoreUse& use : uses)
    text += StrCat(" ", what, " s", use.semaphore, what == "wait" ? ">=" : "+=", use.value);
  return text;
}

std::string Bound(int64_t bound) {
  if (bound == INT64_MIN) return "-inf";
  return bound == INT64_MAX ? "inf" : StrCat(bound);
}

}  // namespace

std::string Disassemble(const Program& program) {
  std::string text = StrCat("program ", program.name, " for ", RowOf(program.target).name, "\n");
  for (size_t i = 0; i < program.tensors.size(); ++i) {
    const TensorDecl& tensor = program.tensors[i];
    text += StrCat("tensor %", i, " ", tensor.name, " ", KindName(tensor.kind), " ", tensor.bytes,
                   " bytes");
    if (tensor.byte_offset != kNoRegister) text += StrCat(" at r", tensor.byte_offset);
    text += "\n";
  }
  for (size_t i = 0; i < program.registers.size(); ++i) {
    const RegisterDecl& decl = program.registers[i];
    text += StrCat("register r", i, " [", Bound(decl.min), ", ", Bound(decl.max), "]");
    if (decl.scalar_slot >= 0) text += StrCat(" slot ", decl.scalar_slot);
    text += "\n";
  }
  int depth = 0;
  uint32_t source = 0;
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    if (instruction.source != source && instruction.source < program.sources.size()) {
      source = instruction.source;
      text += StrCat("; ", program.sources[source], "\n");
    }
    if (instruction.opcode == Opcode::loop_end && depth > 0) --depth;
    char head[32];
    std::snprintf(head, sizeof head, "%5zu %-6s ", i,
                  std::string(EngineName(instruction.engine)).c_str());
    text += head + std::string(2 * static_cast<size_t>(depth), ' ') + ToText(instruction) +
            Semaphores("wait", instruction.waits) + Semaphores("signal", instruction.updates);
    // Costs read operands by position, so only what verifies has one.
    const bool valid = VerifyInstruction(instruction, program.target).ok();
    const double busy_ns = valid ? StaticBusyNs(instruction, program.target) : 0;
    if (busy_ns > 0) {
      char cost[32];
      std::snprintf(cost, sizeof cost, "  ; %.0f ns", busy_ns);
      text += cost;
    }
    text += "\n";
    if (instruction.opcode == Opcode::loop_begin || instruction.opcode == Opcode::while_begin)
      ++depth;
  }
  return text;
}

}  // namespace neuron::isa
