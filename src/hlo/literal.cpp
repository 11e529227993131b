#include "hlo/literal.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace neuron::hlo {
namespace {

// Rounding to odd keeps what a second rounding needs to know: double -> float -> bf16 is then one
// rounding (float has at least two bits more than any narrower format).
float RoundToOdd(double x) {
  const float f = static_cast<float>(x);
  if (!std::isfinite(x) || static_cast<double>(f) == x) return f;
  uint32_t bits = std::bit_cast<uint32_t>(f);
  if (std::fabs(static_cast<double>(f)) > std::fabs(x)) --bits;
  return std::bit_cast<float>(bits | 1u);
}
double RoundToOdd(int64_t x) {
  const double d = static_cast<double>(x);
  if (static_cast<__int128>(d) == x) return d;
  uint64_t bits = std::bit_cast<uint64_t>(d);
  if (std::fabs(d) > std::fabs(static_cast<long double>(x))) --bits;
  return std::bit_cast<double>(bits | 1u);
}

// The formats without an arithmetic of their own: 4-bit e2m1 in a byte, and powers of two.
constexpr float kF4E2M1[8] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
double TinyToDouble(DType dtype, uint8_t code) {
  if (dtype == DType::kF4E2M1FN) return (code & 8) ? -kF4E2M1[code & 7] : kF4E2M1[code & 7];
  return code == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, code - 127);
}
uint8_t DoubleToTiny(DType dtype, double x) {
  const bool e8m0 = dtype == DType::kF8E8M0FNU;
  if (std::isnan(x)) return e8m0 ? 255 : 7;
  const double a = e8m0 ? x : std::fabs(x);
  const int codes = e8m0 ? 255 : 8;
  int best = 0;
  for (int code = 1; code < codes; ++code) {
    const double here = std::fabs(TinyToDouble(dtype, static_cast<uint8_t>(code)) - a);
    const double there = std::fabs(TinyToDouble(dtype, static_cast<uint8_t>(best)) - a);
    if (here < there || (here == there && code % 2 == 0)) best = code;
  }
  return static_cast<uint8_t>(best | (!e8m0 && std::signbit(x) ? 8 : 0));
}

template <typename T>
std::string BytesOf(T value) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  return bytes;
}

