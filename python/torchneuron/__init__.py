"""The distribution's console commands. The packages to import are `torch_neuronx` and `nki`."""
