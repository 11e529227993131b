#include "emulator/wide/combiner.h"

#include <cstring>

namespace neuron::emulator::wide {

StatusOr<isa::WideProgram> MakeCombiner(std::string_view kernel, isa::WideOp op,
                                        const isa::WideProgram& program,
                                        const std::vector<DType>& dtypes) {
  isa::WideProgram made = program;
  if (op != isa::WideOp::kNone) {
    if (dtypes.size() != 1)
      return InvalidArgument("gpsimd_kernel ", kernel, ": operator ", WideOpName(op),
                             " combines one value, got ", dtypes.size());
    made.inputs = {dtypes[0], dtypes[0]};
    made.instructions = {{.op = op, .dtype = dtypes[0], .operands = {0, 1, 0}, .immediate = {}}};
    made.outputs = {2};
    if (op == isa::WideOp::kCopy) made.outputs = {1};
  }
  NEURON_RETURN_IF_ERROR(Check(kernel, made));
  bool ok = made.inputs.size() == 2 * dtypes.size() && made.outputs.size() == dtypes.size();
  for (size_t i = 0; ok && i < dtypes.size(); ++i)
    ok = made.inputs[i] == dtypes[i] && made.inputs[dtypes.size() + i] == dtypes[i] &&
         made.dtype(made.outputs[i]) == dtypes[i];
  if (!ok)
    return InvalidArgument("gpsimd_kernel ", kernel, ": the combiner's ", made.inputs.size(),
                           " inputs and ", made.outputs.size(), " outputs do not match ",
                           dtypes.size(), " values");
  return made;
}

Combiner::Combiner(isa::WideProgram program, std::vector<DType> dtypes)
    : program_(std::move(program)), dtypes_(std::move(dtypes)), evaluator_(program_) {}

void Combiner::Run(int n) {
  evaluator_.Run(n);
  // All outputs before any accumulator: an output may be another accumulator's old value.
  std::vector<std::byte> results(dtypes_.size() > 1 ? dtypes_.size() * kBlock * kElementBytes : 0);
  for (int i = 0; i < values(); ++i) {
    const size_t bytes =
        static_cast<size_t>(n) * BlockElementBytes(dtypes_[static_cast<size_t>(i)]);
    if (values() == 1) {
      std::memmove(accumulator(0), evaluator_.output(0), bytes);
      return;
    }
    std::memcpy(&results[static_cast<size_t>(i) * kBlock * kElementBytes], evaluator_.output(i),
                bytes);
  }
  for (int i = 0; i < values(); ++i)
    std::memcpy(accumulator(i), &results[static_cast<size_t>(i) * kBlock * kElementBytes],
                static_cast<size_t>(n) * BlockElementBytes(dtypes_[static_cast<size_t>(i)]));
}

void Combiner::AccumulatorToElement(int from, int n) {
  for (int i = 0; i < values(); ++i) {
    const size_t bytes = BlockElementBytes(dtypes_[static_cast<size_t>(i)]);
    std::memcpy(element(i),
                static_cast<std::byte*>(accumulator(i)) + static_cast<size_t>(from) * bytes,
                static_cast<size_t>(n) * bytes);
  }
}

void Combiner::ElementToAccumulator(int at, int n) {
  for (int i = 0; i < values(); ++i) {
    const size_t bytes = BlockElementBytes(dtypes_[static_cast<size_t>(i)]);
    std::memcpy(static_cast<std::byte*>(accumulator(i)) + static_cast<size_t>(at) * bytes,
                element(i), static_cast<size_t>(n) * bytes);
  }
}

}  // namespace neuron::emulator::wide
