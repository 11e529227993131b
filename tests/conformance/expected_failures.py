# ruff: noqa: E501  a row is a line
# fmt: off
"""Cases that do not pass yet: (test, op, dtype) -> (index of the first failing sample, reason).

A case listed here still runs and must still fail, as soon as the run includes that sample; one that
passes fails the suite, and its row goes. `python tests/conformance/report.py --write-expected`
rewrites the rows from what the device does now; reasons of rows that stay are kept.
"""

EXPECTED: dict[tuple[str, str, str], tuple[int, str]] = {
    ("test_errors_match", "narrow_copy", "any"): (1, "AssertionError: IndexError instead of RuntimeError: Dimension out of range (expected to be in range of [-3, 2], but got 3)"),
    ("test_gradients_match_cpu", "erfinv", "float32"): (0, "AssertionError: Tensor-likes are not close! Mismatched elements: 2 / 400 (0.5%) Greatest absolute difference: 0.0009918212890625 at index (12, 3) (up "),
    ("test_gradients_match_cpu", "sparse.mm.reduce", "float32"): (0, "NotImplementedError: Could not run 'aten::_sparse_mm_reduce_impl' with arguments from the 'SparseCsrneuron' backend. This could be because the operato"),
    ("test_gradients_match_cpu", "sparse.sampled_addmm", "float32"): (0, "NotImplementedError: Could not run 'aten::sparse_sampled_addmm' with arguments from the 'SparseCsrneuron' backend. This could be because the operator "),
    ("test_gradients_match_cpu", "to_sparse", "float32"): (0, "NotImplementedError: Cannot access storage of SparseTensorImpl"),
    ("test_matches_cpu", "_native_batch_norm_legit", "bfloat16"): (0, "AssertionError: dtype torch.float32 instead of torch.bfloat16"),
    ("test_matches_cpu", "index_fill", "bfloat16"): (0, "AssertionError: Scalars are not close! Expected -8.5 but got 0.0. Absolute difference: 8.5 (up to 1e-05 allowed) Relative difference: 1.0 (up to 0.016 allowed)"),
    ("test_matches_cpu", "native_batch_norm", "bfloat16"): (0, "AssertionError: dtype torch.float32 instead of torch.bfloat16"),
    ("test_matches_cpu", "native_layer_norm", "bfloat16"): (0, "AssertionError: dtype torch.float32 instead of torch.bfloat16"),
    ("test_matches_cpu", "nn.functional.linear_cross_entropy.chunked_none", "bfloat16"): (1, "AssertionError: Tensor-likes are not close! Mismatched elements: 1 / 8 (12.5%) Greatest absolute difference: 0.001953125 at index (1,) (up to 1e-05 allowed) Gre"),
    ("test_matches_cpu", "sparse.mm.reduce", "bfloat16"): (0, "NotImplementedError: Could not run 'aten::_sparse_mm_reduce_impl' with arguments from the 'SparseCsrneuron' backend. This could be because the operator doesn't "),
    ("test_matches_cpu", "sparse.mm.reduce", "float32"): (0, "NotImplementedError: Could not run 'aten::_sparse_mm_reduce_impl' with arguments from the 'SparseCsrneuron' backend. This could be because the operator doesn't "),
    ("test_matches_cpu", "sparse.sampled_addmm", "float32"): (0, "NotImplementedError: Could not run 'aten::sparse_sampled_addmm' with arguments from the 'SparseCsrneuron' backend. This could be because the operator doesn't ex"),
    ("test_matches_cpu", "to_sparse", "bfloat16"): (0, "NotImplementedError: Cannot access storage of SparseTensorImpl"),
    ("test_matches_cpu", "to_sparse", "bool"): (0, "NotImplementedError: Cannot access storage of SparseTensorImpl"),
    ("test_matches_cpu", "to_sparse", "float32"): (0, "NotImplementedError: Cannot access storage of SparseTensorImpl"),
    ("test_matches_cpu", "to_sparse", "int64"): (0, "NotImplementedError: Cannot access storage of SparseTensorImpl"),
    ("test_out_matches_cpu", "addbmm", "float32"): (1, "AssertionError: Tensor-likes are not close! Mismatched elements: 1 / 50 (2.0%) Greatest absolute difference: 1.430511474609375e-05 at index (3, 0) (up"),
    ("test_out_matches_cpu", "mode", "float32"): (0, "RuntimeError: mode only supports CPU, CUDA and XPU device type, got: neuron"),
    ("test_out_matches_cpu", "sparse.sampled_addmm", "float32"): (0, "NotImplementedError: Could not run 'aten::sparse_sampled_addmm.out' with arguments from the 'SparseCsrneuron' backend. This could be because the opera"),
}
