// Builds the row program of one instruction.
#pragma once

#include <memory>
#include <string_view>

#include "emulator/decoder.h"
#include "emulator/row_steps.h"
#include "isa/operands.h"

namespace neuron::emulator {

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
