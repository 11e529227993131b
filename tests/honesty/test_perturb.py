"""What executes an instruction depends on it: made wrong, it makes the op or the kernel wrong."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from honesty import gallery_process

DTYPE = "float32"
# Made wrong, these change nothing that is read: a row must name why.
WITHOUT_EFFECT: dict[tuple[str, str], str] = {  # (mnemonic, entry or kernel)
    ("iota", "max_pool"): "counts the positions of the index result, which the call drops",
    ("memset", "max_pool"): "the same",
    ("tensor_scalar", "max_pool"): "the same",
    ("memset", "attention"): "starts the running maximum, which the first scores replace",
    ("memset", "attention_backward"): "the same",
    ("iota", "attention_backward"): "counts rows and columns, of which the mask compares two",
    ("memset", "argmax"): "an index beyond the last, for elements that are not the maximum",
    ("tensor_reduce", "softmax_rows"): "the row's maximum, which cancels",
    ("tensor_copy", "avg_pool_backward"): "the forward result, which a linear op's gradient drops",
    ("tensor_tensor", "avg_pool_backward"): "the same",
    ("tensor_copy", "lerp"): "prepares the branch for weights of 0.5 and more",
    ("tensor_copy", "logsumexp"): "prepares the branch for rows whose maximum is infinite",
    ("tensor_copy_predicated", "logsumexp"): "takes that branch, for no row here",
}
CONTROL = {"loop_begin", "loop_end", "register_load", "register_alu"}


@pytest.fixture(scope="module")
def healthy(device):
    records = gallery_process.run(DTYPE, TORCHNEURON_STRICT="1")
    return {n: r for n, r in records.items() if not r["error"] and not r["wrong"]}


@pytest.fixture(scope="module")
def perturbed(healthy):
    used = {m for r in healthy.values() for m in r["counters"]["instructions"]} - CONTROL
    assert len(used) >= 5
    return gallery_process.run_perturbed(DTYPE, sorted(used), tuple(healthy))


def test_every_dependent_op_is_wrong(healthy, perturbed):
    survivors = [
        (mnemonic, name)
        for mnemonic, records in perturbed.items()
        for name, r in records.items()
        if healthy[name]["counters"]["instructions"].get(mnemonic)
        and not (r["wrong"] or r["error"])
        and (mnemonic, name) not in WITHOUT_EFFECT
    ]
    assert survivors == []


def test_every_other_op_is_right(healthy, perturbed):
    """Otherwise the hook would be a hammer that proves nothing."""
    victims = [
        (mnemonic, name, r["error"] or r["wrong"])
        for mnemonic, records in perturbed.items()
        for name, r in records.items()
        if not healthy[name]["counters"]["instructions"].get(mnemonic)
        and (r["wrong"] or r["error"])
        and mnemonic != "dma_copy"  # moves the inputs of every entry
    ]
    assert victims == []


# The examples' kernels beside NumPy, in a process of their own: {kernel: [is right, instructions]}.
KERNELS = """
import json
import numpy as np
import nki
from examples.nki.matmul import matmul_tiled
from examples.nki.softmax import softmax_rows
from examples.nki.tensor_add import tensor_add

rng = np.random.default_rng(11)
a, b = (rng.standard_normal((256, 512), dtype=np.float32) for _ in range(2))
powers = np.exp(a - a.max(1, keepdims=True))
found = {}
for kernel, arguments, want in (
    (tensor_add, (a, b), a + b),
    (matmul_tiled, (a, b), a.T @ b),
    (softmax_rows, (a,), powers / powers.sum(1, keepdims=True)),
):
    run = nki.simulate(kernel)
    right = np.allclose(run(*arguments), want, rtol=1e-4, atol=1e-4)
    found[kernel.__name__] = [right, sorted(run.report.instructions)]
print(json.dumps(found))
"""


def kernels(mnemonic: str) -> dict[str, list]:
    done = subprocess.run(
        [sys.executable, "-c", KERNELS],
        env=os.environ | {"TORCHNEURON_PERTURB": mnemonic},
        cwd=Path(__file__).resolve().parents[2],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_every_nki_kernel_depends_on_its_instructions():
    right = kernels("")
    assert all(is_right for is_right, _ in right.values())
    for mnemonic in {m for _, used in right.values() for m in used} - CONTROL:
        wrong = {name for name, (is_right, _) in kernels(mnemonic).items() if not is_right}
        assert wrong == {
            name
            for name, (_, used) in right.items()
            if mnemonic in used and (mnemonic, name) not in WITHOUT_EFFECT
        }, mnemonic
