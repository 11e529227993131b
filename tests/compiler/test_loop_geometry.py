"""How a loop kernel's domain lies on a tile: few iterations where the access patterns allow it."""

import numpy as np
from compiler.harness import check_text

# Interleaved broadcasts, as in the gradient of pooling: [b, h, w] spread over [b, h, 2, w, 2].
SPREAD = """
HloModule spread
ENTRY main {
  x = f32[512,4,4] parameter(0)
  y = f32[4,2,4,2] parameter(1)
  xs = f32[512,4,2,4,2] broadcast(x), dimensions={0,1,3}
  ys = f32[512,4,2,4,2] broadcast(y), dimensions={1,2,3,4}
  ROOT r = f32[512,4,2,4,2] multiply(xs, ys)
}
"""


def loops(program) -> int:
    return sum(" loop_begin " in line for line in program.compiled.disassembly.splitlines())


def test_four_dimensions_lie_along_the_free_axes():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((512, 4, 4)).astype(np.float32)
    y = rng.standard_normal((4, 2, 4, 2)).astype(np.float32)
    program = check_text(SPREAD, x, y)
    assert loops(program) == 1  # over the rows only


# A channel's sum of such a value, as a bias beside pooling has it: five dimensions are reduced.
SUMMED = """
HloModule summed
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
ENTRY main {
  x = f32[8,16,4,4] parameter(0)
  y = f32[4,2,4,2] parameter(1)
  xs = f32[8,16,4,2,4,2] broadcast(x), dimensions={0,1,2,4}
  ys = f32[8,16,4,2,4,2] broadcast(y), dimensions={2,3,4,5}
  p = f32[8,16,4,2,4,2] multiply(xs, ys)
  r = f32[8,16,8,8] reshape(p)
  zero = f32[] constant(0)
  sums = f32[16] reduce(r, zero), dimensions={0,2,3}, to_apply=add
  ROOT t = (f32[8,16,8,8], f32[16]) tuple(r, sums)
}
"""


def test_rows_of_more_dimensions_than_a_pattern_has_are_a_kernel_of_their_own():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((8, 16, 4, 4)).astype(np.float32)
    y = rng.standard_normal((4, 2, 4, 2)).astype(np.float32)
    check_text(SUMMED, x, y)
