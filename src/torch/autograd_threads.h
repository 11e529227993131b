// Autograd runs a device's backward nodes in a thread of its own for that device.
#pragma once

namespace neuron::pytorch {

// Returns when the threads of the devices have let go of every graph they ran. The last reference
// to a finished graph may be theirs, and it holds Python objects (the caller's contextvars, PyTorch
// 2.13 torch/autograd/graph.py): dropped while the interpreter ends, it takes the process down with
// "terminate called without an active exception". To be called before that, without the GIL.
void DrainAutogradThreads();

}  // namespace neuron::pytorch
