#include "compiler/wide_kernel.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "compiler/gpsimd.h"
#include "compiler/operands.h"

namespace neuron::compiler {

using hlo::Instruction;
using hlo::Opcode;
using isa::WideInstruction;
using isa::WideOp;
using isa::WideProgram;

WideOp WideOpOf(const Instruction& x) {
  switch (x.opcode()) {
#define SAME(name)      \
  case Opcode::k##name: \
    return WideOp::k##name;
    SAME(Copy)
    SAME(Convert)
    SAME(BitcastConvert)
    SAME(Abs)
    SAME(Add)
    SAME(And)
    SAME(Cbrt)
    SAME(Ceil)
    SAME(Clamp)
    SAME(Clz)
    SAME(Complex)
    SAME(Cos)
    SAME(Divide)
    SAME(Erf)
    SAME(Exp)
    SAME(Expm1)
    SAME(Floor)
    SAME(Imag)
    SAME(IsFinite)
    SAME(Log)
    SAME(Log1p)
    SAME(Logistic)
    SAME(Maximum)
    SAME(Minimum)
    SAME(Multiply)
    SAME(Negate)
    SAME(Not)
    SAME(Or)
    SAME(Popcnt)
    SAME(Power)
    SAME(Real)
    SAME(ReducePrecision)
    SAME(Remainder)
    SAME(RoundNearestAfz)
    SAME(RoundNearestEven)
    SAME(Rsqrt)
    SAME(Select)
    SAME(ShiftLeft)
    SAME(ShiftRightArithmetic)
    SAME(ShiftRightLogical)
    SAME(Sign)
    SAME(Sin)
    SAME(Sqrt)
    SAME(Subtract)
    SAME(Tan)
    SAME(Tanh)
    SAME(Xor)
#undef SAME
    case Opcode::kAtan2:
      return IsComplex(x.shape().dtype) ? WideOp::kNone : WideOp::kAtan2;
    case Opcode::kReshape:
      return WideOp::kCopy;
    case Opcode::kCompare:
      switch (x.attributes().comparison) {
        case hlo::Comparison::kEq:
          return WideOp::kCompareEq;
        case hlo::Comparison::kNe:
          return WideOp::kCompareNe;
        case hlo::Comparison::kGe:
          return WideOp::kCompareGe;
        case hlo::Comparison::kGt:
          return WideOp::kCompareGt;
        case hlo::Comparison::kLe:
          return WideOp::kCompareLe;
        case hlo::Comparison::kLt:
          return WideOp::kCompareLt;
      }
      return WideOp::kNone;
    default:
      return WideOp::kNone;
  }
}

namespace {

// Collects instructions; value numbers are only final once the inputs are all known, so inputs are
// numbered first by the callers.
class ProgramMaker {
 public:
  explicit ProgramMaker(std::vector<DType> inputs) { program_.inputs = std::move(inputs); }

  int32_t Constant(const hlo::Literal& literal) {
    WideInstruction i;
    i.op = WideOp::kConstant;
    i.dtype = literal.shape().dtype;
    const size_t bytes = static_cast<size_t>(ByteSize(i.dtype));
    std::memcpy(i.immediate.data(), literal.bytes().data(), std::min<size_t>(bytes, 16));
    return Push(i);
  }

  StatusOr<int32_t> Add(const Instruction& x, const std::vector<int32_t>& operands) {
    WideInstruction i;
    i.op = WideOpOf(x);
    i.dtype = x.shape().dtype;
    if (i.op == WideOp::kNone || operands.size() > i.operands.size())
      return Unimplemented("compiler: ", x.name(), " = ", hlo::OpcodeName(x.opcode()),
                           " has no GpSimd operation");
    for (size_t k = 0; k < operands.size(); ++k) i.operands[k] = operands[k];
    if (x.opcode() == Opcode::kReducePrecision)
      i.immediate = {x.attributes().exponent_bits, x.attributes().mantissa_bits};
    return Push(i);
  }

  WideProgram& program() { return program_; }

