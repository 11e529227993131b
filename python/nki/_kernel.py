"""Kernels: from a Python function to a program, and its runs.

A call traces the function with HBM tensors in place of arrays; everything else is a compile-time
constant. Programs are kept per signature.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nki import _core, _frameworks
from nki._arguments import Arrays, Call, fill, key_of
from nki._errors import NkiExecutionError, NkiValidationError
from nki._report import Report
from nki._tensor import NkiTensor, Storage
from nki._trace import IN_OUT, INPUT, OUTPUT, SCRATCH, Trace, default_target, is_tracing, tracing

__all__ = ["Kernel", "jit", "simulate"]


@dataclass
class _Compiled:
    programs: list[_core.Program]
    executable: _core.Executable | None  # for arrays of the host; made at the first run
    on_device: dict[int, Any]  # for tensors on `neuron`, by device
    tensors: list[Storage]  # what is bound: arguments, then outputs
    result: Any  # the returned structure, of NkiTensors
    sbuf_bytes: int
    psum_bytes: int


class Kernel:
    """A kernel: `kernel(*arrays)` runs it, `kernel[2]` is the same kernel on two physical cores.

    Called inside another kernel it is part of that kernel. After a run, `report` holds its modelled
    time and what it consists of.
    """

    def __init__(self, function: Callable[..., Any], lnc: int = 1) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.lnc = lnc
        self.report: Report | None = None
        self._compiled: dict[Any, _Compiled] = {}

    def __getitem__(self, lnc: int) -> Kernel:
        if lnc not in (1, 2):
            raise NkiValidationError(f"kernel.lnc: {lnc}, a logical core has 1 or 2 physical ones")
        return Kernel(self.function, lnc)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __repr__(self) -> str:
        return f"<nki kernel {self.function.__qualname__}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_tracing():
            return self.function(*args, **kwargs)
        arrays = Arrays()
        compiled = self._lookup(self._call(args, kwargs, arrays), arrays)
        device = _frameworks.neuron_device(arrays.values)
        if device is not None:
            return self._launch(compiled, arrays, device)
        return self._run(compiled, arrays)

    def trace(self, *args: Any, **kwargs: Any) -> Report:
        """Compile for these arguments without running: the report has no time."""
        arrays = Arrays()
        return self._report(self._compile(self._call(args, kwargs, arrays), arrays), None)

    def _call(self, args: Any, kwargs: Any, arrays: Arrays) -> Call:
        """The arguments, with stand-ins for arrays, named as the function names them."""
        names = list(inspect.signature(self.function).parameters)
        names += [f"argument{i}" for i in range(len(names), len(args))]
        return (
            tuple(arrays.replace(arg, name) for arg, name in zip(args, names, strict=False)),
            {name: arrays.replace(arg, name) for name, arg in kwargs.items()},
        )

    def _lookup(self, call: Call, arrays: Arrays) -> _Compiled:
        try:
            key: Any = (default_target(), self.lnc, key_of(call))
            hash(key)
        except TypeError:
            key = None
        compiled = self._compiled.get(key) if key is not None else None
        if compiled is None:
            compiled = self._compile(call, arrays)
            if key is not None:
                self._compiled[key] = compiled
        return compiled

    def _compile(self, call: Call, arrays: Arrays) -> _Compiled:
        programs: list[_core.Program] = []
        for program_id in range(self.lnc):
            trace = Trace(self.function.__name__, default_target(), self.lnc, program_id)
            with tracing(trace):
                inputs = arrays.declare(trace)
                args, kwargs = fill(call, inputs)
                result = self.function(*args, **kwargs)
            storages = _finish(trace, result, self.lnc)
            try:
                programs.append(trace.builder.build())
            except _core.Error as error:
                raise NkiValidationError(error.args[1], filename="", lineno=0) from None
        return _Compiled(
            programs,
            None,
            {},
            storages,
            result,
            trace.memories["sbuf"].peak,
            trace.memories["psum"].peak,
        )

    def _run(self, compiled: _Compiled, arrays: Arrays) -> Any:
        host: dict[str, np.ndarray[Any, Any]] = {}
        bindings = []
        for storage in compiled.tensors:
            if storage.kind in (INPUT, IN_OUT) and storage.array is not None:
                array = arrays.contiguous(storage.array)
            else:
                array = np.zeros(storage.shape, storage.dtype.numpy)
            host[storage.name] = array
            data = array.reshape(-1).view(np.uint8)  # not a copy: the array is contiguous
            bindings.append(
                (storage.name, data, storage.kind != OUTPUT, storage.kind in (OUTPUT, IN_OUT))
            )
        try:
            if compiled.executable is None:
                compiled.executable = _core.Executable(compiled.programs, 0)
            time_ps = compiled.executable.run(bindings)
        except _core.Error as error:
            raise NkiExecutionError(*error.args) from None
        self.report = self._report(compiled, time_ps if time_ps > 0 else None)
        arrays.write_back(compiled.tensors, host)
        return _to_arrays(compiled.result, host, arrays)

    def _launch(self, compiled: _Compiled, arrays: Arrays, device: Any) -> Any:
        """Enqueue the program on the device's current stream; results are there in its order."""
        program = compiled.on_device.get(device.index)
        if program is None:
            from torch_neuronx import _C  # the tensors are its own: it is loaded

            program = _C.NkiProgram(
                self.function.__name__,
                _core.encode_cores(compiled.programs),
                [
                    (
                        storage.name,
                        int(np.prod(storage.shape)) * storage.dtype.itemsize,
                        storage.kind != OUTPUT,
                        storage.kind in (OUTPUT, IN_OUT),
                    )
                    for storage in compiled.tensors
                ],
                device.index,
            )
            compiled.on_device[device.index] = program
        bound: dict[str, Any] = {}
        for storage in compiled.tensors:
            if storage.array is not None:
                bound[storage.name] = arrays.values[storage.array].detach().contiguous()
            else:
                bound[storage.name] = _frameworks.empty_on(device, storage.shape, storage.dtype)
        program.run(list(bound.values()))
        for storage in compiled.tensors:
            if storage.kind == IN_OUT and storage.array is not None:
                argument = arrays.values[storage.array]
                if not argument.is_contiguous():
                    argument.detach().copy_(bound[storage.name])
        seconds = program.modelled_seconds
        self.report = self._report(compiled, int(seconds * 1e12) if seconds > 0 else None, program)
        return _map_tensors(
            compiled.result,
            lambda tensor: (
                arrays.values[tensor._storage.array]
                if tensor._storage.array is not None
                else bound[tensor._storage.name].reshape(tensor.shape)
            ),
        )

    def _report(self, compiled: _Compiled, time_ps: int | None, executable: Any = None) -> Report:
        instructions: dict[str, int] = {}
        busy: dict[str, float] = {}
        for program in compiled.programs:
            for name, count in program.mnemonics().items():
                instructions[name] = instructions.get(name, 0) + count
            for name, ns in program.busy_ns().items():
                busy[name] = busy.get(name, 0.0) + ns
        return Report(
            self.function.__name__,
            default_target(),
            time_ps,
            instructions,
            busy,
            compiled.sbuf_bytes,
            compiled.psum_bytes,
            tuple(compiled.programs),
            executable or compiled.executable,
        )


