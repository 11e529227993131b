"""c = a + b, tile by tile."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def tensor_add(a, b):
    """a, b: [M, N] in HBM, M a multiple of 128, N of 512."""
    rows, columns = a.shape
    out = nl.ndarray(a.shape, dtype=a.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(rows // 128):
        for n in nl.affine_range(columns // 512):
            row, column = nl.ds(m * 128, 128), nl.ds(n * 512, 512)
            a_tile = nl.ndarray((128, 512), dtype=a.dtype, buffer=nl.sbuf)
            b_tile = nl.ndarray((128, 512), dtype=b.dtype, buffer=nl.sbuf)
            nisa.dma_copy(dst=a_tile, src=a[row, column])
            nisa.dma_copy(dst=b_tile, src=b[row, column])
            c_tile = nl.ndarray((128, 512), dtype=a.dtype, buffer=nl.sbuf)
            nisa.tensor_tensor(dst=c_tile, data1=a_tile, data2=b_tile, op=nl.add)
            nisa.dma_copy(dst=out[row, column], src=c_tile)
    return out
