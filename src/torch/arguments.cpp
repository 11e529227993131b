#include "torch/arguments.h"

#include <ATen/ops/_local_scalar_dense_native.h>
#include <c10/util/overflows.h>

#include <bit>

#include "torch/device.h"
#include "torch/dtype.h"

namespace neuron::pytorch {
namespace {

using lowering::ArgValue;
using lowering::ScalarArg;
using lowering::TensorArg;

ScalarArg Number(const c10::IValue& value, bool run_time) {
  ScalarArg out;
  out.run_time = run_time;
  if (value.isBool()) {
    out.kind = ScalarArg::Kind::kBool;
    out.integer = value.toBool() ? 1 : 0;
    out.run_time = false;
  } else if (value.isInt()) {
    out.kind = ScalarArg::Kind::kInt;
    out.integer = value.toInt();
    if (out.integer == 1) out.run_time = false;  // the key holds it: alpha = 1 costs nothing
  } else if (value.isDouble()) {
    out.kind = ScalarArg::Kind::kFloat;
    out.number = value.toDouble();
    if (value.toDouble() == 1.0) out.run_time = false;
  } else {
    out.kind = ScalarArg::Kind::kComplex;
    const c10::complex<double> z = value.toComplexDouble();
    out.number = {z.real(), z.imag()};
    out.run_time = false;
  }
  return out;
}

ScalarArg HostScalar(const at::Tensor& tensor) {
  ScalarArg out;
  out.run_time = true;
  const at::ScalarType type = tensor.scalar_type();
  if (c10::isComplexType(type))
    out.kind = ScalarArg::Kind::kComplex;
  else if (c10::isFloatingType(type))
    out.kind = ScalarArg::Kind::kFloat;
  else if (type == at::kBool)
    out.kind = ScalarArg::Kind::kBool;
  if (!tensor.unsafeGetTensorImpl()->is_wrapped_number()) out.tensor_dtype = ToDType(type);
  return out;
}

class Converter {
 public:
  Converter(std::span<const c10::IValue> arguments, const std::function<hlo::Value(size_t)>& tensor)
      : tensor_(tensor) {
    (void)arguments;
  }

  ArgValue Convert(const ArgInfo& info, const c10::IValue& value) {
    if (value.isNone()) return std::monostate{};
    switch (info.kind) {
      case ArgKind::kTensor: {
        const at::Tensor& tensor = value.toTensor();
        if (tensor.defined() && tensor.device().type() != kDeviceType) return HostScalar(tensor);
        return Tensor(tensor);
      }
      case ArgKind::kTensorList: {
        std::vector<TensorArg> out;
        for (const c10::IValue& element : value.toListRef())
          out.push_back(element.isNone() ? TensorArg{} : Tensor(element.toTensor()));
        return out;
      }
      case ArgKind::kScalar:
      case ArgKind::kInt:
      case ArgKind::kFloat:
        return Number(value, info.run_time);
      case ArgKind::kBool:
        return value.toBool();
      case ArgKind::kIntList: {
        std::vector<int64_t> out;
        if (!value.isList()) return std::vector<int64_t>{value.toInt()};
        for (const c10::IValue& element : value.toListRef()) out.push_back(element.toInt());
        return out;
      }
      case ArgKind::kFloatList: {
        std::vector<double> out;
        for (const c10::IValue& element : value.toListRef()) out.push_back(element.toDouble());
        return out;
      }
      case ArgKind::kBoolList: {
        std::vector<bool> out;
        for (const c10::IValue& element : value.toListRef()) out.push_back(element.toBool());
        return out;
      }
      case ArgKind::kScalarList: {
        std::vector<ScalarArg> out;
        for (const c10::IValue& element : value.toListRef())
          out.push_back(Number(element, info.run_time));
        return out;
      }
      case ArgKind::kString:
        return value.toStringRef();
      case ArgKind::kDtype:
        return ToDType(static_cast<at::ScalarType>(value.toInt()));
      case ArgKind::kResolved:
      case ArgKind::kDevice:
      case ArgKind::kGenerator:
      case ArgKind::kUnsupported:
        return std::monostate{};
    }
    return std::monostate{};
  }

