"""Arithmetic on (stride, size) lists: what views and access patterns have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = ["Dims", "carve_rows", "contiguous_strides", "merge", "view_strides"]

Dims = list[tuple[int, int]]  # (stride, size) in elements, outermost first


def contiguous_strides(shape: Sequence[int]) -> tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def merge(dims: Sequence[tuple[int, int]]) -> Dims:
    """The same walk with fewer dimensions: size 1 dropped, neighbours that continue joined."""
    merged: Dims = []
    for stride, size in dims:
        if size == 1:
            continue
        if merged and merged[-1][0] == stride * size:
            merged[-1] = (stride, merged[-1][1] * size)
        else:
            merged.append((stride, size))
    return merged


def view_strides(
    shape: Sequence[int], strides: Sequence[int], new_shape: Sequence[int]
) -> tuple[int, ...] | None:
    """Strides that make new_shape walk the same elements in the same order; None if none do."""
    dims = merge(list(zip(strides, shape, strict=True)))
    new: list[int] = []
    for size in reversed(new_shape):
        if size == 1:
            new.append(1)
            continue
        if not dims:
            return None
        stride, have = dims[-1]
        if have % size:
            return None
        new.append(stride)
        if have == size:
            dims.pop()
        else:
            dims[-1] = (stride * size, have // size)
    return tuple(reversed(new)) if not dims else None


def carve_rows(dims: Sequence[tuple[int, int]], rows: int) -> tuple[Dims, Dims] | None:
    """Split a walk into `rows` rows and what each of them walks; None if it cannot be."""
    left = merge(dims)
    outer: Dims = []
    while rows > 1:
        if not left:
            return None
        stride, size = left.pop(0)
        if rows % size == 0:
            outer.append((stride, size))
            rows //= size
        elif size % rows == 0:
            inner = size // rows
            outer.append((stride * inner, rows))
            left.insert(0, (stride, inner))
            rows = 1
        else:
            return None
    return merge(outer), left


def num_elements(shape: Sequence[int]) -> int:
    return math.prod(shape)
