// Dots and convolutions that the Tensor engine does not take as they are.
//
// It multiplies two operands of one dtype among fp32, bf16, fp16 and two fp8 formats. Operands of
// different dtypes, or of others that one of these holds exactly, are converted first. Convolutions
// of integers, doubles and complex numbers, and those without or with more than three spatial
// dimensions, are one dot: the taps' slices of the image side by side, against the kernel's.
#include <algorithm>

#include "compiler/dot_problem.h"
#include "compiler/expand.h"

namespace neuron::compiler {
namespace {

using hlo::Builder;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;
using hlo::Value;

bool IsNarrowFloat(DType t) { return IsFloating(t) && ByteSize(t) <= 4; }
bool IsTensorEngineDType(DType t) {
  return t == DType::kF32 || t == DType::kBF16 || t == DType::kF16 || t == DType::kF8E5M2 ||
         t == DType::kF8E4M3;
}

struct DTypes {
  DType lhs, rhs, result;
};
DTypes DTypesOf(const Instruction& x) {
  return {x.operand(0)->shape().dtype, x.operand(1)->shape().dtype, x.shape().dtype};
}

bool AreNarrow(const DTypes& t) {
  return IsNarrowFloat(t.lhs) && IsNarrowFloat(t.rhs) && IsNarrowFloat(t.result);
}
bool AreAsTheEngineHasThem(const DTypes& t) {
  return t.lhs == t.rhs && IsTensorEngineDType(t.lhs) && IsTensorEngineDType(t.result);
}

// The narrowest of the engine's dtypes that holds the values of both.
DType Common(DType a, DType b) {
  if (a == b && IsTensorEngineDType(a)) return a;
  const auto in = [](DType t, DType wider) { return t == wider || ByteSize(t) == 1; };
  if (in(a, DType::kBF16) && in(b, DType::kBF16)) return DType::kBF16;  // every fp8 is a bf16
  return DType::kF32;
}

bool IsMixed(const Instruction& x) {
  const DTypes t = DTypesOf(x);
  return AreNarrow(t) && !AreAsTheEngineHasThem(t);
}

Value InOneDType(Builder& b, const Instruction& x) {
  const DTypes t = DTypesOf(x);
  const DType common = Common(t.lhs, t.rhs);
  const Value lhs = b.Convert(b.Of(x.operand(0)), common);
  const Value rhs = b.Convert(b.Of(x.operand(1)), common);
  const DType result = IsTensorEngineDType(t.result) ? t.result : DType::kF32;
  const hlo::Attributes& a = x.attributes();
  const Value product = x.opcode() == Opcode::kDot
                            ? b.Dot(lhs, rhs, a.dot, result)
                            : b.Convolution(lhs, rhs, a.window, a.convolution,
                                            a.feature_group_count, a.batch_group_count, result);
  return b.Convert(product, t.result);
}

bool IsConvolutionByDot(const Instruction& x) {
  for (const Instruction* y :
       std::initializer_list<const Instruction*>{x.operand(0), x.operand(1), &x})
    if (y->shape().num_elements() == 0) return false;  // zeros or nothing, of any dtype
  const size_t spatial = x.attributes().convolution.input_spatial.size();
  return spatial == 0 || spatial > 3 || !AreNarrow(DTypesOf(x));
}

std::vector<int64_t> Join(std::vector<int64_t> first, const std::vector<int64_t>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// A convolution as [groups, batch, inputs, spatial...] and [groups, outputs, inputs, spatial...].
class ConvolutionByDot {
 public:
  ConvolutionByDot(Builder& b, const Instruction& x)
      : b_(b), x_(x), a_(x.attributes()), d_(a_.convolution) {}

  Value Run() {
    const std::vector<hlo::WindowDimension>& window = a_.window;
    constexpr int64_t kMostTaps = 4096;
    int64_t taps = 1;
    for (const auto& w : window) taps *= w.size;
    if (taps > kMostTaps) {
      b_.Fail(Unimplemented("compiler: convolution ", x_.name(), " of ",
                            x_.operand(0)->shape().ToString(), " has ", taps,
                            " taps; those that no convolution kernel takes have at most ",
                            kMostTaps, ": floats of up to 32 bits and up to 3 spatial dimensions"));
      return {};
    }
    const Value image = Image();
    const Value kernel = Kernel();
    std::vector<Value> places, weights;
    std::vector<int64_t> tap(window.size());
    for (int64_t n = 0; n < taps; ++n) {
      places.push_back(PlacesOf(image, tap));
      weights.push_back(WeightsOf(kernel, tap));
      for (size_t s = window.size(); s-- > 0;) {
        if (++tap[s] < window[s].size) break;
        tap[s] = 0;
      }
    }
    constexpr int64_t kInputs = 2;
    hlo::DotDimensions numbers;
    numbers.lhs_batch = numbers.rhs_batch = {0};
    numbers.lhs_contracting = numbers.rhs_contracting = {kInputs};
    const Value lhs = taps == 1 ? places[0] : b_.Concatenate(places, kInputs);
    const Value rhs = taps == 1 ? weights[0] : b_.Concatenate(weights, kInputs);
    return InOrder(b_.Dot(lhs, rhs, numbers, x_.shape().dtype));
  }

 private:
  // [groups, batch, inputs, spatial...], padded and dilated.
  Value Image() {
    Value x = b_.Transpose(b_.Of(x_.operand(0)),
                           Join({d_.input_batch, d_.input_feature}, d_.input_spatial));
    const std::vector<int64_t> spatial(x.shape().dims.begin() + 2, x.shape().dims.end());
    const int64_t features = a_.feature_group_count, batches = a_.batch_group_count;
    if (features > 1) {
      x = b_.Reshape(x, Join({x.dim(0), features, x.dim(1) / features}, spatial));
      std::vector<int64_t> order = {1, 0, 2};
      for (int64_t d = 3; d < x.rank(); ++d) order.push_back(d);
      x = b_.Transpose(x, order);
    } else {
      x = b_.Reshape(x, Join({batches, x.dim(0) / batches, x.dim(1)}, spatial));
    }
    std::vector<hlo::PaddingDimension> padding(3);
    for (const auto& w : a_.window)
      padding.push_back({w.padding_low, w.padding_high, w.base_dilation - 1});
    return b_.Pad(x, b_.Constant(x.dtype(), 0), padding);
  }

  // [groups, outputs, inputs, spatial...]
  Value Kernel() {
    const Value w =
        b_.Transpose(b_.Of(x_.operand(1)),
                     Join({d_.kernel_output_feature, d_.kernel_input_feature}, d_.kernel_spatial));
    const std::vector<int64_t> rest(w.shape().dims.begin() + 1, w.shape().dims.end());
    const int64_t groups = std::max(a_.feature_group_count, a_.batch_group_count);
    return b_.Reshape(w, Join({groups, w.dim(0) / groups}, rest));
  }

  // What every place multiplies by this tap.
  Value PlacesOf(Value image, const std::vector<int64_t>& tap) {
    std::vector<int64_t> starts(3), limits(image.shape().dims.begin(), image.shape().dims.end()),
        strides(3, 1);
    for (size_t s = 0; s < tap.size(); ++s) {
      const hlo::WindowDimension& w = a_.window[s];
      const int64_t places = x_.shape().dims[static_cast<size_t>(d_.output_spatial[s])];
      starts.push_back(tap[s] * w.window_dilation);
      limits[3 + s] = starts.back() + (places - 1) * w.stride + 1;
      strides.push_back(w.stride);
    }
    return b_.Slice(image, starts, limits, strides);
  }

  Value WeightsOf(Value kernel, const std::vector<int64_t>& tap) {
    std::vector<int64_t> starts(3), limits(kernel.shape().dims.begin(), kernel.shape().dims.end());
    for (size_t s = 0; s < tap.size(); ++s) {
      starts.push_back(a_.window[s].reversal ? a_.window[s].size - 1 - tap[s] : tap[s]);
      limits[3 + s] = starts.back() + 1;
    }
    const Value one = b_.Slice(kernel, starts, limits, std::vector<int64_t>(starts.size(), 1));
    return b_.Reshape(one, {kernel.dim(0), kernel.dim(1), kernel.dim(2)});
  }

  // [groups, batch, spatial..., outputs] as the result has them.
  Value InOrder(Value y) {
    const int64_t spatial = y.rank() - 3;
    std::vector<int64_t> order = {1, 0, y.rank() - 1};  // [batch, groups, outputs, spatial...]
    for (int64_t s = 0; s < spatial; ++s) order.push_back(2 + s);
    y = b_.Transpose(y, order);
    y = b_.Reshape(y, Join({y.dim(0), y.dim(1) * y.dim(2)},
                           {y.shape().dims.begin() + 3, y.shape().dims.end()}));
    std::vector<int64_t> to(static_cast<size_t>(y.rank()));
    to[static_cast<size_t>(d_.output_batch)] = 0;
    to[static_cast<size_t>(d_.output_feature)] = 1;
    for (int64_t s = 0; s < spatial; ++s)
      to[static_cast<size_t>(d_.output_spatial[static_cast<size_t>(s)])] = 2 + s;
    return b_.Transpose(y, to);
  }

  Builder& b_;
  const Instruction& x_;
  const hlo::Attributes& a_;
  const hlo::ConvolutionDimensions& d_;
};

Value ByDot(Builder& b, const Instruction& x) { return ConvolutionByDot(b, x).Run(); }

constexpr Expansion kRows[] = {{Opcode::kDot, IsMixed, InOneDType},
                               {Opcode::kConvolution, IsConvolutionByDot, ByDot},
                               {Opcode::kConvolution, IsMixed, InOneDType}};

}  // namespace

std::span<const Expansion> ContractionExpansions() { return kRows; }

}  // namespace neuron::compiler
