"""Run the three kernels against NumPy and print what the model says the chip would take."""

import numpy as np

import nki

from .matmul import matmul_tiled
from .softmax import softmax_rows
from .tensor_add import tensor_add


def main() -> None:
    rng = np.random.default_rng(0)
    a = rng.standard_normal((512, 512), dtype=np.float32)
    b = rng.standard_normal((512, 512), dtype=np.float32)
    exponentials = np.exp(a - a.max(axis=1, keepdims=True))
    cases = [
        ("tensor add 512x512", tensor_add, (a, b), a + b),
        ("matmul 512x512x512", matmul_tiled, (a, b), a.T @ b),
        (
            "row softmax 512x512",
            softmax_rows,
            (a,),
            exponentials / exponentials.sum(1, keepdims=True),
        ),
    ]
    print(f"{'kernel':22}{'max error':>12}{'chip time':>14}{'instructions':>14}")
    for name, kernel, arguments, expected in cases:
        run = nki.simulate(kernel)
        error = np.abs(run(*arguments) - expected).max()
        report = run.report
        time = "not modelled" if report.time_us is None else f"{report.time_us:.2f} us"
        print(f"{name:22}{error:12.2e}{time:>14}{sum(report.instructions.values()):14}")


if __name__ == "__main__":
    main()
