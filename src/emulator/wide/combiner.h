// Combining values of reductions and scatters: a plain operator or a program of the caller's.
#pragma once

#include <string_view>
#include <vector>

#include "base/status.h"
#include "emulator/wide/evaluator.h"
#include "isa/wide_program.h"

namespace neuron::emulator::wide {

// The program that combines (old..., new...) of `dtypes`: from `op` for one value (kCopy takes the
// new one), or `program` itself if op is kNone, checked for its inputs and outputs.
StatusOr<isa::WideProgram> MakeCombiner(std::string_view kernel, isa::WideOp op,
                                        const isa::WideProgram& program,
                                        const std::vector<DType>& dtypes);

// Evaluates a combiner with accumulators that stay in place.
class Combiner {
 public:
  Combiner(isa::WideProgram program, std::vector<DType> dtypes);
  int values() const { return static_cast<int>(dtypes_.size()); }
  void* accumulator(int i) { return evaluator_.input(i); }
  void* element(int i) { return evaluator_.input(values() + i); }
  // accumulator[0, n) = combine(accumulator, element)
  void Run(int n);
  // Moves accumulator elements [from, from + n) to element [0, n), or to accumulator [to, ...).
  void AccumulatorToElement(int from, int n);
  // accumulator[at, at + n) = element[0, n)
  void ElementToAccumulator(int at, int n);

 private:
  const isa::WideProgram program_;
  const std::vector<DType> dtypes_;
  Evaluator evaluator_;
};

}  // namespace neuron::emulator::wide
