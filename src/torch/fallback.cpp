#include "torch/fallback.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/List.h>
#include <ATen/core/ivalue.h>
#include <torch/library.h>

#include <atomic>
#include <mutex>

#include "base/environment.h"
#include "torch/call.h"
#include "torch/device.h"
#include "torch/generator.h"
#include "torch/host_mirror.h"
#include "torch/sparse.h"

namespace neuron::pytorch {
namespace {

struct Counter {
  std::mutex mutex;
  std::map<std::string, int64_t> counts;
  std::function<void(const std::string&, const std::string&)> logger;
};
Counter& TheCounter() {
  static auto* counter = new Counter;
  return *counter;
}
std::atomic<int> strict_override{-1};

// 128-bit counters set aside for one random op on the CPU: more than any of them draws.
constexpr uint64_t kFallbackCounters = uint64_t{1} << 32;

at::Generator HostGenerator(PhiloxGenerator* generator) {
  const std::lock_guard lock(generator->mutex_);
  const auto [seed, offset] = generator->Draw(kFallbackCounters);
  return at::detail::createCPUGenerator(seed ^ (offset * 0x9E3779B97F4A7C15u));
}

// Ops that draw from CPU's default generator draw what the device's state says, and leave CPU's.
class HostSeed {
 public:
  explicit HostSeed(int device) : saved_(at::detail::getDefaultCPUGenerator().get_state()) {
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    generator.set_current_seed(HostGenerator(GeneratorFor(std::nullopt, device)).current_seed());
  }
  ~HostSeed() {
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    generator.set_state(saved_);
  }
  HostSeed(const HostSeed&) = delete;
  HostSeed& operator=(const HostSeed&) = delete;

 private:
  at::Tensor saved_;
};

// Running statistics change though the schema of these does not say so.
bool HidesMutation(const std::string& name) {
  return name == "aten::native_batch_norm" || name == "aten::cudnn_batch_norm" ||
         name == "aten::miopen_batch_norm" || name == "aten::_batch_norm_impl_index";
}

bool Writes(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

// Indices and what is copied or split may be on the CPU beside a neuron tensor, as on CUDA.
bool TakesHostTensors(const std::string& name) {
  for (const char* part : {"copy", "split", "pin"})
    if (name.find(part) != std::string::npos) return true;
  for (const char* op :
       {"aten::index", "aten::index_put", "aten::index_put_", "aten::_index_put_impl_",
        "aten::_unsafe_index", "aten::_unsafe_index_put"})
    if (name == op) return true;
  return false;
}

c10::IValue ToHost(const c10::IValue& value, const c10::Argument& argument, HostMirror& mirror,
                   int* device) {
  const bool writes = Writes(argument);
  if (value.isTensor()) return mirror.ToHost(value.toTensor(), writes);
  if (value.isTensorList()) {
    c10::List<at::Tensor> host;
    for (const at::Tensor& tensor : value.toTensorVector())
      host.push_back(mirror.ToHost(tensor, writes));
    return host;
  }
  if (value.isOptionalTensorList()) {
    c10::List<std::optional<at::Tensor>> host;
    for (const std::optional<at::Tensor>& tensor : value.toOptionalTensorVector())
      host.push_back(tensor.has_value() ? std::optional(mirror.ToHost(*tensor, writes)) : tensor);
    return host;
  }
  if (value.isDevice() && value.toDevice().type() == kDeviceType) {
    *device = value.toDevice().has_index() ? value.toDevice().index() : CurrentDevice();
    return c10::Device(c10::DeviceType::CPU);
  }
  return value;
}

bool IsSparse(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() &&
         value.toTensor().layout() != c10::kStrided;
}

c10::IValue ToDevice(const c10::IValue& value, HostMirror& mirror, int device) {
  if (value.isTensor()) return mirror.ToDevice(value.toTensor(), device);
  if (value.isTensorList()) {
    c10::List<at::Tensor> out;
    for (const at::Tensor& tensor : value.toTensorVector())
      out.push_back(mirror.ToDevice(tensor, device));
    return out;
  }
  return value;
}

void Fallback(const c10::OperatorHandle& op, torch::jit::Stack* stack) { FallbackToCpu(op, stack); }

TORCH_LIBRARY_IMPL(_, PrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&Fallback>());
}

}  // namespace

void FallbackToCpu(const c10::OperatorHandle& op, torch::jit::Stack* stack, const std::string& why,
                   bool wrong_arguments) {
  const c10::FunctionSchema& schema = op.schema();
  const std::string name =
      schema.overload_name().empty() ? schema.name() : schema.name() + "." + schema.overload_name();
  const auto& arguments = schema.arguments();
  const size_t begin = stack->size() - arguments.size();
  // An error of the caller's, whether or not falling back is allowed.
  if (!TakesHostTensors(schema.name()))
    CheckSameDevice(schema.name(), {stack->data() + begin, arguments.size()});
  if (!wrong_arguments) NoteFallback(name, why);
  TORCH_CHECK_NOT_IMPLEMENTED(
      op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU), "Could not run '", schema.name(),
      "' on 'neuron' tensors: it has neither a lowering nor a CPU kernel to fall back to");
  EnsureInitialized();

