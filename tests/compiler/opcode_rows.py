# ruff: noqa: SIM905  lists of names read better as text
"""One module per opcode of XLA (xla/hlo/ir/hlo_opcode.h): what runs, and what is refused and how.

A row is HLO text of an entry's body, or of a whole module, whose parameters get the standard
arguments of their shapes. `MESSAGES` are opcodes that end in words; every other one runs and gives
what XLA gives.
"""

import numpy as np

_UNARY = """abs cbrt ceil cosine erf exponential exponential-minus-one floor log log-plus-one
logistic negate round-nearest-afz round-nearest-even rsqrt sign sine sqrt tan tanh""".split()
_BINARY = "add atan2 divide maximum minimum multiply power remainder subtract".split()
_BITS = "and or xor shift-left shift-right-arithmetic shift-right-logical".split()
_BITS_UNARY = "count-leading-zeros not popcnt".split()

_SUM = """add_f32 { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
"""
_ENTRY = "ENTRY e {{ x = f32[4,6] parameter(0)\n  y = f32[4,6] parameter(1)\n{} }}"
_ROWS = {
    **{name: f"  ROOT r = f32[4,6] {name}(x)" for name in _UNARY},
    **{name: f"  ROOT r = f32[4,6] {name}(x, y)" for name in _BINARY},
    **{
        name: f"  i = s32[4,6] convert(x)\n  j = s32[4,6] convert(y)\n"
        f"  ROOT r = s32[4,6] {name}(i, j)"
        for name in _BITS
    },
    **{name: f"  i = s32[4,6] convert(x)\n  ROOT r = s32[4,6] {name}(i)" for name in _BITS_UNARY},
    "all-gather": "  ROOT r = f32[4,6] all-gather(x), replica_groups={{0}}, dimensions={0}",
    "all-gather-start": """  s = (f32[4,6], f32[4,6]) all-gather-start(x), replica_groups={{0}},
    dimensions={1}
  ROOT r = f32[4,6] all-gather-done(s)""",
    "all-reduce": "  ROOT r = f32[4,6] all-reduce(x), replica_groups={{0}}, to_apply=add_f32",
    "all-reduce-start": """  s = f32[4,6] all-reduce-start(x), replica_groups={{0}},
    to_apply=add_f32
  ROOT r = f32[4,6] all-reduce-done(s)""",
    "all-to-all": "  ROOT r = f32[4,6] all-to-all(x), replica_groups={{0}}, dimensions={0}",
    "collective-broadcast": "  ROOT r = f32[4,6] collective-broadcast(x), replica_groups={{0}}",
    "collective-permute": "  ROOT r = f32[4,6] collective-permute(x), source_target_pairs={{0,0}}",
    "collective-permute-start": """  s = (f32[4,6], f32[4,6], u32[], u32[])
    collective-permute-start(x), source_target_pairs={{0,0}}
  ROOT r = f32[4,6] collective-permute-done(s)""",
    "reduce-scatter": "  ROOT r = f32[4,6] reduce-scatter(x), replica_groups={{0}}, dimensions={0},"
    " to_apply=add_f32",
    "batch-norm-inference": """  s = f32[6] slice(x2), slice={[0:6]}
  v = f32[6] multiply(s, s)
  ROOT r = f32[4,6] batch-norm-inference(x, s, v, s, v), epsilon=0.001, feature_index=1""",
    "batch-norm-training": """  s = f32[6] slice(x2), slice={[0:6]}
  ROOT r = (f32[4,6], f32[6], f32[6]) batch-norm-training(x, s, s), epsilon=0.001,
    feature_index=1""",
    "batch-norm-grad": """  s = f32[6] slice(x2), slice={[0:6]}
  v = f32[6] multiply(s, s)
  ROOT r = (f32[4,6], f32[6], f32[6]) batch-norm-grad(x, s, s, v, y), epsilon=0.001,
    feature_index=1""",
    "bitcast-convert": "  ROOT r = s32[4,6] bitcast-convert(x)",
    "broadcast": "  ROOT r = f32[4,3,6] broadcast(x), dimensions={0,2}",
    "call": "  ROOT r = f32[4,6] call(x), to_apply=twice",
    "cholesky": """  t = f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  ROOT r = f32[4,4] cholesky(t), lower=true""",
    "clamp": "  ROOT r = f32[4,6] clamp(y, x, x)",
    "compare": "  ROOT r = pred[4,6] compare(x, y), direction=LT",
    "complex": "  ROOT r = c64[4,6] complex(x, y)",
    "concatenate": "  ROOT r = f32[8,6] concatenate(x, y), dimensions={0}",
    "conditional": """  p = pred[4,6] compare(x, y), direction=LT
  q = pred[1,1] slice(p), slice={[0:1], [0:1]}
  s = pred[] reshape(q)
  ROOT r = f32[4,6] conditional(s, x, y), true_computation=twice, false_computation=twice""",
    "constant": "  ROOT r = f32[2] constant({1, 2})",
    "convert": "  ROOT r = bf16[4,6] convert(x)",
    "convolution": """  i = f32[1,1,4,6] reshape(x)
  k = f32[2,1,2,3] slice(i4), slice={[0:2], [0:1], [0:2], [0:3]}
  ROOT r = f32[1,2,3,4] convolution(i, k), window={size=2x3}, dim_labels=bf01_oi01->bf01""",
    "copy": "  ROOT r = f32[4,6] copy(x)",
    "custom-call": """  ROOT r = f32[4,6] custom-call(x), custom_call_target="Sharding",
    sharding={replicated}""",
    "dot": "  ROOT r = f32[4,4] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
    "dynamic-slice": """  o = s32[] constant(1)
  ROOT r = f32[2,3] dynamic-slice(x, o, o), dynamic_slice_sizes={2,3}""",
    "dynamic-update-slice": """  o = s32[] constant(1)
  u = f32[2,3] slice(y), slice={[0:2], [0:3]}
  ROOT r = f32[4,6] dynamic-update-slice(x, u, o, o)""",
    "fft": "  c = c64[4,6] complex(x, y)\n  ROOT r = c64[4,6] fft(c), fft_type=FFT, fft_length={6}",
    "fusion": "  ROOT r = f32[4,6] fusion(x), kind=kLoop, calls=twice",
    "gather": """  i = s32[2,1] constant({{3}, {1}})
  ROOT r = f32[2,6] gather(x, i), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}""",
    "get-dimension-size": "  ROOT r = s32[] get-dimension-size(x), dimensions={1}",
    "get-tuple-element": "  t = (f32[4,6], f32[4,6]) tuple(x, y)\n"
    "  ROOT r = f32[4,6] get-tuple-element(t), index=1",
    "imag": "  c = c64[4,6] complex(x, y)\n  ROOT r = f32[4,6] imag(c)",
    "iota": "  ROOT r = f32[4,6] iota(), iota_dimension=1",
    "is-finite": "  ROOT r = pred[4,6] is-finite(x)",
    "map": "  ROOT r = f32[4,6] map(x, y), dimensions={0,1}, to_apply=add_f32",
    "opt-barrier": "  ROOT r = f32[4,6] opt-barrier(x)",
    "pad": "  z = f32[] constant(7)\n  ROOT r = f32[6,13] pad(x, z), padding=1_1x0_2_1",
    "parameter": "  ROOT r = (f32[4,6], f32[4,6]) tuple(x, y)",
    "partition-id": "  ROOT r = u32[] partition-id()",
    "real": "  c = c64[4,6] complex(x, y)\n  ROOT r = f32[4,6] real(c)",
    "reduce": """  z = f32[] constant(0)
  ROOT r = f32[4] reduce(x, z), dimensions={1}, to_apply=add_f32""",
    "reduce-precision": "  ROOT r = f32[4,6] reduce-precision(x), exponent_bits=5, mantissa_bits=4",
    "reduce-window": """  z = f32[] constant(0)
  ROOT r = f32[3,5] reduce-window(x, z), window={size=2x2}, to_apply=add_f32""",
    "replica-id": "  ROOT r = u32[] replica-id()",
    "reshape": "  ROOT r = f32[3,8] reshape(x)",
    "reverse": "  ROOT r = f32[4,6] reverse(x), dimensions={0}",
    "scatter": """  i = s32[2,1] constant({{3}, {1}})
  u = f32[2,6] slice(y), slice={[0:2], [0:6]}
  ROOT r = f32[4,6] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add_f32""",
    "select": "  p = pred[4,6] compare(x, y), direction=LT\n  ROOT r = f32[4,6] select(p, x, y)",
    "select-and-scatter": """  z = f32[] constant(0)
  s = f32[2,3] slice(y), slice={[0:2], [0:3]}
  ROOT r = f32[4,6] select-and-scatter(x, s, z), window={size=2x2 stride=2x2}, select=ge_f32,
    scatter=add_f32""",
    "slice": "  ROOT r = f32[2,3] slice(x), slice={[1:3], [0:6:2]}",
    "sort": "  ROOT r = f32[4,6] sort(x), dimensions={1}, to_apply=lt_f32",
    "topk": "  ROOT r = (f32[4,2], s32[4,2]) topk(x), k=2, largest=true",
    "transpose": "  ROOT r = f32[6,4] transpose(x), dimensions={1,0}",
    "triangular-solve": """  a = f32[4,4] dot(x, x), lhs_contracting_dims={1},
    rhs_contracting_dims={1}
  ROOT r = f32[4,6] triangular-solve(a, y), left_side=true, lower=true,
    transpose_a=NO_TRANSPOSE""",
    "tuple": "  ROOT r = (f32[4,6], f32[4,6]) tuple(y, x)",
    "while": """  n = s32[] constant(3)
  t = (s32[], f32[4,6]) tuple(n, x)
  ROOT r = (s32[], f32[4,6]) while(t), condition=more, body=step""",
}
_ROWS["all-gather-done"] = _ROWS["all-gather-start"]
_ROWS["all-reduce-done"] = _ROWS["all-reduce-start"]
_ROWS["collective-permute-done"] = _ROWS["collective-permute-start"]

