#include "torch/call.h"

#include <ATen/core/List.h>
#include <c10/core/DefaultDtype.h>

#include <bit>
#include <cstring>
#include <optional>

#include "torch/device.h"
#include "torch/dtype.h"

namespace neuron::pytorch {
namespace {

enum Tag : uint64_t {
  kNone = 1,
  kDeviceTensor,
  kHostScalar,
  kList,
  kNumber,
  kText,
};

uint64_t TagWord(Tag tag, uint64_t a, uint64_t b = 0, uint64_t c = 0) {
  return static_cast<uint64_t>(tag) | a << 8 | b << 16 | c << 24;
}

// Of the tensor whose sizes the key takes next.
void NoteFields(int rank, bool strided, Call& call) {
  const int tensor = static_cast<int>(call.tensors.size());
  size_t word = call.key.size();
  for (int d = 0; d < rank; ++d) call.fields->push_back({KeyField::Kind::kSize, word++, tensor, d});
  for (int d = 0; strided && d < rank; ++d)
    call.fields->push_back({KeyField::Kind::kStride, word++, tensor, d});
}

// True for a host scalar, whose value and not its memory takes part. Lazy conjugation and negation
// are the program's to resolve, where it only reads.
bool AddTensor(const at::Tensor& tensor, bool written, Call& call) {
  if (!tensor.defined()) {
    call.key.push_back(TagWord(kNone, 0));
    return false;
  }
  const auto type = static_cast<uint64_t>(tensor.scalar_type());
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (impl->device_type() != kDeviceType) {
    if (!IsHostScalar(tensor)) {
      call.mixed_devices = true;
      return false;
    }
    call.key.push_back(TagWord(kHostScalar, type, impl->is_wrapped_number() ? 1 : 0));
    return true;
  }
  if (impl->layout() != c10::kStrided || ToDType(tensor.scalar_type()) == DType::kInvalid)
    call.unsupported = true;
  const int device = impl->device().index();
  if (call.device < 0) call.device = device;
  if (device != call.device) call.mixed_devices = true;
  const at::IntArrayRef sizes = impl->sizes();
  const bool dense = impl->is_contiguous();
  const bool conjugated = tensor.is_conj(), negated = tensor.is_neg();
  if (written && (conjugated || negated)) call.unsupported = true;
  call.key.push_back(TagWord(kDeviceTensor, type, sizes.size(),
                             (dense ? 1u : 0u) | (impl->is_wrapped_number() ? 2u : 0u) |
                                 (conjugated ? 4u : 0u) | (negated ? 8u : 0u)));
  if (call.fields != nullptr) [[unlikely]]
    NoteFields(static_cast<int>(sizes.size()), !dense, call);
  for (const int64_t size : sizes) call.key.push_back(static_cast<uint64_t>(size));
  if (!dense)
    for (const int64_t stride : impl->strides()) call.key.push_back(static_cast<uint64_t>(stride));
  call.tensors.push_back(&tensor);
  return false;
}

// Which argument a number is, and which element of it; -1: no length.
struct Place {
  int argument = -1, element = -1;
};

void AddNumber(const c10::IValue& value, bool run_time, Call& call, Place place = {}) {
  if (value.isInt()) {
    call.key.push_back(TagWord(kNumber, 1));
    if (!run_time || value.toInt() == 1) {
      if (call.fields != nullptr && !run_time && place.argument >= 0) [[unlikely]]
        call.fields->push_back(
            {KeyField::Kind::kInteger, call.key.size(), place.argument, place.element});
      call.key.push_back(static_cast<uint64_t>(value.toInt()));
    }
  } else if (value.isDouble()) {
    call.key.push_back(TagWord(kNumber, 2));
    if (!run_time || value.toDouble() == 1.0)
      call.key.push_back(std::bit_cast<uint64_t>(value.toDouble()));
  } else if (value.isBool()) {
    call.key.push_back(TagWord(kNumber, 3, value.toBool() ? 1 : 0));
  } else if (value.isComplexDouble()) {
    const c10::complex<double> z = value.toComplexDouble();
    call.key.push_back(TagWord(kNumber, 4));
    call.key.push_back(std::bit_cast<uint64_t>(z.real()));
    call.key.push_back(std::bit_cast<uint64_t>(z.imag()));
  } else {
    call.unsupported = true;  // a symbolic number
  }
}

void AddText(const std::string& text, Call& call) {
  call.key.push_back(TagWord(kText, text.size()));
  for (size_t i = 0; i < text.size(); i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, std::min(sizeof(word), text.size() - i));
    call.key.push_back(word);
  }
}

void AddArgument(const ArgInfo& info, const c10::IValue& value, Call& call, int position) {
  if (value.isNone()) {
    call.key.push_back(TagWord(kNone, 0));
    return;
  }
  const int place = info.length ? position : -1;
  switch (info.kind) {
    case ArgKind::kTensor:
      AddTensor(value.toTensor(), info.written, call);
      return;
    case ArgKind::kTensorList:
      call.key.push_back(TagWord(kList, value.toListRef().size()));
      for (const c10::IValue& element : value.toListRef()) {
        if (element.isNone()) {
          call.key.push_back(TagWord(kNone, 0));
          continue;
        }
        if (AddTensor(element.toTensor(), info.written, call)) {
          call.host_scalars_in_lists = true;
          call.unsupported |= info.written;  // a copy would take the result
        }
      }
      return;
    case ArgKind::kIntList:
    case ArgKind::kFloatList:
    case ArgKind::kBoolList:
    case ArgKind::kScalarList:
      if (!value.isList()) {
        AddNumber(value, info.run_time, call);
        return;
      }
      call.key.push_back(TagWord(kList, value.toListRef().size()));
      for (int i = 0; const c10::IValue& element : value.toListRef())
        AddNumber(element, info.run_time, call, {place, i++});
      return;
    case ArgKind::kScalar:
    case ArgKind::kInt:
      AddNumber(value, info.run_time, call, {place, -1});
      return;
    case ArgKind::kFloat:
    case ArgKind::kBool:
    case ArgKind::kDtype:
      AddNumber(value, info.run_time, call);
      return;
    case ArgKind::kResolved:
      if (value.isInt() || value.isBool()) AddNumber(value, false, call);
      return;
    case ArgKind::kString:
      AddText(value.toStringRef(), call);
      return;
    case ArgKind::kDevice: {
      const c10::Device device = value.toDevice();
      if (device.type() != kDeviceType)
        call.unsupported = true;
      else if (call.device < 0 && device.has_index())
        call.device = device.index();
      return;
    }
    case ArgKind::kGenerator:
      return;
    case ArgKind::kUnsupported:
      call.unsupported = true;
      return;
  }
}

// Which tensors a written one shares storage with: identical views may share a buffer, others not.
void AddAliases(const OpEntry& entry, Call& call) {
  if (entry.destinations.empty()) return;
  const size_t n = call.tensors.size();
  for (size_t i = 0; i < n; ++i) {
    const c10::TensorImpl* a = call.tensors[i]->unsafeGetTensorImpl();
    for (size_t j = i + 1; j < n; ++j) {
      const c10::TensorImpl* b = call.tensors[j]->unsafeGetTensorImpl();
      if (a->unsafe_storage().unsafeGetStorageImpl() != b->unsafe_storage().unsafeGetStorageImpl())
        continue;
      call.key.push_back(i << 32 | j << 1 | (a->storage_offset() == b->storage_offset() ? 1u : 0u));
      if (a->storage_offset() != b->storage_offset())
        call.key.push_back(static_cast<uint64_t>(b->storage_offset() - a->storage_offset()));
    }
  }
}

}  // namespace

