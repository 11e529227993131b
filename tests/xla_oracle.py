"""XLA as a judge of HLO: jaxlib's CPU client runs HloModuleProto bytes.

JAX has no public way to run a serialized HLO module, so this file, and no other, uses private
entry points of the pinned jaxlib.
"""

from collections.abc import Callable, Sequence

import jax
import numpy as np
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jaxlib import _hlo

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)


def proto_of(function: Callable, *arguments) -> bytes:
    """The HLO module that JAX lowers `function` to, before any optimisation.

    Arguments that the function does not use stay parameters.
    """
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    return lowered.compiler_ir("hlo").as_serialized_hlo_module_proto()


def hlo_text(proto: bytes) -> str:
    """XLA's own text of the module; raises what XLA's reader raises."""
    return _hlo.HloModule.from_serialized_hlo_module_proto(proto).to_string()


def proto_of_text(text: str) -> bytes:
    """What XLA's text parser makes of `text`."""
    return _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()


def run(proto: bytes, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Compile the module for CPU and run it; the leaves of the result tuple, in order."""
    client = jax.devices("cpu")[0].client
    computation = _hlo.XlaComputation(proto)
    module = xla_client._xla.mlir.xla_computation_to_mlir_module(computation)
    if not isinstance(module, (bytes, str)):
        module = mlir.module_to_bytecode(module)
    options = xla_client.CompileOptions()
    devices = xla_client._xla.DeviceList(tuple(client.local_devices()[:1]))
    executable = client.compile_and_load(module, devices, options)
    buffers = [jax.device_put(a, client.local_devices()[0]) for a in arguments]
    results = executable.execute_sharded(buffers).disassemble_into_single_device_arrays()
    return [np.asarray(r[0]) for r in results]
