"""What the tests over PyTorch's op database share.

The aten calls behind each sample are recorded and replayed one by one (replay.py); each combination
of row, dtypes and non-tensor arguments once. A row may refuse a call with NotImplementedError (the
dispatcher then falls back to CPU), but REFUSES lists those that do.
"""

import warnings

import torch
from lowering.replay import Call, Recorder, compare

# Undefined contents, or nothing to compare.
UNDEFINED = {"aten::empty.memory_format", "aten::empty_like", "aten::new_empty"}
# Rows that refuse some calls, and why.
REFUSES = {
    "aten::index.Tensor": "a mask's result depends on data",
    "aten::index_put": "likewise, unless it stores one value",
    "aten::max_pool2d_with_indices": "integers",
    "aten::max_pool3d_with_indices": "integers",
    "aten::nextafter": "halves",
    "aten::scatter_reduce.two": "bool",
    "aten::_upsample_bicubic2d_aa": "integers, for which CPU rounds in fixed point",
    "aten::_upsample_bilinear2d_aa": "likewise",
    "aten::upsample_bicubic2d": "likewise",
    "aten::upsample_bilinear2d": "likewise",
    "aten::view.dtype": "between element sizes",
}
# Wider than the dtype's tolerance, and why: (rtol, atol) for f32.
# Wider in bf16 and f16, where CPU rounds what the device does not.
WIDE_HALF = {
    "aten::addbmm": (0.1, 0.5),  # the sums between the matrices of the batch
    "aten::grid_sampler_2d": (0.1, 0.1),  # the positions
    # The positions' gradient is large beside its rounding, with random weights.
    "aten::grid_sampler_2d_backward": (0.1, 0.5),
}
WIDE = {
    "aten::native_layer_norm_backward": (1e-4, 1e-3),  # cancels to zero for rows of one element
}


def run_sample(op, sample, gradient: bool) -> None:
    out = op(sample.input, *sample.args, **sample.kwargs)
    if not gradient:
        return
    leaves = out if isinstance(out, (tuple, list)) else [out]
    outs = [o for o in leaves if isinstance(o, torch.Tensor) and o.requires_grad]
    if outs:
        torch.autograd.backward(outs, [torch.rand_like(o) for o in outs])


def record(op, dtype: torch.dtype, samples: int, recorder: Recorder) -> list:
    """The calls CPU made; a sample that CPU itself refuses leaves those before the refusal."""
    gradient = dtype.is_floating_point and dtype in op.supported_backward_dtypes("cpu")
    recorder.calls = []
    for i, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=gradient)):
        if i == samples:
            break
        try:
            with recorder, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                run_sample(op, sample, gradient)
        except (RuntimeError, NotImplementedError, ValueError, TypeError, IndexError):
            continue
    return recorder.calls


def check(call: Call) -> None:
    overload = call.row["overload"]
    if overload in UNDEFINED:
        return
    try:
        compare(call, (WIDE if is_float32(call) else WIDE_HALF).get(overload))
    except NotImplementedError as error:
        if overload not in REFUSES:
            raise AssertionError(f"{call}: {error}") from error


def is_float32(call: Call) -> bool:
    return any(isinstance(r, torch.Tensor) and r.dtype == torch.float32 for r in call.results)


def problems_of(op, dtypes: list[torch.dtype], samples: int, recorder: Recorder) -> list[str]:
    """What the rows behind `op` compute differently from CPU."""
    if op.name.startswith("jiterator"):
        return []  # CUDA source as an argument
    torch.manual_seed(0)
    problems = []
    for dtype in dtypes:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        for call in record(op, dtype, samples, recorder):
            try:
                check(call)
            except AssertionError as error:
                problems.append(str(error))
    return problems
