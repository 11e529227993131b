"""What no kernel computes as it is: forms that src/compiler/expand*.cpp rewrites, against XLA."""

import itertools

import ml_dtypes
import numpy as np
import pytest
import xla_oracle
from compiler.harness import Program, assert_close, check_text

DTYPES = {
    "f32": np.float32,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f64": np.float64,
    "s8": np.int8,
    "s32": np.int32,
    "s64": np.int64,
    "u8": np.uint8,
    "c64": np.complex64,
}
NARROW = ("f32", "bf16", "f16", "f8e5m2", "f8e4m3fn")


def numbers(shape, dtype, seed=0):
    """Small integers, so that sums are exact in every dtype and in every order."""
    rng = np.random.default_rng([seed, *shape])
    low = 0 if np.dtype(DTYPES[dtype]).kind == "u" else -2
    return rng.integers(low, 3, shape).astype(DTYPES[dtype])


@pytest.mark.parametrize(("lhs", "rhs"), itertools.product(NARROW, NARROW))
@pytest.mark.parametrize("result", ["f32", "bf16", "f16"])
def test_dot_of_two_dtypes(lhs, rhs, result):
    text = f"""
HloModule m
ENTRY e {{ a = {lhs}[5,40] parameter(0)
  b = {rhs}[40,7] parameter(1)
  ROOT c = {result}[5,7] dot(a, b), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}} }}"""
    a, b = numbers((5, 40), lhs), numbers((40, 7), rhs, 1)
    [got] = Program(xla_oracle.proto_of_text(text))(a, b)
    want = (a.astype(np.float32) @ b.astype(np.float32)).astype(DTYPES[result])
    assert_close(got, want, 0)


@pytest.mark.parametrize(
    ("lhs", "rhs", "result"),
    [
        ("f32", "f32", "f64"),
        ("bf16", "f32", "f64"),
        ("s8", "s8", "s32"),
        ("u8", "u8", "s32"),
        ("s8", "s8", "s64"),
        ("s32", "s32", "s64"),
        ("f64", "f64", "f64"),
        ("c64", "c64", "c64"),
        ("f32", "f32", "f8e4m3fn"),
    ],
)
def test_dot_with_a_result_of_its_own(lhs, rhs, result):
    text = f"""
HloModule m
ENTRY e {{ a = {lhs}[3,5,40] parameter(0)
  b = {rhs}[3,40,7] parameter(1)
  ROOT c = {result}[3,5,7] dot(a, b), lhs_batch_dims={{0}}, rhs_batch_dims={{0}},
    lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}} }}"""
    a, b = numbers((3, 5, 40), lhs), numbers((3, 40, 7), rhs, 1)
    [got] = Program(xla_oracle.proto_of_text(text))(a, b)
    wide = np.complex128 if result == "c64" else np.float64
    assert_close(got, (a.astype(wide) @ b.astype(wide)).astype(DTYPES[result]), 0)


@pytest.mark.parametrize(
    ("lhs", "rhs", "result"),
    [
        *((a, b, "f32") for a, b in itertools.product(NARROW, NARROW)),
        ("bf16", "bf16", "bf16"),
        ("s32", "s32", "s32"),
        ("s8", "s8", "s32"),
        ("s64", "s64", "s64"),
        ("f64", "f64", "f64"),
        ("c64", "c64", "c64"),
    ],
)
@pytest.mark.parametrize("groups", ["", ", feature_group_count=2", ", batch_group_count=2"])
def test_convolution_of_every_dtype(lhs, rhs, result, groups):
    inputs = 2 if "feature" in groups else 4
    batch = 1 if "batch" in groups else 2
    shape = """window={size=2x3 stride=2x1 pad=1_0x1_2 lhs_dilate=1x2 rhs_dilate=1x2
    rhs_reversal=1x0}, dim_labels=bf01_oi01->f01b"""

    def text(lhs, rhs, result):
        return f"""
HloModule m
ENTRY e {{ a = {lhs}[2,4,5,6] parameter(0)
  b = {rhs}[6,{inputs},2,3] parameter(1)
  ROOT c = {result}[6,3,10,{batch}] convolution(a, b), {shape}{groups} }}"""

    a, b = numbers((2, 4, 5, 6), lhs), numbers((6, inputs, 2, 3), rhs, 1)
    [got] = Program(xla_oracle.proto_of_text(text(lhs, rhs, result)))(a, b)
    # XLA CPU knows fewer dtypes; the numbers are exact in its own.
    oracle = "c64" if result == "c64" else "f64"
    wide = [x.astype(DTYPES[oracle]) for x in (a, b)]
    [want] = xla_oracle.run(xla_oracle.proto_of_text(text(oracle, oracle, oracle)), wide)
    assert_close(got, np.asarray(want).astype(DTYPES[result]), 0)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "s32", "f64", "c64"])
