"""The caching allocator as torch.accelerator and torch.neuron see it."""

import gc

import pytest
import torch


def test_allocated_follows_tensors():
    gc.collect()
    before = torch.accelerator.memory_allocated()
    x = torch.empty(1024, 1024, device="neuron")
    assert torch.accelerator.memory_allocated() - before >= x.nbytes
    assert torch.neuron.max_memory_allocated() >= torch.neuron.memory_allocated()
    del x
    assert torch.accelerator.memory_allocated() == before


def test_peak_can_be_reset():
    torch.empty(1 << 20, device="neuron")
    torch.accelerator.reset_peak_memory_stats()
    assert torch.accelerator.max_memory_allocated() == torch.accelerator.memory_allocated()


def test_stats_have_both_spellings():
    stats = torch.neuron.memory_stats()
    assert stats["allocated_bytes"]["current"] == stats["allocated_bytes.all.current"]
    free, total = torch.neuron.mem_get_info()
    assert 0 < free <= total
    assert "allocated" in torch.neuron.memory_summary()


def test_beyond_hbm_is_out_of_memory_with_the_numbers():
    total = torch.neuron.get_device_properties().total_memory
    with pytest.raises(torch.OutOfMemoryError, match=r"\d"):
        torch.empty(total + 1, dtype=torch.uint8, device="neuron")
    assert torch.ones(2, device="neuron").sum().item() == 2  # usable afterwards


def test_empty_cache_returns_segments():
    x = torch.empty(1 << 22, device="neuron")
    del x
    torch.accelerator.empty_cache()
    assert torch.neuron.memory_reserved() >= torch.neuron.memory_allocated()


def test_storage_resize():
    x = torch.arange(4, device="neuron")
    x.resize_(8)
    assert x[:4].tolist() == [0, 1, 2, 3]
    x.untyped_storage().resize_(0)
    assert x.untyped_storage().nbytes() == 0
