"""Compile time: of each op of PyTorch's op database, and of GPT-2 forward and backward.

A measurement is a process of its own without a disk cache, so that every program is compiled. What
counts is the compiler's own time, HLO to program (`compile_seconds` of the cache statistics);
lowering and loading are told beside it. `python -m benchmarks.compile_time ops|gpt2` is such a
process: its last line is JSON.
"""

import json
import math
import os
import statistics
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from benchmarks.measure import Record, against_bar

OP_BAR_MS = 2.0
GPT2_BAR_MS = 2000.0
GPT2_PARAMETERS = 124_439_808


def single_op_compile() -> Iterator[Record]:
    """Median over the ops of op_db (first sample, fp32) that compile a program."""
    yield _record("single_op_compile", "op of op_db, f32", "ms/program", OP_BAR_MS, "ops", rounds=3)


def gpt2_compile() -> Iterator[Record]:
    """GPT-2 124M, one sequence of 1,024 tokens, loss and gradients: both graphs together."""
    yield _record(
        "gpt2_compile", "GPT-2 124M forward+backward", "ms", GPT2_BAR_MS, "gpt2", rounds=3
    )


def _record(bench: str, name: str, unit: str, bar: float, what: str, *, rounds: int) -> Record:
    found = [_in_process(what) for _ in range(rounds)]
    details = {key: statistics.median(f[key] for f in found) for key in found[0] if key != "ms"}
    times = [f["ms"] for f in found]
    return against_bar(bench, name, times, bar=bar, unit=unit, details=details)


def _in_process(what: str) -> Mapping[str, float]:
    environment = {**os.environ, "TORCH_NEURONX_DISABLE_NEFF_CACHE": "1"}
    command = [sys.executable, "-m", "benchmarks.compile_time", what]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _measure_ops() -> dict[str, float]:
    import torch
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.utils._pytree import tree_map_only
    from torch_neuronx import _C

    def placed(value: Any) -> Any:
        return tree_map_only(torch.Tensor, lambda t: t.detach().to("neuron"), value)

    times = []
    for op in op_db:
        if not op.supports_dtype(torch.float32, "cpu"):
            continue
        sample = next(iter(op.sample_inputs("cpu", torch.float32)), None)
        if sample is None:
            continue
        arguments = [placed(x) for x in (sample.input, sample.args, sample.kwargs)]
        before = _C.cache_statistics()
        try:
            op.op(arguments[0], *arguments[1], **arguments[2])
            torch.accelerator.synchronize()
        except Exception:  # what is refused, and why, is the conformance suite's matter
            continue
        after = _C.cache_statistics()
        programs = after["compiled"] - before["compiled"]
        if programs:
            seconds = after["compile_seconds"] - before["compile_seconds"]
            times.append(seconds / programs * 1e3)
    tenths = statistics.quantiles(times, n=10)
    return {"ms": statistics.median(times), "ops": len(times), "90 % below ms": tenths[8]}


def _measure_gpt2() -> dict[str, float]:
    import torch
    from torch.nn import functional as F
    from torch_neuronx import _C
    from torch_neuronx._dynamo import get_dynamo_metrics

    from benchmarks.gpt import gpt2

    torch.manual_seed(0)
    with torch.device("neuron"):
        model = gpt2()
        tokens, targets = torch.randint(model.vocabulary, (2, 1, model.length))
    parameters = sum(p.numel() for p in model.parameters())
    if parameters != GPT2_PARAMETERS:
        raise RuntimeError(f"GPT-2 small has {GPT2_PARAMETERS} parameters, this one {parameters}")
    peaks = _note_peaks(_C.GraphBuilder)
    before = _C.cache_statistics()["compile_seconds"]

    @torch.compile(backend="neuron")
    def loss_of(tokens: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())

    loss = loss_of(tokens, targets)
    first = _C.cache_statistics()["compile_seconds"]
    loss.backward()
    if not abs(loss.item() - math.log(model.vocabulary)) < 1:
        raise RuntimeError(f"the loss of an untrained GPT-2 is {loss.item()}")
    seconds = _C.cache_statistics()["compile_seconds"]
    graphs = get_dynamo_metrics()
    if len(graphs) != 2:
        raise RuntimeError(f"GPT-2 is {len(graphs)} graphs, not a forward and a backward")
    return {
        "ms": (seconds - before) * 1e3,
        "forward ms": (first - before) * 1e3,
        "lowering ms": sum(g.lowering_time for g in graphs) * 1e3,
        "caching and loading ms": (sum(g.compile_time for g in graphs) - (seconds - before)) * 1e3,
        "nodes": sum(g.graph_node_count for g in graphs),
        "peak MB": max(peaks),
    }


def _note_peaks(builder: Any) -> list[float]:
    """Megabytes that each call of `builder.compile` took at most beyond what was in use before."""
    peaks: list[float] = []
    compile_graph: Callable[[Any], Any] = builder.compile

    def status(key: str) -> float:
        with open("/proc/self/status") as lines:
            line = next(line for line in lines if line.startswith(key + ":"))
        return int(line.split()[1]) / 1024

    def measured(self: Any) -> Any:
        with open("/proc/self/clear_refs", "w") as peak:
            peak.write("5")  # the peak is what is in use now
        before = status("VmRSS")
        executable = compile_graph(self)
        peaks.append(status("VmHWM") - before)
        return executable

    builder.compile = measured
    return peaks


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps({"ops": _measure_ops, "gpt2": _measure_gpt2}[sys.argv[1]]()))