 private:
  TensorArg Tensor(const at::Tensor& tensor) {
    TensorArg out;
    if (!tensor.defined()) return out;
    out.value = tensor_(next_++);
    out.wrapped_number = tensor.unsafeGetTensorImpl()->is_wrapped_number();
    return out;
  }
  const std::function<hlo::Value(size_t)>& tensor_;
  size_t next_ = 0;
};

int64_t Float32Bits(double value) {
  return std::bit_cast<int32_t>(static_cast<float>(value)) & int64_t{0xffffffff};
}

// Of a floating dtype narrower than 32 bits.
int64_t NarrowBits(double value, DType dtype) {
  const auto x = static_cast<float>(value);
  if (dtype == DType::kBF16) return ToBFloat16(x).bits;
  if (dtype == DType::kF16) return ToFloat16(x).bits;
  return FloatToFloat8(dtype, x);
}

// c10's own criterion.
template <typename From>
bool FitsAs(From value, DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return !c10::overflows<c10::Half, From>(value);
    case DType::kBF16:
      return !c10::overflows<c10::BFloat16, From>(value);
    case DType::kF32:
      return !c10::overflows<float, From>(value);
    case DType::kS8:
      return !c10::overflows<int8_t, From>(value);
    case DType::kS16:
      return !c10::overflows<int16_t, From>(value);
    case DType::kS32:
      return !c10::overflows<int32_t, From>(value);
    case DType::kS64:
      return !c10::overflows<int64_t, From>(value);
    case DType::kU8:
      return !c10::overflows<uint8_t, From>(value);
    case DType::kU16:
      return !c10::overflows<uint16_t, From>(value);
    case DType::kU32:
      return !c10::overflows<uint32_t, From>(value);
    default:
      return true;
  }
}

int64_t SlotOf(const c10::Scalar& value, DType dtype) {
  if (dtype == DType::kC64) {
    const c10::complex<double> z = value.toComplexDouble();
    return Float32Bits(z.real()) | Float32Bits(z.imag()) << 32;
  }
  if (dtype == DType::kF64) return std::bit_cast<int64_t>(value.toDouble());
  if (dtype == DType::kF32) return Float32Bits(value.toDouble());
  if (IsFloating(dtype))
    return NarrowBits(value.toDouble(), dtype) << 32 | Float32Bits(value.toDouble());
  if (dtype == DType::kPred) return value.toDouble() != 0 ? 1 : 0;
  if (value.isFloatingPoint()) return static_cast<int64_t>(value.toDouble());
  return value.toLong();
}

}  // namespace

bool Fits(const c10::Scalar& value, DType dtype) {
  if (value.isComplex()) return true;
  if (value.isFloatingPoint()) return FitsAs(value.toDouble(), dtype);
  return FitsAs(value.toLong(), dtype);
}

std::vector<ArgValue> ToArgValues(const OpEntry& entry, std::span<const c10::IValue> arguments,
                                  const std::function<hlo::Value(size_t)>& tensor) {
  std::vector<ArgValue> out(entry.row_arguments);
  Converter converter(arguments, tensor);
  for (size_t i = 0; i < entry.args.size(); ++i) {
    ArgValue value = converter.Convert(entry.args[i], arguments[i]);  // counts tensors: always
    if (entry.args[i].row_position >= 0)
      out[static_cast<size_t>(entry.args[i].row_position)] = std::move(value);
  }
  return out;
}

int64_t IntegerSlot(int64_t value, DType dtype) { return SlotOf(c10::Scalar(value), dtype); }

int64_t ScalarSlot(const lowering::ScalarParameter& p, std::span<const c10::IValue> arguments,
                   DType tensors, bool* fits) {
  const c10::IValue& argument = arguments[static_cast<size_t>(p.argument)];
  const c10::IValue& value =
      p.element < 0 ? argument : argument.toListRef()[static_cast<size_t>(p.element)];
  if (value.isTensor())
    return SlotOf(at::native::_local_scalar_dense_cpu(value.toTensor()), p.dtype);
  const c10::Scalar number = value.isDouble() ? c10::Scalar(value.toDouble()) : value.toScalar();
  *fits &= Fits(number, p.dtype) && Fits(number, tensors);
  return SlotOf(number, p.dtype);
}

}  // namespace neuron::pytorch