_CALLED = """HloModule m
add_f32 { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
ge_f32 { a.g = f32[] parameter(0)
  b.g = f32[] parameter(1)
  ROOT c.g = pred[] compare(a.g, b.g), direction=GE }
lt_f32 { a.l = f32[] parameter(0)
  b.l = f32[] parameter(1)
  ROOT c.l = pred[] compare(a.l, b.l), direction=LT }
twice { a.t = f32[4,6] parameter(0)
  ROOT c.t = f32[4,6] add(a.t, a.t) }
more { s.m = (s32[], f32[4,6]) parameter(0)
  n.m = s32[] get-tuple-element(s.m), index=0
  z.m = s32[] constant(0)
  ROOT c.m = pred[] compare(n.m, z.m), direction=GT }
step { s.s = (s32[], f32[4,6]) parameter(0)
  n.s = s32[] get-tuple-element(s.s), index=0
  x.s = f32[4,6] get-tuple-element(s.s), index=1
  o.s = s32[] constant(1)
  d.s = s32[] subtract(n.s, o.s)
  y.s = f32[4,6] add(x.s, x.s)
  ROOT t.s = (s32[], f32[4,6]) tuple(d.s, y.s) }
"""


def _module(body: str) -> str:
    extra = ""
    if "(x2)" in body:
        extra += "  x2 = f32[24] reshape(x)\n"
    if "(i4)" in body:
        extra += "  i4 = f32[2,1,2,6] reshape(y)\n"
    return _CALLED + _ENTRY.format(extra + body)


