// FFT, triangular solve, Cholesky.
#include "hlo/shape_rules.h"

namespace neuron::hlo {
namespace {

StatusOr<Shape> InferFft(const ShapeQuery& q) {
  const Shape& x = q.operand(0);
  const std::vector<int64_t>& length = q.attributes.fft_length;
  const auto n = static_cast<int64_t>(length.size());
  if (n < 1 || n > 3 || n > x.rank())
    return ShapeError(q, "transforms 1 to 3 dimensions of the operand, got ", n);
  const bool forward_real = q.attributes.fft_type == 2, inverse_real = q.attributes.fft_type == 3;
  if (forward_real ? (x.dtype != DType::kF32 && x.dtype != DType::kF64) : !IsComplex(x.dtype))
    return ShapeError(q, forward_real ? "RFFT takes f32 or f64" : "FFT takes complex numbers",
                      ", got ", DTypeName(x.dtype));
  Shape result = x;
  for (int64_t i = 0; i < n; ++i) {
    const auto d = static_cast<size_t>(x.rank() - n + i);
    const int64_t full = length[static_cast<size_t>(i)];
    const bool last = i == n - 1;
    const int64_t expected = inverse_real && last ? full / 2 + 1 : full;
    if (full < 0 || x.dims[d] != (full == 0 ? 0 : expected))
      return ShapeError(q, "dimension ", d, " must have extent ", expected, " for fft_length ",
                        ListText(length));
    result.dims[d] = forward_real && last && full != 0 ? full / 2 + 1 : full;
  }
  const bool single = x.dtype == DType::kF32 || x.dtype == DType::kC64;
  if (forward_real) result.dtype = single ? DType::kC64 : DType::kC128;
  if (inverse_real) result.dtype = single ? DType::kF32 : DType::kF64;
  return result;
}

Status CheckSquare(const ShapeQuery& q, const Shape& a) {
  if (!IsFloating(a.dtype) && !IsComplex(a.dtype))
    return ShapeError(q, "the element type must be floating or complex");
  if (a.rank() < 2 || a.dims[a.dims.size() - 1] != a.dims[a.dims.size() - 2])
    return ShapeError(q, "needs square matrices, got ", a.ToString());
  return OkStatus();
}

StatusOr<Shape> InferTriangularSolve(const ShapeQuery& q) {
  const Shape& a = q.operand(0);
  const Shape& b = q.operand(1);
  NEURON_RETURN_IF_ERROR(CheckSquare(q, a));
  if (a.dtype != b.dtype || a.rank() != b.rank())
    return ShapeError(q, "both must have one element type and rank");
  const size_t rank = a.dims.size();
  for (size_t i = 0; i + 2 < rank; ++i)
    if (a.dims[i] != b.dims[i]) return ShapeError(q, "batch dimension ", i, " differs");
  const size_t shared = q.attributes.left_side ? rank - 2 : rank - 1;
  if (b.dims[shared] != a.dims[rank - 1])
    return ShapeError(q, "dimension ", shared, " of b must have extent ", a.dims[rank - 1]);
  return b;
}

}  // namespace

StatusOr<Shape> InferLinalgShape(const ShapeQuery& q) {
  NEURON_RETURN_IF_ERROR(CheckArrays(q));
  if (q.opcode == Opcode::kFft) return InferFft(q);
  if (q.opcode == Opcode::kTriangularSolve) return InferTriangularSolve(q);
  NEURON_RETURN_IF_ERROR(CheckSquare(q, q.operand(0)));
  return q.operand(0);
}

}  // namespace neuron::hlo
