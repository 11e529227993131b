#include "emulator/row_program.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/parallel.h"
#include "emulator/reduction.h"

namespace neuron::emulator {
namespace {

constexpr int kMaxValues = 64;
constexpr int64_t kFlatElements = 48;  // rows up to this length are walked across

// Scratch of one thread: rows of values, then raw bytes of a chunk before or after conversion.
struct Scratch {
  alignas(64) char rows[kMaxValues][kRowChunk * 4];
  alignas(64) char raw[kRowChunk * 16];
  uint32_t scalars[kMaxValues];
};
Scratch& ThreadScratch() {
  thread_local std::unique_ptr<Scratch> scratch = std::make_unique<Scratch>();
  return *scratch;
}

struct Frame {
  const Tile* tiles;
  const int64_t* registers;
  Scratch& scratch;
  int64_t row = 0, first = 0, n = 0;
  int64_t row_elements = 0;  // for iota in flat mode
  void* value[kMaxValues];
};

void Load(const RowStep& step, Frame& f) {
  const Tile& tile = f.tiles[step.tile];
  const TileShape& shape = *tile.shape;
  const char* row = tile.row(f.row);
  const int64_t bytes = shape.element_bytes;
  if (shape.contiguous()) {
    const char* from = row + f.first * bytes;
    if (step.convert == nullptr) {
      f.value[step.out] = const_cast<char*>(from);  // read only: steps write scratch or stores
      return;
    }
    f.value[step.out] = f.scratch.rows[step.out];
    step.convert(f.value[step.out], from, f.n);
    return;
  }
  f.value[step.out] = f.scratch.rows[step.out];
  if (step.convert == nullptr) {
    GatherRow(shape, row, f.first, f.n, f.value[step.out]);
    return;
  }
  GatherRow(shape, row, f.first, f.n, f.scratch.raw);
  step.convert(f.value[step.out], f.scratch.raw, f.n);
}

void LoadScalar(const RowStep& step, Frame& f) {
  const Tile& tile = f.tiles[step.tile];
  uint32_t* to = &f.scratch.scalars[step.out];
  f.value[step.out] = to;
  if (step.convert == nullptr) {
    std::memcpy(to, tile.row(f.row), 4);
  } else {
    step.convert(to, tile.row(f.row), 1);
  }
}

void Store(const RowStep& step, Frame& f) {
  const Tile& tile = f.tiles[step.tile];
  const TileShape& shape = *tile.shape;
  char* row = tile.row(f.row);
  const int64_t bytes = shape.element_bytes;
  const void* from = f.value[step.a];
  if (step.scalar) {
    const int64_t n = std::min(f.n, shape.elements);  // a group also stores one per row
    uint32_t word = 0;
    if (step.convert == nullptr) {
      std::memcpy(&word, from, 4);
    } else {
      step.convert(&word, from, 1);
    }
    char* to = shape.contiguous() ? row + f.first * bytes : f.scratch.raw;
    switch (bytes) {
      case 1:
        std::memset(to, static_cast<uint8_t>(word), n);
        break;
      case 2:
        std::fill_n(reinterpret_cast<uint16_t*>(to), n, static_cast<uint16_t>(word));
        break;
      default:
        std::fill_n(reinterpret_cast<uint32_t*>(to), n, word);
        break;
    }
    if (!shape.contiguous()) ScatterRow(shape, row, f.first, n, f.scratch.raw);
    return;
  }
  if (shape.contiguous()) {
    char* to = row + f.first * bytes;
    if (step.stream) {
      if (step.convert != nullptr) {
        step.convert(f.scratch.raw, from, f.n);
        from = f.scratch.raw;
      }
      Kernels().stream(to, from, f.n * bytes);
    } else if (step.convert != nullptr) {
      step.convert(to, from, f.n);
    } else if (to != from) {
      std::memmove(to, from, f.n * bytes);
    }
    return;
  }
  if (step.convert != nullptr) {
    step.convert(f.scratch.raw, from, f.n);
    from = f.scratch.raw;
  }
  ScatterRow(shape, row, f.first, f.n, from);
}

void CopyChunk(const RowStep& step, Frame& f) {
  const Tile& from = f.tiles[step.a];
  const Tile& to = f.tiles[step.tile];
  const int64_t bytes = to.shape->element_bytes;
  const char* src = from.row(f.row) + f.first * bytes;
  char* dst = to.row(f.row) + f.first * bytes;
  if (step.stream) {
    Kernels().stream(dst, src, f.n * bytes);
  } else {
    std::memmove(dst, src, f.n * bytes);
  }
}

// Where a compute step writes: straight into its destination tile if that is dense 32-bit.
void* Target(const RowStep& step, Frame& f) {
  if (step.scalar) return f.value[step.out] = &f.scratch.scalars[step.out];
  if (step.tile >= 0) {
    const Tile& tile = f.tiles[step.tile];
    if (tile.shape->contiguous()) return f.value[step.out] = tile.row(f.row) + f.first * 4;
  }
  return f.value[step.out] = f.scratch.rows[step.out];
}

void Iota(const RowStep& step, const IotaPattern& pattern, Frame& f) {
  auto* out = reinterpret_cast<int32_t*>(f.scratch.rows[step.out]);
  f.value[step.out] = out;
  const int64_t base = pattern.offset.Evaluate(f.registers);
  int64_t done = 0;
  while (done < f.n) {
    // In flat mode a chunk runs over several rows.
    const int64_t at = f.first + done;
    const int64_t row = f.row + at / f.row_elements;
    int64_t rest = at % f.row_elements;
    int64_t run = std::min(f.n - done, f.row_elements - rest);
    int64_t value = base + row * pattern.channel_multiplier;
    int64_t inner_step = 0;
    for (int d = pattern.num_dims - 1; d >= 0; --d) {
      const int64_t index = rest % pattern.count[d];
      rest /= pattern.count[d];
      value += index * pattern.step[d];
      if (d == pattern.num_dims - 1) {
        inner_step = pattern.step[d];
        run = std::min(run, pattern.count[d] - index);
      }
    }
    for (int64_t i = 0; i < run; ++i) out[done + i] = static_cast<int32_t>(value + i * inner_step);
    done += run;
  }
}

void RunChunk(const RowProgram& program, Frame& f) {
  for (const RowStep& step : program.steps) {
    const int64_t n = step.scalar ? 1 : f.n;
    switch (step.kind) {
      case RowStep::Kind::kLoad:
        Load(step, f);
        break;
      case RowStep::Kind::kLoadScalar:
        LoadScalar(step, f);
        break;
      case RowStep::Kind::kScalar: {
        uint32_t* to = &f.scratch.scalars[step.out];
        f.value[step.out] = to;
        *to = step.value.reg == isa::kNoRegister
                  ? step.value.bits
                  : static_cast<uint32_t>(f.registers[step.value.reg]);
        break;
      }
      case RowStep::Kind::kUnary: {
        void* to = Target(step, f);
        step.unary(to, f.value[step.a], n);
        break;
      }
      case RowStep::Kind::kBinary: {
        const void* a = f.value[step.a];
        const void* b = f.value[step.b];
        step.binary(Target(step, f), a, b, n);
        break;
      }
      case RowStep::Kind::kSelect: {
        const void* p = f.value[step.c];
        const void* a = f.value[step.a];
        const void* b = f.value[step.b];
        step.select(Target(step, f), static_cast<const uint32_t*>(p), a, b, n);
        break;
      }
      case RowStep::Kind::kStore:
        Store(step, f);
        break;
      case RowStep::Kind::kCopy:
        CopyChunk(step, f);
        break;
      case RowStep::Kind::kRound: {
        step.round(f.scratch.raw, f.value[step.a], n);
        void* to = Target(step, f);
        step.convert(to, f.scratch.raw, n);
        break;
      }
      case RowStep::Kind::kReduce: {
        RowReduction reduction(Kernels(), Domain::kFloat, step.reduce);
        reduction.Add(f.value[step.a], f.n);
        const uint32_t bits = reduction.Finish();
        f.scratch.scalars[step.out] = bits;
        f.value[step.out] = &f.scratch.scalars[step.out];
        if (step.accumulator != nullptr) step.accumulator[f.row] = std::bit_cast<float>(bits);
        break;
      }
      case RowStep::Kind::kIota:
        Iota(step, program.iotas[step.iota], f);
        break;
    }
  }
}

// Rows in ranges, shared between host threads where there is enough to do.
template <typename Body>
void ForRows(const RowProgram& program, const TileShape& shape, const Body& body) {
  const double work = static_cast<double>(shape.rows * shape.elements) * program.ns_per_element;
  ParallelFor(shape.rows, 1, work, body);
}

bool IsIntegral(DType dtype) { return IsInteger(dtype) || dtype == DType::kPred; }
int Index(DType dtype) { return static_cast<int>(dtype == DType::kTF32 ? DType::kF32 : dtype); }

// The conversion of a load or store; nullptr where bits are values.
ConvertKernel Conversion(const ConvertKernel (&table)[kNumDomains][kNumDTypes], Domain domain,
                         DType dtype) {
  const bool same = domain == Domain::kFloat ? Index(dtype) == Index(DType::kF32)
                                             : dtype == DType::kS32 || dtype == DType::kU32;
  return same ? nullptr : table[static_cast<int>(domain)][Index(dtype)];
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

namespace {

// What the row's reduction comes to, with the accumulator's part in it.
void FinishReduction(const RowReduce& reduce, float result, const BinaryKernel combine, Frame& f) {
  float* accumulator = reduce.accumulator + f.row;
  switch (reduce.command) {
    case isa::ReduceCmd::kIdle:
      break;
    case isa::ReduceCmd::kReset:
      *accumulator = std::bit_cast<float>(ReduceIdentity(Domain::kFloat, reduce.op));
      break;
    case isa::ReduceCmd::kResetReduce:
      *accumulator = result;
      break;
    case isa::ReduceCmd::kReduce:
      combine(accumulator, accumulator, &result, 1);
      break;
    case isa::ReduceCmd::kLoadReduce:
      combine(accumulator, f.value[reduce.init], &result, 1);
      break;
  }
  if (reduce.tile < 0) return;
  const float value = reduce.negate ? -*accumulator : *accumulator;
  char* to = f.tiles[reduce.tile].row(f.row);
  if (reduce.store == nullptr) {
    std::memcpy(to, &value, 4);
  } else {
    reduce.store(to, &value, 1);
  }
}

Status ExecuteReducingRows(const Operation& operation, Execution& execution) {
  const auto& program = operation.as<RowProgram>();
  ResolvedTiles<8> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const TileShape& shape = *tiles.tile[program.shape_tile].shape;
  const KernelTable& kernels = Kernels();
  ForRows(program, shape, [&](int64_t first_row, int64_t last_row) {
    Frame frame{.tiles = tiles.tile,
                .registers = execution.registers,
                .scratch = ThreadScratch(),
                .row_elements = shape.elements,
                .value = {}};
    for (frame.row = first_row; frame.row < last_row; ++frame.row) {
      for (const RowReduce& reduce : program.reductions) {
        RowReduction reduction(kernels, Domain::kFloat, reduce.op);
        for (frame.first = 0; frame.first < shape.elements; frame.first += kRowChunk) {
          frame.n = std::min(kRowChunk, shape.elements - frame.first);
          RunChunk(program, frame);
          reduction.Add(frame.value[reduce.value], frame.n);
        }
        FinishReduction(reduce, std::bit_cast<float>(reduction.Finish()),
                        kernels.binary[0][static_cast<int>(reduce.op)][0], frame);
      }
    }
  });
  return OkStatus();
}

}  // namespace

Status ExecuteRows(const Operation& operation, Execution& execution) {
  const auto& program = operation.as<RowProgram>();
  ResolvedTiles<8> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  RunRows(program, tiles.tile, execution);
  return OkStatus();
}

bool IsRowProgram(const Operation& operation) {
  return operation.execute == ExecuteRows || operation.execute == ExecuteReducingRows;
}

void RunRows(const RowProgram& program, const Tile* tiles, const Execution& execution) {
  const TileShape& shape = *tiles[program.shape_tile].shape;
  ForRows(program, shape, [&](int64_t first_row, int64_t last_row) {
    Frame frame{.tiles = tiles,
                .registers = execution.registers,
                .scratch = ThreadScratch(),
                .row_elements = program.row_elements > 0 ? program.row_elements : shape.elements,
                .value = {}};
    for (frame.row = first_row; frame.row < last_row; ++frame.row)
      for (frame.first = 0; frame.first < shape.elements; frame.first += kRowChunk) {
        frame.n = std::min(kRowChunk, shape.elements - frame.first);
        RunChunk(program, frame);
      }
  });
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
  return AddCompute(step, x, {}, {}, Domain::kFloat);
}

RowBuilder::Value RowBuilder::Select(Value predicate, Value a, Value b) {
  const auto row = [&](Value value) {
    if (!value.scalar) return value;
    RowStep step;  // x bypass x of a value and a row gives a row
    step.kind = RowStep::Kind::kBinary;
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
  NEURON_CHECK(program.num_values <= kMaxValues, "row program with ", program.num_values);
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