# What a module of this opcode ends in, where it does not run: (body, words of the message).
_REFUSED = {
    "dynamic-reshape": (
        "  n = s32[] constant(3)\n  m = s32[] constant(8)\n"
        "  ROOT r = f32[<=3,8] dynamic-reshape(x, n, m)",
        "sizes are static: use reshape",
    ),
    "rng": (
        "  l = f32[] constant(0)\n  h = f32[] constant(1)\n"
        "  ROOT r = f32[4,6] rng(l, h), distribution=rng_uniform",
        "pass it to rng-bit-generator",
    ),
    "set-dimension-size": (
        "  n = s32[] constant(3)\n  ROOT r = f32[4,<=6] set-dimension-size(x, n), dimensions={1}",
        "pad and mask",
    ),
    "add-dependency": (
        "  t = token[] after-all()\n  ROOT r = f32[4,6] add-dependency(x, t)",
        "opcode '(add-dependency|after-all)' is not supported",
    ),
    "after-all": ("  t = token[] after-all()\n  ROOT r = f32[4,6] copy(x)", "orders effects"),
    "bitcast": ("  ROOT r = f32[24] bitcast(x)", "before them"),
    "copy-start": (
        "  s = (f32[4,6], f32[4,6], u32[]) copy-start(x)\n  ROOT r = f32[4,6] copy-done(s)",
        "XLA's optimisations make it",
    ),
    "domain": (
        '  ROOT r = f32[4,6] domain(x), domain={kind="sharding", entry={replicated},'
        " exit={replicated}}",
        "XLA's optimisations make it",
    ),
    "infeed": (
        "  t = token[] after-all()\n  ROOT r = (f32[4], token[]) infeed(t)",
        "arguments and results only|orders effects",
    ),
    "outfeed": (
        "  t = token[] after-all()\n  ROOT r = token[] outfeed(x, t), outfeed_shape=f32[4,6]",
        "arguments and results only|orders effects",
    ),
    "send": (
        "  t = token[] after-all()\n"
        "  s = (f32[4,6], u32[], token[]) send(x, t), channel_id=1\n"
        "  ROOT r = token[] send-done(s), channel_id=1",
        "arguments and results only|orders effects",
    ),
    "recv": (
        "  t = token[] after-all()\n"
        "  s = (f32[4,6], u32[], token[]) recv(t), channel_id=1\n"
        "  ROOT r = (f32[4,6], token[]) recv-done(s), channel_id=1",
        "arguments and results only|orders effects",
    ),
    "async-start": (
        "  s = ((f32[4,6]), f32[4,6], s32[]) async-start(x), calls=twice\n"
        "  u = ((f32[4,6]), f32[4,6], s32[]) async-update(s)\n"
        "  ROOT r = f32[4,6] async-done(u)",
        "XLA's optimisations make it",
    ),
    "ragged-dot": (
        "  g = s32[1] constant({4})\n  k = f32[1,6,4] reshape(y)\n"
        "  ROOT r = f32[4,4] ragged-dot(x, k, g), lhs_contracting_dims={1},"
        " rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
        "gather and dot",
    ),
    "ragged-all-to-all": (
        "  o = s32[1] constant({0})\n"
        "  ROOT r = f32[4,6] ragged-all-to-all(x, y, o, o, o, o), replica_groups={{0}}",
        "padded for all-to-all",
    ),
    "rng-get-and-update-state": (
        "  ROOT r = u64[2] rng-get-and-update-state(), delta=1",
        "an argument to rng-bit-generator",
    ),
    "stochastic-convert": (
        "  b = u32[4,6] bitcast-convert(x)\n  ROOT r = bf16[4,6] stochastic-convert(x, b)",
        "rounds to nearest",
    ),
}
for _name, _other in {
    "async-done": "async-start",
    "async-update": "async-start",
    "copy-done": "copy-start",
    "send-done": "send",
    "recv-done": "recv",
}.items():
    _REFUSED[_name] = _REFUSED[_other]

