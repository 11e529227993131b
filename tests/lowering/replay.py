"""Rows judged by PyTorch CPU: aten calls are recorded while CPU runs them, then each that has a row
is lowered, run by XLA and compared.

A call of aten::add_.Tensor or aten::add.Tensor is replayed through the row aten::add.Tensor, as the
dispatcher does it; a row's own in-place name comes first.
"""

from __future__ import annotations

import collections
import dataclasses
from typing import Any

import ml_dtypes
import numpy as np
import torch
import xla_oracle
from neuron_testing import lowering
from torch.utils._python_dispatch import TorchDispatchMode

ROWS = {row["overload"]: row for row in lowering.rows()}

DTYPES = {
    torch.bool: ("pred", np.bool_),
    torch.int8: ("s8", np.int8),
    torch.int16: ("s16", np.int16),
    torch.int32: ("s32", np.int32),
    torch.int64: ("s64", np.int64),
    torch.uint8: ("u8", np.uint8),
    torch.float16: ("f16", np.float16),
    torch.bfloat16: ("bf16", ml_dtypes.bfloat16),
    torch.float32: ("f32", np.float32),
    torch.float64: ("f64", np.float64),
    torch.complex64: ("c64", np.complex64),
    torch.complex128: ("c128", np.complex128),
}
NUMPY = dict(DTYPES.values())
TORCH = {np.dtype(n): t for t, (_, n) in DTYPES.items()}


def to_numpy(tensor: torch.Tensor) -> np.ndarray:
    dense = tensor.detach().resolve_conj().resolve_neg().contiguous()
    if dense.dtype == torch.bfloat16:
        return dense.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return dense.numpy()


def to_torch(array: np.ndarray) -> torch.Tensor:
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(np.array(array))


@dataclasses.dataclass
class Call:
    """One aten call as CPU made it: arguments before, results and overwritten arguments after."""

    name: str
    row: dict
    arguments: list[Any]
    schema: Any
    results: list[Any] = dataclasses.field(default_factory=list)
    after: dict[int, list[torch.Tensor]] = dataclasses.field(default_factory=dict)

    @property
    def in_place(self) -> bool:
        """Replayed through the functional row: aten::add_.Tensor by aten::add.Tensor."""
        return self.name != self.row["overload"]

    def __str__(self) -> str:
        def show(value):
            if isinstance(value, torch.Tensor):
                return f"{DTYPES.get(value.dtype, (str(value.dtype),))[0]}{list(value.shape)}"
            if isinstance(value, (list, tuple)):
                return "[" + ", ".join(show(v) for v in value) + "]"
            return repr(value)

        return f"{self.name}({', '.join(show(a) for a in self.arguments)})"


def row_of(name: str) -> dict | None:
    if name in ROWS:
        return ROWS[name]
    base, _, overload = name.partition(".")
    if base.endswith("_") and not base.endswith("__"):
        functional = base[:-1] + ("." + overload if overload else "")
        return ROWS.get(functional)
    return None


