#include "runtime/loaded_executable.h"

#include <algorithm>
#include <utility>

#include "isa/core_programs.h"
#include "runtime/device.h"
#include "runtime/process.h"

namespace neuron::runtime {
namespace {

// Waking the worker costs the caller about this much; a shorter program runs inline.
constexpr int64_t kTinyHostNs = 15'000;

}  // namespace

StatusOr<std::shared_ptr<LoadedExecutable>> LoadedExecutable::Load(Device& device,
                                                                   std::string container,
                                                                   compiler::Signature signature) {
  nrt_model_t* model = nullptr;
  NEURON_RETURN_IF_ERROR(device.allocator().WithMemory([&] {
    return device.nrt().Check(
        device.nrt().nrt_load(container.data(), container.size(), device.index(), 1, &model),
        "nrt_load");
  }));
  auto loaded = std::shared_ptr<LoadedExecutable>(
      new LoadedExecutable(device, model, std::move(container), std::move(signature)));
  NEURON_RETURN_IF_ERROR(
      device.allocator().WithMemory([&] { return loaded->bindings_.TakeScalars(); }));
  device.Register(loaded.get());
  return loaded;
}

LoadedExecutable::LoadedExecutable(Device& device, nrt_model_t* model, std::string container,
                                   compiler::Signature signature)
    : device_(device),
      model_(model),
      container_(std::move(container)),
      signature_(std::move(signature)),
      bindings_(device.nrt(), device.index(), signature_, device.scalars()),
      first_extent_(signature_.scalar_parameters.size()) {}

LoadedExecutable::~LoadedExecutable() {
  device_.Unregister(this);
  // After fork or at exit the library's handles must not be touched any more.
  if (ProcessUsable())
    device_.nrt().nrt_unload(model_);
  else
    bindings_.Abandon();
}

double LoadedExecutable::modelled_seconds() const {
  if (!device_.nrt().device_time()) return 0;
  return static_cast<double>(device_.nrt().nrt_emulator_last_duration_ps(model_)) * 1e-12;
}

std::string LoadedExecutable::Disassembly() const {
  const StatusOr<std::vector<isa::Program>> programs = isa::DecodeCores(container_);
  if (!programs.ok())
    return StrCat("; not a program of this instruction table: ", programs.status().message());
  std::string text;
  for (const isa::Program& program : *programs) text += isa::Disassemble(program);
  return text;
}

std::string LoadedExecutable::TimelineJson() const {
  if (device_.nrt().nrt_emulator_trace == nullptr) return "[]";
  return device_.nrt().nrt_emulator_trace(model_);
}

int64_t LoadedExecutable::ExtentProduct(const Launch& launch) const {
  int64_t product = 1;
  for (size_t i = first_extent_; i < launch.scalars.size(); ++i)
    product *= std::max<int64_t>(1, launch.scalars[i]);
  return product;
}

bool LoadedExecutable::IsTiny(const Launch& launch) const {
  const int64_t host_ns = host_ns_.load(std::memory_order_relaxed);
  if (host_ns < 0 || host_ns > kTinyHostNs) return false;
  if (launch.scalars.size() <= first_extent_) [[likely]]
    return true;
  const int64_t measured = measured_extents_.load(std::memory_order_relaxed);
  return host_ns * std::max<int64_t>(1, ExtentProduct(launch) / measured) <= kTinyHostNs;
}

bool LoadedExecutable::WantsTime() const {
  const uint32_t launches = launches_.load(std::memory_order_relaxed);
  return launches < 8 || launches % 16 == 0 ||
         host_ns_.load(std::memory_order_relaxed) > kTinyHostNs;
}

void LoadedExecutable::AddTime(const Launch& launch, int64_t host_ns) {
  launches_.fetch_add(1, std::memory_order_relaxed);
  if (host_ns < 0) return;
  const int64_t old = host_ns_.load(std::memory_order_relaxed);
  const int64_t extents = ExtentProduct(launch);
  const bool same = old >= 0 && extents == measured_extents_.load(std::memory_order_relaxed);
  host_ns_.store(same ? (3 * old + host_ns) / 4 : host_ns, std::memory_order_relaxed);
  measured_extents_.store(extents, std::memory_order_relaxed);
}

}  // namespace neuron::runtime
