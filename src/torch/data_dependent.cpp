#include "torch/data_dependent.h"

#include <ATen/core/List.h>
#include <ATen/ops/max.h>
#include <ATen/ops/min.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/nonzero.h>
#include <ATen/ops/one_hot_native.h>
#include <ATen/ops/sum.h>
#include <torch/library.h>

#include <bit>
#include <cmath>
#include <vector>

#include "torch/capture.h"
#include "torch/copy.h"
#include "torch/device.h"
#include "torch/storage.h"

namespace neuron::pytorch {
namespace {

using Arguments = std::span<c10::IValue>;
using Indices = c10::List<std::optional<at::Tensor>>;

int64_t Bucket(int64_t rows) {
  return rows <= 16 ? 16 : static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows)));
}

bool IsIndexType(at::ScalarType type) { return type == at::kInt || type == at::kLong; }
bool OnDevice(const at::Tensor& tensor) { return tensor.device().type() == kDeviceType; }
bool IsMask(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kBool || tensor.scalar_type() == at::kByte;
}

// In all of these, wrong arguments are left as they are: the plan's checks refuse them.

std::optional<int64_t> PrepareRepeatInterleave(Arguments a) {
  const at::Tensor& repeats = a[0].toTensor();
  if (repeats.dim() != 1 || !IsIndexType(repeats.scalar_type())) return std::nullopt;
  if (a[1].isNone()) {
    if (repeats.numel() == 0) {
      a[1] = int64_t{0};
      return std::nullopt;
    }
    TORCH_CHECK(at::min(repeats).item<int64_t>() >= 0, "repeats can not be negative");
    a[1] = at::sum(repeats).item<int64_t>();
  }
  const int64_t rows = a[1].toInt();
  a[1] = Bucket(rows);
  return rows;
}

std::optional<int64_t> PrepareBincount(Arguments a) {
  const at::Tensor& self = a[0].toTensor();
  int64_t rows = a[2].toInt();
  if (rows < 0 || self.dim() != 1 || self.numel() == 0 ||
      !at::isIntegralType(self.scalar_type(), /*includeBool=*/false))
    return std::nullopt;
  TORCH_CHECK(at::min(self).item<int64_t>() >= 0,
              "bincount only supports 1-d non-negative integral inputs.");
  rows = std::max(rows, at::max(self).item<int64_t>() + 1);
  a[2] = Bucket(rows);
  return rows;
}

// The range of a histogram that gives none is the data's.
std::optional<int64_t> PrepareHistc(Arguments a) {
  const at::Tensor& self = a[0].toTensor();
  double low = a[2].toScalar().toDouble(), high = a[3].toScalar().toDouble();
  if (a[1].toInt() <= 0 || !at::isFloatingType(self.scalar_type())) return std::nullopt;
  if (low == high && self.numel() > 0) {
    low = at::min(self).item<double>();
    high = at::max(self).item<double>();
  }
  if (low == high) {
    low -= 1;
    high += 1;
  }
  TORCH_CHECK(std::isfinite(low) && std::isfinite(high), "range of [", low, ", ", high,
              "] is not finite");
  TORCH_CHECK(low < high, "max must be larger than min");
  a[2] = low;
  a[3] = high;
  return std::nullopt;
}

// Index tensors of the host come to the device; masks become the places where they are set, unless
// one mask is all there is and it leads.
std::optional<int64_t> PrepareIndices(Arguments a) {
  const at::Tensor& self = a[0].toTensor();
  if (!a[1].isList() || !OnDevice(self)) return std::nullopt;
  std::vector<std::optional<at::Tensor>> given;
  for (const c10::IValue& element : a[1].toListRef())
    given.push_back(element.isTensor() && element.toTensor().defined()
                        ? std::optional(element.toTensor())
                        : std::nullopt);
  size_t defined = 0;
  bool masks = false, host = false;
  for (const auto& index : given) {
    if (!index.has_value()) continue;
    ++defined;
    masks |= IsMask(*index);
    host |= !OnDevice(*index);
  }
  if (!masks && !host) return std::nullopt;
  const bool only = masks && defined == 1 && given[0].has_value();
  Indices out;
  int64_t dim = 0;
  for (const auto& index : given) {
    if (!index.has_value()) {
      out.push_back(std::nullopt);
      ++dim;
      continue;
    }
    const at::Tensor here = OnDevice(*index) ? *index : index->to(self.device());
    if (!IsMask(here)) {
      out.push_back(here);
      ++dim;
      continue;
    }
    TORCH_CHECK_INDEX(dim + here.dim() <= self.dim(), "too many indices for tensor of dimension ",
                      self.dim());
    for (int64_t d = 0; d < here.dim(); ++d)
      TORCH_CHECK_INDEX(here.size(d) == self.size(dim + d), "The shape of the mask ", here.sizes(),
                        " at index ", d, " does not match the shape of the indexed tensor ",
                        self.sizes(), " at index ", dim + d);
    dim += std::max<int64_t>(here.dim(), 0);
    if (only) {
      out.push_back(here);
      continue;
    }
    const at::Tensor places = at::nonzero(here);
    for (int64_t d = 0; d < here.dim(); ++d) out.push_back(places.select(1, d).contiguous());
  }
  a[1] = out;
  return std::nullopt;
}

