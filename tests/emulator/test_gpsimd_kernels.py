"""GpSimd kernels, called directly, against NumPy and XLA."""

import jax
import numpy as np
import pytest
from jax import lax
from neuron_testing import emulator

jax.config.update("jax_enable_x64", True)

NAMES = {
    "bool": "pred", "int8": "s8", "int16": "s16", "int32": "s32", "int64": "s64",
    "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "float16": "f16",
    "bfloat16": "bf16", "float32": "f32", "float64": "f64", "complex64": "c64",
    "complex128": "c128",
}  # fmt: skip
NUMBERS = {
    "pred": 1, "s8": 2, "s16": 3, "s32": 4, "s64": 5, "u8": 6, "u16": 7, "u32": 8, "u64": 9,
    "f16": 10, "f32": 11, "f64": 12, "c64": 15, "bf16": 16, "c128": 18,
}  # fmt: skip
OPS = {name: i for i, name in enumerate(emulator.wide_ops())}


def dtype_of(array):
    return NUMBERS[NAMES[str(array.dtype)]]


def pack(*fields):
    """Integers as they are, lists as their length and elements."""
    out = []
    for field in fields:
        if isinstance(field, list | tuple):
            out.append(len(field))
            for element in field:
                out += pack(element) if isinstance(element, list | tuple | Raw) else [int(element)]
        elif isinstance(field, Raw):
            out += field.values
        else:
            out.append(int(field))
    return out


class Raw:
    """Fields of a nested struct: packed without a length of their own."""

    def __init__(self, *fields):
        self.values = pack(*fields)


def run(name, tiles, *fields):
    emulator.run_kernel(name, [(NAMES[str(t.dtype)], t) for t in tiles], pack(*fields))


def strides_of(dims):
    return [int(np.prod(dims[d + 1 :])) for d in range(len(dims))]


def program(inputs, instructions, outputs):
    """instructions: (op, dtype number, operands)."""
    rows = []
    for op, dtype, operands in instructions:
        three = list(operands) + [0] * (3 - len(operands))
        rows.append(Raw(OPS[op], dtype, *three, 0, 0))
    return Raw(list(inputs), rows, list(outputs))


NO_PROGRAM = program([], [], [])


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
@pytest.mark.parametrize("words", [2, 3])
@pytest.mark.parametrize("count", [1, 5, 64, 1031])
def test_philox_bits_are_xla(dtype, words, count):
    state = np.array([0x0123456789ABCDEF, 0xFFFFFFFFFFFFFFF0, 7][:words], dtype=np.uint64)
    new_state, bits = np.zeros_like(state), np.zeros(count, dtype)
    run("philox_bits", [new_state, bits, state], words)
    if words == 3:  # JAX takes no third word: a carry into it is checked by itself
        assert new_state[2] == state[2] + int(new_state[1] < state[1])
        return
    key = np.frombuffer(state.tobytes(), np.uint32)
    want_state, want = lax.rng_bit_generator(
        key, (count,), dtype=dtype, algorithm=lax.RandomAlgorithm.RNG_PHILOX
    )
    np.testing.assert_array_equal(bits, np.asarray(want))
    assert new_state.tobytes() == np.asarray(want_state).tobytes()


