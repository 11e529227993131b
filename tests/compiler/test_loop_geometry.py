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