bool IsHostScalar(const at::Tensor& tensor) {
  return tensor.device().type() == c10::DeviceType::CPU && tensor.dim() == 0 &&
         tensor.layout() == c10::kStrided;
}

void Flatten(const OpEntry& entry, std::span<const c10::IValue> arguments, Call& call) {
  for (size_t i = 0; i < entry.args.size(); ++i)
    AddArgument(entry.args[i], arguments[i], call, static_cast<int>(i));
  AddAliases(entry, call);
  if (call.device < 0) call.device = CurrentDevice();
  call.key.push_back(static_cast<uint64_t>(call.device) |
                     static_cast<uint64_t>(c10::get_default_dtype_as_scalartype()) << 32);
}

void MoveListScalars(const OpEntry& entry, std::span<c10::IValue> arguments, int device) {
  const auto moved = [&](const at::Tensor& tensor) {
    return tensor.defined() && IsHostScalar(tensor) ? tensor.to(DeviceAt(device)) : tensor;
  };
  for (size_t i = 0; i < entry.args.size(); ++i) {
    if (entry.args[i].kind != ArgKind::kTensorList) continue;
    if (arguments[i].isTensorList()) {
      c10::List<at::Tensor> list;
      for (const c10::IValue& element : arguments[i].toListRef())
        list.push_back(moved(element.toTensor()));
      arguments[i] = std::move(list);
    } else if (arguments[i].isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> list;
      for (const c10::IValue& element : arguments[i].toListRef())
        list.push_back(element.isNone() ? std::nullopt : std::optional(moved(element.toTensor())));
      arguments[i] = std::move(list);
    }
  }
}

uint64_t HashKey(std::span<const uint64_t> key) {
  uint64_t hash = 0x9E3779B97F4A7C15u;
  for (const uint64_t word : key) {
    hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  }
  return hash;
}

void CheckSameDevice(const std::string& op, std::span<const c10::IValue> arguments) {
  std::optional<c10::Device> device;
  const auto check = [&](const at::Tensor& tensor) {
    if (!tensor.defined() || IsHostScalar(tensor)) return;
    if (!device.has_value()) device = tensor.device();
    TORCH_CHECK(tensor.device() == *device,
                "Expected all tensors to be on the same device, but found at least two devices, ",
                *device, " and ", tensor.device(), "! (when checking arguments of ", op, ")");
  };
  for (const c10::IValue& value : arguments) {
    if (value.isTensor()) check(value.toTensor());
    if (value.isTensorList())
      for (const c10::IValue& element : value.toListRef()) check(element.toTensor());
  }
}

}  // namespace neuron::pytorch