def test_philox_bits_do_not_depend_on_the_split():
    whole, state = np.zeros(256, np.uint32), np.array([3, 0], np.uint64)
    run("philox_bits", [np.zeros_like(state), whole, state], 2)
    for start in range(0, 256, 64):
        # The key pads the counter of a short state, so split with three words.
        part, at = np.zeros(64, np.uint32), np.array([3, start // 4, 3], np.uint64)
        run("philox_bits", [np.zeros_like(at), part, at], 3)
        np.testing.assert_array_equal(part, whole[start : start + 64])


def elementwise(dims, program_, inputs, outputs):
    views = [Raw(i, dtype_of(x), 0, strides_of(dims)) for i, x in enumerate(inputs)]
    outs = [Raw(0, strides_of(dims)) for _ in outputs]
    run("wide_elementwise", [*outputs, *inputs], list(dims), views, outs, program_)


UNARY = {
    "Abs": np.abs, "Cbrt": np.cbrt, "Ceil": np.ceil, "Cos": np.cos, "Exp": np.exp,
    "Expm1": np.expm1, "Floor": np.floor, "Log": np.log, "Log1p": np.log1p,
    "Negate": np.negative, "Sin": np.sin, "Sqrt": np.sqrt, "Tan": np.tan, "Tanh": np.tanh,
    "Sign": np.sign, "Erf": lax.erf, "Erfc": lax.erfc, "Erfinv": lax.erf_inv,
    "Lgamma": lax.lgamma, "Digamma": lax.digamma, "Logistic": lax.logistic,
    "Rsqrt": lambda x: 1 / np.sqrt(x), "RoundNearestEven": np.rint, "Trunc": np.trunc,
    "Asinh": np.arcsinh, "Atan": np.arctan, "Cosh": np.cosh, "Sinh": np.sinh,
    "Exp2": np.exp2, "Log2": np.log2, "Log10": np.log10, "Acosh": np.arccosh,
    "Atanh": np.arctanh, "Asin": np.arcsin, "Acos": np.arccos, "IsFinite": np.isfinite,
}  # fmt: skip


@pytest.mark.parametrize("op", UNARY)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.filterwarnings("ignore")
def test_unary_floating(op, dtype):
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.standard_normal(300) * 3, [0, -0.0, np.inf, -np.inf, np.nan, 1, -1]])
    if op == "Digamma":  # XLA gives NaN at the pole, PyTorch the limit (tested below)
        x = x[x != 0]
    x = x.astype(dtype)
    out = np.zeros(x.shape, bool if op == "IsFinite" else dtype)
    elementwise(x.shape, program([dtype_of(x)], [(op, dtype_of(out), [0])], [1]), [x], [out])
    want = np.asarray(UNARY[op](x))
    tolerance = 1e-11 if dtype == "float64" else 2e-5
    np.testing.assert_allclose(out, want, rtol=tolerance, atol=tolerance)


def test_digamma_at_its_pole():
    x, out = np.array([0.0, -0.0, -3.0]), np.zeros(3)
    f = NUMBERS["f64"]
    elementwise(x.shape, program([f], [("Digamma", f, [0])], [1]), [x], [out])
    np.testing.assert_array_equal(out, [-np.inf, np.inf, np.nan])


COMPLEX = ["Abs", "Cos", "Exp", "Expm1", "Log", "Log1p", "Negate", "Sin", "Sqrt", "Tan", "Tanh",
           "Asinh", "Atan", "Cosh", "Sinh", "Logistic", "Rsqrt", "IsFinite"]  # fmt: skip


@pytest.mark.parametrize("op", COMPLEX)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_unary_complex(op, dtype):
    rng = np.random.default_rng(2)
    x = (rng.standard_normal(300) + 1j * rng.standard_normal(300)).astype(dtype)
    want = UNARY[op](x)
    if op == "Logistic":
        want = 1 / (1 + np.exp(-x))
    out = np.zeros_like(want)
    elementwise(x.shape, program([dtype_of(x)], [(op, dtype_of(out), [0])], [1]), [x], [out])
    tolerance = 1e-12 if dtype == "complex128" else 1e-5
    np.testing.assert_allclose(out, want, rtol=tolerance, atol=tolerance)


BINARY = {
    "Add": lax.add, "Subtract": lax.sub, "Multiply": lax.mul, "Divide": lax.div,
    "Remainder": lax.rem, "Maximum": lax.max, "Minimum": lax.min, "CompareEq": lax.eq,
    "CompareNe": lax.ne, "CompareLt": lax.lt, "CompareLe": lax.le, "CompareGt": lax.gt,
    "CompareGe": lax.ge,
}  # fmt: skip
BITS = {
    "And": lax.bitwise_and, "Or": lax.bitwise_or, "Xor": lax.bitwise_xor,
    "ShiftLeft": lax.shift_left, "ShiftRightArithmetic": lax.shift_right_arithmetic,
    "ShiftRightLogical": lax.shift_right_logical,
}  # fmt: skip


def binary(op, x, y, want):
    out = np.zeros(x.shape, np.asarray(want).dtype)
    elementwise(
        x.shape,
        program([dtype_of(x), dtype_of(y)], [(op, dtype_of(out), [0, 1])], [2]),
        [x, y],
        [out],
    )
    return out


