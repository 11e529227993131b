"""`make demo`: train each model on CPU and on neuron, eagerly and compiled; compare; draw."""

import argparse
import json
import sys
from pathlib import Path

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from demo import report, train

# (column, device, compiled)
WAYS = (
    ("CPU", "cpu", False),
    ("neuron eager", "neuron", False),
    ("neuron compiled", "neuron", True),
)
LOSS_BOUND = 1e-3  # relative, fp32, over the first 50 steps
ACCURACY_BOUND = 0.97
TABLE_WIDTH = 132  # a log file or a narrow terminal gets the table whole


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m demo", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="of the pictures")
    parser.add_argument("--json", type=Path, help="the table's figures, for programs")
    options = parser.parse_args()
    console = Console(width=max(Console().width, TABLE_WIDTH))
    if not torch.accelerator.is_available():
        console.print("There is no accelerator: torchneuron is not installed in this environment.")
        return 1
    torch.compiler.set_default_backend("neuron")
    results = {}
    with Progress(
        TextColumn("{task.description:42}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
    ) as progress:
        everything = progress.add_task(
            "everything", total=sum(task.steps for task in train.TASKS) * len(WAYS)
        )
        for task in train.TASKS:
            for way, device, compiled in WAYS:
                bar = progress.add_task(f"{task.name}, {way}", total=task.steps)

                def step(bar=bar):
                    progress.advance(bar)
                    progress.advance(everything)

                with report.DeviceMeter(device) as meter:
                    run = train.train(task, device, compiled, step)
                results[task, way] = report.Result(run, meter.reading(task.steps))
                if not console.is_terminal:  # the bars are for terminals
                    progress.console.print(f"{task.name}, {way}: {task.steps} steps done")
    output = options.output
    output.mkdir(parents=True, exist_ok=True)
    failures = report.table(console, results, LOSS_BOUND, ACCURACY_BOUND)
    if options.json:
        options.json.write_text(json.dumps(report.figures(results), indent=2) + "\n")
    report.draw_losses(results, output / "losses.png")
    events = report.record_step(lambda: train.one_step(train.GPT, "neuron", compiled=True))
    report.draw_timeline(
        events, output / "timeline.png", "char GPT: one compiled training step on one NeuronCore"
    )
    console.print(f"Pictures: {output / 'losses.png'}, {output / 'timeline.png'}")
    if not failures:
        console.print(
            f"All bounds hold: fp32 losses within {LOSS_BOUND:.0e} of CPU over "
            f"{report.COMPARED_STEPS} steps, accuracy at least {ACCURACY_BOUND:.0%}, no fallback."
        )
    for failure in failures:
        console.print(f"[red]{failure}[/red]")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
