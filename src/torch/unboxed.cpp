#include "torch/unboxed.h"

#include <array>
#include <utility>

namespace neuron::pytorch {
namespace {

// IValues that hold tensors without a reference of their own; the caller's outlive them.
template <size_t kCount>
class Borrowed {
 public:
  template <typename... Args>
  explicit Borrowed(const Args&... args) : values_{Borrow(args)...} {}
  Borrowed(const Borrowed&) = delete;
  ~Borrowed() {
    for (c10::IValue& value : values_)
      if (value.isTensor()) std::move(value).toTensor().unsafeReleaseTensorImpl();
  }
  std::span<c10::IValue> values() { return values_; }

 private:
  static c10::IValue Borrow(const at::Tensor& tensor) {
    return c10::MaybeOwnedTraits<at::Tensor>::createBorrow(tensor);
  }
  static c10::IValue Borrow(const at::Scalar& number) { return number; }

  std::array<c10::IValue, kCount> values_;
};

// The CPU's result, through the boxed way.
template <typename... Args>
at::Tensor Fallback(Kernel& kernel, const Args&... args) {
  torch::jit::Stack stack{c10::IValue(args)...};
  kernel.RunBoxed(&stack);
  return stack.empty() ? at::Tensor() : std::move(stack.back()).toTensor();
}

template <typename... Args>
torch::CppFunction Functional(const std::shared_ptr<Kernel>& kernel) {
  return torch::CppFunction([kernel](const Args&... args) -> at::Tensor {
    c10::SmallVector<at::Tensor, 1> fresh;
    Borrowed<sizeof...(Args)> arguments(args...);
    if (kernel->Run(arguments.values(), fresh).fallback_reason.empty()) [[likely]]
      return std::move(fresh[0]);
    return Fallback(*kernel, args...);
  });
}

template <typename... Args>
torch::CppFunction InPlace(const std::shared_ptr<Kernel>& kernel) {
  return torch::CppFunction([kernel](at::Tensor& self, const Args&... args) -> at::Tensor& {
    c10::SmallVector<at::Tensor, 1> none;
    Borrowed<sizeof...(Args) + 1> arguments(self, args...);
    if (!kernel->Run(arguments.values(), none).fallback_reason.empty()) [[unlikely]]
      Fallback(*kernel, self, args...);
    return self;
  });
}

using T = at::Tensor;
using S = at::Scalar;
struct Signature {
  std::string_view arguments;  // t: tensor, s: number
  torch::CppFunction (*functional)(const std::shared_ptr<Kernel>&);
  torch::CppFunction (*in_place)(const std::shared_ptr<Kernel>&);
};
constexpr Signature kSignatures[] = {
    {"t", Functional<T>, InPlace<>},
    {"tt", Functional<T, T>, InPlace<T>},
    {"ts", Functional<T, S>, InPlace<S>},
    {"tts", Functional<T, T, S>, InPlace<T, S>},
    {"tss", Functional<T, S, S>, InPlace<S, S>},
    {"ttt", Functional<T, T, T>, InPlace<T, T>},
    {"ttts", Functional<T, T, T, S>, InPlace<T, T, S>},
};

}  // namespace

std::optional<torch::CppFunction> MakeUnboxed(const std::shared_ptr<Kernel>& kernel) {
  const c10::FunctionSchema& schema = kernel->entry().op.schema();
  if (!kernel->leaves_arguments() || schema.returns().size() != 1 ||
      schema.returns()[0].type()->kind() != c10::TypeKind::TensorType)
    return std::nullopt;
  std::string arguments;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    const bool written = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    const c10::TypeKind type = argument.type()->kind();
    if ((written && i > 0) ||
        (type != c10::TypeKind::TensorType && type != c10::TypeKind::NumberType))
      return std::nullopt;
    arguments += type == c10::TypeKind::TensorType ? 't' : 's';
  }
  const int source = kernel->returns()[0];
  const bool writes_first = !schema.arguments().empty() &&
                            schema.arguments()[0].alias_info() != nullptr &&
                            schema.arguments()[0].alias_info()->isWrite();
  if (source > 0 || writes_first != (source == 0)) return std::nullopt;
  for (const Signature& signature : kSignatures)
    if (signature.arguments == arguments)
      return (source == 0 ? signature.in_place : signature.functional)(kernel);
  return std::nullopt;
}

}  // namespace neuron::pytorch
