"""Functions of JAX and small models with their arguments: what others lower to HLO.

A family is a module with CASES: (name, function, arguments).
"""

from jax_functions import (
    control_flow,
    convolutions,
    elementwise,
    gradients,
    hlo_forms,
    indexing,
    linear_algebra,
    models,
    neural_network,
    random_numbers,
    reductions,
    shapes,
    vectorised,
)

FAMILIES = {
    "hlo_forms": hlo_forms.CASES,
    "elementwise": elementwise.CASES,
    "reductions": reductions.CASES,
    "shapes": shapes.CASES,
    "indexing": indexing.CASES,
    "linear_algebra": linear_algebra.CASES,
    "convolutions": convolutions.CASES,
    "control_flow": control_flow.CASES,
    "neural_network": neural_network.CASES,
    "gradients": gradients.CASES,
    "vectorised": vectorised.CASES,
    "random_numbers": random_numbers.CASES,
    "models": models.CASES,
}
CASES = [(f"{family}-{case[0]}", *case[1:]) for family, cases in FAMILIES.items() for case in cases]
