"""Addresses of SBUF and PSUM tensors that a kernel does not pin.

A tensor takes the first gap that holds it, in every partition, and gives it back when the last view
of it is gone: Python's reference counts are the lifetimes. A loop that allocates a tile per pass
therefore alternates between two addresses, because the old tile lives until its name is bound anew.
Inside a hardware loop, what was allocated outside stays until the loop ends.
"""

from __future__ import annotations

from nki._errors import NkiCapacityError, NkiValidationError

__all__ = ["PartitionMemory"]


class PartitionMemory:
    """Allocator of one memory's bytes per partition.

    `bank_bytes`: a tensor that fits in a bank does not cross one, a larger one begins at one.
    """

    def __init__(self, name: str, size: int, *, align: int, bank_bytes: int = 0) -> None:
        self.name = name
        self.size = size
        self.peak = 0
        self._align = align
        self._bank_bytes = bank_bytes
        self._live: list[tuple[int, int, str]] = []  # (begin, end, tensor), by begin
        self._loop_depth = 0
        self._deferred: list[tuple[int, int]] = []

    def allocate(self, nbytes: int, tensor: str) -> int:
        """Byte offset in each partition for `nbytes` of them."""
        begin = 0
        for live_begin, live_end, _ in [*self._live, (self.size, self.size, "")]:
            begin = self._place(begin, nbytes)
            if begin + nbytes <= live_begin:
                self._insert(begin, begin + nbytes, tensor)
                return begin
            begin = max(begin, live_end)
        used = sum(end - start for start, end, _ in self._live)
        largest = sorted(self._live, key=lambda live: live[0] - live[1])[:4]
        live = ", ".join(f"{who} {end - start}" for start, end, who in largest)
        raise NkiCapacityError(
            f"{self.name}.capacity: {tensor} needs {nbytes} bytes per partition, {self.name} has "
            f"{self.size} of which {used} are taken{f' ({live})' if live else ''}; use smaller "
            "tiles or drop references to tensors that are done with"
        )

    def reserve(self, begin: int, nbytes: int, tensor: str) -> None:
        """Mark bytes that a kernel pinned: pinned tensors may overlap, unpinned ones avoid them."""
        if begin < 0 or begin + nbytes > self.size:
            raise NkiValidationError(
                f"{self.name}.address: {tensor} is pinned to bytes {begin} to {begin + nbytes} of "
                f"a partition, {self.name} has {self.size}"
            )
        self._insert(begin, begin + nbytes, tensor)

    def free(self, begin: int, nbytes: int, loop_depth: int) -> None:
        """Give bytes back; `loop_depth` is the one at their allocation."""
        if loop_depth < self._loop_depth:
            self._deferred.append((begin, begin + nbytes))
        else:
            self._remove(begin, begin + nbytes)

    @property
    def loop_depth(self) -> int:
        return self._loop_depth

    def enter_loop(self) -> None:
        self._loop_depth += 1

    def leave_loop(self) -> None:
        self._loop_depth -= 1
        if self._loop_depth == 0:
            for begin, end in self._deferred:
                self._remove(begin, end)
            self._deferred.clear()

    def _place(self, begin: int, nbytes: int) -> int:
        begin = -(-begin // self._align) * self._align
        if (
            self._bank_bytes
            and begin // self._bank_bytes != (begin + nbytes - 1) // self._bank_bytes
        ):
            begin = -(-begin // self._bank_bytes) * self._bank_bytes
        return begin

    def _insert(self, begin: int, end: int, tensor: str) -> None:
        self.peak = max(self.peak, end)
        at = 0
        while at < len(self._live) and self._live[at][0] < begin:
            at += 1
        self._live.insert(at, (begin, end, tensor))

    def _remove(self, begin: int, end: int) -> None:
        for at, (live_begin, live_end, _) in enumerate(self._live):
            if (live_begin, live_end) == (begin, end):
                del self._live[at]
                return
