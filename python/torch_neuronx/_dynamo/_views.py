"""Graph outputs that are views of one buffer: returned as such, not copied out one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.fx import Node

Place = tuple[tuple[int, ...], tuple[int, ...], int]  # sizes, strides, storage offset


def _storage(node: Node) -> int | None:
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        return None
    if not all(isinstance(n, int) for n in (*value.shape, *value.stride())):
        return None
    return int(value.untyped_storage()._cdata)


def _fills_its_storage(value: torch.Tensor) -> bool:
    bytes_ = value.numel() * value.element_size()
    return value.is_contiguous() and bytes_ == value.untyped_storage().nbytes()


def shared_storages(
    nodes: Iterable[Node], results: Iterable[Any]
) -> dict[Node, tuple[Node, Place | None]]:
    """Result -> (the node whose buffer it lies in, where there).

    Only where the results on a buffer read at least half of it: they keep all of it alive.
    """
    wanted = {r for r in results if isinstance(r, Node)}
    owners: dict[int, Node] = {}
    members: dict[Node, list[Node]] = {}
    for node in nodes:
        key = _storage(node)
        if key is None:
            continue
        owner = owners.setdefault(key, node)
        if node in wanted:
            members.setdefault(owner, []).append(node)
    out: dict[Node, tuple[Node, Place | None]] = {}
    for owner, views in members.items():
        whole: torch.Tensor = owner.meta["val"]
        if owner.op == "placeholder" or not _fills_its_storage(whole):
            continue
        read = sum(v.meta["val"].numel() for v in views)
        if any(v.meta["val"].dtype != whole.dtype for v in views) or 2 * read < whole.numel():
            continue
        for view in views:
            value = view.meta["val"]
            place = (tuple(value.shape), tuple(value.stride()), int(value.storage_offset()))
            same = view is owner
            out[view] = (owner, None if same else place)
    return out
