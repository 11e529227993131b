"""Row softmax: maximum, exponential with row sums in one pass, scaling."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def softmax_rows(x):
    """x: [M, N] in HBM, any M; a row fits in SBUF."""
    rows, columns = x.shape
    out = nl.ndarray(x.shape, dtype=x.dtype, buffer=nl.shared_hbm)
    for start in nl.affine_range(0, rows, nl.tile_size.pmax):
        size = min(nl.tile_size.pmax, rows - start)
        tile = nl.ndarray((size, columns), dtype=x.dtype, buffer=nl.sbuf)
        nisa.dma_copy(dst=tile, src=x[start : start + size, :])
        minus_max = nl.ndarray((size, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.tensor_reduce(dst=minus_max, op=nl.maximum, data=tile, axis=1, negate=True)
        powers = nl.ndarray((size, columns), dtype=nl.float32, buffer=nl.sbuf)
        total = nl.ndarray((size, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.activation_reduce(
            dst=powers, op=nl.exp, data=tile, reduce_op=nl.add, reduce_res=total, bias=minus_max
        )
        scale = nl.ndarray((size, 1), dtype=nl.float32, buffer=nl.sbuf)
        nisa.reciprocal(dst=scale, data=total)
        nisa.tensor_scalar(dst=tile, data=powers, op0=nl.multiply, operand0=scale)
        nisa.dma_copy(dst=out[start : start + size, :], src=tile)
    return out
