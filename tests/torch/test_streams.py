"""Streams, events and torch.accelerator."""

import pytest
import torch


def test_stream_context():
    stream = torch.neuron.Stream()
    assert stream != torch.neuron.default_stream()
    with torch.neuron.stream(stream):
        assert torch.neuron.current_stream() == stream
        x = torch.ones(8, device="neuron") + 1
    assert torch.neuron.current_stream() == torch.neuron.default_stream()
    stream.synchronize()
    assert x.cpu().sum() == 16


def test_events_order_streams_and_measure():
    begin = torch.neuron.Event(enable_timing=True)
    end = torch.neuron.Event(enable_timing=True)
    side = torch.neuron.Stream()
    begin.record()
    x = torch.randn(256, 256, device="neuron")
    y = x @ x
    end.record()
    side.wait_event(end)
    with torch.neuron.stream(side):
        z = y + 1
    side.synchronize()
    end.synchronize()
    assert end.query()
    assert begin.elapsed_time(end) >= 0
    torch.testing.assert_close(z.cpu(), y.cpu() + 1)


def test_accelerator_api():
    stream = torch.Stream("neuron")
    torch.accelerator.synchronize()
    torch.accelerator.set_stream(stream)
    assert torch.accelerator.current_stream() == stream
    torch.accelerator.set_stream(torch.neuron.default_stream())
    assert torch.accelerator.current_device_index() == 0
    with torch.accelerator.device_index(0):
        pass
    assert torch.accelerator.get_memory_info()[1] > 0


@pytest.mark.parametrize("recorded", [True, False])
def test_recorded_memory_waits_for_the_stream(recorded):
    """Freed while another stream has work pending: given to others only after that, if recorded."""
    side = torch.neuron.Stream()
    a = torch.randn(1024, 1024, device="neuron")
    x = torch.ones(12345, device="neuron")
    address = x.data_ptr()
    torch.mm(a, a)  # compiles
    torch.neuron.synchronize()
    with torch.neuron.stream(side):
        for _ in range(8):
            torch.mm(a, a)
    if recorded:
        x.record_stream(side)
    del x
    other = torch.empty(12345, device="neuron")
    assert not side.query()
    assert (other.data_ptr() != address) == recorded
    side.synchronize()


def test_record_stream_takes_empty_tensors_and_views():
    side = torch.neuron.Stream()
    torch.empty(0, device="neuron").record_stream(side)
    torch.ones(4, 4, device="neuron")[1:, 2].record_stream(side)
    side.synchronize()