@pytest.mark.parametrize("op", BINARY | BITS)
@pytest.mark.parametrize("dtype", ["int64", "uint64", "int8", "uint16", "int32", "uint32"])
def test_binary_integer_is_exact(op, dtype):
    rng = np.random.default_rng(3)
    info = np.iinfo(dtype)
    special = np.array([0, 1, info.max, info.min, 2], dtype)
    x = np.concatenate([rng.integers(info.min, info.max, 400, dtype), np.repeat(special, 5)])
    y = np.concatenate([rng.integers(0, 70, 400).astype(dtype), np.tile(special, 5)])
    want = np.asarray((BINARY | BITS)[op](x, y))
    np.testing.assert_array_equal(binary(op, x, y, want), want)


@pytest.mark.parametrize("op", BINARY)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_binary_floating(op, dtype):
    rng = np.random.default_rng(4)
    special = np.array([0, -0.0, 1.5, np.inf, -np.inf, np.nan])
    x = np.concatenate([rng.standard_normal(300), np.repeat(special, 6)]).astype(dtype)
    y = np.concatenate([rng.standard_normal(300), np.tile(special, 6)]).astype(dtype)
    want = np.asarray(BINARY[op](x, y))
    np.testing.assert_array_equal(binary(op, x, y, want), want)


@pytest.mark.parametrize("op", ["Add", "Subtract", "Multiply", "Divide", "CompareEq", "CompareNe"])
def test_binary_complex(op):
    rng = np.random.default_rng(5)
    x, y = rng.standard_normal((2, 300)) + 1j * rng.standard_normal((2, 300))
    want = np.asarray(BINARY[op](x, y))
    np.testing.assert_allclose(binary(op, x, y, want), want, rtol=1e-14)


ALL = [name for name in NAMES if name != "bfloat16"]


@pytest.mark.parametrize("source", ALL)
@pytest.mark.parametrize("target", ALL)
@pytest.mark.filterwarnings("ignore")
def test_convert_is_xla(source, target):
    rng = np.random.default_rng(6)
    x = rng.standard_normal(300) * 100
    if source.startswith("complex"):
        x = x + 1j * rng.standard_normal(300)
    elif source.startswith("float"):
        x = np.concatenate([x, [np.nan, np.inf, -np.inf, 1e30, -1e30, -0.5]])
    elif source.startswith("uint"):
        x = np.abs(x)
    x = x.astype(source)
    with jax.default_device(jax.devices("cpu")[0]):
        want = np.asarray(lax.convert_element_type(x, target))
    if target == "bool":
        want = x != 0
    out = np.zeros(x.shape, target)
    elementwise(x.shape, program([dtype_of(x)], [("Convert", dtype_of(out), [0])], [1]), [x], [out])
    np.testing.assert_array_equal(out, want)


def test_elementwise_fuses_views_and_iota():
    """(x.T + iota) > broadcast row: several instructions, strides and one call."""
    x = np.arange(12, dtype=np.int64).reshape(3, 4)
    row = np.array([5, 6, 7], np.int64)
    out = np.zeros((4, 3), bool)
    code = program(
        [NUMBERS["s64"]] * 3,
        [("Add", NUMBERS["s64"], [0, 1]), ("CompareGt", NUMBERS["pred"], [3, 2])],
        [4],
    )
    inputs = [
        Raw(0, NUMBERS["s64"], 0, [1, 4]),
        Raw(-1, NUMBERS["s64"], 0, [1, 0]),
        Raw(1, NUMBERS["s64"], 0, [0, 1]),
    ]
    run("wide_elementwise", [out, x, row], [4, 3], inputs, [Raw(0, [3, 1])], code)
    np.testing.assert_array_equal(out, (x.T + np.arange(4)[:, None]) > row)


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex128", "uint64"])
@pytest.mark.parametrize(("shape", "axes"), [((7, 5, 9), (1,)), ((10000,), (0,)), ((3, 33), (0, 1)),
                                         ((4, 0), (1,)), ((70, 40), (0,))])  # fmt: skip
