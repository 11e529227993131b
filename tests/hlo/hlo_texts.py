"""HLO that JAX's CPU lowering does not write, as XLA text: name -> (text, arguments)."""

import numpy as np

_rng = np.random.default_rng(1)
_SPD = np.array([[4, 1, 0.5], [1, 3, 0.2], [0.5, 0.2, 2]], np.float32)
_X = _rng.standard_normal((3, 4)).astype(np.float32)

TEXTS = {
    "cholesky": (
        "HloModule m\nENTRY e {\n a = f32[3,3] parameter(0)\n"
        " ROOT c = f32[3,3] cholesky(a), lower=true\n}\n",
        [_SPD],
    ),
    "triangular_solve": (
        "HloModule m\nENTRY e {\n a = f32[3,3] parameter(0)\n b = f32[3,4] parameter(1)\n"
        " ROOT c = f32[3,4] triangular-solve(a, b), left_side=true, lower=true,"
        " transpose_a=TRANSPOSE\n}\n",
        [_SPD, _X],
    ),
    "map": (
        "HloModule m\nf {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
        " ROOT c = f32[] subtract(a, b)\n}\n"
        "ENTRY e {\n a = f32[3,4] parameter(0)\n"
        " ROOT c = f32[3,4] map(a, a), dimensions={0,1}, to_apply=f\n}\n",
        [_X],
    ),
    "conditional_by_index": (
        "HloModule m\nf {\n a = f32[3,4] parameter(0)\n ROOT b = f32[3,4] negate(a)\n}\n"
        "g {\n a = f32[3,4] parameter(0)\n ROOT b = f32[3,4] exponential(a)\n}\n"
        "ENTRY e {\n i = s32[] parameter(0)\n a = f32[3,4] parameter(1)\n"
        " ROOT c = f32[3,4] conditional(i, a, a), branch_computations={f, g}\n}\n",
        [np.int32(1), _X],
    ),
    "copy_and_partition": (
        "HloModule m\nENTRY e {\n a = f32[3,4] parameter(0)\n b = f32[3,4] copy(a)\n"
        " p = u32[] partition-id()\n r = u32[] replica-id()\n"
        " ROOT t = (f32[3,4], u32[], u32[]) tuple(b, p, r)\n}\n",
        [_X],
    ),
    "aliases": (
        "HloModule m, input_output_alias={ {1}: (0, {}, may-alias) }\nENTRY e {\n"
        " a = f32[3,4] parameter(0)\n b = f32[3,4] parameter(1)\n c = f32[3,4] add(a, b)\n"
        " d = f32[3,4] multiply(a, b)\n ROOT t = (f32[3,4], f32[3,4]) tuple(c, d)\n}\n",
        [_X, _X],
    ),
    "window_reversal": (
        "HloModule m\nENTRY e {\n a = f32[1,1,3,4] parameter(0)\n b = f32[1,1,2,2] parameter(1)\n"
        " ROOT c = f32[1,1,2,3] convolution(a, b), window={size=2x2 rhs_reversal=1x1},"
        " dim_labels=bf01_oi01->bf01\n}\n",
        [_X.reshape(1, 1, 3, 4), _X[:2, :2].reshape(1, 1, 2, 2)],
    ),
    "dimension_size": (
        "HloModule m\nENTRY e {\n a = f32[3,4] parameter(0)\n"
        " ROOT c = s32[] get-dimension-size(a), dimensions={1}\n}\n",
        [_X],
    ),
    "infinities": (
        "HloModule m\nENTRY e {\n a = f32[4] constant({inf, -inf, nan, -0})\n"
        " b = c64[2] constant({(1, -inf), (0.1, 3e-38)})\n c = pred[2] constant({true, false})\n"
        " ROOT t = (f32[4], c64[2], pred[2]) tuple(a, b, c)\n}\n",
        [],
    ),
}
