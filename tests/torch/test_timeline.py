"""The modelled clock and the record of what the engines did."""

import torch
import torch_neuronx


def test_a_matmul_keeps_the_tensor_engine_busy_inside_its_own_time():
    a = torch.randn(256, 256, device="neuron")
    torch.mm(a, a)
    torch.accelerator.synchronize()
    before = torch_neuronx.modelled_device_seconds()
    with torch_neuronx.record_timeline() as timeline:
        torch.mm(a, a)
    elapsed_ps = (torch_neuronx.modelled_device_seconds() - before) * 1e12
    assert {"Tensor", "DMA"} <= {event.engine for event in timeline.events}
    assert all(0 <= event.start_ps <= event.end_ps for event in timeline.events)
    assert all("mm" in event.op for event in timeline.events)
    assert 0 < timeline.duration_ps <= elapsed_ps * 1.01


def test_work_outside_the_block_is_not_recorded():
    a = torch.ones(16, device="neuron")
    with torch_neuronx.record_timeline() as timeline:
        pass
    a + a
    torch.accelerator.synchronize()
    assert timeline.events == []
    assert timeline.duration_ps == 0