@pytest.mark.parametrize("labels", ["bf_oi->bf", "fb_io->fb", "bf_io->fb"])
@pytest.mark.parametrize("groups", ["", ", feature_group_count=3"])
def test_convolution_without_spatial_dimensions(dtype, labels, groups):
    image, rest = labels.split("_")
    kernel, result = rest.split("->")
    sizes = {"b": 4, "f": 6, "i": 2 if groups else 6, "o": 9}

    def dims(labels, f):
        return ",".join(str((sizes | {"f": f})[x]) for x in labels)

    text = f"""
HloModule m
ENTRY e {{ a = {dtype}[{dims(image, 6)}] parameter(0)
  b = {dtype}[{dims(kernel, 6)}] parameter(1)
  ROOT c = {dtype}[{dims(result, 9)}] convolution(a, b), dim_labels={labels}{groups} }}"""
    a = numbers([(sizes | {"f": 6})[x] for x in image], dtype)
    b = numbers([sizes[x] for x in kernel], dtype, 1)
    [got] = Program(xla_oracle.proto_of_text(text))(a, b)
    x = a if image == "bf" else a.T
    w = b if kernel == "oi" else b.T  # [outputs, inputs]
    wide = np.complex128 if dtype == "c64" else np.float64
    x, w = x.astype(wide), w.astype(wide)
    if groups:
        want = np.einsum("bgi,goi->bgo", x.reshape(4, 3, 2), w.reshape(3, 3, 2)).reshape(4, 9)
    else:
        want = x @ w.T
    assert_close(got, (want if result == "bf" else want.T).astype(DTYPES[dtype]), 0)


@pytest.mark.parametrize("dtype", ["f32", "s32"])
def test_convolution_over_four_dimensions(dtype):
    text = f"""
HloModule m
ENTRY e {{ a = {dtype}[2,3,4,3,5,3] parameter(0)
  b = {dtype}[5,3,2,2,3,1] parameter(1)
  ROOT c = {dtype}[2,5,3,2,3,3] convolution(a, b), window={{size=2x2x3x1}},
    dim_labels=bf0123_oi0123->bf0123 }}"""
    a, b = numbers((2, 3, 4, 3, 5, 3), dtype), numbers((5, 3, 2, 2, 3, 1), dtype, 1)
    windows = np.lib.stride_tricks.sliding_window_view(a, (2, 2, 3, 1), axis=(2, 3, 4, 5))
    want = np.einsum("nipqrsabcd,oiabcd->nopqrs", windows, b)
    [got] = Program(xla_oracle.proto_of_text(text))(a, b)
    assert_close(got, want.astype(DTYPES[dtype]), 0)


def test_a_convolution_of_too_many_taps_is_refused():
    text = """
HloModule m
ENTRY e { a = s32[1,1,9000] parameter(0)
  b = s32[1,1,5000] parameter(1)
  ROOT c = s32[1,1,4001] convolution(a, b), window={size=5000}, dim_labels=bf0_oi0->bf0 }"""
    with pytest.raises(NotImplementedError, match=r"5000 taps.* at most 4096"):
        Program(xla_oracle.proto_of_text(text))


COMBINERS = {
    "add": {"f32": 2.5, "bf16": 3, "f16": 3, "s32": 7, "u8": 7},
    "multiply": {"f32": 0.5, "s32": 3},
    "maximum": {"f32": 1.5, "bf16": 1, "s32": 1, "u8": 1},
    "minimum": {"f32": -1.5, "s32": -1},
    "and": {"s32": 5},
    "or": {"s32": 8},
    "xor": {"s32": 5},
}


