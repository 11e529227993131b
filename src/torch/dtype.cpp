#include "torch/dtype.h"

namespace neuron::pytorch {
namespace {

struct Pair {
  c10::ScalarType torch;
  DType ours;
};
constexpr Pair kPairs[] = {
    {c10::ScalarType::Bool, DType::kPred},
    {c10::ScalarType::Char, DType::kS8},
    {c10::ScalarType::Short, DType::kS16},
    {c10::ScalarType::Int, DType::kS32},
    {c10::ScalarType::Long, DType::kS64},
    {c10::ScalarType::Byte, DType::kU8},
    {c10::ScalarType::UInt16, DType::kU16},
    {c10::ScalarType::UInt32, DType::kU32},
    {c10::ScalarType::UInt64, DType::kU64},
    {c10::ScalarType::Half, DType::kF16},
    {c10::ScalarType::BFloat16, DType::kBF16},
    {c10::ScalarType::Float, DType::kF32},
    {c10::ScalarType::Double, DType::kF64},
    {c10::ScalarType::ComplexFloat, DType::kC64},
    {c10::ScalarType::ComplexDouble, DType::kC128},
    {c10::ScalarType::Float8_e5m2, DType::kF8E5M2},
    {c10::ScalarType::Float8_e4m3fn, DType::kF8E4M3FN},
    {c10::ScalarType::Float8_e8m0fnu, DType::kF8E8M0FNU},
};

struct Table {
  DType ours[256] = {};
  c10::ScalarType torch[256];
  constexpr Table() {
    for (auto& type : torch) type = c10::ScalarType::Undefined;
    for (const Pair& pair : kPairs) {
      ours[static_cast<uint8_t>(pair.torch)] = pair.ours;
      torch[static_cast<uint8_t>(pair.ours)] = pair.torch;
    }
  }
};
constexpr Table kTable;

}  // namespace

DType ToDType(c10::ScalarType type) { return kTable.ours[static_cast<uint8_t>(type)]; }
c10::ScalarType ToScalarType(DType dtype) { return kTable.torch[static_cast<uint8_t>(dtype)]; }

}  // namespace neuron::pytorch
