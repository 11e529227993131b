"""NKI, the kernel language of the NeuronCore, without the chip.

    import nki
    import nki.isa as nisa
    import nki.language as nl

    @nki.jit
    def double(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        tile = nl.load(x)
        nisa.tensor_scalar(tile, tile, nl.multiply, 2.0)
        nl.store(out, tile)
        return out

    run = nki.simulate(double)
    run(numpy.ones((128, 512), numpy.float32))
    print(run.report)

A kernel is ordinary Python that is traced: each call of nki.isa appends an instruction to a program
for one NeuronCore, which the emulator then runs. Needs NumPy and ml_dtypes.
"""

from nki import dtype, isa, language, typing
from nki._errors import NkiCapacityError, NkiError, NkiExecutionError, NkiValidationError
from nki._kernel import Kernel, jit, simulate
from nki._report import Event, Report
from nki._tensor import NkiTensor

__all__ = [
    "Event",
    "Kernel",
    "NkiCapacityError",
    "NkiError",
    "NkiExecutionError",
    "NkiTensor",
    "NkiValidationError",
    "Report",
    "dtype",
    "isa",
    "jit",
    "language",
    "simulate",
    "typing",
]
