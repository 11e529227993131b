// The cells of LSTM and GRU that PyTorch fuses on accelerators: gates [B, n H] of input and state.
#include "lowering/elementwise.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;

std::vector<Expr> Chunks(Expr x, int64_t count) {
  const int64_t width = x.dims()[1] / count;
  std::vector<Expr> chunks;
  for (int64_t i = 0; i < count; ++i)
    chunks.emplace_back(x.builder(), x.builder().SliceInDim(x, i * width, (i + 1) * width, 1, 1));
  return chunks;
}

Expr Joined(Builder& b, std::initializer_list<Expr> chunks) {
  return {b, b.Concatenate(std::vector<hlo::Value>(chunks.begin(), chunks.end()), 1)};
}

Expr WithBias(Args& args, Expr gates, size_t bias) {
  return args.is_none(bias) ? gates : gates + Operand(args, bias, gates.dtype());
}

// (input_gates, hidden_gates, cx, input_bias, hidden_bias) -> (hy, cy, workspace): the workspace
// keeps the activated gates i, f, g, o for the backward.
Values LowerLstmCell(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0), compute = ComputeType(dtype);
  const Expr gates =
      WithBias(args, Operand(args, 0, compute), 3) + WithBias(args, Operand(args, 1, compute), 4);
  const std::vector<Expr> g = Chunks(gates, 4);
  const Expr in = Logistic(g[0]), forget = Logistic(g[1]), cell = Tanh(g[2]), out = Logistic(g[3]);
  const Expr cy = forget * Operand(args, 2, compute) + in * cell;
  return {(out * Tanh(cy)).As(dtype), cy.As(dtype), Joined(b, {in, forget, cell, out}).As(dtype)};
}

// (grad_hy, grad_cy, cx, cy, workspace, has_bias) -> (grad_gates, grad_cx, grad_bias)
Values LowerLstmCellBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(4), compute = ComputeType(dtype);
  const std::vector<Expr> g = Chunks(Operand(args, 4, compute), 4);
  const Expr in = g[0], forget = g[1], cell = g[2], out = g[3];
  const Expr cx = Operand(args, 2, compute), cy = Tanh(Operand(args, 3, compute));
  const Expr zero = {b, b.ZerosLike(cy)};
  const Expr grad_hy = args.is_none(0) ? zero : Operand(args, 0, compute);
  const Expr grad_cy = args.is_none(1) ? zero : Operand(args, 1, compute);
  const Expr grad_c = grad_hy * out * (1.0 - cy * cy) + grad_cy;
  const Expr gates =
      Joined(b, {grad_c * cell * (1.0 - in) * in, grad_c * cx * (1.0 - forget) * forget,
                 grad_c * in * (1.0 - cell * cell), grad_hy * cy * (1.0 - out) * out});
  return {gates.As(dtype), (grad_c * forget).As(dtype),
          args.flag(5) ? Expr(b, b.ReduceSum(gates, {0})).As(dtype).value() : hlo::Value()};
}

// (input_gates, hidden_gates, hx, input_bias, hidden_bias) -> (hy, workspace): the workspace keeps
// the gates r, z, n, the old state, and the hidden part of n before r scales it.
Values LowerGruCell(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(0), compute = ComputeType(dtype);
  const std::vector<Expr> i = Chunks(WithBias(args, Operand(args, 0, compute), 3), 3);
  const std::vector<Expr> h = Chunks(WithBias(args, Operand(args, 1, compute), 4), 3);
  const Expr hx = Operand(args, 2, compute);
  const Expr reset = Logistic(i[0] + h[0]), update = Logistic(i[1] + h[1]);
  const Expr fresh = Tanh(i[2] + reset * h[2]);
  return {(fresh + update * (hx - fresh)).As(dtype),
          Joined(b, {reset, update, fresh, hx, h[2]}).As(dtype)};
}

// (grad_hy, workspace, has_bias) -> (grad_input_gates, grad_hidden_gates, grad_hx,
//                                    grad_input_bias, grad_hidden_bias)
Values LowerGruCellBackward(Builder& b, Args& args) {
  const DType dtype = args.dtype_of(1), compute = ComputeType(dtype);
  const std::vector<Expr> w = Chunks(Operand(args, 1, compute), 5);
  const Expr reset = w[0], update = w[1], fresh = w[2], hx = w[3], hidden = w[4];
  const Expr grad = Operand(args, 0, compute);
  const Expr grad_fresh = grad * (1.0 - update) * (1.0 - fresh * fresh);
  const Expr grad_reset = grad_fresh * hidden * (1.0 - reset) * reset;
  const Expr grad_update = grad * (hx - fresh) * (1.0 - update) * update;
  const Expr of_input = Joined(b, {grad_reset, grad_update, grad_fresh});
  const Expr of_hidden = Joined(b, {grad_reset, grad_update, grad_fresh * reset});
  const auto bias = [&](Expr gates) {
    return args.flag(2) ? Expr(b, b.ReduceSum(gates, {0})).As(dtype).value() : hlo::Value();
  };
  return {of_input.As(dtype), of_hidden.As(dtype), (grad * update).As(dtype), bias(of_input),
          bias(of_hidden)};
}

constexpr Row kRows[] = {
    // The meta kernel looks at the device of a bias that is None.
    {"aten::_thnn_fused_lstm_cell", LowerLstmCell, Native::kFloating, kOwnShapes},
    {"aten::_thnn_fused_lstm_cell_backward_impl", LowerLstmCellBackward},
    {"aten::_thnn_fused_gru_cell", LowerGruCell},
    {"aten::_thnn_fused_gru_cell_backward", LowerGruCellBackward},
};

}  // namespace

constinit const std::span<const Row> kRecurrentRows = kRows;

}  // namespace neuron::lowering
