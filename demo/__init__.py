"""The demo: two models trained on CPU and on device neuron, eagerly and compiled, and compared."""
