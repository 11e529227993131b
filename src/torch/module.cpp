// torch_neuronx._C: the only file that sees Python.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/Generator.h>

#include "runtime/runtime.h"
#include "torch/device.h"
#include "torch/fallback.h"
#include "torch/generator.h"
#include "torch/hooks.h"
#include "torch/kernels.h"

namespace py = pybind11;

namespace neuron::pytorch {
namespace {

int IndexOrCurrent(int device) { return device < 0 ? CurrentDevice() : device; }

py::dict PropertiesOf(int device) {
  EnsureInitialized();
  TORCH_CHECK(device < DeviceCount(), "neuron: no device ", device);
  const runtime::DeviceProperties& p = runtime::Properties(IndexOrCurrent(device));
  py::dict out;
  out["name"] = p.name;
  out["device_name"] = p.device_name;
  out["total_memory"] = p.total_memory;
  out["logical_nc_config"] = p.logical_nc_config;
  out["emulated"] = p.emulated;
  out["host_addressable"] = p.host_addressable;
  return out;
}

py::dict MemoryStatisticsOf(int device) {
  EnsureInitialized();
  const runtime::MemoryStatistics s = runtime::Statistics(IndexOrCurrent(device));
  py::dict out;
  out["allocated_bytes"] = s.allocated_bytes;
  out["peak_allocated_bytes"] = s.peak_allocated_bytes;
  out["reserved_bytes"] = s.reserved_bytes;
  out["peak_reserved_bytes"] = s.peak_reserved_bytes;
  out["active_blocks"] = s.active_blocks;
  out["allocations"] = s.allocations;
  out["frees"] = s.frees;
  out["segments"] = s.segments;
  out["out_of_memory"] = s.out_of_memory;
  out["retries"] = s.retries;
  return out;
}

py::dict CacheStatisticsNow() {
  const runtime::CacheStatistics s = runtime::GetCacheStatistics();
  py::dict out;
  out["memory_hits"] = s.memory_hits;
  out["disk_hits"] = s.disk_hits;
  out["compiled"] = s.compiled;
  out["corrupt"] = s.corrupt;
  out["compile_seconds"] = s.compile_seconds;
  return out;
}

void SetLogger(py::object logger) {
  // Kept for ever: a fallback may still happen while the interpreter shuts down.
  auto* kept = new py::object(std::move(logger));
  SetFallbackLogger([kept](const std::string& op, const std::string& why) {
    if (Py_IsInitialized() == 0) return;
    const py::gil_scoped_acquire gil;
    try {
      (*kept)(op, why);
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable("torch_neuronx: logging a CPU fallback");
    }
  });
}

}  // namespace

PYBIND11_MODULE(_C, m) {
  using release_gil = py::call_guard<py::gil_scoped_release>;
  m.def("register_hooks", &RegisterHooks);
  m.def("register_kernels", &RegisterKernels);
  m.def("registered_ops", &RegisteredOps);
  m.def("unregistered_rows", &UnregisteredRows);
  m.def("initialize", &EnsureInitialized);
  m.def("is_initialized", &runtime::IsInitialized);
  m.def("is_in_bad_fork", &InBadFork);
  m.def("describe", [] {
    EnsureInitialized();
    return runtime::Describe();
  });

  m.def("device_count", &DeviceCount);
  m.def("current_device", &CurrentDevice);
  m.def("set_device", &SetCurrentDevice);
  m.def("exchange_device", &ExchangeDevice);
  m.def(
      "synchronize",
      [](int device) {
        EnsureInitialized();
        ThrowIfError(runtime::SynchronizeDevice(IndexOrCurrent(device)));
      },
      py::arg("device") = -1, release_gil());
  m.def("properties", &PropertiesOf, py::arg("device") = -1);

  m.def("memory_statistics", &MemoryStatisticsOf, py::arg("device") = -1);
  m.def(
      "reset_peak_memory_statistics",
      [](int device) {
        EnsureInitialized();
        runtime::ResetPeakStatistics(IndexOrCurrent(device));
      },
      py::arg("device") = -1);
  m.def(
      "empty_cache",
      [](int device) {
        if (runtime::IsInitialized()) runtime::EmptyCache(IndexOrCurrent(device));
      },
      py::arg("device") = -1, release_gil());
  m.def(
      "memory_snapshot_json",
      [](int device) {
        EnsureInitialized();
        return runtime::MemorySnapshotJson(IndexOrCurrent(device));
      },
      py::arg("device") = -1);

  m.def(
      "default_generator",
      [](int device) {
        return py::reinterpret_steal<py::object>(THPGenerator_Wrap(DefaultGenerator(device)));
      },
      py::arg("device") = -1);

  m.def("fallback_counts", &FallbackCounts);
  m.def("clear_fallback_counts", &ClearFallbackCounts);
  m.def("set_strict", &SetStrict);
  m.def("is_strict", &IsStrict);
  m.def("set_fallback_logger", &SetLogger);

  m.def("cache_statistics", &CacheStatisticsNow);
  m.def(
      "modelled_device_seconds",
      [](int device) {
        EnsureInitialized();
        return runtime::ModelledDeviceSeconds(IndexOrCurrent(device));
      },
      py::arg("device") = -1);
}

}  // namespace neuron::pytorch
