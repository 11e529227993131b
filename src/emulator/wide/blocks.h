// Blocks of elements as GpSimd kernels compute on them.
//
// Five representations serve all dtypes: integers and pred as int64_t (wrapped to their width after
// each operation), narrow floats and f32 as float (rounded to their dtype after each), f64 as
// double, and the two complex types.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/dtype.h"

namespace neuron::emulator::wide {

enum class Kind : uint8_t { kInteger, kFloat, kDouble, kComplexFloat, kComplexDouble };
Kind KindOf(DType dtype);
size_t BlockElementBytes(DType dtype);       // of its representation in a block
inline constexpr int kBlock = 256;           // elements
inline constexpr size_t kElementBytes = 16;  // of the largest representation

using ComplexFloat = std::complex<float>;
using ComplexDouble = std::complex<double>;

// Two's complement wrap of `x` to the width of an integer dtype; pred: x != 0.
inline int64_t Wrap(DType dtype, int64_t x) {
  switch (dtype) {
    case DType::kPred:
      return x != 0;
    case DType::kS8:
      return static_cast<int8_t>(x);
    case DType::kS16:
      return static_cast<int16_t>(x);
    case DType::kS32:
      return static_cast<int32_t>(x);
    case DType::kU8:
      return static_cast<uint8_t>(x);
    case DType::kU16:
      return static_cast<uint16_t>(x);
    case DType::kU32:
      return static_cast<uint32_t>(x);
    default:
      return x;
  }
}
// `x` rounded to a floating dtype of at most 32 bits.
float Round(DType dtype, float x);

// dst[i] = base[offsets[i]], and back. `dst` and `src` hold the representation of `dtype`; offsets
// are in elements.
void Load(DType dtype, const std::byte* base, const int64_t* offsets, int n, void* dst);
void Store(DType dtype, std::byte* base, const int64_t* offsets, int n, const void* src);

// Walks an iteration space in row-major order and yields element offsets of strided views.
class StridedWalk {
 public:
  explicit StridedWalk(std::vector<int64_t> dims);
  int64_t size() const { return size_; }
  // Offsets of points [begin, begin + n) of the space for one view.
  void Offsets(int64_t offset, const std::vector<int64_t>& strides, int64_t begin, int n,
               int64_t* out) const;
  const std::vector<int64_t>& dims() const { return dims_; }

 private:
  std::vector<int64_t> dims_;
  int64_t size_ = 1;
};

// Lowest and highest offset a view reaches over `dims` are inside [0, elements). True for an empty
// space.
bool Fits(const std::vector<int64_t>& dims, int64_t offset, const std::vector<int64_t>& strides,
          int64_t elements);
// Product; -1 if a dim is negative or the product overflows.
int64_t Volume(const std::vector<int64_t>& dims);

}  // namespace neuron::emulator::wide
