"""Is a device's result what the CPU's is? Tolerances are OpInfo's or assert_close's own."""

from __future__ import annotations

from typing import Any

import torch
from conformance.samples import Call, tensors
from torch.testing._internal.common_device_type import precisionOverride, toleranceOverride
from torch.testing._internal.opinfo.core import OpInfo
from torch.utils import _pytree as pytree

UNDEFINED_CONTENT = {  # only shape, dtype and device mean anything
    "empty", "empty_like", "empty_strided", "empty_permuted", "new_empty", "new_empty_strided",
    "resize_", "resize_as_",
}  # fmt: skip
# Ops whose index result may name any of several equal elements.
TIES = {"sort", "topk", "median", "nanmedian", "mode", "kthvalue", "argsort", "msort",
        "max.reduction_with_dim", "min.reduction_with_dim", "argmax", "argmin"}  # fmt: skip


def tolerance(op: OpInfo, dtype: torch.dtype) -> dict[str, float]:
    """What op_db itself grants when an accelerator is compared with the CPU."""
    for device_type in ("cuda", "cpu"):
        decorators = op.get_decorators("TestCommon", "test_compare_cpu", device_type, dtype, {})
        for decorator in decorators:
            if isinstance(decorator, toleranceOverride) and dtype in decorator.d:
                return {"atol": decorator.d[dtype].atol, "rtol": decorator.d[dtype].rtol}
            if isinstance(decorator, precisionOverride) and dtype in decorator.d:
                return {"atol": decorator.d[dtype], "rtol": 0.0}
    return {}


def same_metadata(got: Any, want: Any, device: str | None, meta_call: Any = None) -> None:
    """Same structure, shapes, dtypes; tensors on `device` (None: anywhere).

    `meta_call()` gives the results on PyTorch's meta device. Where the CPU differs from it in a
    dtype (statistics of norms in half precision), accelerators do as meta does.
    """
    got_leaves, got_spec = pytree.tree_flatten(got)
    want_leaves, want_spec = pytree.tree_flatten(want)
    assert got_spec == want_spec, f"structure {got_spec} instead of {want_spec}"
    for i, (g, w) in enumerate(zip(got_leaves, want_leaves, strict=True)):
        if not isinstance(w, torch.Tensor):
            assert type(g) is type(w), f"{type(g)} instead of {type(w)}"
            continue
        assert g.shape == w.shape, f"shape {tuple(g.shape)} instead of {tuple(w.shape)}"
        if g.dtype != w.dtype:
            assert g.dtype == _meta_dtype(meta_call, i), f"dtype {g.dtype} instead of {w.dtype}"
        assert g.layout == w.layout, f"layout {g.layout} instead of {w.layout}"
        assert device is None or g.device.type == device, f"result on {g.device}"


def _meta_dtype(meta_call: Any, index: int) -> torch.dtype | None:
    try:
        return pytree.tree_leaves(meta_call())[index].dtype
    except Exception:  # no meta kernel, or none asked for
        return None


def to_cpu(tree: Any) -> Any:
    return pytree.tree_map_only(torch.Tensor, lambda t: t.detach().cpu(), tree)


def same_values(op: OpInfo, dtype: torch.dtype, got: Any, want: Any, wide_call: Any) -> None:
    """`wide_call()` computes the result in float64, to decide where both merely round.

    Hosts round differently (their libraries choose other instructions), so a difference from the
    CPU is judged by the truth: the device's result is right if it lies within the tolerance of it,
    or about as near to it as the CPU's own.
    """
    granted = tolerance(op, dtype)
    for i, (g, w) in enumerate(zip(pytree.tree_leaves(got), pytree.tree_leaves(want), strict=True)):
        limits = granted
        if isinstance(w, torch.Tensor):
            g = g.to(w.dtype)  # same_metadata has judged the dtypes
            limits = granted if w.dtype == dtype else {}
        try:
            _close(g, w, limits)
        except AssertionError:
            if not _merely_rounds(g, w, wide_call, i, limits):
                raise


def _close(got: Any, want: Any, limits: dict[str, float]) -> None:
    if isinstance(want, (torch.Tensor, int, float, complex, bool)):
        torch.testing.assert_close(got, want, equal_nan=True, **limits)
    else:
        assert got == want, f"{got} instead of {want}"


AS_NEAR = 2.0  # how much farther from the truth than the CPU's result still counts as rounding


def _merely_rounds(
    got: Any, want: Any, wide_call: Any, index: int, limits: dict[str, float]
) -> bool:
    """Whether the result computed in float64 says so."""
    if not isinstance(want, torch.Tensor) or not (want.is_floating_point() or want.is_complex()):
        return False
    try:
        truth = pytree.tree_leaves(wide_call())[index]
    except Exception:
        return False
    if truth.shape != want.shape or truth.dtype not in (torch.float64, torch.complex128):
        return False
    rounded = truth.to(want.dtype)
    try:
        _close(got, rounded, limits)
        return True
    except AssertionError:
        finite = rounded.isfinite()
        if not _same_where(got, rounded, ~finite) or not finite.any():
            return False
        got, want = got.to(truth.dtype), want.to(truth.dtype)
        ours, theirs = (got - truth).abs()[finite], (want - truth).abs()[finite]
        return bool((ours.max() <= AS_NEAR * theirs.nan_to_num(torch.inf).max()).item())


def _same_where(got: torch.Tensor, want: torch.Tensor, mask: torch.Tensor) -> bool:
    try:
        torch.testing.assert_close(got[mask], want[mask], equal_nan=True, rtol=0, atol=0)
    except AssertionError:
        return False
    return True


def same_up_to_ties(op_name: str, call: Call, got: Any, want: Any) -> bool:
    """Whether results that differ only name other, equal elements of the input."""
    if op_name not in TIES:
        return False
    args, kwargs = call
    source = args[0]
    dims = [a for a in args[1:] if isinstance(a, int) and not isinstance(a, bool)]
    if op_name in ("topk", "kthvalue"):
        dims = dims[1:]
    dim = kwargs.get("dim", dims[0] if dims else -1)
    for g, w in zip(tensors(got), tensors(want), strict=True):
        if torch.equal(g, w) or source.dim() == 0:
            continue
        if w.is_floating_point():
            torch.testing.assert_close(g, w, equal_nan=True)
            continue
        if op_name in ("argmax", "argmin") and "dim" not in kwargs and not dims:
            picked, expected = source.flatten()[g], source.flatten()[w]
        else:
            keep = w if w.dim() == source.dim() else w.unsqueeze(dim)
            pick = g if g.dim() == source.dim() else g.unsqueeze(dim)
            picked, expected = source.gather(dim, pick), source.gather(dim, keep)
        torch.testing.assert_close(picked, expected, rtol=0, atol=0, equal_nan=True)
    return True
