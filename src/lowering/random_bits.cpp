#include "lowering/random_bits.h"

namespace neuron::lowering {

using hlo::Builder;
using hlo::Shape;

namespace {

constexpr int kPhilox = 2;  // xla::RandomAlgorithm
constexpr double kTwoPi = 6.28318530717958647692;

}  // namespace

Expr RandomBits(Args& args, const Dims& dims, DType dtype) {
  Builder& b = args.builder();
  const int64_t words = Product(dims) * ByteSize(dtype) / 4;
  const hlo::Value state = args.Philox((words + 3) / 4);
  return {b, b.RngBitGenerator(state, Shape::Array(dtype, dims), kPhilox)[1]};
}

Expr UniformFromBits(Expr bits, DType dtype) {
  const bool wide = bits.dtype() == DType::kU64;
  const int64_t digits = dtype == DType::kF64    ? 53
                         : dtype == DType::kF16  ? 11
                         : dtype == DType::kBF16 ? 8
                                                 : 24;
  const int64_t shift = (wide ? 64 : 32) - digits;
  const Expr top = Apply(hlo::Opcode::kShiftRightLogical, bits, bits.LikeInt(shift));
  const Expr number = wide ? top.As(DType::kF64) : top.As(DType::kS32).As(DType::kF32);
  return number * (1.0 / static_cast<double>(int64_t{1} << digits));
}

Expr RandomUniform(Args& args, const Dims& dims, DType dtype) {
  const DType word = dtype == DType::kF64 ? DType::kU64 : DType::kU32;
  return UniformFromBits(RandomBits(args, dims, word), dtype);
}

// Box-Muller: a pair of uniform numbers gives a pair of normal ones, the second half of the result
// from the sines.
Expr RandomNormal(Args& args, const Dims& dims, DType dtype) {
  Builder& b = args.builder();
  const DType wide = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  const int64_t n = Product(dims);
  const int64_t half = (n + 1) / 2;
  const Expr u = RandomUniform(args, {2, half}, wide);
  const Expr u0 = Reshaped({b, b.SliceInDim(u, 0, 1, 1, 0)}, {half});
  const Expr u1 = Reshaped({b, b.SliceInDim(u, 1, 2, 1, 0)}, {half});
  const Expr radius = Sqrt(Log(1.0 - u0) * -2.0);
  const Expr angle = u1 * kTwoPi;
  const hlo::Value parts[] = {radius * Cos(angle), radius * Sin(angle)};
  const hlo::Value both = b.Concatenate(parts, 0);
  return Reshaped({b, 2 * half == n ? both : b.SliceInDim(both, 0, n, 1, 0)}, dims);
}

}  // namespace neuron::lowering