def test_wide_reduce_add(dtype, shape, axes):
    rng = np.random.default_rng(7)
    x = (rng.standard_normal(shape) * 1000).astype(dtype)
    init = np.array([3], dtype)
    want = x.sum(axis=axes) + init[0]
    out = np.zeros(want.shape, dtype)
    marks = [int(d in axes) for d in range(x.ndim)]
    run("wide_reduce", [out, x, init], list(shape), marks, [Raw(0, strides_of(shape))], OPS["Add"],
        NO_PROGRAM)  # fmt: skip
    if dtype in ("int64", "uint64"):
        np.testing.assert_array_equal(out, want)
    else:
        np.testing.assert_allclose(out, want, rtol=1e-12, atol=1e-10)


def test_wide_reduce_order_is_that_of_the_contract():
    """16 lanes inside chunks of 4096, lanes by the tree 8, 4, 2, 1, chunks as a row again."""
    x = np.random.default_rng(8).standard_normal(9000)

    def row(v):
        lanes = v[:16].copy()
        for i in range(16, len(v)):
            lanes[i % 16] += v[i]
        width = 8
        while width:
            for lane in range(width):
                if lane + width < len(lanes):
                    lanes[lane] += lanes[lane + width]
            lanes = lanes[:width]
            width //= 2
        return lanes[0]

    want = row(np.array([row(x[i : i + 4096]) for i in range(0, 9000, 4096)]))
    out = np.zeros((), np.float64)
    run("wide_reduce", [out, x, np.zeros(1)], [9000], [1], [Raw(0, [1])], OPS["Add"], NO_PROGRAM)
    assert out == want


def test_wide_reduce_of_values_and_indices():
    x = np.random.default_rng(9).integers(0, 20, (6, 500)).astype(np.float64)
    index = np.broadcast_to(np.arange(500), x.shape)
    index = np.ascontiguousarray(index)
    f, s, p = NUMBERS["f64"], NUMBERS["s64"], NUMBERS["pred"]
    # keep = a > b or (a == b and i < j)
    code = program(
        [f, s, f, s],
        [("CompareGt", p, [0, 2]), ("CompareEq", p, [0, 2]), ("CompareLt", p, [1, 3]),
         ("And", p, [5, 6]), ("Or", p, [4, 7]), ("Select", f, [8, 0, 2]),
         ("Select", s, [8, 1, 3])],
        [9, 10],
    )  # fmt: skip
    values, places = np.zeros(6), np.zeros(6, np.int64)
    run("wide_reduce", [values, places, x, index, np.array([-np.inf]), np.array([0])], [6, 500],
        [0, 1], [Raw(0, [500, 1]), Raw(0, [500, 1])], OPS["None"], code)  # fmt: skip
    np.testing.assert_array_equal(values, x.max(1))
    np.testing.assert_array_equal(places, x.argmax(1))


@pytest.mark.parametrize("dtype", ["float64", "int64", "complex64", "int32", "uint8"])
def test_wide_dot(dtype):
    rng = np.random.default_rng(10)
    a, b = ((rng.standard_normal(s) * 50).astype(dtype) for s in ((2, 7, 11), (2, 11, 5)))
    out = np.zeros((2, 7, 5), dtype)
    run("wide_dot", [out, a, b], [2], [7], [5], [11], Raw(0, [77, 11, 1]), Raw(0, [55, 1, 5]))
    want = a @ b
    if dtype.startswith(("int", "uint")):
        np.testing.assert_array_equal(out, want)
    else:
        np.testing.assert_allclose(out, want, rtol=1e-5 if dtype == "complex64" else 1e-13)


def test_wide_dot_widens_operands_first():
    a, b = np.full((1, 300), 100, np.int8), np.full((300, 1), 100, np.int8)
    out = np.zeros((1, 1), np.int32)
    run("wide_dot", [out, a, b], [], [1], [1], [300], Raw(0, [300, 1]), Raw(0, [1, 1]))
    assert out[0, 0] == 300 * 100 * 100


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int32", "uint8", "float16"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("descending", [False, True])
def test_sort_is_stable_with_nan_last(dtype, axis, descending):
    rng = np.random.default_rng(11)
    x = rng.integers(0, 30, (5, 70, 4)).astype(dtype)
    if dtype.startswith("float"):
        x[rng.random(x.shape) < 0.1] = np.nan
    index = np.ascontiguousarray(np.indices(x.shape)[axis])
    out, places = np.zeros_like(x), np.zeros_like(index)
    run("sort", [out, places, x, index], list(x.shape), axis, [Raw(0, descending, 0, 0)],
        NO_PROGRAM)  # fmt: skip
    key = -x.astype(np.float64) if descending else x
    want = np.argsort(key, axis=axis, kind="stable")
    np.testing.assert_array_equal(places, want)
    np.testing.assert_array_equal(out, np.take_along_axis(x, want, axis))


