"""An op that executes an instruction depends on it: made wrong, it makes the op wrong."""

import pytest
from honesty import gallery_process

DTYPE = "float32"
# Made wrong, these change nothing that is read: a row must name why.
WITHOUT_EFFECT: dict[tuple[str, str], str] = {  # (mnemonic, entry)
    ("iota", "max_pool"): "counts the positions of the index result, which the call drops",
    ("memset", "max_pool"): "the same",
    ("tensor_scalar", "max_pool"): "the same",
    ("memset", "attention"): "starts the running maximum, which the first scores replace",
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