def _finish(trace: Trace, result: Any, lnc: int) -> list[Storage]:
    """Name what is bound at execution: arguments as they are used, returned tensors as outputs."""
    for tensor in _tensors(result):
        storage = tensor._storage
        if storage.on_chip:
            raise NkiValidationError(
                f"return: {tensor!r} is on chip; store it to a tensor in nl.shared_hbm"
            )
        if tensor.size * tensor.itemsize != np.prod(storage.shape) * storage.dtype.itemsize:
            raise NkiValidationError(f"return: {tensor!r} is a part of {storage.name}")
        if storage.kind == SCRATCH:
            if storage.buffer != "shared_hbm":
                raise NkiValidationError(
                    f"return: {storage.name} is in {storage.buffer}; what a kernel returns is "
                    "allocated with buffer=nl.shared_hbm"
                )
            storage.kind = OUTPUT if lnc == 1 else IN_OUT
    for storage in trace.hbm:
        if lnc > 1 and storage.kind == SCRATCH and storage.buffer == "shared_hbm":
            storage.kind = IN_OUT  # one tensor for both cores
    bound = [storage for storage in trace.hbm if storage.kind in (INPUT, OUTPUT, IN_OUT)]
    for storage in bound:
        trace.builder.set_tensor(storage.tensor, storage.name, storage.kind)
    return bound


def _tensors(result: Any) -> list[NkiTensor]:
    if result is None:
        return []
    if isinstance(result, NkiTensor):
        return [result]
    if isinstance(result, (tuple, list)):
        return [tensor for item in result for tensor in _tensors(item)]
    if isinstance(result, dict):
        return [tensor for item in result.values() for tensor in _tensors(item)]
    raise NkiValidationError(f"return: {type(result).__name__} is no tensor")


def _map_tensors(result: Any, function: Callable[[NkiTensor], Any]) -> Any:
    """The returned structure with `function` of its tensors."""
    if isinstance(result, NkiTensor):
        return function(result)
    if isinstance(result, (tuple, list)):
        return type(result)(_map_tensors(item, function) for item in result)
    if isinstance(result, dict):
        return {key: _map_tensors(item, function) for key, item in result.items()}
    return result


def _to_arrays(result: Any, host: dict[str, np.ndarray[Any, Any]], arrays: Arrays) -> Any:
    def to_array(tensor: NkiTensor) -> Any:
        storage = tensor._storage
        if storage.array is not None:
            return arrays.values[storage.array]
        array = host[storage.name].reshape(tensor.shape)
        return _frameworks.from_numpy(array, arrays.values[0] if arrays.values else None)

    return _map_tensors(result, to_array)


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Decorator: a kernel. Options of earlier releases (mode, platform_target) are ignored."""
    if function is None:
        return lambda decorated: Kernel(decorated)
    return function if isinstance(function, Kernel) else Kernel(function)


def simulate(kernel: Callable[..., Any]) -> Kernel:
    """The kernel, to be called on NumPy (or PyTorch CPU) arrays, run on the emulated chip.

        add = nki.simulate(add_kernel)
        z = add(x, y)
        print(add.report)           # modelled time, instructions, memory

    Arrays that the kernel writes are changed in place.
    """
    if isinstance(kernel, Kernel):
        return Kernel(kernel.function, kernel.lnc)
    return Kernel(kernel)
