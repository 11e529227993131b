"""Kernels of the kind in NKI's public tutorials: `python -m examples.nki` runs them."""