 private:
  int32_t Push(const WideInstruction& i) {
    program_.instructions.push_back(i);
    return static_cast<int32_t>(program_.inputs.size() + program_.instructions.size() - 1);
  }
  WideProgram program_;
};

}  // namespace

namespace {

// Adds a computation on these values; calls are part of it. Returns its results.
StatusOr<std::vector<int32_t>> AddComputation(ProgramMaker& maker,
                                              const hlo::Computation& computation,
                                              const std::vector<int32_t>& arguments) {
  std::unordered_map<const Instruction*, std::vector<int32_t>> values;
  const auto parameters = computation.Parameters();
  for (size_t i = 0; i < parameters.size(); ++i) values[parameters[i]] = {arguments[i]};
  for (const auto& x : computation.instructions()) {
    if (x->opcode() == Opcode::kParameter) continue;
    if (x->opcode() == Opcode::kConstant) {
      values[x.get()] = {maker.Constant(x->attributes().literal)};
      continue;
    }
    std::vector<int32_t> operands;
    for (const Instruction* operand : x->operands()) {
      const auto& elements = values.at(operand);
      operands.insert(operands.end(), elements.begin(), elements.end());
    }
    const bool passes = (x->opcode() == Opcode::kBroadcast || x->opcode() == Opcode::kReshape) &&
                        x->shape().is_scalar();
    if (passes || x->opcode() == Opcode::kTuple) {
      values[x.get()] = std::move(operands);
    } else if (x->opcode() == Opcode::kGetTupleElement) {
      values[x.get()] = {operands[static_cast<size_t>(x->attributes().tuple_index)]};
    } else if (x->opcode() == Opcode::kCall) {
      NEURON_ASSIGN_OR_RETURN(values[x.get()], AddComputation(maker, *x->called()[0], operands));
    } else {
      NEURON_ASSIGN_OR_RETURN(const int32_t value, maker.Add(*x, operands));
      values[x.get()] = {value};
    }
  }
  return values.at(computation.root());
}

}  // namespace

StatusOr<WideProgram> WideProgramOf(const hlo::Computation& computation) {
  std::vector<DType> inputs;
  std::vector<int32_t> arguments;
  for (const Instruction* p : computation.Parameters()) {
    arguments.push_back(static_cast<int32_t>(inputs.size()));
    inputs.push_back(p->shape().dtype);
  }
  ProgramMaker maker(std::move(inputs));
  NEURON_ASSIGN_OR_RETURN(maker.program().outputs, AddComputation(maker, computation, arguments));
  return std::move(maker.program());
}

KernelInput InputOf(EmitContext& ctx, const Instruction* operand) {
  const View& view = ctx.plan.ViewOf(operand);
  if (view.base->opcode() == Opcode::kConstant && !ctx.HasBuffer(view.base))
    ctx.SetBuffer(view.base, ctx.ConstantBuffer(view.base->attributes().literal.bytes()));
  KernelInput in;
  in.dtype = view.dtype;
  in.span = FlatTile(ctx, view.base, in.dtype);
  in.view.offset = view.offset;
  in.view.strides = view.strides;
  return in;
}

Status EmitWideKernel(EmitContext& ctx, const Kernel& kernel) {
  if (Product(kernel.domain) == 0) return OkStatus();
  ctx.SetSource(kernel.members[0]);
  isa::WideElementwiseParameters p;
  p.dims = kernel.domain;
  const size_t rank = p.dims.size();
  std::vector<AccessPattern> tiles;
  std::vector<View> seen;  // of each input
  std::unordered_map<const Instruction*, int32_t> in_kernel;
  for (const Instruction* x : kernel.members) in_kernel[x] = -1;

  // Inputs first: their numbers come before those of instructions.
  std::vector<DType> dtypes;
  const auto is_number = [](const View& view) {
    return view.base->opcode() == Opcode::kConstant && view.base->attributes().literal.IsSplat() &&
           view.dtype == view.base->shape().dtype;
  };
  const auto find = [&](const View& view) -> int32_t {
    for (size_t i = 0; i < seen.size(); ++i)
      if (seen[i] == view) return static_cast<int32_t>(i);
    return -1;
  };
  for (const Instruction* x : kernel.members)
    for (const Instruction* operand : x->operands()) {
      const View& view = ctx.plan.ViewOf(operand);
      if (in_kernel.contains(view.base) || is_number(view) || find(view) >= 0) continue;
      isa::WideInput input;
      if (Product(view.sizes) == Product(kernel.domain))
        input.view.strides = *ReshapeStrides(view.sizes, view.strides, kernel.domain);
      else
        input.view.strides.assign(rank, 0);
      input.view.offset = view.offset;
      input.dtype = view.dtype;
      if (view.base->opcode() != Opcode::kIota) {
        const KernelInput from = InputOf(ctx, operand);
        input.dtype = from.dtype;
        const auto have = std::find(tiles.begin(), tiles.end(), from.span);
        input.tile = have - tiles.begin();
        if (have == tiles.end()) tiles.push_back(from.span);
      }
      seen.push_back(view);
      dtypes.push_back(input.dtype);
      p.inputs.push_back(std::move(input));
    }
  ProgramMaker maker(std::move(dtypes));
  std::unordered_map<const Instruction*, int32_t> constants;
  for (const Instruction* x : kernel.members) {
    std::vector<int32_t> operands;
    for (const Instruction* operand : x->operands()) {
      const View& view = ctx.plan.ViewOf(operand);
      if (const auto have = in_kernel.find(view.base); have != in_kernel.end()) {
        operands.push_back(have->second);
      } else if (is_number(view)) {
        if (!constants.contains(view.base)) {
          const hlo::Literal& all = view.base->attributes().literal;
          const DType dtype = all.shape().dtype;
          const hlo::Literal one(hlo::Shape::Array(dtype, {}),
                                 all.bytes().substr(0, static_cast<size_t>(ByteSize(dtype))));
          constants[view.base] = maker.Constant(one);
        }
        operands.push_back(constants.at(view.base));
      } else {
        operands.push_back(find(view));
      }
    }
    NEURON_ASSIGN_OR_RETURN(in_kernel[x], maker.Add(*x, operands));
  }
  std::vector<AccessPattern> outputs;
  for (const Instruction* x : kernel.results) {
    maker.program().outputs.push_back(in_kernel.at(x));
    isa::StridedView view;
    const View store = ctx.StoreOf(x);
    view.offset = store.offset;
    if (x->shape().num_elements() == Product(kernel.domain))
      view.strides = *ReshapeStrides(store.sizes, store.strides, kernel.domain);
    else
      view.strides.assign(rank, 0);
    p.outputs.push_back(std::move(view));
    outputs.push_back(FlatTile(ctx, store.base, x->shape().dtype));
  }
  p.program = std::move(maker.program());
  const auto num_outputs = static_cast<int64_t>(outputs.size());
  outputs.insert(outputs.end(), tiles.begin(), tiles.end());
  EmitGpSimd(ctx, "wide_elementwise", num_outputs, std::move(outputs), p);
  return OkStatus();
}

Status EmitWideReduce(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& x = *kernel.hero;
  const size_t n = x.operands().size() / 2;
  isa::WideReduceParameters p;
  p.dims = x.operand(0)->shape().dims;
  p.reduced.assign(p.dims.size(), 0);
  for (int64_t d : x.attributes().dimensions) p.reduced[static_cast<size_t>(d)] = 1;
  std::vector<AccessPattern> inputs;
  for (size_t i = 0; i < 2 * n; ++i) {
    const Instruction* operand = x.operand(static_cast<int64_t>(i));
    KernelInput in = InputOf(ctx, operand);
    if (i < n) {
      p.views.push_back(std::move(in.view));
    } else {  // an initial value: one element
      in.span.offset = in.span.offset + Affine(in.view.offset * ByteSize(in.dtype));
      in.span.dims[0].count = 1;
    }
    inputs.push_back(in.span);
  }
  const Instruction* root = x.called()[0]->root();
  p.op = WideOp::kNone;
  if (n == 1 && root->operands().size() == 2 && root->operand(0)->opcode() == Opcode::kParameter &&
      root->operand(1)->opcode() == Opcode::kParameter && root->operand(0) != root->operand(1))
    p.op = WideOpOf(*root);
  if (p.op == WideOp::kNone) {
    NEURON_ASSIGN_OR_RETURN(p.program, WideProgramOf(*x.called()[0]));
  }
  std::vector<AccessPattern> outputs;
  if (x.shape().is_tuple()) {
    for (const Instruction* element : kernel.results)
      outputs.push_back(FlatTile(ctx, element, element->shape().dtype));
  } else {
    outputs.push_back(FlatTile(ctx, &x, x.shape().dtype));
  }
  const auto num_outputs = static_cast<int64_t>(outputs.size());
  outputs.insert(outputs.end(), inputs.begin(), inputs.end());
  EmitGpSimd(ctx, "wide_reduce", num_outputs, std::move(outputs), p);
  return OkStatus();
}

}  // namespace neuron::compiler