def test_sort_by_a_comparator_program():
    x = np.random.default_rng(12).integers(-50, 50, 200)
    s, p = NUMBERS["s64"], NUMBERS["pred"]
    code = program([s, s], [("Abs", s, [0]), ("Abs", s, [1]), ("CompareLt", p, [2, 3])], [4])
    out = np.zeros_like(x)
    run("sort", [out, x], [200], 0, [], code)
    np.testing.assert_array_equal(out, x[np.argsort(np.abs(x), kind="stable")])


@pytest.mark.parametrize("dtype", ["float32", "int64", "float16"])
@pytest.mark.parametrize("largest", [True, False])
def test_topk(dtype, largest):
    x = np.random.default_rng(13).integers(0, 40, (6, 90)).astype(dtype)
    values, places = np.zeros((6, 7), dtype), np.zeros((6, 7), np.int64)
    run("topk", [values, places, x], 6, 90, 7, largest)
    key = -x.astype(np.float64) if largest else x
    want = np.argsort(key, axis=1, kind="stable")[:, :7]
    np.testing.assert_array_equal(places, want)
    np.testing.assert_array_equal(values, np.take_along_axis(x, want, 1))


GATHERS = {
    "rows": ((9, 5), (4, 1), [0, 1], dict(offset_dims=(1,), collapsed_slice_dims=(0,),
                                          start_index_map=(0,)), (1, 5)),
    "windows": ((8, 7, 6), (3, 2), None, dict(offset_dims=(0, 2), collapsed_slice_dims=(1,),
                                              start_index_map=(2, 0)), (3, 1, 2)),
    "points": ((8, 7), (2, 5, 2), None, dict(offset_dims=(), collapsed_slice_dims=(0, 1),
                                             start_index_map=(0, 1)), (1, 1)),
    "batched": ((4, 9, 3), (4, 6, 1), None,
                dict(offset_dims=(2,), collapsed_slice_dims=(1,), start_index_map=(1,),
                     operand_batching_dims=(0,), start_indices_batching_dims=(0,)), (1, 1, 3)),
}  # fmt: skip


@pytest.mark.parametrize("case", GATHERS)
@pytest.mark.parametrize("index_dtype", ["int32", "int64"])
def test_gather_general_is_xla(case, index_dtype):
    shape, index_shape, _, numbers, sizes = GATHERS[case]
    rng = np.random.default_rng(14)
    x = rng.standard_normal(shape).astype(np.float32)
    index = rng.integers(-2, 10, index_shape).astype(index_dtype)
    dims = lax.GatherDimensionNumbers(**numbers)
    want = np.asarray(lax.gather(x, index, dims, sizes, mode="clip"))
    out = np.zeros_like(want)
    run("gather_general", [out, x, index], shape, index_shape, want.shape, dims.offset_dims,
        dims.collapsed_slice_dims, dims.start_index_map, dims.operand_batching_dims,
        dims.start_indices_batching_dims, len(index_shape) - 1, sizes)  # fmt: skip
    np.testing.assert_array_equal(out, want)


SCATTERS = {
    "rows": ((9, 5), (4, 1), (4, 5), dict(update_window_dims=(1,), inserted_window_dims=(0,),
                                          scatter_dims_to_operand_dims=(0,))),
    "windows": ((8, 7, 6), (3, 2), (3, 3, 2),
                dict(update_window_dims=(0, 2), inserted_window_dims=(1,),
                     scatter_dims_to_operand_dims=(2, 0))),
    "points": ((8, 7), (2, 5, 2), (2, 5), dict(update_window_dims=(), inserted_window_dims=(0, 1),
                                               scatter_dims_to_operand_dims=(0, 1))),
    "batched": ((4, 9, 3), (4, 6, 1), (4, 6, 3),
                dict(update_window_dims=(2,), inserted_window_dims=(1,),
                     scatter_dims_to_operand_dims=(1,), operand_batching_dims=(0,),
                     scatter_indices_batching_dims=(0,))),
}  # fmt: skip


