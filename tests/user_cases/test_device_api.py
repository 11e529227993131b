"""The device module: devices, streams, events, threads, printing."""

import threading

import pytest
import torch
from user_cases.beside_cpu import equal

BAD_DEVICE = 99


def test_a_device_that_is_not_there():
    """U086: a failed set_device was a warning and all ranks landed on device 0."""
    before = torch.neuron.current_device()
    with pytest.raises(RuntimeError, match=str(BAD_DEVICE)):
        torch.neuron.set_device(BAD_DEVICE)
    with pytest.raises(RuntimeError, match=str(BAD_DEVICE)), torch.neuron.device(BAD_DEVICE):
        pass
    with pytest.raises(RuntimeError, match=str(BAD_DEVICE)):
        torch.accelerator.set_device_index(BAD_DEVICE)
    with pytest.raises(RuntimeError, match=str(BAD_DEVICE)):
        torch.empty(1, device=f"neuron:{BAD_DEVICE}")
    assert torch.neuron.current_device() == before


def test_events_on_the_current_stream():
    """U074: recording on the accelerator's current stream crashed."""
    first, second = (torch.Event("neuron", enable_timing=True) for _ in range(2))
    with pytest.raises(ValueError, match="recorded"):
        first.elapsed_time(second)
    first.record(torch.accelerator.current_stream())
    x = torch.randn(256, 256, device="neuron")
    x = x @ x
    second.record(torch.accelerator.current_stream())
    second.synchronize()
    assert second.query()
    assert first.elapsed_time(second) > 0
    second.wait(torch.accelerator.current_stream())
    first.record()
    first.record()
    torch.accelerator.synchronize()
    assert first.query()


def test_events_without_timing_measure_nothing():
    """U074: misuse is an error, not a crash."""
    first, second = torch.Event("neuron"), torch.Event("neuron")
    first.record()
    second.record()
    with pytest.raises(ValueError, match="timing"):
        first.elapsed_time(second)


def test_streams_in_a_compiled_function(fresh_dynamo):
    """U054: the current stream was None inside a compiled function."""

    @torch.compile(backend="neuron")
    def f(x):
        stream = torch.neuron.Stream()
        stream.wait_stream(torch.neuron.current_stream())
        with torch.neuron.stream(stream):
            y = x * 2
        torch.neuron.current_stream().wait_stream(stream)
        return y

    assert f(torch.ones(4, device="neuron")).tolist() == [2] * 4


def test_threads_allocate_and_copy_while_another_computes():
    """U066: loading weights from several threads hung."""
    sources = [torch.randn(64, 33) for _ in range(200)]
    results = [None] * len(sources)

    def load(part):
        for i in range(part, len(sources), 8):
            copied = torch.empty(sources[i].shape, device="neuron").copy_(sources[i])
            results[i] = (copied, sources[i].to("neuron", torch.bfloat16))

    threads = [threading.Thread(target=load, args=(part,), daemon=True) for part in range(8)]
    for thread in threads:
        thread.start()
    x = torch.ones(64, 64, device="neuron")
    for _ in range(30):
        x = (x @ x).clamp(max=1)
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert (x == 1).all()
    for source, (copied, cast) in zip(sources, results, strict=True):
        equal(copied, source, exact=True)
        equal(cast, source.bfloat16(), exact=True)


PRINTED = {
    "values": lambda d: torch.tensor([1.5, -2.0, 3.25], device=d),
    "empty": lambda d: torch.empty(0, 3, device=d),
    "scalar": lambda d: torch.tensor(3.0, device=d),
    "booleans": lambda d: torch.tensor([True, False], device=d),
    "bfloat16": lambda d: torch.tensor([1.0, 2.5], dtype=torch.bfloat16, device=d),
    "integers": lambda d: torch.arange(12, device=d).reshape(3, 4),
    "large": lambda d: torch.arange(5000.0, device=d).reshape(50, 100),
    "gradient": lambda d: torch.ones(2, device=d, requires_grad=True),
    "function": lambda d: torch.ones(2, device=d, requires_grad=True) * 2,
    "transposed": lambda d: torch.arange(6.0, device=d).reshape(2, 3).t(),
    "special": lambda d: torch.tensor([float("nan"), float("inf"), 1e-9, 1e9], device=d),
    "complex": lambda d: torch.tensor([1 + 2j, -1j], device=d),
    "parameter": lambda d: torch.nn.Parameter(torch.ones(2, device=d)),
}


@pytest.mark.parametrize("what", PRINTED)
def test_printing(what):
    """U089: printing what a compiled function returned failed."""
    text, want = repr(PRINTED[what]("neuron")), repr(PRINTED[what]("cpu"))
    assert "device='neuron:0'" in text
    squeeze = lambda s: "".join(s.replace("device='neuron:0'", "").split()).replace(",,", ",")  # noqa: E731
    assert squeeze(text).replace(",)", ")") == squeeze(want).replace(",)", ")")


def test_printing_what_a_compiled_function_returns(fresh_dynamo):
    """U089: and the ways to Python."""
    x = torch.compile(lambda x: x + 1, backend="neuron")(torch.zeros(3, device="neuron"))
    assert repr(x) == "tensor([1., 1., 1.], device='neuron:0')"
    assert x.tolist() == [1, 1, 1]
    assert f"{x.sum():.2f}" == "3.00"
    with pytest.raises(TypeError, match=r"\.cpu\(\)"):
        x.numpy()
