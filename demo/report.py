"""What the demo shows: one table, the loss curves, the modelled engine timeline of one step."""

from dataclasses import dataclass
from pathlib import Path

import torch
from rich.console import Console
from rich.table import Table

from demo.train import Run

COMPARED_STEPS = 50


@dataclass(frozen=True)
class Reading:
    """What the device says of a run; None on CPU."""

    device_ms_per_step: float | None = None
    peak_mib: float | None = None
    fallback_calls: int | None = None
    fallback_ops: tuple[str, ...] = ()


@dataclass(frozen=True)
class Result:
    run: Run
    reading: Reading


class DeviceMeter:
    """Modelled device time, HBM peak and fallbacks between enter and exit."""

    def __init__(self, device: str):
        self.on = device == "neuron"

    def __enter__(self):
        if self.on:
            import torch_neuronx

            self.module = torch_neuronx
            torch.accelerator.synchronize()
            torch.accelerator.reset_peak_memory_stats()
            self.seconds = torch_neuronx.modelled_device_seconds()
            self.fallbacks = dict(torch_neuronx.get_fallback_counts())
        return self

    def __exit__(self, *exception):
        if self.on:
            torch.accelerator.synchronize()
            self.seconds = self.module.modelled_device_seconds() - self.seconds
            now = self.module.get_fallback_counts()
            self.new = {op: n - self.fallbacks.get(op, 0) for op, n in now.items()}
            self.new = {op: n for op, n in self.new.items() if n}
            self.peak = torch.accelerator.max_memory_allocated()

    def reading(self, steps: int) -> Reading:
        if not self.on:
            return Reading()
        return Reading(
            device_ms_per_step=1e3 * self.seconds / steps,
            peak_mib=self.peak / 2**20,
            fallback_calls=sum(self.new.values()),
            fallback_ops=tuple(sorted(self.new)),
        )


def largest_difference(run: Run, reference: Run) -> float:
    """Relative, over the first steps: later ones drift apart in any two correct programs."""
    pairs = zip(run.losses[:COMPARED_STEPS], reference.losses[:COMPARED_STEPS], strict=True)
    return max(abs(a - b) / abs(b) for a, b in pairs)


def figures(results: dict) -> list[dict]:
    """The table as data: a row per task and way; what CPU has none of is None."""
    return [
        {
            "task": task.name,
            "way": way,
            "final_loss": result.run.losses[-1],
            "accuracy": result.run.accuracy,
            "largest_difference": largest_difference(result.run, results[task, "CPU"].run),
            "steps_per_second": result.run.steps_per_second,
            "device_ms_per_step": result.reading.device_ms_per_step,
            "hbm_peak_mib": result.reading.peak_mib,
            "fallback_ops": result.reading.fallback_ops,
        }
        for (task, way), result in results.items()
    ]


def table(console: Console, results: dict, loss_bound: float, accuracy_bound: float) -> list[str]:
    """Prints the table; returns a sentence for each bound that does not hold."""
    out = Table(title="Trained on CPU and on device neuron, same seed, data and initial weights")
    for column in ("model", "on"):
        out.add_column(column, no_wrap=True)
    for column in (
        "final\nloss",
        "accuracy",
        f"largest loss\ndifference,\n{COMPARED_STEPS} steps",
        "steps/s",
        "modelled\ndevice\nms/step",
        "HBM peak\nMiB",
        "fallback\nops",
    ):
        out.add_column(column, justify="right", no_wrap=True)
    failures = []
    previous = None
    for (task, way), result in results.items():
        reference = results[task, "CPU"].run
        run, reading = result.run, result.reading
        difference = largest_difference(run, reference)
        if task is not previous and previous is not None:
            out.add_section()
        out.add_row(
            task.name if task is not previous else "",
            way,
            f"{run.losses[-1]:.4f}",
            f"{run.accuracy:.2%}" if run.accuracy is not None else "",
            f"{difference:.1e}" if run is not reference else "",
            f"{run.steps_per_second:.1f}",
            f"{reading.device_ms_per_step:.3f}" if reading.device_ms_per_step is not None else "",
            f"{reading.peak_mib:.1f}" if reading.peak_mib is not None else "",
            str(reading.fallback_calls) if reading.fallback_calls is not None else "",
        )
        previous = task
        where = f"{task.name}, {way}"
        if not task.autocast and difference > loss_bound:
            failures.append(f"{where}: losses differ by {difference:.1e}, bound {loss_bound:.0e}")
        if run.accuracy is not None and run.accuracy < accuracy_bound:
            failures.append(f"{where}: accuracy {run.accuracy:.2%}, bound {accuracy_bound:.0%}")
        if reading.fallback_calls:
            names = ", ".join(reading.fallback_ops)
            failures.append(f"{where}: {reading.fallback_calls} calls fell back to CPU: {names}")
    console.print(out)
    return failures


def draw_losses(results: dict, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    tasks = list(dict.fromkeys(task for task, _ in results))
    figure, axes = pyplot.subplots(1, len(tasks), figsize=(5 * len(tasks), 4), squeeze=False)
    styles = {
        "CPU": {"linewidth": 4, "color": "#c9c9c9"},
        "neuron eager": {"linewidth": 1.4, "color": "#1f5fa8"},
        "neuron compiled": {"linewidth": 1.4, "color": "#d1602b", "linestyle": (0, (4, 3))},
    }
    for axis, task in zip(axes[0], tasks, strict=True):
        for (other, way), result in results.items():
            if other is task:
                axis.plot(result.run.losses, label=way, **styles[way])
        axis.set(title=task.name, xlabel="step", ylabel="cross entropy (nats)")
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.25)
        axis.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


def record_step(prepare) -> list:
    """(engine, name, start_ps, end_ps) of the step that `prepare()` returns, on device time."""
    import torch_neuronx

    step = prepare()
    with torch_neuronx.record_timeline() as timeline:
        step()
    return [(e.engine, e.instruction, e.start_ps, e.end_ps) for e in timeline.events]


ENGINES = ("Tensor", "Vector", "Scalar", "GpSimd", "DMA")


def merged(spans: list) -> list:
    """Overlapping spans as one: DMA has many queues, a bar has one row."""
    out: list = []
    for start, end in spans:
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def draw_timeline(events: list, path: Path, title: str) -> None:
    """`events`: (engine, name, start_ps, end_ps) of one training step, device time."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    colours = dict(
        zip(ENGINES, ("#1f5fa8", "#2f8f5b", "#d1602b", "#8a4fa3", "#7d7d7d"), strict=True)
    )
    figure, axis = pyplot.subplots(figsize=(13, 3.6))
    last = max(end for *_, end in events)
    for row, engine in enumerate(reversed(ENGINES)):
        spans = merged(sorted((s / 1e6, e / 1e6) for name, _, s, e in events if name == engine))
        bars = [(start, end - start) for start, end in spans]
        axis.broken_barh(bars, (row - 0.4, 0.8), color=colours[engine], linewidth=0)
        busy = sum(width for _, width in bars) / (last / 1e6)
        axis.text(1.005, row, f"{busy:.0%} busy", transform=axis.get_yaxis_transform(), va="center")
    axis.set_yticks(range(len(ENGINES)), reversed(ENGINES))
    axis.set(xlabel="modelled device time (microseconds)", xlim=(0, last / 1e6), title=title)
    axis.grid(axis="x", alpha=0.25)
    figure.tight_layout()
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
