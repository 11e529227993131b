// Storage of neuron tensors: how it grows, and tensors made straight from sizes and strides.
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/StorageImpl.h>

namespace neuron::pytorch {

// Keeps the leading bytes that fit in both.
void ResizeStorage(c10::StorageImpl* storage, size_t bytes);
// resize_: new sizes (and strides, else contiguous); the storage grows if it must.
void ResizeTensor(const at::Tensor& tensor, at::IntArrayRef sizes,
                  at::OptionalIntArrayRef strides = std::nullopt);
// Uninitialised, on `device`, ordered with its current stream.
at::Tensor EmptyStrided(int device, at::IntArrayRef sizes, at::IntArrayRef strides,
                        at::ScalarType dtype);
at::Tensor EmptyContiguous(int device, at::IntArrayRef sizes, at::ScalarType dtype);

}  // namespace neuron::pytorch