def snapshot(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().clone(memory_format=torch.contiguous_format)
    if isinstance(value, (list, tuple)):
        return [snapshot(v) for v in value]
    return value


def tensors_in(value: Any) -> list:
    if isinstance(value, (list, tuple)):
        return [t for v in value for t in tensors_in(v)]
    return [value] if isinstance(value, torch.Tensor) or value is None else []


class Recorder(TorchDispatchMode):
    """Records calls that have a row; `limit` of each (row, dtypes, ranks)."""

    def __init__(self, limit: int = 2):
        super().__init__()
        self.calls: list[Call] = []
        self.missing: collections.Counter[str] = collections.Counter()
        self.limit = limit
        self.seen: collections.Counter = collections.Counter()

    def wanted(self, call: Call) -> bool:
        def kind(value):
            if isinstance(value, torch.Tensor):
                return (value.dtype, value.dim() > 0)
            if isinstance(value, list):
                return tuple(kind(v) for v in value[:4])
            return type(value).__name__ if isinstance(value, (int, float)) else repr(value)

        key = (call.row["overload"], *(kind(a) for a in call.arguments))
        self.seen[key] += 1
        return self.seen[key] <= self.limit

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        schema = function._schema
        name = schema.name + ("." + schema.overload_name if schema.overload_name else "")
        row = row_of(name)
        call = None
        if row is not None:
            positional = {a.name: v for a, v in zip(schema.arguments, args, strict=False)}
            positional.update(kwargs)
            arguments = [
                snapshot(positional.get(a.name, a.default_value)) for a in schema.arguments
            ]
            call = Call(name, row, arguments, schema)
            # as_strided reads memory, which the snapshot of a strided tensor does not have.
            reads_memory = "as_strided" in name and not args[0].is_contiguous()
            if reads_memory or not (supported(call) and self.wanted(call)):
                call = None
        else:
            self.missing[name] += 1
        result = function(*args, **kwargs)
        if call is not None:
            call.results = snapshot(list(result) if isinstance(result, (list, tuple)) else [result])
            originals = [positional.get(a.name, a.default_value) for a in schema.arguments]
            for i, argument in enumerate(schema.arguments):
                writes = call.in_place and argument.alias_info and argument.alias_info.is_write
                if writes or row["mutates"] >> i & 1:
                    call.after[i] = tensors_in(snapshot(originals[i]))
            self.calls.append(call)
        return result


def supported(call: Call) -> bool:
    tensors = [t for t in tensors_in(call.arguments) if t is not None]
    if any(isinstance(a, torch.dtype) and a not in DTYPES for a in call.arguments):
        return False
    return all(
        t.dtype in DTYPES and t.layout == torch.strided and not t.is_quantized for t in tensors
    )


def encode(call: Call) -> tuple[list, list[np.ndarray]]:
    """The binding's form of the arguments and the arrays of the tensor parameters."""
    arrays: list[np.ndarray] = []
    encoded = []
    for i, (argument, value) in enumerate(zip(call.schema.arguments, call.arguments, strict=True)):
        run_time = bool(call.row["run_time_scalars"] >> i & 1)
        if argument.name == "dtype" and isinstance(value, int):
            value = SCALAR_TYPES[value]
        encoded.append(encode_one(str(argument.type), value, run_time, arrays))
    return encoded, arrays


def encode_one(kind: str, value: Any, run_time: bool, arrays: list[np.ndarray]) -> Any:
    if value is None:
        return None
    if isinstance(value, torch.Tensor):
        arrays.append(to_numpy(value))
        return ("tensor", DTYPES[value.dtype][0], list(value.shape))
    if isinstance(value, torch.dtype):
        return ("dtype", DTYPES[value][0])
    if isinstance(value, (torch.device, torch.layout, torch.memory_format, torch.Generator)):
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool) and "bool" in kind:
        return value
    if isinstance(value, (bool, int, float, complex)):
        if "Tensor" in kind:
            return ("wrapped", value, None)
        if kind in ("int[]", "List[int]") or "List[int]" in kind:
            return ("ints", [value])
        constant = value in (0, 1)
        return ("scalar", value, run_time and not constant)
    if isinstance(value, (list, tuple)):
        if "Tensor" in kind:
            items = []
            for t in value:
                if t is None:
                    items.append(None)
                else:
                    arrays.append(to_numpy(t))
                    items.append((DTYPES[t.dtype][0], list(t.shape)))
            return ("tensors", items)
        if "bool" in kind:
            return ("bools", list(value))
        if "number" in kind or "Scalar" in kind:
            return ("scalars", list(value), run_time)
        if "float" in kind:
            return ("floats", list(value))
        return ("ints", list(value))
    raise TypeError(f"no encoding for {value!r} as {kind}")


def scalar_array(call: Call, argument: int, element: int, dtype: str) -> np.ndarray:
    value = call.arguments[argument]
    if element >= 0:
        value = value[element]
    if isinstance(value, torch.Tensor):
        value = value.item()
    return np.asarray(value).astype(NUMPY[dtype])


# (row, result) that CPU leaves to chance.
UNSPECIFIED = {
    ("aten::nll_loss_forward", 1),  # total_weight without a reduction
    ("aten::nll_loss2d_forward", 1),
    ("aten::kthvalue", 1),  # which of equal elements
    ("aten::median.dim", 1),
    *((f"aten::_embedding_bag{form}", i) for form in ("", "_forward_only") for i in (1, 2, 3)),
    ("aten::mode", 1),
    ("aten::nanmedian.dim", 1),
    ("aten::sort", 1),  # not sort.stable
    ("aten::topk", 1),
}
# Results from 1 on are statistics: f32 here and on accelerators, the input's dtype on CPU.
STATISTICS = {
    "aten::native_layer_norm",
    "aten::native_group_norm",
    "aten::native_batch_norm",
    "aten::_native_batch_norm_legit",
    "aten::_native_batch_norm_legit.no_stats",
    "aten::_batch_norm_with_update",
}
# How IValue stores a dtype: an index into this.
SCALAR_TYPES = [
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.float32, torch.float64,
]  # fmt: skip

