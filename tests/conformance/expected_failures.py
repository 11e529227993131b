# ruff: noqa: E501  a row is a line
# fmt: off
"""Cases that do not pass yet: (test, op, dtype) -> (index of the first failing sample, reason).

A case listed here still runs and must still fail, as soon as the run includes that sample; one that
passes fails the suite, and its row goes. `python tests/conformance/report.py --write-expected`
rewrites the rows from what the device does now; reasons of rows that stay are kept.
"""

EXPECTED: dict[tuple[str, str, str], tuple[int, str]] = {
    ("test_errors_match", "cauchy", "any"): (0, "AssertionError: no error; CPU raises RuntimeError"),
    ("test_errors_match", "exponential", "any"): (0, "AssertionError: no error; CPU raises RuntimeError"),
    ("test_errors_match", "index_add", "any"): (0, "AssertionError: no error; CPU raises RuntimeError"),
    ("test_errors_match", "index_select", "any"): (0, "AssertionError: no error; CPU raises RuntimeError"),
    ("test_errors_match", "log_normal", "any"): (0, "AssertionError: no error; CPU raises RuntimeError"),
    ("test_errors_match", "multinomial", "any"): (1, "AssertionError: no error; CPU raises RuntimeError"),
    ("test_errors_match", "narrow_copy", "any"): (1, "AssertionError: IndexError instead of RuntimeError: Dimension out of range (expected to be in range of [-3, 2], but got 3)"),
    ("test_errors_match", "nn.functional.embedding", "any"): (0, "AssertionError: AssertionError instead of RuntimeError: 'weight' must be 2-D, got 0-D"),
    ("test_errors_match", "uniform", "any"): (0, "AssertionError: no error; CPU raises RuntimeError"),
    ("test_matches_cpu", "_native_batch_norm_legit", "bfloat16"): (0, "AssertionError: dtype torch.float32 instead of torch.bfloat16"),
    ("test_matches_cpu", "fft.hfft2", "bool"): (0, "AssertionError: Tensor-likes are not close! Mismatched elements: 72 / 150 (48.0%) Greatest absolute difference: 1.946497917175293 at index (0, 1, 1) (up to 1e-0"),
    ("test_matches_cpu", "fft.hfft2", "float32"): (0, "AssertionError: Tensor-likes are not close! Mismatched elements: 80 / 150 (53.3%) Greatest absolute difference: 14.202539443969727 at index (3, 1, 3) (up to 1e-"),
    ("test_matches_cpu", "fft.hfft2", "int64"): (0, "AssertionError: Tensor-likes are not close! Mismatched elements: 80 / 150 (53.3%) Greatest absolute difference: 11.307239532470703 at index (4, 1, 4) (up to 1e-"),
    ("test_matches_cpu", "fft.hfftn", "bool"): (0, "AssertionError: Tensor-likes are not close! Mismatched elements: 72 / 150 (48.0%) Greatest absolute difference: 1.946497917175293 at index (0, 1, 1) (up to 1e-0"),
    ("test_matches_cpu", "fft.hfftn", "float32"): (0, "AssertionError: Tensor-likes are not close! Mismatched elements: 80 / 150 (53.3%) Greatest absolute difference: 14.202539443969727 at index (3, 1, 3) (up to 1e-"),
    ("test_matches_cpu", "fft.hfftn", "int64"): (0, "AssertionError: Tensor-likes are not close! Mismatched elements: 80 / 150 (53.3%) Greatest absolute difference: 11.307239532470703 at index (4, 1, 4) (up to 1e-"),
    ("test_matches_cpu", "fft.ifft", "bool"): (0, "AssertionError: Tensor-likes are not close! Mismatched elements: 240 / 350 (68.6%) Greatest absolute difference: 1.946497917175293 at index (1, 1, 1) (up to 1e-"),
    ("test_matches_cpu", "fft.ifft", "float32"): (0, "AssertionError: Tensor-likes are not close! Mismatched elements: 280 / 350 (80.0%) Greatest absolute difference: 11.046103477478027 at index (4, 2, 5) (up to 1e"),
    ("test_matches_cpu", "fft.ifft", "int64"): (0, "AssertionError: Tensor-likes are not close! Mismatched elements: 280 / 350 (80.0%) Greatest absolute difference: 11.591230392456055 at index (4, 2, 6) (up to 1e"),
    ("test_matches_cpu", "fft.ihfft", "bool"): (0, "AssertionError: Tensor-likes are not close! Mismatched elements: 120 / 210 (57.1%) Greatest absolute difference: 1.946497917175293 at index (1, 1, 1) (up to 1e-"),
    ("test_matches_cpu", "fft.ihfft", "float32"): (0, "AssertionError: Tensor-likes are not close! Mismatched elements: 140 / 210 (66.7%) Greatest absolute difference: 11.046103477478027 at index (4, 2, 5) (up to 1e"),
    ("test_matches_cpu", "fft.ihfft", "int64"): (0, "AssertionError: Tensor-likes are not close! Mismatched elements: 140 / 210 (66.7%) Greatest absolute difference: 11.591230392456055 at index (4, 2, 6) (up to 1e"),
    ("test_matches_cpu", "fft.ihfftn", "bool"): (2, "AssertionError: Tensor-likes are not close! Mismatched elements: 64 / 150 (42.7%) Greatest absolute difference: 0.6035534143447876 at index (0, 1, 1) (up to 1e-"),
    ("test_matches_cpu", "fft.ihfftn", "float32"): (2, "AssertionError: Tensor-likes are not close! Mismatched elements: 90 / 150 (60.0%) Greatest absolute difference: 5.133032321929932 at index (1, 0, 3) (up to 1e-0"),
    ("test_matches_cpu", "fft.ihfftn", "int64"): (2, "AssertionError: Tensor-likes are not close! Mismatched elements: 90 / 150 (60.0%) Greatest absolute difference: 5.535533905029297 at index (4, 1, 1) (up to 1e-0"),
    ("test_matches_cpu", "index_fill", "bfloat16"): (0, "AssertionError: Scalars are not close! Expected -8.5 but got 0.0. Absolute difference: 8.5 (up to 1e-05 allowed) Relative difference: 1.0 (up to 0.016 allowed)"),
    ("test_matches_cpu", "linalg.tensorsolve", "float32"): (1, "RuntimeError: view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous subspaces). Use .reshape(...) "),
    ("test_matches_cpu", "native_batch_norm", "bfloat16"): (0, "AssertionError: dtype torch.float32 instead of torch.bfloat16"),
    ("test_matches_cpu", "native_dropout_backward", "bool"): (2, "AssertionError: Tensor-likes are not close! Mismatched elements: 178 / 625 (28.5%) Greatest absolute difference: 1.0 at index (0, 0, 0, 3) (up to 1e-05 allowed)"),
    ("test_matches_cpu", "native_layer_norm", "bfloat16"): (0, "AssertionError: dtype torch.float32 instead of torch.bfloat16"),
    ("test_matches_cpu", "nn.functional.linear_cross_entropy.chunked_none", "bfloat16"): (1, "AssertionError: Tensor-likes are not close! Mismatched elements: 1 / 8 (12.5%) Greatest absolute difference: 0.001953125 at index (1,) (up to 1e-05 allowed) Gre"),
    ("test_matches_cpu", "sparse.mm.reduce", "bfloat16"): (0, "NotImplementedError: Could not run 'aten::_sparse_mm_reduce_impl' with arguments from the 'SparseCsrneuron' backend. This could be because the operator doesn't "),
    ("test_matches_cpu", "sparse.mm.reduce", "float32"): (0, "NotImplementedError: Could not run 'aten::_sparse_mm_reduce_impl' with arguments from the 'SparseCsrneuron' backend. This could be because the operator doesn't "),
    ("test_matches_cpu", "sparse.sampled_addmm", "float32"): (0, "NotImplementedError: Could not run 'aten::sparse_sampled_addmm' with arguments from the 'SparseCsrneuron' backend. This could be because the operator doesn't ex"),
    ("test_matches_cpu", "to_sparse", "bfloat16"): (0, "NotImplementedError: Cannot access storage of SparseTensorImpl"),
    ("test_matches_cpu", "to_sparse", "bool"): (0, "NotImplementedError: Cannot access storage of SparseTensorImpl"),
    ("test_matches_cpu", "to_sparse", "float32"): (0, "NotImplementedError: Cannot access storage of SparseTensorImpl"),
    ("test_matches_cpu", "to_sparse", "int64"): (0, "NotImplementedError: Cannot access storage of SparseTensorImpl"),
}
