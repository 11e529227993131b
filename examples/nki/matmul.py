"""c = lhs_t.T @ rhs: tiles of K accumulate in PSUM."""

import nki
import nki.isa as nisa
import nki.language as nl


@nki.jit
def matmul_tiled(lhs_t, rhs):
    """lhs_t: [K, M], rhs: [K, N]; K and M multiples of 128, N of 512. Result [M, N]."""
    depth, rows = lhs_t.shape
    _, columns = rhs.shape
    tile_m = nl.tile_size.gemm_stationary_fmax
    tile_k = nl.tile_size.pmax
    tile_n = 512
    out = nl.ndarray((rows, columns), dtype=lhs_t.dtype, buffer=nl.shared_hbm)
    for m in nl.affine_range(rows // tile_m):
        for n in nl.affine_range(columns // tile_n):
            psum = nl.ndarray((tile_m, tile_n), dtype=nl.float32, buffer=nl.psum)
            for k in nl.affine_range(depth // tile_k):
                stationary = nl.ndarray((tile_k, tile_m), dtype=lhs_t.dtype, buffer=nl.sbuf)
                moving = nl.ndarray((tile_k, tile_n), dtype=rhs.dtype, buffer=nl.sbuf)
                along_k = nl.ds(k * tile_k, tile_k)
                nisa.dma_copy(dst=stationary, src=lhs_t[along_k, nl.ds(m * tile_m, tile_m)])
                nisa.dma_copy(dst=moving, src=rhs[along_k, nl.ds(n * tile_n, tile_n)])
                nisa.nc_matmul(dst=psum, stationary=stationary, moving=moving)
            result = nl.ndarray((tile_m, tile_n), dtype=out.dtype, buffer=nl.sbuf)
            nisa.tensor_copy(dst=result, src=psum)
            nisa.dma_copy(dst=out[nl.ds(m * tile_m, tile_m), nl.ds(n * tile_n, tile_n)], src=result)
    return out
