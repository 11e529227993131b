#include "compiler/kernel_domain.h"

#include <algorithm>

namespace neuron::compiler {

// Row-major strides of a member's dense value over `domain`.
std::optional<Dims> NaturalStrides(const hlo::Shape& shape, const Kernel& k) {
  if (shape.num_elements() == Product(k.domain)) return DenseStrides(k.domain);
  Dims kept;
  for (size_t d = 0; d < k.domain.size(); ++d)
    if (!k.reduced[d]) kept.push_back(k.domain[d]);
  Dims out(k.domain.size(), 0);
  if (shape.num_elements() == 1) return out;
  if (shape.num_elements() != Product(kept)) return std::nullopt;
  const Dims dense = DenseStrides(kept);
  size_t i = 0;
  for (size_t d = 0; d < k.domain.size(); ++d)
    if (!k.reduced[d]) out[d] = dense[i++];
  return out;
}

// Strides of an operand's view over the kernel's domain; the class is that of its own shape.
std::optional<Dims> OperandStrides(const View& view, const Kernel& k) {
  const int64_t n = Product(view.sizes);
  if (n == Product(k.domain)) return ReshapeStrides(view.sizes, view.strides, k.domain);
  Dims out(k.domain.size(), 0);
  if (n == 1) return out;
  Dims kept;
  for (size_t d = 0; d < k.domain.size(); ++d)
    if (!k.reduced[d]) kept.push_back(k.domain[d]);
  if (n != Product(kept)) return std::nullopt;
  const auto strides = ReshapeStrides(view.sizes, view.strides, kept);
  if (!strides) return std::nullopt;
  size_t i = 0;
  for (size_t d = 0; d < k.domain.size(); ++d)
    if (!k.reduced[d]) out[d] = (*strides)[i++];
  return out;
}

// The kernel's domain split so that a value of `dims` lies on it; false if it cannot.
bool RefineDomain(Kernel& k, const Dims& dims, const std::vector<bool>* reduced) {
  const int64_t n = Product(dims);
  if (n == Product(k.domain)) {
    const auto finer = CommonRefinement(k.domain, dims);
    if (!finer) return false;
    std::vector<bool> flags;
    // Each finer dimension belongs to one of the old ones; walk both by products.
    size_t old = 0;
    int64_t left = k.domain.empty() ? 1 : k.domain[0];
    for (int64_t d : *finer) {
      while (left == 1 && d != 1 && old + 1 < k.domain.size()) left = k.domain[++old];
      flags.push_back(k.reduced[old]);
      left /= d;
    }
    k.domain = *finer;
    k.reduced = std::move(flags);
    if (reduced == nullptr) return true;
    // The same walk over the reduce's operand shape.
    std::vector<bool> want;
    old = 0;
    left = dims.empty() ? 1 : dims[0];
    for (int64_t d : k.domain) {
      while (left == 1 && d != 1 && old + 1 < dims.size()) left = dims[++old];
      want.push_back((*reduced)[old]);
      left /= d;
    }
    const bool had = std::find(k.reduced.begin(), k.reduced.end(), true) != k.reduced.end();
    if (had && want != k.reduced) {
      for (size_t i = 0; i < want.size(); ++i)
        if (want[i] != k.reduced[i] && k.domain[i] != 1) return false;
    }
    if (!had) k.reduced = std::move(want);
    return true;
  }
  if (reduced != nullptr) return false;
  if (n == 1) return true;
  Dims kept;
  for (size_t d = 0; d < k.domain.size(); ++d)
    if (!k.reduced[d]) kept.push_back(k.domain[d]);
  if (n != Product(kept)) return false;
  const auto finer = CommonRefinement(kept, dims);
  if (!finer) return false;
  // Put the finer dims back where the coarser ones stood.
  Dims domain;
  std::vector<bool> flags;
  size_t at = 0;
  for (size_t d = 0; d < k.domain.size(); ++d) {
    if (k.reduced[d]) {
      domain.push_back(k.domain[d]);
      flags.push_back(true);
      continue;
    }
    int64_t left = k.domain[d];
    while (left > 1) {
      domain.push_back((*finer)[at]);
      flags.push_back(false);
      left /= (*finer)[at++];
    }
  }
  k.domain = std::move(domain);
  k.reduced = std::move(flags);
  return true;
}

int64_t ReducedElements(const Kernel& kernel) {
  int64_t n = 1;
  for (size_t d = 0; d < kernel.domain.size(); ++d)
    if (kernel.reduced[d]) n *= kernel.domain[d];
  return n;
}

}  // namespace neuron::compiler
