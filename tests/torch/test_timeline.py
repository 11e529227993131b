"""The modelled clock and the record of what the engines did."""

import itertools
import json

import pytest
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


def test_a_saved_timeline_is_a_chrome_trace(tmp_path):
    a = torch.randn(256, 256, device="neuron")
    with torch_neuronx.record_timeline() as timeline:
        torch.mm(a, a).exp()
    timeline.save(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in trace if e["name"] == "thread_name"}
    spans = [e for e in trace if e["ph"] == "X"]
    assert len(spans) == len(timeline.events)
    end = max(e["ts"] + e["dur"] for e in spans)
    assert end * 1e6 == pytest.approx(timeline.duration_ps, abs=1)
    assert {names[e["pid"], e["tid"]] for e in spans} == {e.engine for e in timeline.events}
    # Engines take one instruction at a time.
    tensor = sorted(
        (e["ts"], e["ts"] + e["dur"]) for e in spans if names[e["pid"], e["tid"]] == "Tensor"
    )
    assert all(a[1] <= b[0] + 1e-9 for a, b in itertools.pairwise(tensor))


def test_work_outside_the_block_is_not_recorded():
    a = torch.ones(16, device="neuron")
    with torch_neuronx.record_timeline() as timeline:
        pass
    a + a
    torch.accelerator.synchronize()
    assert timeline.events == []
    assert timeline.duration_ps == 0
