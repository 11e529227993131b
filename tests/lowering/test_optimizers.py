"""Steps of torch.optim on CPU, replayed call by call: foreach lists, fused steps, scaler."""

import pytest
import torch
from lowering.replay import ROWS, Recorder, compare

OPTIMIZERS = {
    "adam": lambda p, **kw: torch.optim.Adam(p, **kw),
    "adam_options": lambda p, **kw: torch.optim.Adam(
        p, amsgrad=True, weight_decay=0.1, maximize=True, **kw
    ),
    "adamw": lambda p, **kw: torch.optim.AdamW(p, **kw),
    "sgd": lambda p, **kw: torch.optim.SGD(p, lr=0.1, **kw),
    "sgd_options": lambda p, **kw: torch.optim.SGD(
        p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1, **kw
    ),
}
FOREACH_ONLY = {
    "adadelta": torch.optim.Adadelta,
    "adagrad": torch.optim.Adagrad,
    "adamax": torch.optim.Adamax,
    "asgd": torch.optim.ASGD,
    "nadam": torch.optim.NAdam,
    "radam": torch.optim.RAdam,
    "rmsprop": lambda p, **kw: torch.optim.RMSprop(p, centered=True, momentum=0.1, **kw),
    "rprop": torch.optim.Rprop,
}
CASES = [(name, make, {"fused": True}) for name, make in OPTIMIZERS.items()]
CASES += [(name, make, {"foreach": True}) for name, make in (OPTIMIZERS | FOREACH_ONLY).items()]
UNDEFINED = {"aten::empty_like"}


def check_all(recorder: Recorder) -> None:
    assert recorder.calls
    for call in recorder.calls:
        if call.row["overload"] not in UNDEFINED:
            compare(call)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(
    ("name", "make", "how"), CASES, ids=[f"{n}-{next(iter(h))}" for n, _, h in CASES]
)
def test_steps(name, make, how, dtype):
    torch.manual_seed(0)
    parameters = [torch.nn.Parameter(torch.randn(s, dtype=dtype)) for s in [(3, 4), (5,)]]
    optimizer = make(parameters, **how)
    recorder = Recorder(limit=1)
    for _ in range(3):
        for p in parameters:
            p.grad = torch.randn_like(p)
        with recorder:
            torch.nn.utils.clip_grad_norm_(parameters, 1.0, foreach=True)
            optimizer.step()
    check_all(recorder)


@pytest.mark.parametrize("infinite", [False, True])
def test_gradient_scaler(infinite):
    torch.manual_seed(0)
    gradients = [torch.randn(3, 4), torch.randn(5)]
    if infinite:
        gradients[1][2] = torch.inf
    found = torch.zeros(())
    recorder = Recorder()
    with recorder:
        torch._amp_foreach_non_finite_check_and_unscale_(gradients, found, torch.tensor(0.5))
        scale, tracker = torch.tensor(4.0), torch.tensor(1, dtype=torch.int32)
        torch._amp_update_scale_(scale, tracker, found, 2.0, 0.5, 2)
        state = [[torch.rand(3, 4)] for _ in range(4)]
        torch._fused_adam_(
            *state, [], [torch.tensor(1.0)], lr=0.1, beta1=0.9, beta2=0.999, weight_decay=0.0,
            eps=1e-8, amsgrad=False, maximize=False, grad_scale=torch.tensor(4.0), found_inf=found,
        )  # fmt: skip
    assert found.item() == infinite
    check_all(recorder)


def lists(dtype: torch.dtype) -> list[torch.Tensor]:
    if dtype.is_floating_point:
        return [torch.rand(3, 2, dtype=dtype) + 0.1, torch.rand(4, dtype=dtype) + 0.1]
    return [torch.randint(1, 5, s, dtype=dtype) for s in [(3, 2), (4,)]]


def argument_forms(dtype: torch.dtype):
    one, two, three = lists(dtype), lists(dtype), lists(dtype)
    numbers = torch.tensor([1.5, 2.5])
    yield from [(one,), (one, two), (one, 2), (one, 2.5), (one, [2, 3]), (one, [2.5, 1.5])]
    yield from [(one, two, three, 2.5), (one, two, three, [1.5, 2.5]), (one, two, three, numbers)]
    yield from [(one, two, 0.3), (one, two, three), (2.5, one), (one, torch.tensor(2.0))]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64])
def test_foreach(dtype):
    """Each _foreach op in each form that CPU accepts."""
    torch.manual_seed(0)
    recorder = Recorder(limit=1)
    names = sorted({o.removeprefix("aten::").partition(".")[0] for o in ROWS if "_foreach_" in o})
    for name in names:
        for arguments in argument_forms(dtype):
            try:
                with recorder:
                    getattr(torch, name, getattr(torch, name + "_", None))(*arguments)
            except (RuntimeError, TypeError):
                continue
    assert len(recorder.calls) > 30
    check_all(recorder)
