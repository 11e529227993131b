// Work along rows: what Vector, Scalar and GpSimd instructions do to each row of their tiles.
//
// A row program is a straight line of steps on rows of values (load, operator, store). It runs row
// by row in chunks that stay in the first-level cache; values live in scratch, or in the tile's own
// memory where type and layout allow. Tiles with short rows are walked across rows instead
// ("flat").
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/decoder.h"
#include "isa/operands.h"

namespace neuron::emulator {

inline constexpr int64_t kRowChunk = 1024;  // elements; divides the reduction chunk of 4096

// A 32-bit value that is the same along a whole row (or everywhere).
struct RowScalar {
  uint32_t bits = 0;
  isa::Register reg = isa::kNoRegister;  // taken from a register instead
};

struct RowStep {
  enum class Kind : uint8_t {
    kLoad,
    kLoadScalar,
    kScalar,
    kUnary,
    kBinary,
    kSelect,
    kStore,
    kIota,
    kCopy,    // groups only: tile `a` to `tile`, bit by bit
    kRound,   // groups only: a value to a stored type (`round`) and back (`convert`)
    kReduce,  // groups only: a whole row in one chunk, with `reduce`, to one value
  };
  Kind kind{};
  Domain domain{};
  DType dtype{};                             // loads and stores: the tile's, as conversion sees it
  OperandForm form{};                        // kBinary
  int16_t out = -1, a = -1, b = -1, c = -1;  // values
  bool scalar = false;                       // one value per row: the result, or what is stored
  bool stream = false;                       // stores and copies: around the caches
  ConvertKernel round = nullptr;             // kRound
  int16_t tile = -1;  // loads, stores; a compute step's destination if it may write there
  union {
    void* any = nullptr;
    UnaryKernel unary;
    BinaryKernel binary;
    ConvertKernel convert;  // nullptr: the tile's bits are the values
    SelectKernel select;
  };
  RowScalar value;               // kScalar
  isa::AluOp reduce{};           // kReduce
  float* accumulator = nullptr;  // kReduce: of row 0's partition, set to the result too
  int32_t iota = -1;             // kIota: index into RowProgram::iotas
};

// value = offset + row * channel_multiplier + sum of index * step, the last index fastest.
struct IotaPattern {
  isa::Affine offset;
  int64_t channel_multiplier = 0;
  int num_dims = 0;
  int64_t step[4] = {}, count[4] = {};
  // Operands pattern, offset and channel_multiplier of iota and affine_select.
  static IotaPattern From(const Operands& in);
};

struct RowReduce {
  int16_t value = -1, init = -1;
  int16_t tile = -1;  // the result's, -1: accumulator only
  isa::AluOp op{};
  isa::ReduceCmd command{};
  bool negate = false;
  float* accumulator = nullptr;  // of the row 0's partition
  ConvertKernel store = nullptr;
};

struct RowProgram : Operation::Payload {
  std::vector<RowStep> steps;
  std::vector<IotaPattern> iotas;
  std::vector<RowReduce> reductions;
  int num_values = 0;
  double ns_per_element = 0;  // on the host, roughly
  int64_t row_elements = 0;   // before flattening; 0: known at run time only
  int shape_tile = 0;         // the tile whose rows and elements are walked
  bool flat = false;
};

Status ExecuteRows(const Operation& operation, Execution& execution);
// Runs a program without reductions on tiles that are resolved already.
void RunRows(const RowProgram& program, const Tile* tiles, const Execution& execution);
// Whether the operation is a row program, also one that reduces its rows.
bool IsRowProgram(const Operation& operation);

// Builds the row program of one instruction.
class RowBuilder {
 public:
  struct Value {
    int16_t id = -1;
    bool scalar = false;  // one value per row
    Domain domain = Domain::kFloat;
  };

  // `shape` is the tile that gives rows and elements.
  RowBuilder(const DecodeInput& input, Operation* op, std::string_view shape,
             bool allow_flat = true);

  Domain domain() const { return domain_; }
  // Fp32, or exact 32-bit integers if all tiles are (isa::IsIntegerArithmetic) or an operator is a
  // bitvec one; unsigned if one tile is u32.
  void ChooseDomain(std::initializer_list<isa::AluOp> ops = {});

  bool Has(std::string_view operand) const { return input_.in.Has(operand); }
  Value Load(std::string_view operand);
  // Load for an operator: logical shifts and bit counts see the element's own width.
  StatusOr<Value> LoadOperand(std::string_view operand, isa::AluOp op);
  // With `dtype` as the type that the bits are taken for (same width).
  Value LoadAs(std::string_view operand, Domain domain, DType dtype);
  Value Scalar(std::string_view operand, double otherwise = 0);  // number, register or [P, 1] tile
  Value Constant(double number);
  Value Iota(IotaPattern pattern);
  Value ToFloat(Value integers) { return Convert(integers, Domain::kFloat); }
  // A unary operator ignores b.
  StatusOr<Value> Alu(isa::AluOp op, Value a, Value b, bool reverse = false);
  StatusOr<Value> Activation(isa::ActivationFunction function, Value x);
  StatusOr<Value> CompareToZero(isa::AluOp op, Value integers);
  Value Select(Value predicate, Value a, Value b);  // predicate: rows of 32 bits
  void Store(Value value, std::string_view operand);
  // Reduces `value` along each row. `accumulator` (one per partition) follows `command`; the result
  // goes to tile `result` if that operand is present. Not in flat programs.
  Status Reduce(Value value, isa::AluOp op, isa::ReduceCmd command, float* accumulator,
                std::string_view init, std::string_view result, bool negate);
  void Finish();  // hands the program to the operation

 private:
  int TileAt(std::string_view operand);
  RowStep& Add(RowStep::Kind kind);
  Value AddCompute(RowStep step, Value a, Value b, Value c, Domain domain);
  Value Convert(Value value, Domain domain);

  const DecodeInput& input_;
  Operation* op_;
  std::unique_ptr<RowProgram> program_;
  Domain domain_ = Domain::kFloat;
};

}  // namespace neuron::emulator
