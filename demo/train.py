"""Training in ordinary PyTorch. Nothing here knows a backend: the device is a string."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, RandomSampler

from demo import data, models


@dataclass
class Run:
    losses: list[float] = field(default_factory=list)
    accuracy: float | None = None
    steps_per_second: float = 0.0


@dataclass(frozen=True)
class Task:
    name: str
    steps: int
    autocast: bool = False


CNN = Task("digits CNN, fp32", steps=300)
GPT = Task("char GPT, fp32", steps=120)
GPT_BF16 = Task("char GPT, bf16 autocast", steps=120, autocast=True)
TASKS = (CNN, GPT, GPT_BF16)

LENGTH = 64
WARM_UP_STEPS = 5  # compiled programs appear in the first steps; the rate is taken after them


def build(task: Task) -> tuple[nn.Module, DataLoader, DataLoader | None]:
    """Model with seeded weights, training batches in a seeded order, test batches."""
    torch.manual_seed(1)
    order = torch.Generator().manual_seed(2)
    if task is CNN:
        train, test = data.digits()
        model = models.DigitsCnn()
        sampler = RandomSampler(train, True, num_samples=64 * task.steps, generator=order)
        return model, DataLoader(train, 64, sampler=sampler), DataLoader(test, 120)
    text = data.Text(LENGTH)
    model = models.CharGpt(len(text.alphabet), LENGTH)
    sampler = RandomSampler(text, True, num_samples=8 * task.steps, generator=order)
    return model, DataLoader(text, 8, sampler=sampler), None


def prepare(task: Task, device: str, compiled: bool):
    """The model on its device, training and test batches, and `step(inputs, targets) -> loss`."""
    model, batches, test = build(task)
    model.to(device)
    if compiled:
        model.compile()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    autocast = torch.autocast(device, torch.bfloat16) if task.autocast else contextlib.nullcontext()

    def step(inputs, targets):
        inputs, targets = inputs.to(device), targets.to(device)
        with autocast:
            logits = model(inputs)
            loss = F.cross_entropy(logits.flatten(0, -2), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return model, batches, test, step


def one_step(task: Task, device: str, compiled: bool) -> Callable[[], None]:
    """Prepare a model, take its first steps, return a function that takes one more."""
    _, batches, _, step = prepare(task, device, compiled)
    batch = next(iter(batches))
    for _ in range(2):
        step(*batch)
    return lambda: step(*batch)


def train(task: Task, device: str, compiled: bool, on_step: Callable[[], None]) -> Run:
    model, batches, test, step = prepare(task, device, compiled)
    run = Run()
    losses = []
    for number, batch in enumerate(batches):
        if number == WARM_UP_STEPS:
            torch.accelerator.synchronize()
            start = time.perf_counter()
        losses.append(step(*batch))
        on_step()
    run.losses = torch.stack(losses).float().cpu().tolist()
    run.steps_per_second = (len(losses) - WARM_UP_STEPS) / (time.perf_counter() - start)
    if test is not None:
        model.eval()
        with torch.no_grad():
            correct = sum(
                int((model(images.to(device)).argmax(1) == labels.to(device)).sum())
                for images, labels in test
            )
        run.accuracy = correct / len(test.dataset)
    return run
