"""Streams, events and torch.accelerator."""

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
