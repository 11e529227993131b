#include "compiler/control_flow.h"

#include <algorithm>
#include <numeric>

#include "compiler/called.h"
#include "compiler/movement.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;
using isa::Engine;
using isa::Opcode;

// Where the elements of a kernel's tuple are stored.
std::vector<Buffer> ResultBuffers(const EmitContext& ctx, const Kernel& kernel, size_t count) {
  std::vector<Buffer> buffers(count);
  for (const Instruction* result : kernel.results)
    buffers[static_cast<size_t>(result->attributes().tuple_index)] = ctx.BufferOf(result);
  return buffers;
}

Status Store(EmitContext& ctx, const Instruction* value, Buffer buffer) {
  const hlo::Shape& shape = value->shape();
  const HbmView to{buffer.tensor, TileDType(shape.dtype), Affine(buffer.byte_offset),
                   DenseStrides(shape.dims)};
  return EmitMove(ctx, shape.dims, to, ctx.plan.ViewOf(value));
}

// A value as a dense buffer: its own, or a copy that lives as long as the kernel.
StatusOr<Buffer> Argument(EmitContext& ctx, const Instruction* value) {
  const View& view = ctx.plan.ViewOf(value);
  const bool has_buffer =
      ctx.HasBuffer(view.base) && ctx.ScalarRegister(view.base) == isa::kNoRegister;
  if (has_buffer && view.IsDense() && view.dtype == view.base->shape().dtype) {
    Buffer buffer = ctx.BufferOf(view.base);
    buffer.byte_offset += view.offset * ByteSize(view.dtype);
    return buffer;
  }
  const Buffer buffer = ctx.TemporaryBuffer(value->shape().num_bytes());
  NEURON_RETURN_IF_ERROR(Store(ctx, value, buffer));
  return buffer;
}

void Load(EmitContext& ctx, Register to, DType dtype, Buffer buffer) {
  ctx.RegisterLoad(to, AccessPattern::Hbm(TileDType(dtype), buffer.tensor,
                                          Affine(buffer.byte_offset), 1, 0, {{1, 1}}));
}

}  // namespace

Status EmitWhile(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& loop = *kernel.hero;
  const hlo::Computation& condition = *loop.called()[0];
  const hlo::Computation& body = *loop.called()[1];
  const std::vector<int> changed = ChangedLeaves(body);
  const std::vector<Buffer> state = ResultBuffers(ctx, kernel, changed.size());

  Binding binding;
  for (size_t leaf = 0, next = 0; leaf < loop.operands().size(); ++leaf) {
    const Instruction* first = loop.operand(static_cast<int64_t>(leaf));
    if (next == changed.size() || changed[next] != static_cast<int>(leaf)) {
      NEURON_ASSIGN_OR_RETURN(const Buffer constant, Argument(ctx, first));
      binding.parameters.push_back(constant);
      continue;
    }
    NEURON_RETURN_IF_ERROR(Store(ctx, first, state[next]));
    binding.parameters.push_back(state[next++]);
  }

  const hlo::Module test = Outline(condition, {0});
  Binding tested = binding;
  tested.results = {ctx.TemporaryBuffer(ByteSize(DType::kPred))};
  hlo::Module pass = Outline(body, changed);
  for (size_t j = 0; j < changed.size(); ++j)
    pass.aliases().push_back({.output = static_cast<int64_t>(j), .parameter = changed[j]});

  NEURON_RETURN_IF_ERROR(EmitCalled(ctx, test, tested));
  const Register go_on = ctx.b.AddRegister();
  Load(ctx, go_on, DType::kPred, tested.results[0]);
  ctx.b.Emit(Opcode::while_begin, Engine::kSync, {Affine::Of(go_on)});
  NEURON_RETURN_IF_ERROR(EmitCalled(ctx, pass, binding));
  NEURON_RETURN_IF_ERROR(EmitCalled(ctx, test, tested));
  Load(ctx, go_on, DType::kPred, tested.results[0]);
  ctx.b.LoopEnd();
  return OkStatus();
}

Status EmitConditional(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& choice = *kernel.hero;
  const auto& branches = choice.called();
  const auto last = static_cast<int64_t>(branches.size()) - 1;
  const Instruction* index = choice.operand(0);
  NEURON_ASSIGN_OR_RETURN(const Buffer place, Argument(ctx, index));
  const Register loaded = ctx.b.AddRegister();
  Load(ctx, loaded, index->shape().dtype, place);
  Affine chosen = Affine::Of(loaded);
  const auto alu = [&](const char* op, Affine a, Affine b) {
    const Register result = ctx.b.AddRegister();
    ctx.RegisterAlu(result, op, a, b);
    return Affine::Of(result);
  };
  if (index->shape().dtype == DType::kPred) {
    chosen = alu("sub", Affine(1), chosen);  // the branch for true stands first
  } else {
    // An index outside names the last branch: so does the largest unsigned number.
    const Affine negative = alu("max", alu("min", chosen, Affine(0)), Affine(-1));
    chosen = alu("min", alu("add", chosen, alu("mul", negative, Affine(-(int64_t{1} << 32)))),
                 Affine(last));
  }

  const std::vector<hlo::Shape> results = Leaves(branches[0]->root()->shape());
  std::vector<int> all(results.size());
  std::iota(all.begin(), all.end(), 0);
  Binding binding;
  binding.results = ResultBuffers(ctx, kernel, results.size());
  int64_t operand = 1;
  for (int64_t k = 0; k <= last; ++k) {
    const hlo::Computation& branch = *branches[static_cast<size_t>(k)];
    // One pass where the index is k, none elsewhere.
    const Affine distance = alu("sub", chosen, Affine(k));
    const Affine other = alu("min", alu("mul", distance, distance), Affine(1));
    const Register runs = ctx.b.AddRegister();
    ctx.RegisterAlu(runs, "sub", Affine(1), other);
    ctx.b.Emit(Opcode::while_begin, Engine::kSync, {Affine::Of(runs)});
    binding.parameters.clear();
    for (size_t n = Leaves(branch.Parameters()[0]->shape()).size(); n > 0; --n) {
      NEURON_ASSIGN_OR_RETURN(const Buffer argument, Argument(ctx, choice.operand(operand++)));
      binding.parameters.push_back(argument);
    }
    NEURON_RETURN_IF_ERROR(EmitCalled(ctx, Outline(branch, all), binding));
    ctx.RegisterAlu(runs, "sub", Affine(0), Affine(0));
    ctx.b.LoopEnd();
  }
  return OkStatus();
}

}  // namespace neuron::compiler
