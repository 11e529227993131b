"""Instructions of the GpSimd engine that gather and search."""

from __future__ import annotations

from nki._tensor import NkiTensor
from nki.isa._emit import NkiInstruction, documented, emit, flag, tile

__all__ = ["local_gather", "nc_n_gather", "nonzero_with_count", "sequence_bounds", "topk"]


@documented
def local_gather(
    dst: NkiTensor,
    src_buffer: NkiTensor,
    index: NkiTensor,
    num_elem_per_idx: int = 1,
    num_valid_indices: int | None = None,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "local_gather",
        "gpsimd",
        dst=tile(dst, "local_gather: dst"),
        src_buffer=tile(src_buffer, "local_gather: src_buffer"),
        index=tile(index, "local_gather: index"),
        num_elem_per_idx=int(num_elem_per_idx),
        num_valid_indices=None if num_valid_indices is None else int(num_valid_indices),
    )


@documented
def nc_n_gather(
    dst: NkiTensor, data: NkiTensor, indices: NkiTensor, name: str | None = None
) -> NkiInstruction:
    return emit(
        "nc_n_gather",
        "gpsimd",
        dst=tile(dst, "nc_n_gather: dst"),
        data=tile(data, "nc_n_gather: data"),
        indices=tile(indices, "nc_n_gather: indices"),
    )


@documented
def sequence_bounds(
    dst: NkiTensor, segment_ids: NkiTensor, name: str | None = None
) -> NkiInstruction:
    return emit(
        "sequence_bounds",
        "gpsimd",
        dst=tile(dst, "sequence_bounds: dst"),
        segment_ids=tile(segment_ids, "sequence_bounds: segment_ids"),
    )


@documented
def nonzero_with_count(
    dst: NkiTensor,
    src: NkiTensor,
    index_offset: int = 0,
    padding_val: int = -1,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "nonzero_with_count",
        "gpsimd",
        dst=tile(dst, "nonzero_with_count: dst"),
        src=tile(src, "nonzero_with_count: src"),
        index_offset=int(index_offset),
        padding_val=int(padding_val),
    )


@documented
def topk(
    val_dst: NkiTensor,
    idx_dst: NkiTensor,
    src: NkiTensor,
    n: int,
    sorted: bool = False,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "topk",
        "gpsimd",
        val_dst=tile(val_dst, "topk: val_dst"),
        idx_dst=tile(idx_dst, "topk: idx_dst"),
        src=tile(src, "topk: src"),
        n=int(n),
        sorted=flag(sorted),
    )