NUMPY_NAMES = {"and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}


@pytest.mark.parametrize("form", ["parameter", "constant", "computed"])
@pytest.mark.parametrize("length", [100, 8193, 20_000])
@pytest.mark.parametrize(
    ("combiner", "dtype", "init"),
    [(op, dtype, init) for op, inits in COMBINERS.items() for dtype, init in inits.items()],
)
def test_reduction_from_any_initial_value(combiner, dtype, init, length, form):
    start = {
        "parameter": f"i = {dtype}[] copy(p)",
        "constant": f"i = {dtype}[] constant({init})",
        "computed": f"one = {dtype}[] constant(1)\n  i = {dtype}[] multiply(p, one)",
    }[form]
    text = f"""
HloModule m
f {{ a = {dtype}[] parameter(0)
  b = {dtype}[] parameter(1)
  ROOT c = {dtype}[] {combiner}(a, b) }}
ENTRY e {{ x = {dtype}[3,{length}] parameter(0)
  p = {dtype}[] parameter(1)
  {start}
  ROOT r = {dtype}[3] reduce(x, i), dimensions={{1}}, to_apply=f }}"""
    rng = np.random.default_rng(0)
    if combiner == "multiply":
        x = rng.choice([-1, 1], (3, length))
    elif combiner == "add":
        x = np.zeros((3, length))
        x[:, ::97] = 1
    else:
        x = rng.integers(0 if dtype == "u8" else -1, 2, (3, length))
    x, start = x.astype(DTYPES[dtype]), np.asarray(init).astype(DTYPES[dtype])
    [got] = Program(xla_oracle.proto_of_text(text))(x, start)
    # XLA CPU takes what is no identity once for each of its lanes, as it may.
    function = getattr(np, NUMPY_NAMES.get(combiner, combiner))
    wide = np.float64 if x.dtype.kind in "fV" else x.dtype
    assert_close(got, function(function.reduce(x.astype(wide), 1), start).astype(x.dtype), 0)


def test_an_error_of_a_kernel_names_the_module():
    text = """
HloModule the_name
ENTRY e { s = u64[2] parameter(0)
  r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_three_fry
  ROOT g = u32[4] get-tuple-element(r), index=1 }"""
    with pytest.raises(NotImplementedError, match="the_name: compiler: "):
        Program(xla_oracle.proto_of_text(text))


def test_bodies_of_loops_are_expanded():
    text = """
HloModule m
body { s = (s32[], f32[4,4], bf16[4,4]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  x = f32[4,4] get-tuple-element(s), index=1
  w = bf16[4,4] get-tuple-element(s), index=2
  one = s32[] constant(1)
  m = s32[] add(n, one)
  y = f32[4,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT t = (s32[], f32[4,4], bf16[4,4]) tuple(m, y, w) }
condition { s = (s32[], f32[4,4], bf16[4,4]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT c = pred[] compare(n, three), direction=LT }
ENTRY e { x = f32[4,4] parameter(0)
  w = bf16[4,4] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[4,4], bf16[4,4]) tuple(zero, x, w)
  l = (s32[], f32[4,4], bf16[4,4]) while(t), condition=condition, body=body
  ROOT r = f32[4,4] get-tuple-element(l), index=1 }"""
    check_text(text, numbers((4, 4), "f32"), numbers((4, 4), "bf16", 1), tolerance=0)


ONE = {
    "all-reduce": "replica_groups={{1},{0}}, to_apply=f",
    "all-gather": "replica_groups={{0}}, dimensions={1}",
    "collective-permute": "source_target_pairs={}",
}
TWO = {
    "all-reduce": ("f32[2,3]", "replica_groups={{0,1}}, to_apply=f"),
    "all-gather": ("f32[2,6]", "replica_groups={{0,1}}, dimensions={1}"),
    "reduce-scatter": ("f32[1,3]", "replica_groups={{0,1}}, dimensions={0}, to_apply=f"),
    "all-to-all": ("f32[2,3]", "replica_groups={{0,1}}, dimensions={0}"),
    "collective-permute": ("f32[2,3]", "source_target_pairs={{0,1},{1,0}}"),
    "collective-broadcast": ("f32[2,3]", "replica_groups={{0,1}}"),
}


def collective(opcode, shape, attributes):
    return f"""
HloModule m
f {{ a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }}
ENTRY e {{ x = f32[2,3] parameter(0)
  ROOT r = {shape} {opcode}(x), {attributes} }}"""


@pytest.mark.parametrize("opcode", ONE)
def test_collectives_of_one_replica(opcode):
    x = numbers((2, 3), "f32")
    [got] = Program(xla_oracle.proto_of_text(collective(opcode, "f32[2,3]", ONE[opcode])))(x)
    # Nobody sends to this replica: zeros.
    assert_close(got, np.zeros_like(x) if opcode == "collective-permute" else x, 0)


@pytest.mark.parametrize("opcode", TWO)
def test_collectives_of_more_replicas_say_what_is_to_come(opcode):
    proto = xla_oracle.proto_of_text(collective(opcode, *TWO[opcode]))
    with pytest.raises(NotImplementedError, match=f"{opcode}; groups of one replica compile"):
        Program(proto)


def test_an_unknown_custom_call_is_named():
    text = """
HloModule m
ENTRY e { x = f32[4] parameter(0)
  ROOT r = f32[4] custom-call(x), custom_call_target="their_kernel" }"""
    with pytest.raises(NotImplementedError, match="'their_kernel', which is none that is known"):
        Program(xla_oracle.proto_of_text(text))


@pytest.mark.parametrize("target", ["Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"])
def test_shardings_hand_their_operand_on(target):
    text = f"""
HloModule m
ENTRY e {{ x = f32[4] parameter(0)
  y = f32[4] custom-call(x), custom_call_target="{target}"
  ROOT r = f32[4] negate(y) }}"""
    x = numbers((4,), "f32")
    assert_close(Program(xla_oracle.proto_of_text(text))(x)[0], -x, 0)


def test_parameters_that_are_tuples_count_as_their_leaves():
    text = """
HloModule m
ENTRY e { t = (f32[4], (s32[3], f32[4])) parameter(0)
  x = f32[4] parameter(1)
  a = f32[4] get-tuple-element(t), index=0
  u = (s32[3], f32[4]) get-tuple-element(t), index=1
  b = f32[4] get-tuple-element(u), index=1
  i = s32[3] get-tuple-element(u), index=0
  c = f32[4] subtract(a, b)
  d = f32[4] multiply(c, x)
  ROOT r = (f32[4], s32[3]) tuple(d, i) }"""
    a, i, b, x = (numbers((n,), t, n) for n, t in [(4, "f32"), (3, "s32"), (4, "f32"), (4, "f32")])
    product, index = Program(xla_oracle.proto_of_text(text))(a, i, b, x)
    assert_close(product, (a - b) * x, 0)
    assert_close(index, i, 0)


@pytest.mark.parametrize("order", ["0,1,2", "2,0,1", "1,2,0"])
def test_layouts_matter_at_the_boundary_alone(order):
    """Dimensions from the innermost to the outermost, of an argument and of a constant."""
    text = f"""
HloModule m, entry_computation_layout={{(f32[2,3,4]{{{order}}})->f32[2,3,4]{{2,1,0}}}}
ENTRY e {{ x = f32[2,3,4]{{{order}}} parameter(0)
  y = f32[2,3,4]{{0,1,2}} negate(x)
  z = f32[2,3,4]{{2,1,0}} add(x, y)
  c = f32[2,3]{{0,1}} constant({{{{1, 2, 3}}, {{4, 5, 6}}}})
  d = f32[2,3,4]{{2,1,0}} broadcast(c), dimensions={{0,1}}
  ROOT r = f32[2,3,4]{{2,1,0}} subtract(d, y) }}"""
    x = np.random.default_rng(0).standard_normal((2, 3, 4)).astype(np.float32)
    outer_first = [int(d) for d in reversed(order.split(","))]
    [got] = Program(xla_oracle.proto_of_text(text))(np.ascontiguousarray(x.transpose(outer_first)))
    c = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    assert_close(got.reshape(2, 3, 4), c[:, :, None] + x, 0)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f64"])
@pytest.mark.parametrize("feature", [0, 1, 3])
def test_batch_norm(dtype, feature):
    rng = np.random.default_rng(feature)
    x, g = (rng.standard_normal((5, 6, 7, 8)) for _ in range(2))
    shape = [1] * 4
    shape[feature] = x.shape[feature]
    scale, offset, mean = (rng.standard_normal(x.shape[feature]) for _ in range(3))
    variance = rng.random(x.shape[feature]) + 0.5
    rounded = [a.astype(DTYPES[dtype]) for a in (x, g, scale, offset, mean, variance)]
    n = x.shape[feature]
    row, whole = f"{dtype}[{n}]", f"{dtype}[5,6,7,8]"
    names = ["x", "g", "s", "o", "m", "v"]
    parameters = "\n".join(
        f"  {name} = {whole if i < 2 else row} parameter({i})" for i, name in enumerate(names)
    )
    end = f"epsilon=0.0625, feature_index={feature}"
    text = f"""
HloModule m
ENTRY e {{ {parameters}
  t = ({whole}, {row}, {row}) batch-norm-training(x, s, o), {end}
  i = {whole} batch-norm-inference(x, s, o, m, v), {end}
  d = ({whole}, {row}, {row}) batch-norm-grad(x, s, m, v, g), {end}
  ROOT r = (({whole}, {row}, {row}), {whole}, ({whole}, {row}, {row})) tuple(t, i, d) }}"""
    got = neuron_results(text, rounded)

    x, g, scale, offset, mean, variance = (a.astype(np.float64) for a in rounded)
    axes = tuple(d for d in range(4) if d != feature)
    s, o, m, v = (a.reshape(shape) for a in (scale, offset, mean, variance))
    batch_mean, batch_variance = x.mean(axes), x.var(axes)

    def normal(m, v):
        return (x - m) / np.sqrt(v + 0.0625) * s + o

    training = normal(batch_mean.reshape(shape), batch_variance.reshape(shape))
    moment = (g * (x - m)).sum(axes)
    count = x.size / n
    rest = g - g.mean(axes).reshape(shape) - (x - m) * moment.reshape(shape) / count / (v + 0.0625)
    want = [
        training, batch_mean, batch_variance, normal(m, v),
        rest * s / np.sqrt(v + 0.0625), moment / np.sqrt(variance + 0.0625), g.sum(axes),
    ]  # fmt: skip
    tolerance = {"f32": 2e-5, "bf16": 2e-2, "f64": 1e-10}[dtype]
    for ours, theirs in zip(got, want, strict=True):
        np.testing.assert_allclose(
            ours.reshape(theirs.shape).astype(np.float64),
            theirs,
            rtol=tolerance,
            atol=tolerance * 8,
        )


def neuron_results(text, arguments):
    """The leaves of a nested result, flat, in their order."""
    program = Program(xla_oracle.proto_of_text(text))
    after = program.buffers_after(*arguments)
    leaves = sorted(
        (output, data)
        for (_, _, _, output), data in zip(program.compiled.buffers, after, strict=True)
        if output >= 0
    )
    return [np.frombuffer(data, arguments[0].dtype) for _, data in leaves]


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("exponent", [2, 4, 5, 8])
@pytest.mark.parametrize("mantissa", [0, 4, 10, 22, 23])
def test_reduce_precision_to_any_format(dtype, exponent, mantissa):
    text = f"""
HloModule m
ENTRY e {{ x = {dtype}[2100] parameter(0)
  ROOT r = {dtype}[2100] reduce-precision(x), exponent_bits={exponent},
    mantissa_bits={mantissa} }}"""
    rng = np.random.default_rng(0)
    x = np.ldexp(rng.standard_normal(2000), rng.integers(-14, 15, 2000))
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, 1.5, -1.25, 65504.0, 2.0**-14] * 10
    x = np.concatenate([x, special]).astype(DTYPES[dtype])
    proto = xla_oracle.proto_of_text(text)
    [got], [want] = Program(proto)(x), xla_oracle.run(proto, [x])
    assert_close(got.astype(np.float32), want.astype(np.float32), 0)
