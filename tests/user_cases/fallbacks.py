# fmt: off
"""Ops that a user case may run on the CPU: op -> why. Any other fallback fails the test."""

ON_CPU: dict[str, str] = {
    "aten::linalg_eig": "no lowering is planned: iterative, rare",
}