// x[mask] = values with a row per set element: as many rows as the mask has elements, so that one
// program serves whatever the mask says.
std::optional<int64_t> PrepareIndexPut(Arguments a) {
  PrepareIndices(a);
  const at::Tensor& self = a[0].toTensor();
  const at::Tensor& values = a[2].toTensor();
  if (!a[1].isList() || !OnDevice(self)) return std::nullopt;
  const auto& indices = a[1].toListRef();
  if (indices.empty() || !indices[0].isTensor() || !indices[0].toTensor().defined())
    return std::nullopt;
  const at::Tensor& mask = indices[0].toTensor();
  if (indices.size() != 1 || !IsMask(mask) || !OnDevice(values)) return std::nullopt;
  const int64_t rest = self.dim() - mask.dim();
  if (values.dim() != rest + 1 || values.size(0) == 1 || mask.numel() == 0) return std::nullopt;
  const int64_t count = at::sum(at::ne(mask, 0)).item<int64_t>();
  std::vector<int64_t> shape = self.sizes().slice(static_cast<size_t>(mask.dim())).vec();
  shape.insert(shape.begin(), count);
  TORCH_CHECK(values.size(0) == count, "shape mismatch: value tensor of shape ", values.sizes(),
              " cannot be broadcast to indexing result of shape ", at::IntArrayRef(shape));
  if (count == mask.numel()) return std::nullopt;
  std::vector<int64_t> padded = values.sizes().vec();
  padded[0] = mask.numel();
  const at::Tensor all = EmptyContiguous(self.device().index(), padded, values.scalar_type());
  if (count > 0) Copy(all.narrow(0, 0, count), values, false);
  a[2] = all;
  return std::nullopt;
}

struct Row {
  std::string_view row;
  Preparation prepare;
};
constexpr Row kRows[] = {
    {"aten::repeat_interleave.Tensor", PrepareRepeatInterleave},
    {"aten::bincount", PrepareBincount},
    {"aten::histc", PrepareHistc},
    {"aten::index.Tensor", PrepareIndices},
    {"aten::_unsafe_index.Tensor", PrepareIndices},
    {"aten::index_put", PrepareIndexPut},
    {"aten::_unsafe_index_put", PrepareIndexPut},
    {"aten::_index_put_impl_", PrepareIndexPut},
};

// ATen's own does not look at an accelerator's values. Counting the classes waits for them anyway.
at::Tensor OneHot(const at::Tensor& self, int64_t classes) {
  if (classes == -1 && self.scalar_type() == at::kLong && self.numel() > 0)
    TORCH_CHECK(at::min(self).item<int64_t>() >= 0, "Class values must be non-negative.");
  return at::native::one_hot(self, classes);
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("one_hot", TORCH_FN(OneHot)); }

}  // namespace

Preparation FindPreparation(std::string_view row) {
  for (const Row& known : kRows)
    if (known.row == row) return known.prepare;
  return nullptr;
}

int64_t ReadCount(const at::Tensor& count) {
  RefuseInCapture("an op whose result's size depends on data");
  return count.item<int>();
}

at::Tensor FirstRows(const at::Tensor& bound, int64_t dimension, int64_t rows) {
  if (bound.size(dimension) == rows) return bound;
  std::vector<int64_t> sizes = bound.sizes().vec();
  sizes[static_cast<size_t>(dimension)] = rows;
  at::Tensor out = EmptyContiguous(bound.device().index(), sizes, bound.scalar_type());
  if (out.numel() > 0) Copy(out, bound.narrow(dimension, 0, rows), false);
  return out;
}

}  // namespace neuron::pytorch
