# ruff: noqa: E501  a table with a row per function
"""Movement: what changes places and not values."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from jax_functions.data import f, i

CASES = [
    ("arange_linspace", lambda x: (jnp.arange(7) + x, jnp.linspace(0, 1, 7) * x), (f(7),)),
    ("atleast_3d", lambda x: jnp.atleast_3d(x) * 2, (f(4, 5),)),
    ("block", lambda x, y: jnp.block([[x, y], [y, x]]), (f(2, 3), f(2, 3))),
    ("broadcast_arrays", lambda x, y: jnp.broadcast_arrays(x, y), (f(4, 1), f(5))),
    ("column_stack", lambda x, y: jnp.column_stack([x, y]), (f(4), f(4, 2))),
    ("concatenate_mixed", lambda x, y: jnp.concatenate([x, y.astype(jnp.float32)], 0), (f(2, 3), i(9, 4, 3))),
    ("diag", lambda x: (jnp.diag(x), jnp.diag(jnp.outer(x, x), 1)), (f(5),)),
    ("dstack_vstack", lambda x, y: (jnp.dstack([x, y]), jnp.vstack([x, y]), jnp.hstack([x, y])), (f(3, 4), f(3, 4))),
    ("expand_squeeze", lambda x: jnp.squeeze(jnp.expand_dims(x, (0, 2)), 0) + 1, (f(3, 4),)),
    ("eye_tri", lambda x: jnp.eye(5) * x + jnp.tri(5), (f(5, 5),)),
    ("flip_all", jnp.flip, (f(3, 4, 5),)),
    ("fliplr_flipud", lambda x: (jnp.fliplr(x), jnp.flipud(x)), (f(3, 4),)),
    ("kron", jnp.kron, (f(2, 3), f(3, 2))),
    ("meshgrid", lambda x, y: jnp.meshgrid(x, y, indexing="ij"), (f(3), f(4))),
    ("moveaxis", lambda x: jnp.moveaxis(x, 0, -1) * 2, (f(2, 3, 4),)),
    ("pad_constant", lambda x: jnp.pad(x, ((1, 2), (0, 3)), constant_values=5), (f(3, 4),)),
    ("pad_edge", lambda x: jnp.pad(x, 2, mode="edge"), (f(3, 4),)),
    ("pad_reflect", lambda x: jnp.pad(x, 2, mode="reflect"), (f(3, 4),)),
    ("pad_wrap", lambda x: jnp.pad(x, 2, mode="wrap"), (f(3, 4),)),
    ("ravel_order", lambda x: (x.ravel(), x.T.ravel()), (f(3, 4),)),
    ("repeat", lambda x: (jnp.repeat(x, 3, axis=1), jnp.repeat(x, 2)), (f(3, 4),)),
    ("reshape_transposed", lambda x: x.transpose(1, 0, 2).reshape(4, 15), (f(3, 4, 5),)),
    ("roll_both", lambda x: jnp.roll(x, (1, -2), (0, 1)), (f(3, 4),)),
    ("rollaxis_swapaxes", lambda x: (jnp.rollaxis(x, 2), jnp.swapaxes(x, 0, 2)), (f(2, 3, 4),)),
    ("rot90", lambda x: (jnp.rot90(x), jnp.rot90(x, 2)), (f(3, 4),)),
    ("slice_negative_steps", lambda x: x[::-2, 1:-1:2], (f(7, 8),)),
    ("space_to_depth", lambda x: x.reshape(2, 4, 2, 4, 2, 3).transpose(0, 1, 3, 2, 4, 5).reshape(2, 4, 4, 12), (f(2, 8, 8, 3),)),
    ("split", lambda x: jnp.split(x, 3, axis=1), (f(4, 9),)),
    ("array_split", lambda x: jnp.array_split(x, 4), (f(10, 2),)),
    ("stack", lambda x, y: (jnp.stack([x, y]), jnp.stack([x, y], -1)), (f(3, 4), f(3, 4))),
    ("tile", lambda x: jnp.tile(x, (2, 3)), (f(3, 4),)),
    ("tril_triu", lambda x: (jnp.tril(x, -1), jnp.triu(x, 1)), (f(5, 6),)),
    ("unstack", lambda x: [v * 2 for v in jnp.unstack(x)], (f(3, 4),)),
    ("vander", lambda x: jnp.vander(x, 4), (f(5),)),
    ("zeros_ones_full", lambda x: (jnp.zeros_like(x), jnp.ones((2, 3)), jnp.full_like(x, 7)), (f(3, 4),)),
    ("large_transpose", lambda x: x.T, (f(300, 200),)),
    ("transpose_bf16", lambda x: x.astype(jnp.bfloat16).transpose(2, 0, 1), (f(4, 5, 6),)),
    ("pixel_shuffle", lambda x: x.reshape(2, 3, 2, 2, 4, 4).transpose(0, 1, 4, 2, 5, 3).reshape(2, 3, 8, 8), (f(2, 12, 4, 4),)),
    ("interior_pad", lambda x: lax.pad(x, np.float32(0), ((0, 0, 1), (1, 1, 2))), (f(4, 5),)),
    ("windows_by_slices", lambda x: jnp.stack([x[:, k : k + 4] for k in range(5)], 1), (f(3, 8),)),
    ("bitcast_words", lambda x: lax.bitcast_convert_type(x, jnp.uint32), (f(9),)),
    ("byte_views", lambda x: lax.bitcast_convert_type(x, jnp.uint16), (f(4, 3),)),
    ("byte_views_back", lambda x: lax.bitcast_convert_type(x, jnp.float32), (i(60000, 4, 3, 2, dtype=np.uint16),)),
]  # fmt: skip
