"""Runs gallery entries on the device, away from the test's own process; prints JSON.

    python -m honesty.run_gallery float32 [entry ...]              {"": {entry: record}}
    HONESTY_PERTURB=dma_copy,iota python -m honesty.run_gallery .. {mnemonic: {entry: record}, ...}

The environment decides the rest: strictness, guard mode, which NRT library, which compiler.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path


def main() -> None:
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what else prints must not end up in the result
    import torch

    torch.set_num_threads(1)
    dtype, names = sys.argv[1], sys.argv[2:]
    perturbed = os.environ.get("HONESTY_PERTURB", "")
    if perturbed:
        json.dump({m: _in_child(m, dtype, names) for m in perturbed.split(",")}, out)
    else:
        json.dump({"": _run_all(dtype, names)}, out)


def _run_all(dtype: str, names: list[str]) -> dict:
    from honesty import gallery

    known = gallery.ENTRIES | gallery.IRREGULAR
    return {n: run(known[n], dtype) for n in names or gallery.ENTRIES}


def _in_child(mnemonic: str, dtype: str, names: list[str]) -> dict:
    """Importing torch takes longer than the gallery: fork before the device is touched."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.environ["TORCHNEURON_PERTURB"] = mnemonic
        with os.fdopen(write_end, "w") as pipe:
            json.dump(_run_all(dtype, names), pipe)
        os._exit(0)  # the parent's exit handlers are not ours
    os.close(write_end)
    with os.fdopen(read_end) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if status != 0:
        sys.exit(f"gallery ends with status {status} with {mnemonic} perturbed")
    return json.loads(text)


def run(entry, dtype: str) -> dict:
    """Result against the CPU, counters and fallbacks of one entry."""
    import torch
    import torch_neuronx
    from honesty import gallery, nrt_counters
    from torch.utils import _pytree as pytree

    inputs = entry.inputs(dtype)
    want = pytree.tree_leaves(entry.function(*inputs))
    moved = [t.to("neuron") for t in inputs]
    torch.neuron.synchronize()
    torch_neuronx.clear_op_tracking()
    counting = os.environ.get("HONESTY_COUNTERS", "1") == "1"
    if counting:
        nrt_counters.reset()
    before = programs()
    record: dict = {"error": "", "wrong": ""}
    try:
        got = pytree.tree_leaves(entry.function(*moved))
        torch.neuron.synchronize()
        if counting:
            record["counters"] = nrt_counters.read()
        # Programs that an earlier entry left are judged there.
        record["programs"] = sorted(programs() - before)
        record["fallbacks"] = torch_neuronx.get_fallback_ops()
        record["bytes_in"] = gallery.bytes_of(inputs)
        record["bytes_out"] = gallery.bytes_of(got)
        for g, w in zip(got, want, strict=True):
            torch.testing.assert_close(g.cpu(), w, **tolerance(w.dtype))
    except AssertionError as e:
        record["wrong"] = " ".join(str(e).split())[:300]
    except Exception as e:
        record["error"] = f"{type(e).__name__}: {' '.join(str(e).split())[:300]}"
    return record


def programs() -> set[str]:
    """The containers that the directory of compiled programs holds."""
    return {str(p) for p in Path(os.environ["TORCH_NEURONX_NEFF_CACHE_DIR"]).rglob("*.neff")}


def tolerance(dtype) -> dict:
    """A sum's rounding differs between orders; op_db's own tolerances are judged elsewhere."""
    import torch

    if dtype == torch.float32:
        return {"rtol": 1e-4, "atol": 1e-4}
    return {"rtol": 0.02, "atol": 0.02}


if __name__ == "__main__":
    main()
