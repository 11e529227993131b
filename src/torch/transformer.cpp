// The fast paths that torch.nn's attention layers take in evaluation: one ATen op per layer, made
// of ordinary ops here, so that they compute what the layers do without them. No gradients: the
// layers take these paths only where none is asked for.
#include <ATen/core/Tensor.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <torch/library.h>

#include <cmath>
#include <limits>
#include <tuple>

namespace neuron::pytorch {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

// What the `mask_type` of these ops says about the mask's shape.
enum MaskType : int64_t { kAttention = 0, kKeyPadding = 1, kBoth = 2 };

// True where attention is forbidden, broadcastable to [batch, heads, queries, keys]. A mask of
// numbers forbids what is not zero, as on CPU.
OptionalTensor Forbidden(const OptionalTensor& mask, std::optional<int64_t> type) {
  if (!mask.has_value() || !mask->defined()) return std::nullopt;
  const Tensor bools = mask->scalar_type() == at::kBool ? *mask : mask->to(at::kBool);
  if (!type.has_value() || *type == kBoth || bools.dim() == 4) return bools;
  if (*type == kKeyPadding) return bools.unsqueeze(1).unsqueeze(2);
  return bools.dim() == 2 ? bools.unsqueeze(0).unsqueeze(0) : bools.unsqueeze(1);
}

Tensor Heads(const Tensor& x, int64_t heads) {  // [B, L, E] -> [B, H, L, E / H]
  return x.unflatten(2, {heads, x.size(2) / heads}).transpose(1, 2);
}
Tensor Joined(const Tensor& x) { return x.transpose(1, 2).flatten(2); }

std::tuple<Tensor, Tensor> MultiHeadAttention(const Tensor& query, const Tensor& key,
                                              const Tensor& value, int64_t embed_dim,
                                              int64_t num_head, const Tensor& qkv_weight,
                                              const Tensor& qkv_bias, const Tensor& proj_weight,
                                              const Tensor& proj_bias, const OptionalTensor& mask,
                                              bool need_weights, bool average_attn_weights,
                                              std::optional<int64_t> mask_type) {
  TORCH_CHECK(query.dim() == 3 && key.dim() == 3 && value.dim() == 3,
              "_native_multi_head_attention: expected [batch, length, width], got query ",
              query.sizes(), ", key ", key.sizes(), ", value ", value.sizes());
  TORCH_CHECK(query.size(2) == embed_dim && embed_dim % num_head == 0,
              "_native_multi_head_attention: a width of ", query.size(2), " with embed_dim ",
              embed_dim, " in ", num_head, " heads");
  const auto project = [&](const Tensor& x, int64_t which) {
    return Heads(at::linear(x, qkv_weight.narrow(0, which * embed_dim, embed_dim),
                            qkv_bias.narrow(0, which * embed_dim, embed_dim)),
                 num_head);
  };
  const Tensor q = project(query, 0), k = project(key, 1), v = project(value, 2);
  const OptionalTensor forbidden = Forbidden(mask, mask_type);
  Tensor weights, attended;
  if (need_weights) {
    const double width = static_cast<double>(embed_dim) / static_cast<double>(num_head);
    Tensor scores = at::matmul(q.div(std::sqrt(width)), k.transpose(2, 3));
    if (forbidden.has_value())
      scores = scores.masked_fill(*forbidden, -std::numeric_limits<double>::infinity());
    weights = at::softmax(scores, -1);
    attended = at::matmul(weights, v);
    if (average_attn_weights) weights = weights.mean(1);
  } else {
    OptionalTensor allowed;
    if (forbidden.has_value()) allowed = at::logical_not(*forbidden);
    attended = at::scaled_dot_product_attention(q, k, v, allowed);
  }
  return {at::linear(Joined(attended), proj_weight, proj_bias), weights};
}

Tensor TransformerEncoderLayer(const Tensor& src, int64_t embed_dim, int64_t num_heads,
                               const Tensor& qkv_weight, const Tensor& qkv_bias,
                               const Tensor& proj_weight, const Tensor& proj_bias, bool use_gelu,
                               bool norm_first, double eps, const Tensor& norm_weight_1,
                               const Tensor& norm_bias_1, const Tensor& norm_weight_2,
                               const Tensor& norm_bias_2, const Tensor& ffn_weight_1,
                               const Tensor& ffn_bias_1, const Tensor& ffn_weight_2,
                               const Tensor& ffn_bias_2, const OptionalTensor& mask,
                               std::optional<int64_t> mask_type) {
  const auto norm1 = [&](const Tensor& x) {
    return at::layer_norm(x, {embed_dim}, norm_weight_1, norm_bias_1, eps);
  };
  const auto norm2 = [&](const Tensor& x) {
    return at::layer_norm(x, {embed_dim}, norm_weight_2, norm_bias_2, eps);
  };
  const auto attention = [&](const Tensor& x) {
    return std::get<0>(MultiHeadAttention(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias,
                                          proj_weight, proj_bias, mask, /*need_weights=*/false,
                                          /*average_attn_weights=*/true, mask_type));
  };
  const auto feed_forward = [&](const Tensor& x) {
    const Tensor inner = at::linear(x, ffn_weight_1, ffn_bias_1);
    return at::linear(use_gelu ? at::gelu(inner) : at::relu(inner), ffn_weight_2, ffn_bias_2);
  };
  if (norm_first) {
    const Tensor x = src.add(attention(norm1(src)));
    return x.add(feed_forward(norm2(x)));
  }
  const Tensor x = norm1(src.add(attention(src)));
  return norm2(x.add(feed_forward(x)));
}

// Whether padded sequences may become nested tensors, which the device does not have.
bool MayNest(const Tensor&, const Tensor&) { return false; }

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_native_multi_head_attention", TORCH_FN(MultiHeadAttention));
  m.impl("_transformer_encoder_layer_fwd", TORCH_FN(TransformerEncoderLayer));
  m.impl("_nested_tensor_from_mask_left_aligned", TORCH_FN(MayNest));
}

}  // namespace
}  // namespace neuron::pytorch
