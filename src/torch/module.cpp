// torch_neuronx._C: the only file that sees Python. Types and argument names stand in the
// signatures, since _C.pyi is generated from them.
#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/typing.h>
#include <sys/syscall.h>
#include <torch/csrc/utils/pybind.h>
#include <unistd.h>

#include "runtime/runtime.h"
#include "torch/autograd_threads.h"
#include "torch/device.h"
#include "torch/dtype.h"
#include "torch/fallback.h"
#include "torch/generator.h"
#include "torch/graph.h"
#include "torch/hooks.h"
#include "torch/kernels.h"
#include "torch/meta.h"
#include "torch/nki_program.h"
#include "torch/op_entry.h"
#include "torch/timeline.h"

namespace py = pybind11;

namespace neuron::pytorch {
namespace {

int IndexOrCurrent(int device) { return device < 0 ? CurrentDevice() : device; }

using Record = py::typing::Dict<py::str, py::object>;
using Counts = py::typing::Dict<py::str, py::int_>;
using Numbers = py::typing::Dict<py::str, py::float_>;
// device, op, start and duration in picoseconds, events
using LaunchTuple = py::typing::Tuple<py::int_, py::str, py::int_, py::int_, py::str>;

Record PropertiesOf(int device) {
  EnsureInitialized();
  TORCH_CHECK(device < DeviceCount(), "neuron: no device ", device);
  const runtime::DeviceProperties& p = runtime::Properties(IndexOrCurrent(device));
  Record out;
  out["name"] = p.name;
  out["device_name"] = p.device_name;
  out["total_memory"] = p.total_memory;
  out["logical_nc_config"] = p.logical_nc_config;
  out["emulated"] = p.emulated;
  out["host_addressable"] = p.host_addressable;
  return out;
}

Counts MemoryStatisticsOf(int device) {
  EnsureInitialized();
  const runtime::MemoryStatistics s = runtime::Statistics(IndexOrCurrent(device));
  Counts out;
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

Numbers CacheStatisticsNow() {
  const runtime::CacheStatistics s = runtime::GetCacheStatistics();
  Numbers out;
  out["memory_hits"] = s.memory_hits;
  out["disk_hits"] = s.disk_hits;
  out["compiled"] = s.compiled;
  out["corrupt"] = s.corrupt;
  out["compile_seconds"] = s.compile_seconds;
  return out;
}

Numbers RunTimePlanStatisticsNow() {
  const RunTimePlanStatistics s = GetRunTimePlanStatistics();
  Numbers out;
  out["built"] = s.built;
  out["hits"] = s.hits;
  out["refused"] = s.refused;
  return out;
}

std::string TakeErrorOfPython() {
  if (Py_IsInitialized() == 0) return {};
  const py::gil_scoped_acquire gil;
  if (PyErr_Occurred() == nullptr) return {};
  const py::error_already_set error;  // takes the indicator down
  return py::str(error.value());
}

// Python's signal handlers run in its main thread, which a wait for the device would keep from it.
Status CheckForSignals() {
  if (syscall(SYS_gettid) != getpid() || Py_IsInitialized() == 0) return OkStatus();
  const py::gil_scoped_acquire gil;
  if (PyErr_Occurred() != nullptr || PyErr_CheckSignals() == 0) return OkStatus();
  SetInterruption(std::make_exception_ptr(py::error_already_set()));
  return Unavailable("a signal ended the wait for the device");
}

void SetLogger(py::typing::Callable<void(py::str, py::str)> logger) {
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

// A value of a graph under construction, as Python holds it.
struct GraphValue {
  int id = -1;
};

lowering::ScalarArg ToScalar(py::handle object) {
  lowering::ScalarArg out;
  using Kind = lowering::ScalarArg::Kind;
  if (PyBool_Check(object.ptr())) {
    out.kind = Kind::kBool;
    out.integer = object.cast<bool>() ? 1 : 0;
  } else if (PyLong_Check(object.ptr())) {
    out.integer = object.cast<int64_t>();
  } else if (PyComplex_Check(object.ptr())) {
    out.kind = Kind::kComplex;
    out.number = object.cast<std::complex<double>>();
  } else {
    out.kind = Kind::kFloat;
    out.number = object.cast<double>();
  }
  return out;
}

lowering::TensorArg ToTensorArg(const GraphBuilder& builder, py::handle object) {
  if (object.is_none()) return {};
  const int id = object.cast<GraphValue>().id;
  return id < 0 ? lowering::TensorArg{} : lowering::TensorArg{builder.ValueOf(id)};
}

template <typename T, typename F>
std::vector<T> ToList(py::handle object, F&& convert) {
  std::vector<T> out;
  if (!py::isinstance<py::sequence>(object)) return {convert(object)};
  for (const py::handle element : object) out.push_back(convert(element));
  return out;
}

lowering::ArgValue ToArgValue(const GraphBuilder& builder, ArgKind kind, py::handle object) {
  if (object.is_none()) return std::monostate{};
  switch (kind) {
    case ArgKind::kTensor:
      if (py::isinstance<GraphValue>(object)) return ToTensorArg(builder, object);
      return ToScalar(object);
    case ArgKind::kTensorList:
      return ToList<lowering::TensorArg>(
          object, [&](py::handle element) { return ToTensorArg(builder, element); });
    case ArgKind::kScalar:
    case ArgKind::kInt:
    case ArgKind::kFloat:
      return ToScalar(object);
    case ArgKind::kBool:
      return object.cast<bool>();
    case ArgKind::kIntList:
      return ToList<int64_t>(object, [](py::handle e) { return e.cast<int64_t>(); });
    case ArgKind::kFloatList:
      return ToList<double>(object, [](py::handle e) { return e.cast<double>(); });
    case ArgKind::kBoolList:
      return ToList<bool>(object, [](py::handle e) { return e.cast<bool>(); });
    case ArgKind::kScalarList:
      return ToList<lowering::ScalarArg>(object, [](py::handle e) { return ToScalar(e); });
    case ArgKind::kString:
      return object.cast<std::string>();
    case ArgKind::kDtype:
      return ToDType(object.cast<at::ScalarType>());
    default:
      return std::monostate{};
  }
}

// Arguments by position of the overload's schema, defaults filled in.
std::vector<GraphValue> CallRow(GraphBuilder& builder, const std::string& overload,
                                const py::typing::List<py::object>& arguments) {
  const lowering::Row* row = lowering::FindRow(overload);
  TORCH_CHECK_NOT_IMPLEMENTED(row != nullptr, overload, " has no lowering on 'neuron'");
  const std::vector<ArgKind> kinds = RowArgumentKinds(*row);
  TORCH_CHECK_VALUE(kinds.size() == arguments.size(), overload, " takes ", kinds.size(),
                    " arguments, got ", arguments.size());
  std::vector<lowering::ArgValue> values;
  for (size_t i = 0; i < kinds.size(); ++i)
    values.push_back(ToArgValue(builder, kinds[i], arguments[i]));
  std::vector<GraphValue> out;
  for (const int id : builder.Call(overload, std::move(values))) out.push_back({id});
  return out;
}

void BindGraphs(py::module_& m) {
  using Sizes = std::vector<int64_t>;
  m.def("has_row", &HasRow, py::arg("overload"));
  m.def("row_names", &RowNames);
  py::class_<GraphValue>(m, "GraphValue").def_readonly("id", &GraphValue::id);
  py::class_<GraphExecutable, std::shared_ptr<GraphExecutable>>(m, "GraphExecutable")
      .def("accepts", &GraphExecutable::Accepts, py::arg("inputs"))
      .def("run", &GraphExecutable::Run, py::arg("inputs"),
           py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("name", &GraphExecutable::name)
      .def_property_readonly("modelled_seconds", &GraphExecutable::modelled_seconds)
      .def("disassembly", &GraphExecutable::Disassembly);
  py::class_<GraphBuilder>(m, "GraphBuilder")
      .def(py::init<std::string, int>(), py::arg("name"), py::arg("device") = 0)
      .def(
          "input",
          [](GraphBuilder& b, at::ScalarType dtype, Sizes sizes, Sizes strides) {
            return GraphValue{b.Input(dtype, std::move(sizes), std::move(strides))};
          },
          py::arg("dtype"), py::arg("sizes"), py::arg("strides"))
      .def(
          "constant",
          [](GraphBuilder& b, const at::Tensor& t) { return GraphValue{b.Constant(t)}; },
          py::arg("tensor"))
      .def("call", &CallRow, py::arg("overload"), py::arg("arguments"))
      .def(
          "shape", [](GraphBuilder& b, GraphValue v) { return b.ShapeOf(v.id).dims; },
          py::arg("value"))
      .def(
          "dtype",
          [](GraphBuilder& b, GraphValue v) { return ToScalarType(b.ShapeOf(v.id).dtype); },
          py::arg("value"))
      .def(
          "output",
          [](GraphBuilder& b, GraphValue value, at::ScalarType dtype, Sizes sizes, Sizes strides) {
            b.Output(value.id, dtype, std::move(sizes), std::move(strides));
          },
          py::arg("value"), py::arg("dtype"), py::arg("sizes"), py::arg("strides"))
      .def(
          "mutate",
          [](GraphBuilder& b, GraphValue input, GraphValue value) { b.Mutate(input.id, value.id); },
          py::arg("input"), py::arg("value"))
      .def("compile", &GraphBuilder::Compile, py::call_guard<py::gil_scoped_release>());
}

void BindNki(py::module_& m) {
  // (name in the program, bytes, is input, is output)
  using Binding = std::tuple<std::string, int64_t, bool, bool>;
  py::class_<NkiProgram, std::shared_ptr<NkiProgram>>(m, "NkiProgram")
      .def(py::init([](std::string name, const py::bytes& container,
                       const std::vector<Binding>& bindings, int device) {
             std::vector<NkiProgram::Binding> given;
             for (const auto& [tensor, bytes, input, output] : bindings)
               given.push_back({tensor, bytes, input, output});
             return std::make_shared<NkiProgram>(std::move(name), std::string(container), given,
                                                 device);
           }),
           py::arg("name"), py::arg("container"), py::arg("bindings"), py::arg("device"))
      .def("run", &NkiProgram::Run, py::arg("tensors"), py::call_guard<py::gil_scoped_release>())
      .def("trace_json", &NkiProgram::TimelineJson)
      .def_property_readonly("modelled_seconds", &NkiProgram::modelled_seconds);
}

}  // namespace

PYBIND11_MODULE(_C, m) {
  BindGraphs(m);
  SetPythonErrorTaker(&TakeErrorOfPython);
  runtime::SetInterruptCheck(&CheckForSignals);
  BindNki(m);
  using release_gil = py::call_guard<py::gil_scoped_release>;
  m.def("register_hooks", &RegisterHooks);
  m.def("register_kernels", &RegisterKernels);
  m.def("drain_autograd_threads", &DrainAutogradThreads, py::call_guard<py::gil_scoped_release>());
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
  m.def("set_device", &SetCurrentDevice, py::arg("device"));
  m.def("exchange_device", &ExchangeDevice, py::arg("device"));
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

  m.def("default_generator", &DefaultGenerator, py::arg("device") = -1);

  m.def("fallback_counts", &FallbackCounts);
  m.def("clear_fallback_counts", &ClearFallbackCounts);
  m.def("set_strict", &SetStrict, py::arg("strict"));
  m.def("is_strict", &IsStrict);
  m.def("set_fallback_logger", &SetLogger, py::arg("logger"));

  m.def("cache_statistics", &CacheStatisticsNow);
  m.def("run_time_plan_statistics", &RunTimePlanStatisticsNow);
  m.def("start_timeline", &StartTimeline);
  m.def("stop_timeline", [] {
    py::typing::List<LaunchTuple> out;
    for (const RecordedLaunch& launch : StopTimeline())
      out.append(py::make_tuple(launch.device, launch.op, launch.start_ps, launch.duration_ps,
                                launch.events));
    return out;
  });
  m.def(
      "modelled_device_seconds",
      [](int device) {
        EnsureInitialized();
        return runtime::ModelledDeviceSeconds(IndexOrCurrent(device));
      },
      py::arg("device") = -1);
}

}  // namespace neuron::pytorch
