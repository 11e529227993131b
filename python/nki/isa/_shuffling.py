"""Instructions of the Vector engine that move single values or whole partitions."""

from __future__ import annotations

from collections.abc import Sequence

from nki._tensor import NkiTensor
from nki.isa._emit import NkiInstruction, documented, emit, tile

__all__ = ["nc_match_replace8", "nc_stream_shuffle"]


@documented
def nc_stream_shuffle(
    dst: NkiTensor, src: NkiTensor, shuffle_mask: Sequence[int], name: str | None = None
) -> NkiInstruction:
    return emit(
        "nc_stream_shuffle",
        "vector",
        dst=tile(dst, "nc_stream_shuffle: dst"),
        src=tile(src, "nc_stream_shuffle: src"),
        shuffle_mask=[int(entry) for entry in shuffle_mask],
    )


@documented
def nc_match_replace8(
    dst: NkiTensor,
    data: NkiTensor,
    vals: NkiTensor,
    imm: float,
    dst_idx: NkiTensor | None = None,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "nc_match_replace8",
        "vector",
        dst=tile(dst, "nc_match_replace8: dst"),
        data=tile(data, "nc_match_replace8: data"),
        vals=tile(vals, "nc_match_replace8: vals"),
        imm=float(imm),
        dst_idx=tile(dst_idx, "nc_match_replace8: dst_idx"),
    )
