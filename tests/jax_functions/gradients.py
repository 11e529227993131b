# ruff: noqa: E501  a table with a row per function
"""grad, jvp, vjp, hessians."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jax_functions.data import f, i, p

_FUNCTIONS = {
    "exp": jnp.exp, "tanh": jnp.tanh, "sin": jnp.sin, "sigmoid": jax.nn.sigmoid, "gelu": jax.nn.gelu, "softplus": jax.nn.softplus,
    "sqrt_square": lambda x: jnp.sqrt(x * x + 1), "log1p_square": lambda x: jnp.log1p(x * x), "erf": lax.erf, "arctan": jnp.arctan,
    "softmax": jax.nn.softmax, "logsumexp": lambda x: jax.nn.logsumexp(x, -1), "var": lambda x: x.var(-1), "norm": lambda x: jnp.linalg.norm(x, axis=-1),
    "max": lambda x: x.max(-1), "prod": lambda x: x.prod(-1), "cumsum": lambda x: jnp.cumsum(x, -1), "cumprod": lambda x: jnp.cumprod(x, -1),
    "sort": lambda x: jnp.sort(x, -1), "transpose": lambda x: x.T * 2, "roll": lambda x: jnp.roll(x, 2, 1), "pad": lambda x: jnp.pad(x, 1),
    "slice": lambda x: x[1:, ::2], "concatenate": lambda x: jnp.concatenate([x, x * x], 0), "clip": lambda x: jnp.clip(x, -0.5, 0.5),
    "outer": lambda x: x[:, :, None] * x[:, None, :], "triu": jnp.triu, "where": lambda x: jnp.where(x > 0, x * x, 0.1 * x),
}  # fmt: skip


def _weighted(function):
    def loss(x):
        y = function(x)
        return (y * jnp.linspace(0.5, 1.5, y.size, dtype=y.dtype).reshape(y.shape)).sum()

    return loss


CASES = (
    [(name, jax.grad(_weighted(function)), (f(5, 8),)) for name, function in _FUNCTIONS.items()]
    + [
        ("matmul", jax.grad(lambda a, b: ((a @ b) ** 2).sum(), (0, 1)), (f(5, 8), f(8, 6))),
        ("einsum", jax.grad(lambda a, b: (jnp.einsum("bij,bjk->bk", a, b) ** 2).sum(), (0, 1)), (f(2, 5, 8), f(2, 8, 6))),
        ("gather", jax.grad(lambda x, k: (x[k] ** 2).sum()), (f(9, 4), i(9, 12))),
        ("dynamic_slice", jax.grad(lambda x, k: (lax.dynamic_slice(x, (k, np.int32(0)), (3, 4)) ** 2).sum()), (f(9, 4), np.int32(4))),
        ("scatter_add", jax.grad(lambda u, k: (jnp.zeros((9, 4)).at[k].add(u) ** 2).sum()), (f(12, 4), i(9, 12))),
        ("value_and_grad", jax.value_and_grad(lambda x: (jnp.sin(x) ** 2).mean()), (f(5, 8),)),
        ("second_derivative", lambda x: jax.vmap(jax.grad(jax.grad(lambda v: jnp.tanh(v) * v)))(x), (f(9),)),
        ("hessian", jax.hessian(lambda x: (x**3).sum() + x.prod()), (p(4),)),
        ("jacobian_forward", jax.jacfwd(lambda x: jnp.sin(x) * x.sum()), (f(5),)),
        ("jacobian_reverse", jax.jacrev(lambda x: jnp.sin(x) * x.sum()), (f(5),)),
        ("jvp", lambda x, t: jax.jvp(lambda v: jnp.exp(jnp.sin(v)), (x,), (t,)), (f(5), f(5))),
        ("vjp", lambda x, t: jax.vjp(lambda v: jnp.exp(jnp.sin(v)), x)[1](t), (f(5), f(5))),
        ("linearize", lambda x, t: jax.linearize(lambda v: v**3, x)[1](t), (f(5), f(5))),
        ("hessian_vector", lambda x, t: jax.jvp(jax.grad(lambda v: (v**4).sum()), (x,), (t,))[1], (f(5), f(5))),
        ("stop_gradient", jax.grad(lambda x: (x * lax.stop_gradient(x)).sum()), (f(5),)),
        ("straight_through", jax.grad(lambda x: ((x + lax.stop_gradient(jnp.round(x) - x)) ** 2).sum()), (f(5),)),
        ("checkpoint", jax.grad(lambda x: jax.checkpoint(lambda v: jnp.sin(jnp.exp(v)))(x).sum()), (f(5),)),
        ("bfloat16", jax.grad(lambda x: (x.astype(jnp.bfloat16) ** 2).sum().astype(jnp.float32)), (f(5, 8),)),
        ("complex", jax.grad(lambda x: jnp.abs(jnp.exp(1j * x) + x).sum()), (f(5),)),
    ]
)  # fmt: skip
