"""A few steps of the demo's models, away from the test's own process; prints their losses as JSON.

python -m honesty.run_demo 7        {"digits CNN, fp32, eager": [loss, ...], ...}
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys


def main() -> None:
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import torch

    from demo import train

    torch.set_num_threads(1)
    torch.compiler.set_default_backend("neuron")
    steps = int(sys.argv[1])
    train.CNN = dataclasses.replace(train.CNN, steps=steps)
    losses = {}
    for task, compiled in (
        (train.CNN, False),
        (train.CNN, True),
        (_short(train.GPT, steps), False),
    ):
        run = train.train(task, "neuron", compiled, lambda: None)
        losses[f"{task.name}, {'compiled' if compiled else 'eager'}"] = run.losses
    import torch_neuronx

    losses["fallbacks"] = torch_neuronx.get_fallback_ops()
    json.dump(losses, out)


def _short(task, steps: int):
    return dataclasses.replace(task, steps=steps)


if __name__ == "__main__":
    main()
