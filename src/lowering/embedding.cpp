// Embedding: rows of a table, and the sum of gradients per row.
#include "lowering/elementwise.h"
#include "lowering/index_math.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Shape;

// (weight, indices, padding_idx, scale_grad_by_freq, sparse)
Values LowerEmbedding(Builder&, Args& args) {
  const Expr weight = Tensor(args, 0);
  return {
      TakeAlong(weight, 0, CheckedIndex(args, Tensor(args, 1), {weight.dims()[0], 0}, 1, false))};
}

// (grad_output, indices, num_weights, padding_idx, scale_grad_by_freq)
Values LowerBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0);
  const DType compute = ComputeType(dtype);
  const int64_t rows = args.integer(2);
  const Expr indices = Tensor(args, 1);
  const int64_t n = indices.num_elements();
  const Expr index = Reshaped(CheckedIndex(args, indices, {rows, 0}, 1, false), {n});
  const Expr all = Operand(args, 0, compute);
  const int64_t width = all.dims().back();
  Expr grad = Reshaped(all, {n, width});
  const Expr column = Reshaped(index, {n, 1});
  if (const int64_t padding = args.integer(3); padding >= 0)
    grad = Select(column == column.LikeInt(padding), 0.0, grad);
  if (args.flag(4)) {
    const Expr zeros = {b, b.Full(Shape::Array(compute, {rows}), 0)};
    const Expr ones = {b, b.Full(Shape::Array(compute, {n}), 1)};
    const Expr count = ScatterAlong(zeros, 0, index, ones, ScatterMode::kAdd);
    grad = grad / Reshaped(TakeAlong(count, 0, index), {n, 1});
  }
  const Expr zeros = {b, b.Full(Shape::Array(compute, {rows, width}), 0)};
  return {ScatterAlong(zeros, 0, index, grad, ScatterMode::kAdd).As(dtype)};
}

constexpr Row kRows[] = {
    {"aten::embedding", LowerEmbedding, Native::kAny},
    {"aten::embedding_dense_backward", LowerBackward},
};

}  // namespace

constinit const std::span<const Row> kEmbeddingRows = kRows;

}  // namespace neuron::lowering
