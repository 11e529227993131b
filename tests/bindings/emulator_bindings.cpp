// neuron_testing.emulator: GpSimd kernels called directly on NumPy arrays.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include "bindings.h"
#include "emulator/gpsimd_kernel.h"
#include "isa/wide_program.h"

namespace py = pybind11;

namespace neuron::testing {
namespace {

void RunKernel(const std::string& name,
               const std::vector<std::pair<std::string, py::array>>& arrays,
               const std::vector<int64_t>& parameters) {
  const emulator::GpSimdKernel kernel = emulator::FindGpSimdKernel(name);
  if (kernel == nullptr) throw py::key_error("no GpSimd kernel is named " + name);
  std::vector<emulator::KernelTensor> tiles;
  for (const auto& [dtype, array] : arrays) {
    py::array writable = array;
    tiles.push_back({static_cast<std::byte*>(writable.mutable_data()), *DTypeFromName(dtype),
                     static_cast<int64_t>(array.size())});
  }
  Raise(kernel(tiles, parameters));
}

std::vector<std::string> KernelNames() {
  return {
#define NEURON_ROW(stem) #stem,
#include "emulator_gpsimd_kernels_rows.inc"
#undef NEURON_ROW
  };
}

std::vector<std::string> WideOps() {
  std::vector<std::string> names;
  for (int op = 0; op <= static_cast<int>(isa::WideOp::kTrunc); ++op)
    names.emplace_back(isa::WideOpName(static_cast<isa::WideOp>(op)));
  return names;
}

}  // namespace

void BindEmulator(py::module_& m) {
  py::module_ emulator = m.def_submodule("emulator");
  emulator.def("run_kernel", &RunKernel, py::arg("name"), py::arg("arrays"), py::arg("parameters"));
  emulator.def("kernel_names", &KernelNames);
  emulator.def("wide_ops", &WideOps);
}

}  // namespace neuron::testing
