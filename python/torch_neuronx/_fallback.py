"""Ops that ran on the CPU because they have no lowering: which, how often, from where."""

from __future__ import annotations

import logging
import sys

from torch_neuronx import _C

logger = logging.getLogger("torch_neuronx")


def get_fallback_ops() -> list[str]:
    """Names of the ops that ran on the CPU, such as `aten::_unique2`, in alphabetical order."""
    return sorted(_C.fallback_counts())


def get_fallback_counts() -> dict[str, int]:
    """How often each op of `get_fallback_ops()` ran on the CPU."""
    return dict(_C.fallback_counts())


def clear_op_tracking() -> None:
    """Forget the fallbacks counted so far; each op is logged again at its next one."""
    _C.clear_fallback_counts()


def install_logger() -> None:
    _C.set_fallback_logger(_log)


def _log(op: str, why: str) -> None:
    words, _, detail = why.partition("\n")
    reason = f"cannot run on 'neuron' ({words})" if why else "has no lowering on 'neuron'"
    logger.warning("%s %s and runs on the CPU: %s", op, reason, _user_line())
    if detail:
        logger.debug("%s: %s", op, detail)


def _user_line() -> str:
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if not name.startswith(("torch.", "torch_neuronx")) and name != "torch":
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return "called by PyTorch itself, for example in backward"
