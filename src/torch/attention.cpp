// scaled_dot_product_attention: which of PyTorch's paths it takes on the device.
#include <ATen/native/transformers/attention.h>
#include <torch/library.h>

#include "lowering/table.h"

namespace neuron::pytorch {
namespace {

// Values of at::sdp::SDPBackend.
constexpr int64_t kMath = 0;
constexpr int64_t kOverrideable = 4;

// The fused row takes [batch, heads, length, width] without dropout; the rest is plain arithmetic.
int64_t ChooseAttention(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                        const std::optional<at::Tensor>& mask, double dropout, bool is_causal,
                        std::optional<double> scale, bool grouped) {
  (void)mask, (void)is_causal, (void)scale;
  static const bool fused =
      lowering::FindRow("aten::_scaled_dot_product_fused_attention_overrideable") != nullptr &&
      lowering::FindRow("aten::_scaled_dot_product_fused_attention_overrideable_backward") !=
          nullptr;
  const bool plain = query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && dropout == 0 &&
                     !grouped && query.scalar_type() == key.scalar_type() && query.numel() > 0 &&
                     key.scalar_type() == value.scalar_type() && key.numel() > 0 &&
                     value.numel() > 0 && query.sizes().slice(0, 2) == key.sizes().slice(0, 2) &&
                     key.sizes().slice(0, 3) == value.sizes().slice(0, 3) &&
                     query.size(3) == key.size(3);
  return fused && plain ? kOverrideable : kMath;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("_fused_sdp_choice", TORCH_FN(ChooseAttention)); }

}  // namespace
}  // namespace neuron::pytorch

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &neuron::pytorch::ChooseAttention)
}  // namespace at::native
