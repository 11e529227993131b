"""Speed as ratios to PyTorch CPU taken in the same run. `python -m benchmarks --help`."""