template <typename T>
T Load(const std::string& bytes, int64_t index) {
  T value;
  std::memcpy(&value, bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

std::string IntegerBytes(DType dtype, int64_t value) {
  std::string bytes = BytesOf(value);  // little endian: the low bytes are the truncated value
  bytes.resize(static_cast<size_t>(ByteSize(dtype)));
  return bytes;
}

template <typename T>
T Saturate(double value) {
  if (std::isnan(value)) return 0;
  // 2^63 and 2^64 are exact in double, the largest integers are not.
  if (value >= std::ldexp(1.0, std::numeric_limits<T>::digits))
    return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

std::string IntegerFromDouble(DType dtype, double value) {
  switch (dtype) {
    case DType::kS8:
      return BytesOf(Saturate<int8_t>(value));
    case DType::kS16:
      return BytesOf(Saturate<int16_t>(value));
    case DType::kS32:
      return BytesOf(Saturate<int32_t>(value));
    case DType::kS64:
      return BytesOf(Saturate<int64_t>(value));
    case DType::kU8:
      return BytesOf(Saturate<uint8_t>(value));
    case DType::kU16:
      return BytesOf(Saturate<uint16_t>(value));
    case DType::kU32:
      return BytesOf(Saturate<uint32_t>(value));
    default:
      return BytesOf(Saturate<uint64_t>(value));
  }
}

std::string FloatBytes(DType dtype, double value) {
  switch (dtype) {
    case DType::kF64:
      return BytesOf(value);
    case DType::kF32:
      return BytesOf(static_cast<float>(value));
    case DType::kBF16:
      return BytesOf(ToBFloat16(RoundToOdd(value)));
    case DType::kF16:
      return BytesOf(ToFloat16(RoundToOdd(value)));
    case DType::kF8E5M2:
    case DType::kF8E4M3:
    case DType::kF8E4M3FN:
      return BytesOf(FloatToFloat8(dtype, RoundToOdd(value)));
    case DType::kF4E2M1FN:
    case DType::kF8E8M0FNU:
      return BytesOf(DoubleToTiny(dtype, value));
    default:
      NEURON_CHECK(false, "no literal of dtype ", DTypeName(dtype));
  }
}

std::string ComplexBytes(DType dtype, std::complex<double> value) {
  return dtype == DType::kC64
             ? BytesOf(static_cast<float>(value.real())) + BytesOf(static_cast<float>(value.imag()))
             : BytesOf(value.real()) + BytesOf(value.imag());
}

const std::string& EmptyBytes() {
  static const auto* empty = new std::string;
  return *empty;
}

}  // namespace

Literal::Literal(Shape shape, std::string bytes)
    : shape_(std::move(shape)), bytes_(std::make_shared<const std::string>(std::move(bytes))) {
  NEURON_CHECK(static_cast<int64_t>(bytes_->size()) == shape_.num_bytes(), "literal of ",
               shape_.ToString(), " got ", bytes_->size(), " bytes");
}

Literal Literal::Scalar(DType dtype, double value) {
  const Shape shape = Shape::Array(dtype, {});
  if (dtype == DType::kPred) return {shape, BytesOf(static_cast<uint8_t>(value != 0))};
  if (IsInteger(dtype)) return {shape, IntegerFromDouble(dtype, value)};
  if (IsComplex(dtype)) return ScalarComplex(dtype, value);
  return {shape, FloatBytes(dtype, value)};
}

Literal Literal::Scalar(DType dtype, int64_t value) {
  const Shape shape = Shape::Array(dtype, {});
  if (dtype == DType::kPred) return {shape, BytesOf(static_cast<uint8_t>(value != 0))};
  if (IsInteger(dtype)) return {shape, IntegerBytes(dtype, value)};
  if (dtype == DType::kF64 || IsComplex(dtype)) return Scalar(dtype, static_cast<double>(value));
  return {shape, FloatBytes(dtype, RoundToOdd(value))};
}

Literal Literal::ScalarComplex(DType dtype, std::complex<double> value) {
  if (!IsComplex(dtype)) return Scalar(dtype, value.real());
  return {Shape::Array(dtype, {}), ComplexBytes(dtype, value)};
}

Literal Literal::S64Vector(const std::vector<int64_t>& values) {
  std::string bytes(values.size() * sizeof(int64_t), '\0');
  if (!values.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return {Shape::Array(DType::kS64, {static_cast<int64_t>(values.size())}), std::move(bytes)};
}

const std::string& Literal::bytes() const { return bytes_ ? *bytes_ : EmptyBytes(); }

double Literal::AsDouble(int64_t index) const {
  const std::string& b = bytes();
  switch (shape_.dtype) {
    case DType::kF64:
      return Load<double>(b, index);
    case DType::kF32:
      return static_cast<double>(Load<float>(b, index));
    case DType::kBF16:
      return static_cast<double>(ToFloat(Load<BFloat16>(b, index)));
    case DType::kF16:
      return static_cast<double>(ToFloat(Load<Float16>(b, index)));
    case DType::kC64:
      return static_cast<double>(Load<float>(b, 2 * index));
    case DType::kC128:
      return Load<double>(b, 2 * index);
    case DType::kF8E5M2:
    case DType::kF8E4M3:
    case DType::kF8E4M3FN:
      return static_cast<double>(Float8ToFloat(shape_.dtype, Load<uint8_t>(b, index)));
    case DType::kF4E2M1FN:
    case DType::kF8E8M0FNU:
      return TinyToDouble(shape_.dtype, Load<uint8_t>(b, index));
    case DType::kU64:
      return static_cast<double>(Load<uint64_t>(b, index));
    default:
      return static_cast<double>(AsInt64(index));
  }
}

int64_t Literal::AsInt64(int64_t index) const {
  const std::string& b = bytes();
  switch (shape_.dtype) {
    case DType::kPred:
      return Load<uint8_t>(b, index) != 0;
    case DType::kS8:
      return Load<int8_t>(b, index);
    case DType::kS16:
      return Load<int16_t>(b, index);
    case DType::kS32:
      return Load<int32_t>(b, index);
    case DType::kS64:
      return Load<int64_t>(b, index);
    case DType::kU8:
      return Load<uint8_t>(b, index);
    case DType::kU16:
      return Load<uint16_t>(b, index);
    case DType::kU32:
      return Load<uint32_t>(b, index);
    case DType::kU64:
      return static_cast<int64_t>(Load<uint64_t>(b, index));
    default:
      return Saturate<int64_t>(AsDouble(index));
  }
}

bool Literal::IsSplat() const {
  const std::string& b = bytes();
  const auto width = static_cast<size_t>(ByteSize(shape_.dtype));
  if (width == 0 || b.size() < width) return false;
  return std::memcmp(b.data(), b.data() + width, b.size() - width) == 0;
}

std::optional<double> Literal::SplatNumber() const {
  if (!IsSplat()) return std::nullopt;
  const double number = AsDouble();
  const std::string& b = bytes();
  switch (shape_.dtype) {
    case DType::kC64:
      if (Load<uint32_t>(b, 1) != 0) return std::nullopt;
      break;
    case DType::kC128:
      if (Load<uint64_t>(b, 1) != 0) return std::nullopt;
      break;
    case DType::kS64:
    case DType::kU64: {
      constexpr double kExact = 9007199254740992.0;  // 2^53
      if (number < -kExact || number > kExact) return std::nullopt;
      break;
    }
    default:
      break;
  }
  return number;
}

bool Literal::operator==(const Literal& other) const {
  return shape_ == other.shape_ && (bytes_ == other.bytes_ || bytes() == other.bytes());
}

}  // namespace neuron::hlo
