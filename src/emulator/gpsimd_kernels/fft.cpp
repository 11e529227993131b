// fft: complex, real and inverse transforms over the trailing one to three dimensions. Computed in
// double and rounded once to the result's dtype.
#include <vector>

#include "emulator/wide/blocks.h"
#include "emulator/wide/checks.h"
#include "emulator/wide/fourier.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::gpsimd_kernels {
namespace {

using Complex = std::complex<double>;
constexpr std::string_view kName = "fft";
enum Type : int64_t { kForward = 0, kInverse = 1, kRealForward = 2, kRealInverse = 3 };

Complex Get(const KernelTensor& tile, int64_t i) {
  switch (tile.dtype) {
    case DType::kF32:
      return tile.as<float>()[i];
    case DType::kF64:
      return tile.as<double>()[i];
    case DType::kC64:
      return Complex(tile.as<std::complex<float>>()[i]);
    default:
      return tile.as<Complex>()[i];
  }
}
void Put(const KernelTensor& tile, int64_t i, Complex value) {
  switch (tile.dtype) {
    case DType::kF32:
      tile.as<float>()[i] = static_cast<float>(value.real());
      break;
    case DType::kF64:
      tile.as<double>()[i] = value.real();
      break;
    case DType::kC64:
      tile.as<std::complex<float>>()[i] = std::complex<float>(value);
      break;
    default:
      tile.as<Complex>()[i] = value;
      break;
  }
}

// One axis of `data` with the given extents.
void TransformAxis(std::vector<Complex>& data, const std::vector<int64_t>& dims, size_t axis,
                   wide::FourierPlan& plan) {
  int64_t inner = 1;
  for (size_t d = axis + 1; d < dims.size(); ++d) inner *= dims[d];
  const int64_t length = dims[axis];
  const int64_t lines = static_cast<int64_t>(data.size()) / length;
  std::vector<Complex> line(static_cast<size_t>(length));
  for (int64_t l = 0; l < lines; ++l) {
    Complex* at = data.data() + l / inner * inner * length + l % inner;
    for (int64_t k = 0; k < length; ++k) line[static_cast<size_t>(k)] = at[k * inner];
    plan.Run(line.data());
    for (int64_t k = 0; k < length; ++k) at[k * inner] = line[static_cast<size_t>(k)];
  }
}

// Lines of `stored` values along the last axis become lines of `length` ones: cut off, or completed
// with the conjugates that a real result implies.
std::vector<Complex> ResizeLast(const std::vector<Complex>& from, int64_t stored, int64_t length) {
  const int64_t lines = static_cast<int64_t>(from.size()) / stored;
  std::vector<Complex> to(static_cast<size_t>(lines * length));
  for (int64_t l = 0; l < lines; ++l)
    for (int64_t k = 0; k < length; ++k)
      to[static_cast<size_t>(l * length + k)] =
          k < stored ? from[static_cast<size_t>(l * stored + k)]
                     : std::conj(from[static_cast<size_t>(l * stored + length - k)]);
  return to;
}

}  // namespace

Status fft(std::span<const KernelTensor> tiles, std::span<const int64_t> parameters) {
  NEURON_ASSIGN_OR_RETURN(const auto p, isa::Unpack<isa::FftParameters>(kName, parameters));
  NEURON_RETURN_IF_ERROR(wide::ExpectTiles(kName, tiles, 2));
  NEURON_RETURN_IF_ERROR(wide::ExpectRange(kName, "type", p.type, 0, 3));
  NEURON_RETURN_IF_ERROR(
      wide::ExpectRange(kName, "rank", static_cast<int64_t>(p.lengths.size()), 1, 3));
  for (const int64_t length : p.lengths)
    NEURON_RETURN_IF_ERROR(wide::ExpectRange(kName, "length", length, 1, int64_t{1} << 40));
  const KernelTensor &out = tiles[0], &x = tiles[1];
  if (IsComplex(x.dtype) == (p.type == kRealForward) ||
      IsComplex(out.dtype) == (p.type == kRealInverse) || ByteSize(x.dtype) < 4)
    return InvalidArgument("gpsimd_kernel fft: type ", p.type, " from ", DTypeName(x.dtype), " to ",
                           DTypeName(out.dtype));
  const int64_t full = p.lengths.back(), half = full / 2 + 1;
  std::vector<int64_t> in_dims = p.lengths, out_dims = p.lengths;
  if (p.type == kRealForward) out_dims.back() = half;
  if (p.type == kRealInverse) in_dims.back() = half;
  const int64_t in_volume = wide::Volume(in_dims), out_volume = wide::Volume(out_dims);
  NEURON_RETURN_IF_ERROR(
      wide::ExpectElements(kName, tiles, 0, wide::Volume({p.batch, out_volume})));
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 1, wide::Volume({p.batch, in_volume})));

  const bool inverse = p.type == kInverse || p.type == kRealInverse;
  std::vector<wide::FourierPlan> plans;
  for (const int64_t length : p.lengths) plans.emplace_back(length, inverse);
  const double scale = inverse ? 1 / static_cast<double>(wide::Volume(p.lengths)) : 1;
  const size_t last = p.lengths.size() - 1;
  for (int64_t b = 0; b < p.batch; ++b) {
    std::vector<Complex> data(static_cast<size_t>(in_volume));
    for (int64_t i = 0; i < in_volume; ++i)
      data[static_cast<size_t>(i)] = Get(x, b * in_volume + i);
    // A real side is transformed last by an inverse and first by a forward transform.
    if (p.type != kRealInverse) {
      TransformAxis(data, in_dims, last, plans[last]);
      if (p.type == kRealForward) data = ResizeLast(data, full, half);
    }
    for (size_t axis = 0; axis < last; ++axis)
      TransformAxis(data, p.type == kRealForward ? out_dims : in_dims, axis, plans[axis]);
    if (p.type == kRealInverse) {
      data = ResizeLast(data, half, full);
      TransformAxis(data, out_dims, last, plans[last]);
    }
    for (int64_t i = 0; i < out_volume; ++i)
      Put(out, b * out_volume + i, data[static_cast<size_t>(i)] * scale);
  }
  return OkStatus();
}

}  // namespace neuron::emulator::gpsimd_kernels