RUNS = {name: _module(body) for name, body in _ROWS.items()}
MESSAGES = {name: (_module(body), words) for name, (body, words) in _REFUSED.items()}
# Its bits are those of the algorithm, not of XLA's choice (tests/compiler/test_irregular.py).
RANDOM = _CALLED + (
    "ENTRY e { s = u64[2] parameter(0)\n"
    "  ROOT r = (u64[2], u32[4,6]) rng-bit-generator(s), algorithm=rng_philox }"
)

_rng = np.random.default_rng(5)
ARGUMENTS = [
    (_rng.random((4, 6)) + 0.25).astype(np.float32),
    (_rng.random((4, 6)) + 0.25).astype(np.float32),
]
# xla/hlo/ir/hlo_opcode.h; inverse hyperbolic functions and scaled-dot came after the pinned jaxlib.
XLA_OPCODES = set(
    """abs add add-dependency after-all all-gather all-gather-done all-gather-start all-reduce
    all-reduce-done all-reduce-start all-to-all and async-done async-start async-update atan2
    batch-norm-grad batch-norm-inference batch-norm-training bitcast bitcast-convert broadcast call
    cbrt ceil cholesky clamp collective-broadcast collective-permute collective-permute-done
    collective-permute-start compare complex concatenate conditional constant convert convolution
    copy copy-done copy-start cosine count-leading-zeros custom-call divide domain dot
    dynamic-reshape dynamic-slice dynamic-update-slice erf exponential exponential-minus-one fft
    floor fusion gather get-dimension-size get-tuple-element imag infeed iota is-finite log
    log-plus-one logistic map maximum minimum multiply negate not opt-barrier or outfeed pad
    parameter partition-id popcnt power ragged-all-to-all ragged-dot real recv recv-done reduce
    reduce-precision reduce-scatter reduce-window remainder replica-id reshape reverse rng
    rng-bit-generator rng-get-and-update-state round-nearest-afz round-nearest-even rsqrt scatter
    select select-and-scatter send send-done set-dimension-size shift-left shift-right-arithmetic
    shift-right-logical sign sine slice sort sqrt stochastic-convert subtract tan tanh topk
    transpose triangular-solve tuple while xor""".split()
)
