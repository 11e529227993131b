#include "torch/cpu_probe.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/core/List.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "torch/arguments.h"
#include "torch/device.h"

namespace neuron::pytorch {
namespace {

class Silence final : public c10::WarningHandler {
  void process(const c10::Warning&) override {}
};

// What is drawn from CPU's default generator meanwhile, whose state the user sees, leaves no trace.
class KeptState {
 public:
  KeptState() : state_(at::detail::getDefaultCPUGenerator().get_state()) {}
  ~KeptState() {
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    generator.set_state(state_);
  }
  KeptState(const KeptState&) = delete;
  KeptState& operator=(const KeptState&) = delete;

 private:
  at::Tensor state_;
};

at::TensorOptions OnCpu(const at::Tensor& like) {
  return at::TensorOptions().dtype(like.scalar_type()).device(c10::DeviceType::CPU);
}

bool IsOnDevice(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().type() == kDeviceType;
}

template <typename F>
void ForEachDeviceTensor(std::span<const c10::IValue> arguments, F&& visit) {
  for (const c10::IValue& value : arguments)
    ForEachTensor(value, [&](const at::Tensor& tensor) {
      if (IsOnDevice(tensor)) visit(tensor);
    });
}

// One stand-in per tensor object, so that an op sees that its output is also an input.
class Doubles {
 public:
  explicit Doubles(StandIns kind) : kind_(kind) {}

  c10::IValue Convert(const c10::IValue& value) {
    if (value.isTensor()) return Of(value.toTensor());
    if (value.isTensorList()) {
      c10::List<at::Tensor> out;
      for (const c10::IValue& element : value.toListRef()) out.push_back(Of(element.toTensor()));
      return out;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> out;
      for (const c10::IValue& element : value.toListRef())
        out.push_back(element.isNone() ? std::nullopt : std::optional(Of(element.toTensor())));
      return out;
    }
    if (value.isDevice()) return c10::Device(c10::DeviceType::CPU);
    return value;
  }

 private:
  struct Double {
    const c10::TensorImpl* device;
    at::Tensor host;
  };
  struct Memory {
    const c10::StorageImpl* device;
    at::Tensor host;  // bytes
  };

  at::Tensor Of(const at::Tensor& tensor) {
    if (!IsOnDevice(tensor)) return tensor;
    for (const Double& known : doubles_)
      if (known.device == tensor.unsafeGetTensorImpl()) return known.host;
    at::Tensor host = kind_ == StandIns::kFewElements ? OfFewElements(tensor) : InMemory(tensor);
    if (tensor.unsafeGetTensorImpl()->is_wrapped_number())
      host.unsafeGetTensorImpl()->set_wrapped_number(true);
    doubles_.push_back({tensor.unsafeGetTensorImpl(), host});
    return host;
  }

  // Sizes that broadcast as the call's do.
  static at::Tensor OfFewElements(const at::Tensor& tensor) {
    std::vector<int64_t> sizes;
    for (const int64_t size : tensor.sizes()) sizes.push_back(std::min<int64_t>(size, 2));
    return at::ones(sizes, OnCpu(tensor));
  }

  at::Tensor InMemory(const at::Tensor& tensor) {
    const c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
    auto it = std::ranges::find(memories_, storage, &Memory::device);
    if (it == memories_.end()) {
      // Room for every element: some of CPU's kernels write as if nothing overlapped.
      const auto offset = static_cast<size_t>(tensor.storage_offset()) * tensor.itemsize();
      const size_t bytes = std::max(storage->nbytes(), offset + tensor.nbytes());
      memories_.push_back({storage, at::zeros({static_cast<int64_t>(bytes)}, at::kByte)});
      it = memories_.end() - 1;
    }
    at::Tensor host = at::empty({0}, OnCpu(tensor));
    host.set_(it->host.storage(), tensor.storage_offset(), tensor.sizes(), tensor.strides());
    if (tensor.scalar_type() == at::kBool) host.fill_(true);  // a mask that selects
    return host;
  }

