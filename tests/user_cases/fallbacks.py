# fmt: off
"""Ops that a user case may run on the CPU: op -> why. Any other fallback fails the test."""

ON_CPU: dict[str, str] = {
    "aten::index_put_": "boolean masks behind other indices",
    "aten::clone": "of a lazily conjugated tensor",
    "aten::_int_mm": "no row yet",
    "aten::_transformer_encoder_layer_fwd": "the fused path of TransformerEncoderLayer: no row yet",
    "aten::grid_sampler_2d": "no row yet: a gather per corner",
    "aten::grid_sampler_2d_backward": "no row yet",
    "aten::_fused_adagrad_": "no row yet",
    "aten::linalg_eig": "no lowering is planned: iterative, rare",
}
