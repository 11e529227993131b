"""The demo: ordinary PyTorch, and a judge of its own figures that can say no.

`scripts/measure.py`, which `make test` runs, trains its models whole.
"""

import ast
import dataclasses
import io
import sys
from pathlib import Path

import pytest
import torch
from rich.console import Console

from demo import __main__ as command
from demo import report, train

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.parametrize("name", ["models", "data", "train"])
def test_models_and_training_know_nothing_of_ours(name):
    """A string names the device; what is imported is PyTorch, data that ships, or the demo."""
    text = (ROOT / "demo" / f"{name}.py").read_text()
    imported = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add(node.module.split(".")[0])
    assert imported <= {"torch", "sklearn", "demo", *sys.stdlib_module_names}
    assert "torch.neuron" not in text
    assert "torch.ops" not in text


@pytest.fixture
def results():
    """As the demo makes them, of invented runs in which all bounds hold."""
    run = train.Run(losses=[2.0 - i / 100 for i in range(60)], accuracy=0.98, steps_per_second=10)
    reading = report.Reading(1.0, 10.0, 0, ())
    return {
        (task, way): report.Result(run, reading if device == "neuron" else report.Reading())
        for task in train.TASKS
        for way, device, _ in command.WAYS
    }


def failures(results):
    console = Console(file=io.StringIO(), width=command.TABLE_WIDTH)
    return report.table(console, results, command.LOSS_BOUND, command.ACCURACY_BOUND)


def test_good_results_pass(results):
    assert failures(results) == []


def changed(result, **fields):
    return dataclasses.replace(result, run=dataclasses.replace(result.run, **fields))


@pytest.mark.parametrize("task", [train.CNN, train.GPT], ids=lambda t: t.name)
@pytest.mark.parametrize("way", ["neuron eager", "neuron compiled"])
@pytest.mark.parametrize("step", [0, 49])
def test_a_loss_off_by_more_than_the_bound_fails(results, task, way, step):
    losses = list(results[task, way].run.losses)
    losses[step] *= 1.002
    results[task, way] = changed(results[task, way], losses=losses)
    (sentence,) = failures(results)
    assert sentence.startswith(f"{task.name}, {way}: losses differ by 2.0e-03, bound 1e-03")


def test_a_low_accuracy_fails(results):
    key = (train.CNN, "neuron eager")
    results[key] = changed(results[key], accuracy=0.969)
    (sentence,) = failures(results)
    assert "accuracy 96.90%, bound 97%" in sentence


def test_a_fallback_fails_and_is_in_the_figures(results):
    key = (train.GPT_BF16, "neuron compiled")
    results[key] = dataclasses.replace(
        results[key], reading=report.Reading(1.0, 10.0, 3, ("aten::erfinv",))
    )
    (sentence,) = failures(results)
    assert "3 calls fell back to CPU: aten::erfinv" in sentence
    named = [row for row in report.figures(results) if row["fallback_ops"]]
    assert [(row["task"], row["way"]) for row in named] == [(train.GPT_BF16.name, key[1])]


def test_initial_weights_and_batches_are_those_of_every_run():
    for task in (train.CNN, train.GPT):
        (model, batches, _), (again, same, _) = train.build(task), train.build(task)
        for a, b in zip(model.parameters(), again.parameters(), strict=True):
            assert torch.equal(a, b)
        for a, b in zip(next(iter(batches)), next(iter(same)), strict=True):
            assert torch.equal(a, b)
        assert not any(isinstance(m, torch.nn.Dropout) for m in model.modules())
