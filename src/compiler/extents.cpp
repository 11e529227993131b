// The run-time extent in programs: which registers hold what depends on it.
#include <algorithm>
#include <iterator>

#include "compiler/emitter.h"
#include "hlo/extent.h"

namespace neuron::compiler {

using isa::kNoRegister;

bool EmitContext::IsRunTime(int64_t n) const {
  return options.extent_bound > 0 && hlo::IsRunTime(n);
}

int64_t EmitContext::AtBound(int64_t n) const { return hlo::AtBound(n, options.extent_bound); }

Affine EmitContext::ValueOf(int64_t n) {
  if (!IsRunTime(n)) return Affine(n);
  const hlo::Linear parts = hlo::TakeApart(n);
  meaningless_ = meaningless_ || !hlo::IsMeaningful(n) || extent_ == kNoRegister;
  if (extent_ == kNoRegister) return Affine(0);
  return Affine::Of(extent_, parts.coefficient, parts.constant);
}

Register EmitContext::RegisterOf(int64_t n) {
  const Affine value = ValueOf(n);
  if (value == Affine::Of(extent_)) return extent_;
  return Computed("add", value, Affine(0), AtBound(n));
}

Count EmitContext::CountOf(int64_t n) {
  constexpr int64_t kMost = INT32_MAX;
  const int64_t most = AtBound(n);
  meaningless_ = meaningless_ || most > kMost || most < 0;
  if (!IsRunTime(n)) return Count(n);
  return {std::clamp<int64_t>(most, 0, kMost), RegisterOf(n)};
}

Affine EmitContext::EndOfWhole(int64_t n, int64_t tile) {
  if (!IsRunTime(n)) return Affine(n / tile * tile);
  const int64_t most = AtBound(n);
  if (most < tile) return Affine(0);
  const Register tiles = Computed("floordiv", ValueOf(n), Affine(tile), most / tile);
  return Affine::Of(tiles, tile);
}

Register EmitContext::Computed(const char* op, const Affine& a, const Affine& c, int64_t most) {
  for (const ComputedRegister& have : computed_)
    if (have.op == op && have.a == a && have.b == c) return have.reg;
  const Register reg = b.AddRegister({.min = 0, .max = std::max<int64_t>(most, 0)});
  isa::Instruction& instruction = prologue_.emplace_back();
  instruction.opcode = isa::Opcode::register_alu;
  instruction.engine = isa::Engine::kSync;
  instruction.operands = {isa::RegisterOperand{reg}, std::string(op), a, c};
  computed_.push_back({op, a, c, reg});
  return reg;
}

Affine EmitContext::Times(const Affine& index, int64_t stride) {
  if (!IsRunTime(stride)) return index * stride;
  if (index.is_constant()) return ValueOf(index.base * stride);
  const hlo::Linear parts = hlo::TakeApart(stride);
  meaningless_ = meaningless_ || !hlo::IsMeaningful(stride);
  const auto& registers = b.program().registers;
  int64_t most = index.base;
  for (int i = 0; i < index.num_terms; ++i) {
    const Affine::Term& term = index.terms[static_cast<size_t>(i)];
    most += std::max<int64_t>(0, term.coefficient) * registers[term.reg].max;
  }
  const Register product = b.AddRegister({.min = 0, .max = most * options.extent_bound});
  RegisterAlu(product, "mul", index, Affine::Of(extent_));
  return Sum(index * parts.constant, Affine::Of(product, parts.coefficient));
}

void EmitContext::SetPartitionStep(AccessPattern& pattern, int64_t step) {
  pattern.partition_step = step;
  if (!IsRunTime(step)) return;
  pattern.partition_step = 0;
  pattern.partition_step_from = RegisterOf(step);
}

isa::Dim EmitContext::DimOf(int64_t step, Count count) {
  if (!IsRunTime(step)) return {step, count};
  return {0, count, RegisterOf(step)};
}

Status EmitContext::FinishExtents() {
  if (meaningless_)
    return Unimplemented("compiler: a size that is no multiple of the run-time extent");
  auto& instructions = b.program().instructions;
  instructions.insert(instructions.begin(), std::make_move_iterator(prologue_.begin()),
                      std::make_move_iterator(prologue_.end()));
  return OkStatus();
}

}  // namespace neuron::compiler
