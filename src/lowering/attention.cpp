// Scaled dot product attention and its gradient, whole: the compiler sees both products and the
// softmax between them. Scores and statistics are f32; probabilities enter the second product in
// the inputs' dtype, as in flash attention.
#include <cmath>
#include <limits>

#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/random_bits.h"
#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Value;

// a[..., M, K] x b[..., N, K]^T or its relatives; the contracted dimension counts from the end.
Expr Batched(Expr a, Expr b, int64_t contract_a, int64_t contract_b, DType result) {
  const int64_t rank = a.rank();
  hlo::DotDimensions dims;
  for (int64_t d = 0; d < rank - 2; ++d) {
    dims.lhs_batch.push_back(d);
    dims.rhs_batch.push_back(d);
  }
  dims.lhs_contracting = {rank + contract_a};
  dims.rhs_contracting = {rank + contract_b};
  return {a.builder(), a.builder().Dot(a, b, dims, result)};
}

// Query, key and value as [..., length, width], so that slices and transposes of a common buffer
// stay what they are. Grouped keys and values are repeated and have one dimension of heads.
struct Problem {
  Dims query_dims, key_dims, value_dims;
  int64_t group = 1, length = 0, keys = 0;
  DType dtype = DType::kF32, wide = DType::kF32;
  Expr q, k, v;
  double scale = 1;
};

int64_t Heads(Expr x) { return Product(Dims(x.dims().begin(), x.dims().end() - 2)); }
Expr Folded(Expr x) {
  const int64_t r = x.rank();
  const int64_t length = x.dims()[static_cast<size_t>(r - 2)], width = x.dims().back();
  return Reshaped(x, {Heads(x), length, width});
}
// As the query is: with heads in one dimension or not.
Expr FoldedLike(const Problem& p, Expr x) { return p.q.rank() == x.rank() ? x : Folded(x); }
Expr Repeated(Expr x, int64_t group) {  // [H, L, E] -> [H g, L, E]
  if (group == 1) return x;
  const Dims& d = x.dims();
  const Expr wide = Reshaped(x, {d[0], 1, d[1], d[2]}).BroadcastTo({d[0], group, d[1], d[2]});
  return Reshaped(wide, {d[0] * group, d[1], d[2]});
}
Expr SummedGroups(Expr x, int64_t group) {
  if (group == 1) return x;
  const Dims& d = x.dims();
  Builder& b = x.builder();
  return {b, b.ReduceSum(Reshaped(x, {d[0] / group, group, d[1], d[2]}), {1})};
}

Problem ReadProblem(Args& args, size_t query, size_t scale) {
  Problem p;
  const Expr q = Tensor(args, query), k = Tensor(args, query + 1), v = Tensor(args, query + 2);
  p.query_dims = q.dims();
  p.key_dims = k.dims();
  p.value_dims = v.dims();
  p.dtype = q.dtype();
  p.wide = ComputeType(q.dtype());
  p.group = Heads(q) / std::max<int64_t>(Heads(k), 1);
  const bool whole = p.group == 1 && q.rank() > 2;
  p.q = whole ? q : Folded(q);
  p.k = whole ? k : Repeated(Folded(k), p.group);
  p.v = whole ? v : Repeated(Folded(v), p.group);
  p.length = p.query_dims[p.query_dims.size() - 2];
  p.keys = p.key_dims[p.key_dims.size() - 2];
  p.scale = args.number_or(scale, 1 / std::sqrt(static_cast<double>(p.query_dims.back())));
  return p;
}

// [..., length, keys] from any attn_bias that broadcasts to [..., heads, length, keys].
Dims ScoreDims(const Problem& p) {
  Dims dims(p.query_dims.begin(), p.query_dims.end() - 1);
  dims.push_back(p.keys);
  return dims;
}

Expr Scores(Args& args, const Problem& p, size_t bias, bool causal) {
  Builder& b = args.builder();
  Expr s = Batched(p.q, p.k, -1, -1, p.wide) * p.scale;
  if (!args.is_none(bias)) {
    const Expr added = Operand(args, bias, p.wide).BroadcastTo(ScoreDims(p));
    s = s + Reshaped(added, s.dims());
  }
  if (causal) {
    const Dims square = {p.length, p.keys};
    const Expr hidden = IotaS32(b, square, 1) > IotaS32(b, square, 0);
    s = Select(hidden, s.Like(-std::numeric_limits<double>::infinity()), s);
  }
  return s;
}

// Of rows' maxima or logarithms of sums: where all scores of a row are minus infinity, a number
// from which they still differ by infinity, so that their exponential is zero.
Expr AboveInfinity(Expr row) {
  const double lowest = row.dtype() == DType::kF64
                            ? std::numeric_limits<double>::lowest()
                            : static_cast<double>(std::numeric_limits<float>::lowest());
  return Maximum(row, lowest);
}

Expr KeepMask(Args& args, const Dims& dims, Value state, double dropout) {
  constexpr int kPhilox = 2;
  Builder& b = args.builder();
  const auto shape = hlo::Shape::Array(DType::kU32, dims);
  const Expr bits = {b, b.RngBitGenerator(state, shape, kPhilox)[1]};
  return UniformFromBits(bits, DType::kF32) < 1 - dropout;
}