  HostMirror mirror;
  int device = -1;
  for (size_t i = 0; i < arguments.size(); ++i)
    (*stack)[begin + i] = ToHost((*stack)[begin + i], arguments[i], mirror, &device);
  if (mirror.device() >= 0) device = mirror.device();
  if (device < 0) device = CurrentDevice();
  bool generator_given = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    c10::IValue& value = (*stack)[begin + i];
    const bool generator_argument =
        arguments[i].name() == "generator" && (value.isGenerator() || value.isNone());
    if (!generator_argument) continue;
    std::optional<at::Generator> given;
    if (value.isGenerator()) given = value.toGenerator();
    value = HostGenerator(GeneratorFor(given, device));
    generator_given = true;
  }
  if (HidesMutation(schema.name())) mirror.MarkAllWritten();

  {
    std::optional<HostSeed> seed;
    if (op.hasTag(at::Tag::nondeterministic_seeded) && !generator_given) seed.emplace(device);
    try {
      op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), stack);
    } catch (c10::Error& error) {
      error.add_context("in " + name + " on 'neuron'");
      throw;
    }
  }
  if (wrong_arguments) NoteFallback(name, why);

  mirror.WriteBack();
  const size_t results = schema.returns().size();
  for (size_t i = stack->size() - results; i < stack->size(); ++i)
    if (IsSparse((*stack)[i])) RefuseSparse(schema.name());
  for (size_t i = stack->size() - results; i < stack->size(); ++i)
    (*stack)[i] = ToDevice((*stack)[i], mirror, device);
}

void NoteFallback(const std::string& op, const std::string& why) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      !IsStrict(), op, why.empty() ? " has no lowering on 'neuron'" : " cannot run on 'neuron': ",
      why.substr(0, why.find('\n')),
      " and would run on the CPU, which TORCHNEURON_STRICT forbids; unset it to allow that");
  Counter& counter = TheCounter();
  std::function<void(const std::string&, const std::string&)> logger;
  {
    const std::lock_guard lock(counter.mutex);
    if (++counter.counts[op] == 1) logger = counter.logger;
  }
  if (logger) logger(op, why);
}

std::map<std::string, int64_t> FallbackCounts() {
  const std::lock_guard lock(TheCounter().mutex);
  return TheCounter().counts;
}
void ClearFallbackCounts() {
  const std::lock_guard lock(TheCounter().mutex);
  TheCounter().counts.clear();
}
void SetStrict(bool strict) { strict_override = strict ? 1 : 0; }
bool IsStrict() {
  static const bool from_environment = ReadSwitch(Variable::kStrict);
  const int set = strict_override;
  return set < 0 ? from_environment : set == 1;
}
void SetFallbackLogger(std::function<void(const std::string&, const std::string&)> logger) {
  const std::lock_guard lock(TheCounter().mutex);
  TheCounter().logger = std::move(logger);
}

}  // namespace neuron::pytorch