@pytest.mark.parametrize("case", SCATTERS)
@pytest.mark.parametrize("combiner", ["Add", "Multiply", "Maximum", "Minimum", "Copy"])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_scatter_general_is_xla(case, combiner, dtype):
    shape, index_shape, update_shape, numbers = SCATTERS[case]
    rng = np.random.default_rng(15)
    x = rng.integers(-9, 9, shape).astype(dtype)
    index = rng.integers(-2, 10, index_shape)
    if combiner == "Copy":  # XLA leaves the winner of a collision open
        index = index[:1] if case in ("rows", "windows") else index
    update = rng.integers(-3, 3, (len(index), *update_shape[1:]) if case == "rows" else
                          update_shape).astype(dtype)  # fmt: skip
    if case == "windows" and combiner == "Copy":
        update = update[:, :1]
    dims = lax.ScatterDimensionNumbers(**numbers)
    scatter = {"Add": lax.scatter_add, "Multiply": lax.scatter_mul, "Maximum": lax.scatter_max,
               "Minimum": lax.scatter_min, "Copy": lax.scatter}[combiner]  # fmt: skip
    want = np.asarray(scatter(x, index, update, dims, mode="drop"))
    out = np.zeros_like(x)
    run("scatter_general", [out, x, index, update], shape, index.shape, update.shape,
        dims.update_window_dims, dims.inserted_window_dims, dims.scatter_dims_to_operand_dims,
        dims.operand_batching_dims, dims.scatter_indices_batching_dims, index.ndim - 1,
        OPS[combiner], NO_PROGRAM)  # fmt: skip
    if combiner == "Copy" and case in ("points", "batched"):
        return  # only that it stays in bounds
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("shape", [(16,), (3, 7), (2, 37), (5, 12, 10), (2, 4, 6, 9), (1, 101)])
@pytest.mark.parametrize("kind", [0, 1, 2, 3])
@pytest.mark.parametrize("double", [False, True])
def test_fft(shape, kind, double):
    rng = np.random.default_rng(16)
    axes = list(range(max(1, len(shape) - 3 if len(shape) > 3 else 0), len(shape))) or [0]
    x = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    lengths = [shape[a] for a in axes]
    if kind == 2:
        x = x.real
    want = [np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn][kind]
    if kind == 3:
        x = np.fft.rfftn(x.real, axes=axes)
        want = want(x, s=lengths, axes=axes)
    else:
        want = want(x, axes=axes)
    if not double:
        x = x.astype(np.float32 if kind == 2 else np.complex64)
        want = want.astype(np.float32 if kind == 3 else np.complex64)
    out = np.zeros_like(want)
    batch = int(np.prod(shape[: axes[0]]))
    run("fft", [out, np.ascontiguousarray(x)], kind, batch, lengths)
    scale = np.abs(want).max()
    np.testing.assert_allclose(out, want, atol=scale * (1e-13 if double else 1e-6))


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky(dtype, lower):
    rng = np.random.default_rng(17)
    root = rng.standard_normal((3, 6, 6)) + (1j * rng.standard_normal((3, 6, 6))
                                             if dtype.startswith("c") else 0)  # fmt: skip
    a = (root @ np.conj(root.transpose(0, 2, 1)) + 6 * np.eye(6)).astype(dtype)
    want = np.linalg.cholesky(a)
    if not lower:
        want = np.conj(want.transpose(0, 2, 1))
    # The other triangle is not read.
    garbage = np.where(np.tri(6, dtype=bool) if lower else np.tri(6, dtype=bool).T, a, np.nan)
    out = np.zeros_like(a)
    run("cholesky", [out, garbage.astype(dtype)], 3, 6, lower)
    np.testing.assert_allclose(out, want, rtol=1e-4 if dtype in ("float32", "complex64") else 1e-12,
                               atol=1e-5)  # fmt: skip


def test_cholesky_of_an_indefinite_matrix_is_nan():
    out = np.zeros((1, 2, 2))
    run("cholesky", [out, np.array([[[1.0, 2.0], [2.0, 1.0]]])], 1, 2, True)
    assert np.isnan(out[0, 1, 1])