// (query, key, value, attn_bias, dropout_p, is_causal, return_debug_mask, *, scale) ->
// output, logsumexp, -, -, max_q, max_k, seed, offset, -; the two ints are the caller's to fill.
Values LowerForward(Builder& b, Args& args) {
  const Problem p = ReadProblem(args, 0, 7);
  const double dropout = args.number_or(4, 0);
  const Expr s = Scores(args, p, 3, args.flag(5));
  const Expr shift = AboveInfinity(KeepMax(s, {s.rank() - 1}));
  const Expr e = Exp(s - shift);
  const Expr sum = KeepSum(e, {s.rank() - 1});
  // The largest element adds 1; a row hidden throughout gives zeros.
  Expr probability = e / Maximum(sum, 1.0);
  Value seed = b.ConstantInt(DType::kS64, 0), offset = seed;
  if (dropout > 0) {
    const int64_t words = Product(s.dims());
    const Value state = args.Philox((words + 3) / 4);
    probability =
        Select(KeepMask(args, s.dims(), state, dropout), probability, 0.0) * (1 / (1 - dropout));
    const auto word = [&](int64_t i) {
      return b.Convert(b.Reshape(b.Slice(state, {i}, {i + 1}, {1}), {}), DType::kS64);
    };
    seed = word(0);
    offset = word(1);
  }
  const Expr out = Batched(probability.As(p.dtype), p.v, -1, -2, p.wide).As(p.dtype);
  Dims out_dims = p.query_dims;
  out_dims.back() = p.value_dims.back();
  Dims rows(p.query_dims.begin(), p.query_dims.end() - 1);
  if (rows.size() == 2) rows.insert(rows.begin(), 1);
  const Expr lse = Reshaped(Log(sum) + shift, rows);
  return {Reshaped(out, out_dims), lse.As(DType::kF32), {}, {}, {}, {}, seed, offset, {}};
}

// The bias gradient: dims that the bias stretched are summed away.
Expr ReducedTo(Expr x, const Dims& dims) {
  Builder& b = x.builder();
  Dims summed;
  const size_t lead = x.dims().size() - dims.size();
  for (size_t d = 0; d < x.dims().size(); ++d) {
    if (d < lead || (dims[d - lead] == 1 && x.dims()[d] != 1))
      summed.push_back(static_cast<int64_t>(d));
  }
  if (!summed.empty()) x = {b, b.ReduceSum(x, summed)};
  return Reshaped(x, dims);
}

// (grad_out, query, key, value, attn_bias, grad_input_mask, out, logsumexp, cum_seq_q, cum_seq_k,
//  max_q, max_k, dropout_p, is_causal, philox_seed, philox_offset, *, scale)
Values LowerBackward(Builder& b, Args& args) {
  const Problem p = ReadProblem(args, 1, 16);
  const double dropout = args.number_or(12, 0);
  const Expr grad = FoldedLike(p, Tensor(args, 0));
  const Expr out = FoldedLike(p, Operand(args, 6, p.wide));
  Dims rows(p.q.dims().begin(), p.q.dims().end() - 1);
  rows.push_back(1);
  const Expr lse = Reshaped(Operand(args, 7, p.wide), rows);
  const Expr s = Scores(args, p, 4, args.flag(13));
  const Expr probability = Exp(s - AboveInfinity(lse));
  Expr kept = probability;
  Expr grad_probability = Batched(grad, p.v, -1, -1, p.wide);
  if (dropout > 0) {
    const auto word = [&](size_t i) {
      return b.Convert(b.Reshape(args.tensor(i), {1}), DType::kU64);
    };
    const Value words[] = {word(14), word(15)};
    const Expr mask = KeepMask(args, s.dims(), b.Concatenate(words, 0), dropout);
    kept = Select(mask, probability, 0.0) * (1 / (1 - dropout));
    grad_probability = Select(mask, grad_probability, 0.0) * (1 / (1 - dropout));
  }
  const Expr dot = KeepSum(grad.As(p.wide) * out, {s.rank() - 1});
  const Expr grad_scores = probability * (grad_probability - dot);
  const Expr narrow = grad_scores.As(p.dtype);
  const Expr grad_v = Batched(kept.As(p.dtype), grad, -2, -2, p.wide);
  const Expr grad_q = Batched(narrow, p.k, -1, -2, p.wide) * p.scale;
  const Expr grad_k = Batched(narrow, p.q, -2, -2, p.wide) * p.scale;
  const auto finish = [&](Expr x, const Dims& dims) { return Reshaped(x, dims).As(p.dtype); };
  Values result = {finish(grad_q, p.query_dims), finish(SummedGroups(grad_k, p.group), p.key_dims),
                   finish(SummedGroups(grad_v, p.group), p.value_dims), Value()};
  const auto* wanted = std::get_if<std::vector<bool>>(&args[5]);
  if (!args.is_none(4) && (wanted == nullptr || (wanted->size() == 4 && (*wanted)[3]))) {
    const Expr bias = Tensor(args, 4);
    result[3] = ReducedTo(Reshaped(grad_scores, ScoreDims(p)), bias.dims()).As(bias.dtype());
  }
  return result;
}

constexpr Row kRows[] = {
    {"aten::_scaled_dot_product_fused_attention_overrideable", LowerForward, Native::kFloating,
     kRandom},
    {"aten::_scaled_dot_product_fused_attention_overrideable_backward", LowerBackward},
};

}  // namespace

constinit const std::span<const Row> kAttentionRows = kRows;

}  // namespace neuron::lowering
