"""The timing model against published figures: docs/reference/timing.md and its plot.

Three kinds of figures: cost formulas of single instructions, times read off published traces and
charts of trn2, and the fp32 matmul tutorial. Each row has its source. Nothing is executed: the
scoreboard walks the programs. Half of the traces' figures calibrated the model (src/isa/target.cpp
says which); the others are only reported.
"""

from __future__ import annotations

from timing_report.figures import Row
from timing_report.formulas import formulas
from timing_report.matmul_tutorial import tutorial
from timing_report.page import page
from timing_report.plot import plot
from timing_report.traces import bandwidth, traces


def sections() -> dict[str, list[Row]]:
    return {
        "Cost formulas (cycles, at the N of 1 to 2048 that is furthest off)": formulas(),
        "Traces of trn2": traces(),
        "DMA bandwidth by row length": bandwidth(),
        "fp32 matmul tutorial, 4096 x 8192 x 8192 on one core of trn2": tutorial(),
    }


def pages() -> dict[str, str]:
    found = sections()
    return {"docs/reference/timing.md": page(found), "docs/reference/timing.svg": plot(found)}