@pytest.mark.parametrize("dtype", ["float64", "complex128", "float32"])
@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("transpose", [0, 1, 2])
def test_triangular_solve(dtype, left, lower, unit, transpose):
    rng = np.random.default_rng(18)
    a = rng.standard_normal((2, 5, 5)) + 4 * np.eye(5)
    b = rng.standard_normal((2, 5, 3) if left else (2, 3, 5))
    if dtype.startswith("complex"):
        a, b = a + 1j * rng.standard_normal(a.shape), b + 1j * rng.standard_normal(b.shape)
    a, b = a.astype(dtype), b.astype(dtype)
    out = np.zeros_like(b)
    run("triangular_solve", [out, a, b], 2, 5, 3, left, lower, unit, transpose)
    system = np.tril(a) if lower else np.triu(a)
    if unit:
        system[:, range(5), range(5)] = 1
    if transpose:
        system = system.transpose(0, 2, 1)
    if transpose == 2:
        system = np.conj(system)
    back = system @ out if left else out @ system
    np.testing.assert_allclose(back, b, atol=1e-3 if dtype == "float32" else 1e-10)


WINDOWS = {
    "pool": ((2, 3), (2, 2), ((0, 0), (1, 1)), (1, 1), (1, 1)),
    "overlap": ((3, 3), (1, 2), ((1, 1), (1, 1)), (1, 1), (1, 1)),
    "dilated": ((2, 3), (1, 1), ((0, 2), (1, 0)), (2, 1), (1, 2)),
}


@pytest.mark.parametrize("case", WINDOWS)
@pytest.mark.parametrize("op", ["Add", "Maximum"])
@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_reduce_window_wide_is_xla(case, op, dtype):
    size, stride, padding, base, dilation = WINDOWS[case]
    x = np.random.default_rng(19).integers(-9, 9, (11, 13)).astype(dtype)
    init = np.array(0 if op == "Add" else -100, dtype)
    want = np.asarray(lax.reduce_window(x, init, lax.add if op == "Add" else lax.max, size, stride,
                                        padding, base_dilation=base,
                                        window_dilation=dilation))  # fmt: skip
    out = np.zeros_like(want)
    window = [
        Raw(*w) for w in zip(size, stride, *zip(*padding, strict=True), dilation, base, strict=True)
    ]
    run("reduce_window_wide", [out, x, init], x.shape, want.shape, window, OPS[op], NO_PROGRAM)
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("case", ["pool", "overlap"])
def test_select_and_scatter_general_is_xla(case):
    size, stride, padding, _, _ = WINDOWS[case]
    rng = np.random.default_rng(20)
    x = rng.permutation(143).reshape(11, 13).astype(np.float64)
    _, pull = jax.vjp(lambda v: lax.reduce_window(v, -np.inf, lax.max, size, stride, padding), x)
    places = jax.eval_shape(
        lambda v: lax.reduce_window(v, -np.inf, lax.max, size, stride, padding), x
    ).shape
    source = rng.integers(-9, 9, places).astype(np.float64)
    (want,) = pull(source)
    out, f = np.zeros_like(x), NUMBERS["f64"]
    keep = program([f, f], [("CompareGe", NUMBERS["pred"], [0, 1])], [2])
    window = [
        Raw(*w) for w in zip(size, stride, *zip(*padding, strict=True), (1, 1), (1, 1), strict=True)
    ]
    run("select_and_scatter_general", [out, x, source, np.zeros(1)], x.shape, places, window, keep,
        OPS["Add"])  # fmt: skip
    np.testing.assert_array_equal(out, np.asarray(want))


@pytest.mark.parametrize("name", emulator.kernel_names())
def test_malformed_parameters_are_refused(name):
    tiles = [np.zeros(4) for _ in range(4)]
    for values in ([], [1] * 3, [10**9] * 40, [-1] * 60):
        with pytest.raises((ValueError, RuntimeError), match=name):
            emulator.run_kernel(name, [("f64", t) for t in tiles], values)


def test_views_that_leave_their_tile_are_refused():
    x, out = np.zeros(4), np.zeros(8)
    code = program([NUMBERS["f64"]], [], [0])
    with pytest.raises((ValueError, RuntimeError), match="reaches beyond"):
        run(
            "wide_elementwise", [out, x], [8], [Raw(0, NUMBERS["f64"], 0, [1])], [Raw(0, [1])], code
        )