TOLERANCE = {
    torch.float32: (1e-5, 1e-5),
    torch.complex64: (1e-5, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-2),
    torch.float16: (2e-3, 2e-3),
    torch.float64: (1e-7, 1e-7),
    torch.complex128: (1e-7, 1e-7),
}


def replay(call: Call) -> tuple[list[torch.Tensor | None], np.ndarray | None]:
    """The row's results by XLA (None where undefined) and its error record."""
    call = prepared(call)
    encoded, arrays = encode(call)
    lowered = lowering.lower(call.row["overload"], encoded)
    parameters: dict[int, np.ndarray] = dict(enumerate(arrays))
    for argument, element, dtype, parameter in lowered["scalars"]:
        parameters[parameter] = scalar_array(call, argument, element, dtype)
    if lowered["philox_parameter"] >= 0:
        parameters[lowered["philox_parameter"]] = np.array([42, 7], np.uint64)
    outputs = xla_oracle.run(lowered["proto"], [parameters[i] for i in sorted(parameters)])
    results = [None if p is None else to_torch(outputs[p]) for p in lowered["results"]]
    if lowered["row_count"] is not None:
        rows = int(outputs[lowered["row_count"]])
        for i, dimension in lowered["counted"]:
            results[i] = results[i].narrow(dimension, 0, rows)
    record = lowered["error_record"]
    return results, None if record is None else outputs[record]


def prepared(call: Call) -> Call:
    """With the arguments that the caller of such a row reads from the device first."""
    overload, arguments = call.row["overload"], list(call.arguments)
    if overload == "aten::bincount":
        arguments[2] = len(call.results[0])
    elif overload == "aten::repeat_interleave.Tensor":
        arguments[1] = len(call.results[0])
    elif "index_put" in overload:
        masks = [t for t in arguments[1] if t is not None and t.dtype in (torch.bool, torch.uint8)]
        values = arguments[2]
        if len(arguments[1]) == len(masks) == 1 and masks[0].numel():
            rest = arguments[0].dim() - masks[0].dim()
            if values.dim() == rest + 1 and values.shape[0] != 1:
                rows = values.new_zeros(masks[0].numel(), *values.shape[1:])
                rows[: len(values)] = values
                arguments[2] = rows
    return dataclasses.replace(call, arguments=arguments)


def compare(call: Call, tolerance: tuple[float, float] | None = None) -> None:
    results, errors = replay(call)
    expected: list = []
    replaced = [t for i in sorted(call.after) for t in call.after[i]]
    functional = not any(a.alias_info and a.alias_info.is_write for a in call.schema.arguments)
    if functional or len(results) > len(replaced):
        expected = [t for r in call.results for t in tensors_in(r)]
    expected += replaced
    if errors is not None:
        assert errors[0] == 0, f"{call}: reports {errors.tolist()}, CPU computed a result"
    assert len(results) == len(expected), f"{call}: {len(results)} results, CPU has {len(expected)}"
    for i, (got, want) in enumerate(zip(results, expected, strict=True)):
        if want is None or got is None or (call.row["overload"], i) in UNSPECIFIED:
            continue
        converted = call.in_place or (i > 0 and call.row["overload"] in STATISTICS)
        if converted and got.dtype != want.dtype:
            got = got.to(want.dtype)
        check(f"{call}: result {i}", got, want, tolerance, random=call.row["random"])


def check(where: str, got: torch.Tensor, want: torch.Tensor, tolerance, random=False) -> None:
    """Shape and dtype, and the values unless they are random."""
    assert got.shape == want.shape, f"{where}: shape {list(got.shape)}, CPU {list(want.shape)}"
    assert got.dtype == want.dtype, f"{where}: {got.dtype}, CPU {want.dtype}"
    if random:
        return
    rtol, atol = tolerance or TOLERANCE.get(want.dtype, (0, 0))
    torch.testing.assert_close(
        got, want, rtol=rtol, atol=atol, equal_nan=True, msg=lambda m: f"{where}: {m}"
    )
