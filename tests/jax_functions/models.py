# ruff: noqa: E501  a table with a row per function
"""Small models in the style of flax and optax: forward, loss and gradient, one training step."""

import jax
import jax.numpy as jnp
from jax import lax

from jax_functions.data import f, i, p


def _dense(x, w, c):
    return x @ w + c


def _norm(x, g, c):
    mean = x.mean(-1, keepdims=True)
    var = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * g + c


def _attend(x, wqkv, wo, heads, causal=True):
    batch, length, width = x.shape
    q, k, v = jnp.split(
        (x @ wqkv).reshape(batch, length, 3 * heads, width // heads).transpose(0, 2, 1, 3), 3, 1
    )
    scores = q @ k.transpose(0, 1, 3, 2) / jnp.sqrt(width // heads)
    if causal:
        scores = jnp.where(jnp.tril(jnp.ones((length, length), bool)), scores, -1e9)
    mixed = jax.nn.softmax(scores) @ v
    return mixed.transpose(0, 2, 1, 3).reshape(batch, length, width) @ wo


def _block(x, w):
    x = x + _attend(_norm(x, w["g1"], w["b1"]), w["qkv"], w["o"], 2)
    return x + _dense(
        jax.nn.gelu(_dense(_norm(x, w["g2"], w["b2"]), w["up"], w["c1"])), w["down"], w["c2"]
    )


def _block_weights(d=16):
    return {
        "g1": p(d), "b1": f(d), "g2": p(d), "b2": f(d), "qkv": f(d, 3 * d) / 4, "o": f(d, d) / 4,
        "up": f(d, 4 * d) / 4, "c1": f(4 * d), "down": f(4 * d, d) / 8, "c2": f(d),
    }  # fmt: skip


def _nll(logits, labels):
    return -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[..., None], -1).mean()


def _gpt_loss(w, tokens):
    x = w["tokens"][tokens[:, :-1]] + w["positions"][: tokens.shape[1] - 1]
    x = lax.scan(lambda h, layer: (_block(h, layer), None), x, w["layers"])[0]
    return _nll(x @ w["tokens"].T, tokens[:, 1:])


def _gpt_weights():
    layers = jax.tree.map(lambda a: jnp.stack([a, a * 0.9]), _block_weights())
    return {"tokens": f(30, 16) / 4, "positions": f(12, 16) / 4, "layers": layers}


def _mlp(w, x):
    return _dense(jax.nn.relu(_dense(x, w[0], w[1])), w[2], w[3])


_MLP = (f(12, 20) / 4, f(20), f(20, 5) / 4, f(5))


def _adam(w, m, v, g, step):
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    return w - 0.01 * (m / (1 - 0.9**step)) / (jnp.sqrt(v / (1 - 0.999**step)) + 1e-8), m, v


def _train(w, x, y):
    def step(w, _):
        loss, g = jax.value_and_grad(lambda v: _nll(_mlp(v, x), y))(w)
        return jax.tree.map(lambda a, c: a - 0.1 * c, w, g), loss

    return lax.scan(step, w, None, length=4)


def _conv(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME")


def _residual(x, w1, w2):
    h = jax.nn.relu(_conv(x, w1))
    return jax.nn.relu(x + _conv(h, w2))


def _lstm(x, h, c, w, u, bias):
    def step(state, row):
        h, c = state
        i_, f_, g_, o_ = jnp.split(row @ w + h @ u + bias, 4, -1)
        c = jax.nn.sigmoid(f_) * c + jax.nn.sigmoid(i_) * jnp.tanh(g_)
        h = jax.nn.sigmoid(o_) * jnp.tanh(c)
        return (h, c), h

    return lax.scan(step, (h, c), x)


def _gru(x, h, w, u):
    def step(h, row):
        a, c = jnp.split(row @ w, 3, -1), jnp.split(h @ u, 3, -1)
        r, z = jax.nn.sigmoid(a[0] + c[0]), jax.nn.sigmoid(a[1] + c[1])
        return (1 - z) * jnp.tanh(a[2] + r * c[2]) + z * h, None

    return lax.scan(step, h, x)[0]


def _vae(w, x, noise):
    mean, log_var = jnp.split(_dense(x, w[0], w[1]), 2, -1)
    z = mean + jnp.exp(0.5 * log_var) * noise
    out = jax.nn.sigmoid(_dense(z, w[2], w[3]))
    return ((out - x) ** 2).mean() - 0.5 * (1 + log_var - mean**2 - jnp.exp(log_var)).mean()


def _ssm(x, a, b, c):
    def step(h, row):
        h = jnp.exp(-a) * h + b * row[:, None]
        return h, (h * c).sum(-1)

    return lax.scan(step, jnp.zeros((x.shape[1], a.shape[0])), x)[1]


def _decode(w, token, length):
    """Greedy decoding with a cache that is written in place."""
    cache = jnp.zeros((length, 16), jnp.float32)

    def step(k, state):
        token, cache, out = state
        x = w["tokens"][token]
        cache = lax.dynamic_update_slice(cache, x[None], (k, 0))
        scores = jnp.where(jnp.arange(length) <= k, cache @ x, -1e9)
        logits = (jax.nn.softmax(scores) @ cache + x) @ w["tokens"].T
        token = jnp.argmax(logits).astype(jnp.int32)
        return token, cache, out.at[k].set(token)

    return lax.fori_loop(0, length, step, (token, cache, jnp.zeros(length, jnp.int32)))[2]


CASES = [
    ("mlp", _mlp, (_MLP, f(8, 12))),
    ("mlp_gradient", jax.value_and_grad(lambda w, x, y: _nll(_mlp(w, x), y)), (_MLP, f(8, 12), i(5, 8))),
    ("mlp_training", _train, (_MLP, f(8, 12), i(5, 8))),
    ("transformer_block", _block, (f(2, 9, 16), _block_weights())),
    ("transformer_block_gradient", jax.grad(lambda x, w: (_block(x, w) ** 2).mean(), (0, 1)), (f(2, 9, 16), _block_weights())),
    ("gpt_loss", _gpt_loss, (_gpt_weights(), i(30, 2, 10))),
    ("gpt_gradient", jax.grad(_gpt_loss), (_gpt_weights(), i(30, 2, 10))),
    ("greedy_decoding", lambda w, t: _decode(w, t, 8), (_gpt_weights(), i(30))),
    ("residual_block", _residual, (f(2, 4, 8, 8), f(4, 4, 3, 3) / 4, f(4, 4, 3, 3) / 4)),
    ("residual_gradient", jax.grad(lambda w1, w2, x: (_residual(x, w1, w2) ** 2).mean(), (0, 1)), (f(4, 4, 3, 3) / 4, f(4, 4, 3, 3) / 4, f(2, 4, 8, 8))),
    ("vision_transformer", lambda x, e, w: _block(lax.conv_general_dilated(x, e, (4, 4), "VALID").reshape(2, 16, 4).transpose(0, 2, 1), w).mean(1), (f(2, 3, 8, 8), f(16, 3, 4, 4) / 8, _block_weights())),
    ("lstm", _lstm, (f(6, 3, 4), f(3, 5), f(3, 5), f(4, 20) / 2, f(5, 20) / 2, f(20))),
    ("lstm_gradient", jax.grad(lambda w, u, x: (_lstm(x, jnp.zeros((3, 5)), jnp.zeros((3, 5)), w, u, jnp.zeros(20))[1] ** 2).mean(), (0, 1)), (f(4, 20) / 2, f(5, 20) / 2, f(6, 3, 4))),
    ("gru", _gru, (f(6, 3, 4), f(3, 5), f(4, 15) / 2, f(5, 15) / 2)),
    ("vae_gradient", jax.grad(_vae), ((f(12, 6) / 4, f(6), f(3, 12) / 4, f(12)), p(8, 12), f(8, 3))),
    ("state_space", _ssm, (f(9, 5), p(4), f(4), f(4))),
    ("adam_step", lambda w, m, v, g: _adam(w, m, v, g, 3.0), (f(6, 5), f(6, 5), p(6, 5), f(6, 5))),
    ("contrastive", lambda x, y: -jnp.diag(jax.nn.log_softmax(x @ y.T / 0.1)).mean(), (f(6, 8) / 3, f(6, 8) / 3)),
    ("diffusion_step", lambda s, x, t, e, w: jnp.sqrt(s[t])[:, None] * x + jnp.sqrt(1 - 0.9 * s[t])[:, None] * (e @ w), (p(10), f(6, 8), i(10, 6), f(6, 8), f(8, 8))),
    ("graph_convolution", lambda a, x, w: jax.nn.relu((a / a.sum(1, keepdims=True)) @ x @ w), (p(9, 9), f(9, 5), f(5, 4))),
]  # fmt: skip
