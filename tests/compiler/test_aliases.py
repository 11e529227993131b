"""Results that share a parameter's buffer: in place, beside it and copied late, strided."""

import numpy as np
import pytest
from compiler.harness import Program, check_text


def text(body: str, layout: str = "{ {}: (0, {}, may-alias) }") -> str:
    return f"HloModule m, input_output_alias={layout}\n\nENTRY main {{\n{body}\n}}\n"


IN_PLACE = """
  x = f32[33,100] parameter(0)
  y = f32[33,100] parameter(1)
  ROOT r = f32[33,100] add(x, y)"""
READ_ACROSS = """
  x = f32[64,64] parameter(0)
  t = f32[64,64] transpose(x), dimensions={1,0}
  ROOT r = f32[64,64] add(x, t)"""
READ_LATER = """
  x = f32[8,16] parameter(0)
  w = f32[16,16] parameter(1)
  z = f32[] constant(0)
  a = f32[8,16] multiply(x, x)
  d = f32[8,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[8,16], f32[8,16]) tuple(a, d)"""
COLUMNS = """
  flat = f32[12] parameter(0)
  y = f32[3,2] parameter(1)
  z = s32[] constant(0)
  grid = f32[3,4] reshape(flat)
  s = f32[3,2] slice(grid), slice={[0:3],[0:2]}
  v = f32[3,2] multiply(s, y)
  u = f32[3,4] dynamic-update-slice(grid, v, z, z)
  ROOT r = f32[12] reshape(u)"""
PADDED_COLUMNS = """
  flat = f32[10] parameter(0)
  y = f32[3,2] parameter(1)
  z = s32[] constant(0)
  f = f32[] constant(0)
  p = f32[12] pad(flat, f), padding=0_2
  grid = f32[3,4] reshape(p)
  u = f32[3,4] dynamic-update-slice(grid, y, z, z)
  l = f32[12] reshape(u)
  ROOT r = f32[10] slice(l), slice={[0:10]}"""


@pytest.mark.parametrize(
    ("body", "shapes", "scratch"),
    [
        (IN_PLACE, [(33, 100), (33, 100)], False),
        (READ_ACROSS, [(64, 64)], True),
        (COLUMNS, [(12,), (3, 2)], False),
        (PADDED_COLUMNS, [(10,), (3, 2)], False),
    ],
)
def test_one_result(body, shapes, scratch):
    rng = np.random.default_rng(0)
    arguments = [rng.standard_normal(s).astype(np.float32) for s in shapes]
    if body in (COLUMNS, PADDED_COLUMNS):
        # The buffer afterwards is the parameter with the columns replaced.
        import xla_oracle

        proto = xla_oracle.proto_of_text(text(body))
        program = Program(proto)
        want = xla_oracle.run(xla_oracle.proto_of_text(text(body, "{ }")), arguments)[0]
        (after,) = program.buffers_after(*arguments)[:1]
        np.testing.assert_array_equal(np.frombuffer(after, np.float32), np.asarray(want))
    else:
        program = check_text(text(body), *arguments, tolerance=0)
    assert (program.compiled.scratch_bytes > 0) == scratch


def test_parameter_read_by_a_later_kernel():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((8, 16)).astype(np.float32)
    w = rng.standard_normal((16, 16)).astype(np.float32)
    check_text(text(READ_LATER, "{ {0}: (0, {}, may-alias) }"), x, w, tolerance=1e-5)
