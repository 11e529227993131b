"""Running out of memory, and long contexts."""

import pytest
import torch
import torch.nn.functional as F
import torch_neuronx
from processes import output
from user_cases.beside_cpu import equal

TOO_MUCH = {
    "empty": lambda: torch.empty(2**40, device="neuron"),
    "broadcast": lambda: (
        torch.zeros(10**6, 1, device="neuron") - torch.zeros(1, 10**6, device="neuron")
    ),
    "matmul": lambda: (
        torch.zeros(10**6, 1, device="neuron") @ torch.zeros(1, 10**6, device="neuron")
    ),
    "copy": lambda: torch.zeros(1, device="neuron").expand(2**40).contiguous(),
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_beyond_the_memory(what):
    """U042: an absurd intermediate was an internal assertion or a bare status code."""
    with pytest.raises(torch.OutOfMemoryError) as caught:
        TOO_MUCH[what]()
    assert isinstance(caught.value, RuntimeError)
    text = str(caught.value)
    assert "neuron:0" in text
    assert "free" in text
    assert "GiB" in text or "bytes" in text
    assert torch.ones(2, device="neuron").sum().item() == 2


def test_a_cap_on_the_memory():
    """U042: with a small memory the limit is met, named, and survived."""
    program = """
        import torch
        kept = []
        try:
            for _ in range(64):
                kept.append(torch.zeros(1 << 20, device="neuron"))
        except torch.OutOfMemoryError as error:
            print("tried", error)
        n = len(kept)
        kept.clear()
        torch.zeros(1 << 20, device="neuron").sum().item()
        print(n)
    """
    text = output(program, TORCHNEURON_HBM_BYTES=str(64 << 20)).splitlines()
    assert "4.00 MiB" in text[0] or str(4 << 20) in text[0]
    assert 4 <= int(text[-1]) < 16


@pytest.mark.parametrize("length", [1024, 2048, 4096])
@pytest.mark.parametrize("compile_it", [False, True])
def test_context_length_doubles(length, compile_it, fresh_dynamo):
    """U128: beyond some context length the compiler died."""

    def block(x, w):
        q, k, v = (x @ w).chunk(3, -1)
        q, k, v = (t.unflatten(-1, (2, 8)).transpose(0, 1) for t in (q, k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    x, w = torch.randn(length, 16), torch.randn(16, 48) / 4
    function = torch.compile(block, backend="neuron") if compile_it else block
    torch.accelerator.reset_peak_memory_stats()
    got = function(x.to("neuron"), w.to("neuron"))
    equal(got, block(x, w), rtol=1e-4, atol=1e-4)
    assert torch_neuronx.max_memory_allocated() >= got.nbytes
