#include "emulator/wide/blocks.h"

#include "base/status.h"
#include "emulator/wide/dispatch.h"

namespace neuron::emulator::wide {
namespace {

template <typename Stored, typename Value, typename Decode>
void LoadAs(const std::byte* base, const int64_t* offsets, int n, void* dst, Decode decode) {
  const auto* from = reinterpret_cast<const Stored*>(base);  // NOLINT(*-reinterpret-cast)
  auto* to = static_cast<Value*>(dst);
  for (int i = 0; i < n; ++i) to[i] = decode(from[offsets[i]]);
}
template <typename Stored, typename Value, typename Encode>
void StoreAs(std::byte* base, const int64_t* offsets, int n, const void* src, Encode encode) {
  auto* to = reinterpret_cast<Stored*>(base);  // NOLINT(*-reinterpret-cast)
  const auto* from = static_cast<const Value*>(src);
  for (int i = 0; i < n; ++i) to[offsets[i]] = encode(from[i]);
}

constexpr auto kToInt64 = [](auto x) { return static_cast<int64_t>(x); };
constexpr auto kSame = [](auto x) { return x; };

}  // namespace

Kind KindOf(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return Kind::kDouble;
    case DType::kC64:
      return Kind::kComplexFloat;
    case DType::kC128:
      return Kind::kComplexDouble;
    default:
      return IsFloating(dtype) ? Kind::kFloat : Kind::kInteger;
  }
}

size_t BlockElementBytes(DType dtype) {
  return ForKind(KindOf(dtype), []<typename T>(std::type_identity<T>) { return sizeof(T); });
}

float Round(DType dtype, float x) {
  switch (dtype) {
    case DType::kBF16:
      return ToFloat(ToBFloat16(x));
    case DType::kF16:
      return ToFloat(ToFloat16(x));
    case DType::kF8E5M2:
    case DType::kF8E4M3FN:
    case DType::kF8E4M3:
      return Float8ToFloat(dtype, FloatToFloat8(dtype, x));
    default:
      return x;
  }
}

void Load(DType dtype, const std::byte* base, const int64_t* offsets, int n, void* dst) {
  switch (dtype) {
    case DType::kPred:
    case DType::kU8:
      return LoadAs<uint8_t, int64_t>(base, offsets, n, dst, kToInt64);
    case DType::kS8:
      return LoadAs<int8_t, int64_t>(base, offsets, n, dst, kToInt64);
    case DType::kS16:
      return LoadAs<int16_t, int64_t>(base, offsets, n, dst, kToInt64);
    case DType::kU16:
      return LoadAs<uint16_t, int64_t>(base, offsets, n, dst, kToInt64);
    case DType::kS32:
      return LoadAs<int32_t, int64_t>(base, offsets, n, dst, kToInt64);
    case DType::kU32:
      return LoadAs<uint32_t, int64_t>(base, offsets, n, dst, kToInt64);
    case DType::kS64:
    case DType::kU64:
      return LoadAs<int64_t, int64_t>(base, offsets, n, dst, kSame);
    case DType::kF16:
      return LoadAs<Float16, float>(base, offsets, n, dst, [](Float16 x) { return ToFloat(x); });
    case DType::kBF16:
      return LoadAs<BFloat16, float>(base, offsets, n, dst, [](BFloat16 x) { return ToFloat(x); });
    case DType::kF8E5M2:
    case DType::kF8E4M3FN:
    case DType::kF8E4M3:
      return LoadAs<uint8_t, float>(base, offsets, n, dst,
                                    [=](uint8_t x) { return Float8ToFloat(dtype, x); });
    case DType::kF32:
      return LoadAs<float, float>(base, offsets, n, dst, kSame);
    case DType::kF64:
      return LoadAs<double, double>(base, offsets, n, dst, kSame);
    case DType::kC64:
      return LoadAs<ComplexFloat, ComplexFloat>(base, offsets, n, dst, kSame);
    case DType::kC128:
      return LoadAs<ComplexDouble, ComplexDouble>(base, offsets, n, dst, kSame);
    default:
      NEURON_CHECK(false, "no GpSimd representation of ", DTypeName(dtype));
  }
}

