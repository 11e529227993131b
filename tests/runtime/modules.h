// HLO modules that several of the runtime's tests and benchmarks compile.
#pragma once

#include <string>
#include <utility>

#include "base/status.h"
#include "compiler/compiler.h"
#include "hlo/builder.h"

namespace neuron::runtime {

// x * scale + shift with `scale` a rank-0 parameter.
inline hlo::Module ScaleAndShift(int64_t n, float shift) {
  hlo::Builder b("scale_and_shift");
  const hlo::Value x = b.Parameter(0, hlo::Shape::Array(DType::kF32, {n}), "x");
  const hlo::Value scale = b.Parameter(1, hlo::Shape::Array(DType::kF32, {}), "scale");
  StatusOr<hlo::Module> module = std::move(b).Build(
      b.Add(b.Multiply(x, b.Broadcast(scale, {n}, {})), b.Full(x.shape(), shift)));
  NEURON_CHECK(module.ok(), "Build: ", module.status().ToString());
  return *std::move(module);
}
inline compiler::Options WithScalar() {
  return {.parameters = {compiler::ParameterPlace::kBuffer, compiler::ParameterPlace::kScalarBlock},
          .strides = {},
          .dump_directory = ""};
}

inline hlo::Module AddTwo(int64_t n) {
  hlo::Builder b("add");
  const hlo::Value x = b.Parameter(0, hlo::Shape::Array(DType::kF32, {n}), "x");
  const hlo::Value y = b.Parameter(1, hlo::Shape::Array(DType::kF32, {n}), "y");
  StatusOr<hlo::Module> module = std::move(b).Build(b.Add(x, y));
  NEURON_CHECK(module.ok(), "Build: ", module.status().ToString());
  return *std::move(module);
}

}  // namespace neuron::runtime
