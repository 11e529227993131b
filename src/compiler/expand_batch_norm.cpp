// Batch normalisation from sums over all dimensions but the feature's, in fp32 at least.
#include "compiler/expand.h"

namespace neuron::compiler {
namespace {

using hlo::Builder;
using hlo::Instruction;
using hlo::Value;

bool Always(const Instruction&) { return true; }

class BatchNorm {
 public:
  BatchNorm(Builder& b, const Instruction& x) : b_(b), x_(x), dtype_(x.operand(0)->shape().dtype) {
    const int64_t rank = x.operand(0)->shape().rank();
    for (int64_t d = 0; d < rank; ++d)
      if (d != feature()) others_.push_back(d);
    for (const int64_t d : others_) count_ *= x.operand(0)->shape().dims[static_cast<size_t>(d)];
  }

  Value Inference() { return Rounded(Normalised(Arg(0), Arg(1), Arg(2), Arg(3), Arg(4))); }

  Value Training() {
    const Value data = Arg(0);
    const Value mean = Mean(data);
    const Value centred = b_.Subtract(data, Spread(mean));
    const Value variance = Mean(b_.Multiply(centred, centred));
    const Value results[] = {Rounded(Normalised(data, Arg(1), Arg(2), mean, variance)),
                             Rounded(mean), Rounded(variance)};
    return b_.Tuple(results);
  }

  Value Gradient() {
    const Value data = Arg(0), scale = Arg(1), mean = Arg(2), gradient = Arg(4);
    const Value spread = b_.Add(Arg(3), Number(x_.attributes().epsilon));
    const Value inverse = b_.Rsqrt(spread);
    const Value centred = b_.Subtract(data, Spread(mean));
    const Value of_offset = b_.ReduceSum(gradient, others_);
    const Value moment = b_.ReduceSum(b_.Multiply(gradient, centred), others_);
    const Value of_scale = b_.Multiply(moment, inverse);
    // What mean and variance take up of the gradient.
    const Value along_mean = Spread(b_.Divide(of_offset, Number(count_)));
    const Value along_data =
        b_.Multiply(centred, Spread(b_.Divide(moment, b_.Multiply(spread, Number(count_)))));
    const Value rest = b_.Subtract(b_.Subtract(gradient, along_mean), along_data);
    const Value of_data = b_.Multiply(rest, Spread(b_.Multiply(scale, inverse)));
    const Value results[] = {Rounded(of_data), Rounded(of_scale), Rounded(of_offset)};
    return b_.Tuple(results);
  }

 private:
  int64_t feature() const { return x_.attributes().feature_index; }
  DType Inside() const { return ByteSize(dtype_) < 4 ? DType::kF32 : dtype_; }
  Value Arg(int64_t i) { return b_.Convert(b_.Of(x_.operand(i)), Inside()); }
  Value Rounded(Value x) { return b_.Convert(x, dtype_); }
  Value Number(double x) { return b_.Constant(Inside(), x); }
  Value Spread(Value row) { return b_.Broadcast(row, x_.operand(0)->shape().dims, {feature()}); }
  Value Mean(Value x) { return b_.Divide(b_.ReduceSum(x, others_), Number(count_)); }
  Value Normalised(Value data, Value scale, Value offset, Value mean, Value variance) {
    const Value inverse = b_.Rsqrt(b_.Add(variance, Number(x_.attributes().epsilon)));
    const Value centred = b_.Subtract(data, Spread(mean));
    return b_.Add(b_.Multiply(centred, Spread(b_.Multiply(scale, inverse))), Spread(offset));
  }

  Builder& b_;
  const Instruction& x_;
  const DType dtype_;
  std::vector<int64_t> others_;
  double count_ = 1;
};

constexpr Expansion kRows[] = {
    {hlo::Opcode::kBatchNormInference, Always,
     [](Builder& b, const Instruction& x) { return BatchNorm(b, x).Inference(); }},
    {hlo::Opcode::kBatchNormTraining, Always,
     [](Builder& b, const Instruction& x) { return BatchNorm(b, x).Training(); }},
    {hlo::Opcode::kBatchNormGrad, Always,
     [](Builder& b, const Instruction& x) { return BatchNorm(b, x).Gradient(); }}};

}  // namespace

std::span<const Expansion> BatchNormExpansions() { return kRows; }

}  // namespace neuron::compiler
