"""Instructions that become others before anything is planned."""

import numpy as np
import pytest
import xla_oracle
from compiler.harness import Program

TEXTS = {
    "map of two arrays": """
HloModule m
f { a = f32[] parameter(0)
  b = f32[] parameter(1)
  half = f32[] constant(0.5)
  sum = f32[] add(a, b)
  scaled = f32[] multiply(sum, half)
  larger = pred[] compare(a, b), direction=GT
  ROOT chosen = f32[] select(larger, scaled, b) }
ENTRY e { x = f32[5,70] parameter(0)
  y = f32[5,70] parameter(1)
  ROOT z = f32[5,70] map(x, y), dimensions={0,1}, to_apply=f }""",
    "map of scalars": """
HloModule m
f { a = f32[] parameter(0)
  ROOT s = f32[] tanh(a) }
ENTRY e { x = f32[] parameter(0)
  y = f32[] parameter(1)
  z = f32[] map(x), dimensions={}, to_apply=f
  ROOT w = f32[] add(z, y) }""",
    "get-dimension-size": """
HloModule m
ENTRY e { x = f32[5,70] parameter(0)
  y = f32[5,70] parameter(1)
  n = s32[] get-dimension-size(x), dimensions={1}
  f = f32[] convert(n)
  b = f32[5,70] broadcast(f), dimensions={}
  d = f32[5,70] divide(x, b)
  ROOT z = f32[5,70] add(d, y) }""",
    "partition-id": """
HloModule m
ENTRY e { x = f32[5,70] parameter(0)
  y = f32[5,70] parameter(1)
  p = u32[] partition-id()
  r = u32[] replica-id()
  s = u32[] add(p, r)
  f = f32[] convert(s)
  b = f32[5,70] broadcast(f), dimensions={}
  c = f32[5,70] add(x, b)
  ROOT z = f32[5,70] add(c, y) }""",
}


@pytest.mark.parametrize("name", TEXTS)
def test_equals_xla(name):
    proto = xla_oracle.proto_of_text(TEXTS[name])
    shape = () if "scalars" in name else (5, 70)
    rng = np.random.default_rng(0)
    arguments = [np.asarray(rng.standard_normal(shape), np.float32) for _ in range(2)]
    (want,) = xla_oracle.run(proto, arguments)
    (got,) = Program(proto)(*arguments)
    np.testing.assert_allclose(got, np.asarray(want), rtol=1e-6, atol=1e-7)
