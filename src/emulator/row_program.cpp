#include "emulator/row_program.h"

#include <bit>

#include "emulator/reduction.h"
#include "emulator/row_execution.h"

namespace neuron::emulator {
namespace {

constexpr int64_t kFlatElements = 48;  // rows up to this length are walked across

bool IsIntegral(DType dtype) { return IsInteger(dtype) || dtype == DType::kPred; }
int Index(DType dtype) { return static_cast<int>(dtype == DType::kTF32 ? DType::kF32 : dtype); }

// The conversion of a load or store; nullptr where bits are values.
ConvertKernel Conversion(const ConvertKernel (&table)[kNumDomains][kNumDTypes], Domain domain,
                         DType dtype) {
  const bool same = domain == Domain::kFloat ? Index(dtype) == Index(DType::kF32)
                                             : dtype == DType::kS32 || dtype == DType::kU32;
  return same ? nullptr : table[static_cast<int>(domain)][Index(dtype)];
}

// Functions of a few host instructions.
bool IsCheap(isa::ActivationFunction function) {
  switch (function) {
    case isa::ActivationFunction::kCopy:
    case isa::ActivationFunction::kSquare:
    case isa::ActivationFunction::kRelu:
    case isa::ActivationFunction::kSign:
    case isa::ActivationFunction::kAbs:
      return true;
    default:
      return false;
  }
}

}  // namespace

IotaPattern IotaPattern::From(const Operands& in) {
  IotaPattern pattern;
  const std::vector<int64_t> pairs = in.Integers("pattern");
  pattern.num_dims = static_cast<int>(pairs.size() / 2);
  for (size_t d = 0; d < pairs.size() / 2; ++d) {
    pattern.step[d] = pairs[2 * d];
    pattern.count[d] = pairs[2 * d + 1];
  }
  if (const auto* offset = std::get_if<isa::Affine>(&in["offset"])) pattern.offset = *offset;
  pattern.channel_multiplier = in.Integer("channel_multiplier");
  return pattern;
}

RowBuilder::RowBuilder(const DecodeInput& input, Operation* op, std::string_view shape,
                       bool allow_flat)
    : input_(input), op_(op), program_(std::make_unique<RowProgram>()) {
  program_->shape_tile = input.AddTile(op, shape);
  TileRef& ref = op->tiles[program_->shape_tile];
  program_->flat =
      allow_flat && !ref.dynamic && ref.shape.rows > 1 && ref.shape.elements <= kFlatElements;
  program_->row_elements = ref.dynamic ? 0 : ref.shape.elements;
  if (program_->flat) {
    ref.flat = true;
    ref.shape = ref.shape.Flattened();
  }
}

void RowBuilder::ChooseDomain(std::initializer_list<isa::AluOp> ops) {
  const isa::Instruction& instruction = input_.in.instruction();
  bool integers = isa::IsIntegerArithmetic(instruction);
  for (const isa::AluOp op : ops) integers = integers || isa::RowOf(op).bitvec;
  if (!integers) return;
  bool is_unsigned = false;
  for (const isa::Operand& operand : instruction.operands)
    if (const auto* tile = std::get_if<isa::AccessPattern>(&operand))
      is_unsigned = is_unsigned || tile->dtype == DType::kU32;
  domain_ = is_unsigned ? Domain::kUnsigned : Domain::kSigned;
}

int RowBuilder::TileAt(std::string_view operand) {
  const int index = input_.in.Find(operand);
  for (size_t i = 0; i < op_->tiles.size(); ++i)
    if (op_->tiles[i].operand == index) return static_cast<int>(i);
  const int tile = input_.AddTile(op_, index);
  if (tile >= 0 && program_->flat) {
    TileRef& ref = op_->tiles[tile];
    ref.flat = true;
    if (ref.shape.num_dims == 0 && program_->row_elements > 1) {  // one value per row, spread
      ref.shape.num_dims = 1;
      ref.shape.count[0] = program_->row_elements;
      ref.shape.stride[0] = 0;
    }
    ref.shape = ref.shape.Flattened();
  }
  return tile;
}

RowStep& RowBuilder::Add(RowStep::Kind kind) {
  RowStep step;
  step.kind = kind;
  step.domain = domain_;
  program_->steps.push_back(step);
  return program_->steps.back();
}

RowBuilder::Value RowBuilder::Load(std::string_view operand) {
  return LoadAs(operand, domain_, input_.in.Tile(operand)->dtype);
}

StatusOr<RowBuilder::Value> RowBuilder::LoadOperand(std::string_view operand, isa::AluOp op) {
  DType dtype = input_.in.Tile(operand)->dtype;
  if (op != isa::AluOp::kRightShift && op != isa::AluOp::kCountLeadingZeros &&
      op != isa::AluOp::kPopulationCount)
    return Load(operand);
  if (dtype == DType::kS8) dtype = DType::kU8;
  if (dtype == DType::kS16) dtype = DType::kU16;
  Value x = LoadAs(operand, domain_, dtype);
  const int64_t missing = 32 - 8 * ByteSize(dtype);
  if (op != isa::AluOp::kCountLeadingZeros || missing == 0) return x;
  // Zeros are counted from the element's own top bit: moved up, with ones below it.
  NEURON_ASSIGN_OR_RETURN(x,
                          Alu(isa::AluOp::kLeftShift, x, Constant(static_cast<double>(missing))));
  return Alu(isa::AluOp::kBitwiseOr, x, Constant(static_cast<double>((1 << missing) - 1)));
}

RowBuilder::Value RowBuilder::LoadAs(std::string_view operand, Domain domain, DType dtype) {
  const auto tile = static_cast<int16_t>(TileAt(operand));
  RowStep& step = Add(RowStep::Kind::kLoad);
  step.tile = tile;
  step.domain = domain;
  step.dtype = dtype;
  step.out = static_cast<int16_t>(program_->num_values++);
  step.convert = Conversion(input_.kernels.load, domain, dtype);
  return {step.out, false, domain};
}

RowBuilder::Value RowBuilder::Scalar(std::string_view operand, double otherwise) {
  const isa::Operand& given = input_.in[operand];
  if (std::holds_alternative<isa::AccessPattern>(given)) {
    if (program_->flat) return Load(operand);
    const auto tile = static_cast<int16_t>(TileAt(operand));
    RowStep& step = Add(RowStep::Kind::kLoadScalar);
    step.tile = tile;
    step.scalar = true;
    step.dtype = op_->tiles[tile].shape.dtype;
    step.out = static_cast<int16_t>(program_->num_values++);
    step.convert = Conversion(input_.kernels.load, domain_, step.dtype);
    return {step.out, true, domain_};
  }
  if (const auto* reg = std::get_if<isa::RegisterOperand>(&given)) {
    RowStep& step = Add(RowStep::Kind::kScalar);
    step.value.reg = reg->reg;
    step.scalar = true;
    step.out = static_cast<int16_t>(program_->num_values++);
    return {step.out, true, domain_};
  }
  return Constant(input_.in.Number(operand, otherwise));
}

RowBuilder::Value RowBuilder::Constant(double number) {
  RowStep& step = Add(RowStep::Kind::kScalar);
  step.value.bits = domain_ == Domain::kFloat ? std::bit_cast<uint32_t>(static_cast<float>(number))
                                              : static_cast<uint32_t>(static_cast<int64_t>(number));
  step.scalar = true;
  step.out = static_cast<int16_t>(program_->num_values++);
  return {step.out, true, domain_};
}

RowBuilder::Value RowBuilder::Iota(IotaPattern pattern) {
  RowStep& step = Add(RowStep::Kind::kIota);
  step.iota = static_cast<int32_t>(program_->iotas.size());
  step.out = static_cast<int16_t>(program_->num_values++);
  program_->iotas.push_back(pattern);
  return {step.out, false, Domain::kSigned};
}

RowBuilder::Value RowBuilder::AddCompute(RowStep step, Value a, Value b, Value c, Domain domain) {
  step.a = a.id;
  step.b = b.id;
  step.c = c.id;
  step.scalar = a.scalar && (b.id < 0 || b.scalar) && (c.id < 0 || c.scalar);
  step.domain = domain;
  step.out = static_cast<int16_t>(program_->num_values++);
  program_->steps.push_back(step);
  return {step.out, step.scalar, domain};
}

RowBuilder::Value RowBuilder::Convert(Value value, Domain domain) {
  if ((value.domain == Domain::kFloat) == (domain == Domain::kFloat)) return value;
  RowStep step;
  step.kind = RowStep::Kind::kUnary;
  const auto& table = domain == Domain::kFloat ? input_.kernels.load : input_.kernels.store;
  const Domain integers = domain == Domain::kFloat ? value.domain : domain;
  step.unary = table[static_cast<int>(Domain::kFloat)]
                    [Index(integers == Domain::kUnsigned ? DType::kU32 : DType::kS32)];
  return AddCompute(step, value, {}, {}, domain);
}

StatusOr<RowBuilder::Value> RowBuilder::Alu(isa::AluOp op, Value a, Value b, bool reverse) {
  const isa::AluRow& row = isa::RowOf(op);
  const int domain = static_cast<int>(domain_);
  RowStep step;
  if (row.arity == 1) {
    step.kind = RowStep::Kind::kUnary;
    step.unary = input_.kernels.unary[domain][static_cast<int>(op)];
    if (step.unary != nullptr) return AddCompute(step, a, {}, {}, domain_);
  } else {
    if (reverse) std::swap(a, b);
    step.kind = RowStep::Kind::kBinary;
    step.alu = op;
    // Two values per row: any form works on one element.
    step.form = a.scalar == b.scalar ? OperandForm::kRowRow
                : b.scalar           ? OperandForm::kRowValue
                                     : OperandForm::kValueRow;
    step.binary = input_.kernels.binary[domain][static_cast<int>(op)][static_cast<int>(step.form)];
    if (step.binary != nullptr) return AddCompute(step, a, b, {}, domain_);
  }
  return Unimplemented(NameOf(*op_), ": operator ", row.name, " on ",
                       domain_ == Domain::kFloat ? "fp32" : "integers");
}

StatusOr<RowBuilder::Value> RowBuilder::CompareToZero(isa::AluOp op, Value integers) {
  RowStep zero;
  zero.kind = RowStep::Kind::kScalar;
  zero.scalar = true;
  zero.out = static_cast<int16_t>(program_->num_values++);
  program_->steps.push_back(zero);
  RowStep step;
  step.kind = RowStep::Kind::kBinary;
  step.alu = op;
  step.form = OperandForm::kRowValue;
  step.binary = input_.kernels.binary[static_cast<int>(Domain::kSigned)][static_cast<int>(op)]
                                     [static_cast<int>(step.form)];
  if (step.binary == nullptr)
    return Unimplemented(NameOf(*op_), ": comparison ", isa::RowOf(op).name);
  Value none;
  none.id = zero.out;
  Value result = AddCompute(step, integers, none, {}, Domain::kSigned);
  program_->steps.back().scalar = false;
  result.scalar = false;
  return result;
}

StatusOr<RowBuilder::Value> RowBuilder::Activation(isa::ActivationFunction function, Value x) {
  RowStep step;
  step.kind = RowStep::Kind::kUnary;
  step.unary = input_.kernels.activation[static_cast<int>(function)];
  if (step.unary == nullptr)
    return Unimplemented(NameOf(*op_), ": activation function ", isa::RowOf(function).name);
  step.slow = !IsCheap(function);
  return AddCompute(step, x, {}, {}, Domain::kFloat);
}

RowBuilder::Value RowBuilder::Select(Value predicate, Value a, Value b) {
  const auto row = [&](Value value) {
    if (!value.scalar) return value;
    RowStep step;  // x bypass x of a value and a row gives a row
    step.kind = RowStep::Kind::kBinary;
    step.alu = isa::AluOp::kBypass;
    step.form = OperandForm::kValueRow;
    step.binary =
        input_.kernels.binary[static_cast<int>(value.domain)][static_cast<int>(isa::AluOp::kBypass)]
                             [static_cast<int>(OperandForm::kValueRow)];
    return AddCompute(step, value, predicate, {}, value.domain);
  };
  if (!predicate.scalar) {
    a = row(a);
    b = row(b);
  }
  RowStep step;
  step.kind = RowStep::Kind::kSelect;
  step.select = input_.kernels.select;
  return AddCompute(step, a, b, predicate, a.domain);
}

void RowBuilder::Store(Value value, std::string_view operand) {
  const auto tile = static_cast<int16_t>(TileAt(operand));
  const DType dtype = op_->tiles[tile].shape.dtype;
  if (value.domain != Domain::kFloat && !IsIntegral(dtype)) value = Convert(value, Domain::kFloat);
  RowStep& step = Add(RowStep::Kind::kStore);
  step.tile = tile;
  step.domain = value.domain;
  step.dtype = dtype;
  step.a = value.id;
  step.scalar = value.scalar;
  step.convert = Conversion(input_.kernels.store, value.domain, dtype);
}

Status RowBuilder::Reduce(Value value, isa::AluOp op, isa::ReduceCmd command, float* accumulator,
                          std::string_view init, std::string_view result, bool negate) {
  if (!RowReduction::Supports(input_.kernels, Domain::kFloat, op))
    return Unimplemented(NameOf(*op_), ": reduction with ", isa::RowOf(op).name);
  RowReduce reduce;
  reduce.value = value.id;
  reduce.op = op;
  reduce.command = command;
  reduce.negate = negate;
  reduce.accumulator = accumulator;
  if (command == isa::ReduceCmd::kLoadReduce) reduce.init = Scalar(init).id;
  if (input_.in.Tile(result) != nullptr) {
    reduce.tile = static_cast<int16_t>(TileAt(result));
    reduce.store =
        Conversion(input_.kernels.store, Domain::kFloat, op_->tiles[reduce.tile].shape.dtype);
  }
  program_->reductions.push_back(reduce);
  return OkStatus();
}

void RowBuilder::Finish() {
  RowProgram& program = *program_;
  NEURON_CHECK(program.num_values <= kMaxRowValues, "row program with ", program.num_values);
  program.ns_per_element = 0.1 * static_cast<double>(program.reductions.size());
  for (RowStep& step : program.steps) {
    if (!step.scalar) program.ns_per_element += step.kind == RowStep::Kind::kUnary ? 0.5 : 0.1;
  }
  // The last store's value is computed in place where its layout allows.
  if (!program.steps.empty() && program.steps.back().kind == RowStep::Kind::kStore) {
    const RowStep& store = program.steps.back();
    for (RowStep& step : program.steps) {
      const bool compute = step.kind == RowStep::Kind::kUnary ||
                           step.kind == RowStep::Kind::kBinary ||
                           step.kind == RowStep::Kind::kSelect;
      if (compute && step.out == store.a && store.convert == nullptr) step.tile = store.tile;
    }
  }
  op_->execute = program.reductions.empty() ? ExecuteRows : ExecuteReducingRows;
  op_->payload = std::move(program_);
}

}  // namespace neuron::emulator
