"""What the emulator executed, through the optional symbols of the NRT library in this process."""

from __future__ import annotations

import ctypes
import json
from functools import cache
from pathlib import Path


@cache
def library() -> ctypes.CDLL:
    """The NRT library that the runtime has loaded; the device must have been used."""
    maps = Path("/proc/self/maps").read_text().split()
    paths = {word for word in maps if word.startswith("/") and "nrt_emulator" in word}
    assert len(paths) == 1, f"expected one NRT emulator in this process, found {sorted(paths)}"
    nrt = ctypes.CDLL(paths.pop())
    nrt.nrt_emulator_counters.restype = ctypes.c_char_p
    return nrt


def reset(core: int = 0) -> None:
    library().nrt_emulator_reset_counters(ctypes.c_int32(core))


def read(core: int = 0) -> dict:
    return json.loads(library().nrt_emulator_counters(ctypes.c_int32(core)))
