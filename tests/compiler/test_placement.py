"""Values stored where they are going: no copy remains, and sums of padded parts are one tensor."""

import jax.numpy as jnp
import numpy as np
import pytest
from compiler.harness import check
from jax import lax


def normal(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def hbm_to_hbm(program) -> int:
    lines = program.compiled.disassembly.splitlines()
    return sum("dma_copy" in line and line.count("hbm") == 2 for line in lines)


def test_pieces_of_a_concatenation_are_stored_in_place():
    def function(a, b):
        return jnp.exp(jnp.concatenate([a + b, a * b, a - b], axis=1).reshape(2, -1))[::-1]

    program = check(function, normal(4, 96), normal(4, 96, seed=1))
    assert hbm_to_hbm(program) == 0


@pytest.mark.parametrize("parts", [2, 3])
def test_parts_padded_with_zeros_are_added_by_placement(parts):
    def function(*operands):
        padded = []
        for i, (a, b) in enumerate(operands):
            zeros = jnp.zeros((parts, 4, 6, 32, 64), jnp.float32).reshape(-1)
            n = 4 * 6 * 32 * 64
            dot = jnp.einsum("abij,abjk->abik", a, b).reshape(-1)
            pieces = [zeros[: i * n], dot, zeros[(i + 1) * n :]]
            whole = lax.concatenate([p for p in pieces if p.size], 0)
            padded.append(whole.reshape(parts, 4, 6, 32, 64))
        total = sum(padded[1:], padded[0])
        return total.transpose(1, 3, 0, 2, 4).reshape(4 * 32, -1) @ jnp.ones((parts * 384, 8))

    operands = [(normal(4, 6, 32, 16, seed=i), normal(4, 6, 16, 64, seed=9)) for i in range(parts)]
    flat = [x for pair in operands for x in pair]
    program = check(
        lambda *xs: function(*zip(xs[::2], xs[1::2], strict=True)),
        *flat,
        tolerance=1e-3,
        relaxed=True,
    )
    assert hbm_to_hbm(program) == 0


def test_a_result_that_is_a_view_of_what_others_read():
    """They must not look in its transposed place: by the value itself, by a view between, by the
    view that is the result, and by two results."""

    def function(a, b, w):
        m, n, o, p = a * b, a - b, a + b, a / b
        r = n.reshape(2, 20, 30)
        t = o.T
        return m.T, m @ w, r.swapaxes(1, 2), r @ w, t, t @ a, p.T, p.T.reshape(-1), p.T

    a, b = normal(40, 30), normal(40, 30, seed=1)
    check(function, a, b, normal(30, 8), tolerance=1e-3)
