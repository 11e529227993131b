#include "torch/sparse.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

namespace neuron::pytorch {
namespace {

void Refuse(const c10::OperatorHandle& op, torch::jit::Stack*) { RefuseSparse(op.schema().name()); }

TORCH_LIBRARY_IMPL(_, SparsePrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&Refuse>());
}
TORCH_LIBRARY_IMPL(_, SparseCsrPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&Refuse>());
}

}  // namespace

void RefuseSparse(const std::string& op) {
  C10_THROW_ERROR(NotImplementedError,
                  op + ": 'neuron' has no kernels for sparse tensors; keep the sparse part on the "
                       "CPU (.cpu()), or use dense tensors");
}

}  // namespace neuron::pytorch
