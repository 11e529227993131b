// The families of the lowering table. A new family is its file, a line here and one in CMake.
#pragma once

#include "lowering/table.h"

namespace neuron::lowering {

#define NEURON_LOWERING_FAMILIES(V) \
  V(Arithmetic)                     \
  V(Unary)                          \
  V(Comparison)                     \
  V(Activation)                     \
  V(Cast)                           \
  V(View)                           \
  V(Creation)                       \
  V(Reduction)                      \
  V(Variance)                       \
  V(Scan)                           \
  V(Softmax)                        \
  V(Normalization)                  \
  V(Matmul)                         \
  V(Convolution)                    \
  V(Pooling)                        \
  V(AdaptivePooling)                \
  V(Upsample)                       \
  V(Attention)                      \
  V(Loss)                           \
  V(NllLoss)                        \
  V(Embedding)                      \
  V(Indexing)                       \
  V(Scatter)                        \
  V(Join)                           \
  V(Sort)                           \
  V(Random)                         \
  V(Foreach)                        \
  V(Optimizer)                      \
  V(Padding)                        \
  V(Composed)                       \
  V(DataDependent)                  \
  V(Unique)                         \
  V(PoolingByIndex)                 \
  V(EmbeddingBag)                   \
  V(MarginLoss)                     \
  V(Patches)                        \
  V(Distance)                       \
  V(Recurrent)                      \
  V(ComplexNumbers)                 \
  V(Fourier)                        \
  V(GridSampler)

#define V(name) extern const std::span<const Row> k##name##Rows;
NEURON_LOWERING_FAMILIES(V)
#undef V

}  // namespace neuron::lowering
