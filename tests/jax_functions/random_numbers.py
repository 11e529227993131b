# ruff: noqa: E501  a table with a row per function
"""jax.random: counters through integer arithmetic, so the same bits everywhere."""

import jax
import jax.numpy as jnp
import numpy as np

from jax_functions.data import f

_KEY = np.uint32([7, 11])


def _with_key(draw):
    return lambda key: draw(jax.random.wrap_key_data(key))


_DRAWS = {
    "uniform": lambda k: jax.random.uniform(k, (5, 7)),
    "normal": lambda k: jax.random.normal(k, (5, 7)),
    "bits": lambda k: jax.random.bits(k, (9,)),
    "randint": lambda k: jax.random.randint(k, (9,), -5, 30),
    "bernoulli": lambda k: jax.random.bernoulli(k, 0.3, (5, 7)),
    "permutation": lambda k: jax.random.permutation(k, 12),
    "split": lambda k: jax.random.uniform(jax.random.split(k, 3)[1], (4,)),
    "fold_in": lambda k: jax.random.uniform(jax.random.fold_in(k, 5), (4,)),
    "categorical": lambda k: jax.random.categorical(k, jnp.log(jnp.array([0.2, 0.3, 0.5])), shape=(9,)),
    "gumbel": lambda k: jax.random.gumbel(k, (9,)),
    "exponential": lambda k: jax.random.exponential(k, (9,)),
    "laplace": lambda k: jax.random.laplace(k, (9,)),
    "truncated_normal": lambda k: jax.random.truncated_normal(k, -1.0, 1.0, (9,)),
    "choice": lambda k: jax.random.choice(k, 20, (6,)),
    "rademacher": lambda k: jax.random.rademacher(k, (9,)),
    "uniform_bfloat16": lambda k: jax.random.uniform(k, (9,), jnp.bfloat16),
    "dropout": lambda k: jnp.where(jax.random.bernoulli(k, 0.8, (5, 7)), f(5, 7) / 0.8, 0),
}  # fmt: skip

CASES = [(name, _with_key(draw), (_KEY,)) for name, draw in _DRAWS.items()]
