// Runs a WideProgram on blocks of elements.
#pragma once

#include <memory>
#include <string_view>

#include "base/status.h"
#include "emulator/wide/blocks.h"
#include "isa/wide_program.h"

namespace neuron::emulator::wide {

// Operand counts, value numbers in range and defined before use, dtypes that exist here.
Status Check(std::string_view kernel, const isa::WideProgram& program);

// Owns one block per value. Requires Check(program).ok(). Not thread safe.
class Evaluator {
 public:
  explicit Evaluator(const isa::WideProgram& program);
  // The block that the caller fills before Run, in the representation of its dtype.
  void* input(int i) { return block(i); }
  const void* output(int i) { return block(program_.outputs[static_cast<size_t>(i)]); }
  void Run(int n);

 private:
  void* block(int32_t value);
  const isa::WideProgram& program_;
  std::unique_ptr<std::byte[]> storage_;
};

// One instruction on blocks: `a`, `b`, `c` are operand blocks of dtype `in` (select and clamp: see
// the .cpp), `out` the result block.
struct Step {
  const isa::WideInstruction* instruction;
  DType in;  // dtype of the first operand
  const void* operands[3];
  void* out;
  int n;
};
void RunInteger(const Step& step);     // operands of integer kind
void RunFloating(const Step& step);    // kFloat
void RunDouble(const Step& step);      // kDouble
void RunComplex(const Step& step);     // both complex kinds
void RunConversion(const Step& step);  // convert, between any two kinds

}  // namespace neuron::emulator::wide