void Store(DType dtype, std::byte* base, const int64_t* offsets, int n, const void* src) {
  switch (dtype) {
    case DType::kPred:
    case DType::kU8:
    case DType::kS8:
      return StoreAs<uint8_t, int64_t>(base, offsets, n, src,
                                       [](int64_t x) { return static_cast<uint8_t>(x); });
    case DType::kS16:
    case DType::kU16:
      return StoreAs<uint16_t, int64_t>(base, offsets, n, src,
                                        [](int64_t x) { return static_cast<uint16_t>(x); });
    case DType::kS32:
    case DType::kU32:
      return StoreAs<uint32_t, int64_t>(base, offsets, n, src,
                                        [](int64_t x) { return static_cast<uint32_t>(x); });
    case DType::kS64:
    case DType::kU64:
      return StoreAs<int64_t, int64_t>(base, offsets, n, src, kSame);
    case DType::kF16:
      return StoreAs<Float16, float>(base, offsets, n, src, [](float x) { return ToFloat16(x); });
    case DType::kBF16:
      return StoreAs<BFloat16, float>(base, offsets, n, src, [](float x) { return ToBFloat16(x); });
    case DType::kF8E5M2:
    case DType::kF8E4M3FN:
    case DType::kF8E4M3:
      return StoreAs<uint8_t, float>(base, offsets, n, src,
                                     [=](float x) { return FloatToFloat8(dtype, x); });
    case DType::kF32:
      return StoreAs<float, float>(base, offsets, n, src, kSame);
    case DType::kF64:
      return StoreAs<double, double>(base, offsets, n, src, kSame);
    case DType::kC64:
      return StoreAs<ComplexFloat, ComplexFloat>(base, offsets, n, src, kSame);
    case DType::kC128:
      return StoreAs<ComplexDouble, ComplexDouble>(base, offsets, n, src, kSame);
    default:
      NEURON_CHECK(false, "no GpSimd representation of ", DTypeName(dtype));
  }
}

StridedWalk::StridedWalk(std::vector<int64_t> dims) : dims_(std::move(dims)) {
  for (const int64_t dim : dims_) size_ *= dim;
}

void StridedWalk::Offsets(int64_t offset, const std::vector<int64_t>& strides, int64_t begin, int n,
                          int64_t* out) const {
  if (dims_.empty()) {
    for (int i = 0; i < n; ++i) out[i] = offset;
    return;
  }
  const size_t last = dims_.size() - 1;
  const int64_t inner = dims_[last];
  const int64_t inner_stride = strides[last];
  for (int done = 0; done < n;) {  // one innermost run at a time
    int64_t row = (begin + done) / inner;
    const int64_t column = (begin + done) % inner;
    int64_t at = offset + column * inner_stride;
    for (size_t d = last; d-- > 0;) {
      at += row % dims_[d] * strides[d];
      row /= dims_[d];
    }
    const int run = static_cast<int>(std::min<int64_t>(n - done, inner - column));
    for (int i = 0; i < run; ++i) out[done + i] = at + i * inner_stride;
    done += run;
  }
}

bool Fits(const std::vector<int64_t>& dims, int64_t offset, const std::vector<int64_t>& strides,
          int64_t elements) {
  if (strides.size() != dims.size()) return false;
  int64_t low = offset, high = offset;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 0) return true;
    int64_t reach = 0;
    if (__builtin_mul_overflow(strides[d], dims[d] - 1, &reach)) return false;
    int64_t& bound = reach < 0 ? low : high;
    if (__builtin_add_overflow(bound, reach, &bound)) return false;
  }
  return low >= 0 && high < elements;
}

int64_t Volume(const std::vector<int64_t>& dims) {
  int64_t volume = 1;
  for (const int64_t dim : dims)
    if (dim < 0 || __builtin_mul_overflow(volume, dim, &volume)) return -1;
  return volume;
}

}  // namespace neuron::emulator::wide
