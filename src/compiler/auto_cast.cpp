#include "compiler/auto_cast.h"

#include <algorithm>
#include <vector>

#include "compiler/reduction.h"
#include "hlo/builder.h"

namespace neuron::compiler {
namespace {

using hlo::Builder;
using hlo::Computation;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Value;

bool AreFp32(const Instruction& x) {
  return x.shape().dtype == DType::kF32 && x.shape().is_array() && !x.operands().empty() &&
         std::all_of(x.operands().begin(), x.operands().end(), [](const Instruction* y) {
           return y->shape().is_array() && y->shape().dtype == DType::kF32;
         });
}

bool IsArithmetic(const Instruction& x) {
  switch (x.opcode()) {
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kReducePrecision:
      return false;
    case Opcode::kReduce:
      return ReductionAlu(x).has_value();
    default:
      return hlo::IsElementwise(x.opcode());
  }
}

class Caster {
 public:
  Caster(Computation& computation, const Options& options)
      : computation_(computation),
        b_(Builder::Into(&computation)),
        type_(options.auto_cast_type),
        all_(options.auto_cast == AutoCast::kAll && ByteSize(options.auto_cast_type) > 1) {}

  void Run() {
    std::vector<Instruction*> before;
    for (const auto& x : computation_.instructions()) before.push_back(x.get());
    for (Instruction* x : before) {
      if (!AreFp32(*x)) continue;
      const bool matmult = x->opcode() == Opcode::kDot || x->opcode() == Opcode::kConvolution;
      if (!matmult && !(all_ && IsArithmetic(*x))) continue;
      b_.SetMetadata(x->metadata());
      const Value value = matmult ? Matmult(*x) : Arithmetic(*x);
      NEURON_CHECK(b_.status().ok(), "auto-cast of ", x->name(), ": ", b_.status().message());
      computation_.ReplaceAllUses(x, value.instruction());
    }
    computation_.SortTopologically();
    computation_.RemoveDead();
  }

 private:
  bool IsTf32() const { return type_ == DType::kTF32; }

  Value Narrow(Instruction* x) {
    if (IsTf32()) return b_.ReducePrecision(b_.Of(x), 8, 10);
    // What was widened only just is there already.
    if (x->opcode() == Opcode::kConvert && x->operand(0)->shape().dtype == type_)
      return b_.Of(x->operand(0));
    return b_.Convert(b_.Of(x), type_);
  }

  Value Matmult(const Instruction& x) {
    const Value lhs = Narrow(x.operand(0)), rhs = Narrow(x.operand(1));
    const hlo::Attributes& a = x.attributes();
    if (x.opcode() == Opcode::kDot) return b_.Dot(lhs, rhs, a.dot, DType::kF32);
    return b_.Convolution(lhs, rhs, a.window, a.convolution, a.feature_group_count,
                          a.batch_group_count, DType::kF32);
  }

  Value Arithmetic(const Instruction& x) {
    std::vector<Value> operands;
    for (Instruction* operand : x.operands()) operands.push_back(Narrow(operand));
    const DType inside = IsTf32() ? DType::kF32 : type_;
    Value value;
    if (x.opcode() == Opcode::kReduce)
      value = b_.Reduce(operands[0], operands[1], x.attributes().dimensions,
                        b_.Combiner(x.called()[0]->root()->opcode(), inside));
    else if (x.opcode() == Opcode::kClamp)
      value = b_.Clamp(operands[0], operands[1], operands[2]);
    else if (operands.size() == 2)
      value = b_.Binary(x.opcode(), operands[0], operands[1]);
    else
      value = b_.Unary(x.opcode(), operands[0]);
    return IsTf32() ? b_.ReducePrecision(value, 8, 10) : b_.Convert(value, DType::kF32);
  }

  Computation& computation_;
  Builder b_;
  const DType type_;
  const bool all_;
};

// Computations whose instructions are the program's, not combiners and comparators.
void Collect(Computation& computation, std::vector<Computation*>& found) {
  if (std::find(found.begin(), found.end(), &computation) != found.end()) return;
  found.push_back(&computation);
  for (const auto& x : computation.instructions()) switch (x->opcode()) {
      case Opcode::kCall:
      case Opcode::kConditional:
      case Opcode::kFusion:
      case Opcode::kWhile:
        for (Computation* called : x->called()) Collect(*called, found);
        break;
      default:
        break;
    }
}

}  // namespace

std::optional<hlo::Module> AutoCastModule(const hlo::Module& module, const Options& options) {
  if (options.auto_cast == AutoCast::kNone) return std::nullopt;
  hlo::Module cast = module.Clone();
  std::vector<Computation*> computations;
  Collect(*cast.entry(), computations);
  for (Computation* computation : computations) Caster(*computation, options).Run();
  return cast;
}

}  // namespace neuron::compiler