  StandIns kind_;
  std::vector<Double> doubles_;
  std::vector<Memory> memories_;
};

}  // namespace

void AskCpu(const OpEntry& entry, std::span<const c10::IValue> arguments, StandIns stand_ins,
            std::initializer_list<std::string_view> about) {
  if (!entry.op.hasComputedKernelForDispatchKey(c10::DispatchKey::CPU)) return;
  std::optional<KeptState> kept;
  if (entry.op.hasTag(at::Tag::nondeterministic_seeded) && !entry.generator.has_value())
    kept.emplace();
  Silence silence;
  const c10::WarningUtils::WarningHandlerGuard quiet(&silence);
  Doubles doubles(stand_ins);
  torch::jit::Stack stack;
  for (const c10::IValue& value : arguments) stack.push_back(doubles.Convert(value));
  if (entry.generator.has_value())
    stack[static_cast<size_t>(*entry.generator)] = at::detail::createCPUGenerator();
  try {
    entry.op.redispatchBoxed(c10::DispatchKeySet(c10::DispatchKey::CPU), &stack);
  } catch (c10::Error& error) {
    const std::string_view message = error.msg();
    if (std::ranges::none_of(about, [&](std::string_view words) {
          return message.find(words) != std::string_view::npos;
        }))
      return;
    error.add_context("in " + entry.name + " on 'neuron'");
    throw;
  }
}

void AskCpuAboutDtypes(const OpEntry& entry, std::span<const c10::IValue> arguments) {
  std::vector<at::ScalarType> dtypes;
  bool empty = false;
  ForEachDeviceTensor(arguments, [&](const at::Tensor& tensor) {
    dtypes.push_back(tensor.scalar_type());
    empty |= tensor.numel() == 0;
  });
  if (std::ranges::any_of(dtypes, c10::isReducedFloatingType)) return;
  if ((entry.row->flags & lowering::kElementwise) != 0)
    return AskCpu(entry, arguments, StandIns::kFewElements, {""});
  for (size_t i = 0; i < entry.args.size(); ++i)
    if (entry.args[i].kind == ArgKind::kDtype && arguments[i].isInt())
      dtypes.push_back(static_cast<at::ScalarType>(arguments[i].toInt()));
  // It costs what CPU takes: once per combination of dtypes, and not for what every op has, one
  // floating dtype.
  if (dtypes.empty() || (c10::isFloatingType(dtypes[0]) &&
                         std::ranges::count(dtypes, dtypes[0]) == std::ssize(dtypes)))
    return;
  static auto* asked = new std::set<std::pair<const OpEntry*, std::vector<at::ScalarType>>>;
  static std::mutex mutex;
  {
    const std::lock_guard lock(mutex);
    if (asked->contains({&entry, dtypes})) return;
  }
  AskCpu(entry, arguments, StandIns::kSameMemory,
         {"not implemented for", "not support", "scalar type", "dtype", "out of bounds for ",
          "handles only"});
  // Without elements CPU may not look at dtypes; the range of a random fill is no dtype.
  if (empty || (entry.row->flags & lowering::kRandom) != 0) return;
  const std::lock_guard lock(mutex);
  asked->emplace(&entry, std::move(dtypes));
}

void AskCpuAboutOverlap(const OpEntry& entry, std::span<const c10::IValue> arguments) {
  std::vector<const at::Tensor*> tensors, written;
  ForEachDeviceTensor(arguments, [&](const at::Tensor& tensor) { tensors.push_back(&tensor); });
  for (const int position : entry.destinations) {
    const auto i = static_cast<size_t>(position);
    ForEachDeviceTensor(arguments.subspan(i, 1),
                        [&](const at::Tensor& tensor) { written.push_back(&tensor); });
  }
  // An elementwise op may write where it reads; others may not, and often say so.
  const bool elementwise = (entry.row->flags & lowering::kElementwise) != 0;
  const auto meet = [&](const at::Tensor& to, const at::Tensor& from) {
    if (&to == &from || !from.storage().is_alias_of(to.storage())) return false;
    const at::MemOverlapStatus status = at::get_overlap_status(to, from);
    return status == at::MemOverlapStatus::Partial || status == at::MemOverlapStatus::TooHard ||
           (status == at::MemOverlapStatus::Full && !elementwise);
  };
  const bool overlaps = std::ranges::any_of(written, [&](const at::Tensor* to) {
    return at::has_internal_overlap(*to) == at::MemOverlap::Yes ||
           std::ranges::any_of(tensors, [&](const at::Tensor* from) { return meet(*to, *from); });
  });
  if (overlaps) AskCpu(entry, arguments, StandIns::kSameMemory, {"single memory location"});
}

void AskCpuAboutNumbers(const OpEntry& entry, std::span<const c10::IValue> arguments) {
  const bool elementwise = (entry.row->flags & lowering::kElementwise) != 0;
  AskCpu(entry, arguments, elementwise ? StandIns::kFewElements : StandIns::kSameMemory,
         {"without overflow"});
}

}  // namespace neuron::pytorch
