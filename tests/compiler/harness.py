"""Compile HLO with our compiler, run it through NRT, compare with XLA or NumPy."""

import re
from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
import xla_oracle
from neuron_testing import compiler

_DTYPES = {
    "pred": np.bool_,
    "s8": np.int8,
    "s16": np.int16,
    "s32": np.int32,
    "s64": np.int64,
    "u8": np.uint8,
    "u16": np.uint16,
    "u32": np.uint32,
    "u64": np.uint64,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f32": np.float32,
    "f64": np.float64,
    "c64": np.complex64,
    "c128": np.complex128,
}


def _slot(value, dtype) -> int:
    """The scalar block's word for a run-time scalar."""
    dtype = np.dtype(dtype)
    if dtype == np.float64:
        return int(np.float64(value).view(np.int64))
    if dtype.kind in "fV" or dtype == ml_dtypes.bfloat16:
        low = int(np.float32(value).view(np.uint32))
        own = np.asarray(value, dtype).view(f"u{dtype.itemsize}")
        return low if dtype.itemsize == 4 else int(own) << 32 | low
    return int(value)


def row_major(proto: bytes) -> bytes:
    """JAX states the layout it would like for a transpose; our HLO has none."""
    text = xla_oracle.hlo_text(proto)
    plain = re.sub(r"(\b\w+\[[\d,<=]*\])\{[\d,]*\}", r"\1", text)
    return proto if "transpose(" not in text else xla_oracle.proto_of_text(plain)


class Program:
    """One compiled module; `scalars` are the parameters that live in the scalar block."""

    def __init__(self, proto: bytes, scalars: Sequence[int] = (), **options):
        self.compiled = compiler.compile(proto, list(scalars), **options)

    @classmethod
    def of_container(cls, container: bytes, proto: bytes) -> "Program":
        """What neuron-compile made of `proto`."""
        program = cls.__new__(cls)
        program.compiled = compiler.from_container(container, proto)
        return program

    def buffers_after(self, *arguments: np.ndarray) -> list[bytes]:
        """The bytes of every buffer of the signature after one run."""
        arguments = [np.asarray(a) for a in arguments]
        buffers = []
        for _, size, parameter, _ in self.compiled.buffers:
            if parameter >= 0:
                buffers.append(np.ascontiguousarray(arguments[parameter]).tobytes())
            else:
                buffers.append(b"\xa5" * size)  # an output must be written wholly
        slots = [_slot(arguments[p], arguments[p].dtype) for p in self.compiled.scalar_parameters]
        return self.compiled.run(buffers, slots)

    def __call__(self, *arguments: np.ndarray) -> list[np.ndarray]:
        after = self.buffers_after(*arguments)
        results = [None] * len(self.compiled.outputs)
        for (_, _, _, output), data in zip(self.compiled.buffers, after, strict=True):
            if output >= 0:
                dtype, dims = self.compiled.outputs[output]
                flat = np.frombuffer(data, _DTYPES[dtype])
                results[output] = flat[: int(np.prod(dims))].reshape(dims)
        return results


def compile_function(function: Callable, *arguments, scalars: Sequence[int] = (), **options):
    return Program(row_major(xla_oracle.proto_of(function, *arguments)), scalars, **options)


def assert_close(got: np.ndarray, want: np.ndarray, tolerance: float | None = None):
    """Equal bits for integers; floats within `tolerance` (default: a few units in the last place,
    since XLA contracts and reorders)."""
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    kind = "f" if want.dtype == ml_dtypes.bfloat16 else want.dtype.kind
    if kind not in "fc" or tolerance == 0:
        np.testing.assert_array_equal(got, want)
        return
    if tolerance is None:
        eps = float(ml_dtypes.finfo(want.dtype).eps) if kind == "f" else 1.2e-7
        tolerance = max(4 * eps, 2e-6 if want.dtype != np.float64 else 1e-12)
    wide = np.complex128 if kind == "c" else np.float64
    np.testing.assert_allclose(got.astype(wide), want.astype(wide), rtol=tolerance, atol=tolerance)


def check(
    function: Callable,
    *arguments,
    tolerance: float | None = None,
    scalars: Sequence[int] = (),
    **options,
) -> Program:
    """`function` through JAX's lowering: ours against XLA's."""
    arguments = [np.asarray(a) for a in arguments]
    proto = row_major(xla_oracle.proto_of(function, *arguments))
    return check_proto(proto, arguments, tolerance=tolerance, scalars=scalars, **options)


def check_proto(
    proto: bytes,
    arguments: Sequence[np.ndarray],
    *,
    tolerance: float | None = None,
    scalars: Sequence[int] = (),
    **options,
) -> Program:
    program = Program(proto, scalars, **options)
    got = program(*arguments)
    want = xla_oracle.run(proto, arguments)
    assert len(got) == len(want)
    for g, w in zip(got, want, strict=True):
        assert_close(g, np.asarray(w), tolerance)
    return program


def check_text(text: str, *arguments, tolerance: float | None = None, **options) -> Program:
    """As check, for a module written as HLO text."""
    return check_proto(
        xla_oracle.proto_of_text(text),
        [np.asarray(a) for a in arguments],
        tolerance=tolerance,
        **options,
    )
