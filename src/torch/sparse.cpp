#include "torch/sparse.h"

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

namespace neuron::pytorch {
namespace {

void Refuse(const c10::OperatorHandle& op, torch::jit::Stack*) { RefuseSparse(op.schema().name()); }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  for (const char* op : {"embedding_sparse_backward", "_embedding_bag_sparse_backward"})
    m.impl(op, torch::CppFunction::makeFromBoxedFunction<&Refuse>());
}
TORCH_LIBRARY_IMPL(_, SparsePrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&Refuse>());
}
TORCH_LIBRARY_IMPL(_, SparseCsrPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&Refuse>());
}

}  // namespace

void RefuseSparse(const std::string& op) {
  if (op.find("embedding") != std::string::npos)
    C10_THROW_ERROR(NotImplementedError,
                    op + ": 'neuron' has no kernels for sparse tensors, so embeddings have no "
                         "sparse gradients there; make the embedding with sparse=False, whose "
                         "gradient holds the same values");
  C10_THROW_ERROR(NotImplementedError,
                  op + ": 'neuron' has no kernels for sparse tensors; keep the sparse part on the "
                       "CPU (.cpu()), or use dense tensors");
}

}  // namespace neuron::pytorch
