#include "compiler/views.h"

#include <algorithm>

namespace neuron::compiler {
namespace {

using hlo::Opcode;

View Transposed(View v, const Dims& permutation) {
  View out = v;
  for (size_t i = 0; i < permutation.size(); ++i) {
    out.sizes[i] = v.sizes[static_cast<size_t>(permutation[i])];
    out.strides[i] = v.strides[static_cast<size_t>(permutation[i])];
  }
  return out;
}

View Broadcast(const View& v, const Dims& dims, const Dims& broadcast_dimensions) {
  View out = v;
  out.sizes = dims;
  out.strides.assign(dims.size(), 0);
  for (size_t i = 0; i < broadcast_dimensions.size(); ++i) {
    const auto to = static_cast<size_t>(broadcast_dimensions[i]);
    if (v.sizes[i] == dims[to]) out.strides[to] = v.strides[i];
  }
  return out;
}

// The same bytes in units of a part of the element: low word of s64, real part of c64, ...
View Words(View v, DType part, int64_t word) {
  const int64_t ratio = ByteSize(v.dtype) / ByteSize(part);
  v.dtype = part;
  v.offset = v.offset * ratio + word;
  for (int64_t& s : v.strides) s *= ratio;
  return v;
}

bool Is64BitInteger(DType t) { return t == DType::kS64 || t == DType::kU64; }

}  // namespace

int64_t Product(const Dims& dims) {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

Dims DenseStrides(const Dims& sizes) {
  Dims strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step *= sizes[i];
  }
  return strides;
}

View View::Of(const hlo::Instruction* base) {
  View v;
  v.base = base;
  v.dtype = base->shape().dtype;
  v.sizes = base->shape().dims;
  v.strides = DenseStrides(v.sizes);
  return v;
}

bool View::IsDense() const {
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] != 1 && strides[i] != step) return false;
    step *= sizes[i];
  }
  return true;
}

std::optional<Dims> ReshapeStrides(const Dims& sizes, const Dims& strides, const Dims& new_sizes) {
  Dims out(new_sizes.size(), 0);
  if (Product(sizes) == 0) return DenseStrides(new_sizes);
  // Both lists are walked from the inside; groups of equal product must nest.
  size_t i = sizes.size();
  size_t j = new_sizes.size();
  while (i > 0 || j > 0) {
    while (i > 0 && sizes[i - 1] == 1) --i;
    while (j > 0 && new_sizes[j - 1] == 1) --j;
    if (i == 0 || j == 0) break;
    int64_t have = sizes[i - 1];
    int64_t inner = strides[i - 1];
    --i;
    int64_t want = new_sizes[j - 1];
    int64_t step = inner;
    out[j - 1] = step;
    --j;
    int64_t span = have;  // elements of the group gathered so far
    while (span != want) {
      if (span < want) {  // the group takes in one more old dimension, which must nest
        while (i > 0 && sizes[i - 1] == 1) --i;
        if (i == 0 || strides[i - 1] != inner * have) return std::nullopt;
        have *= sizes[i - 1];
        span = have;
        --i;
      } else {
        while (j > 0 && new_sizes[j - 1] == 1) --j;
        if (j == 0) return std::nullopt;
        out[j - 1] = step * want;
        want *= new_sizes[j - 1];
        --j;
      }
    }
  }
  return out;
}

namespace {

// The same bytes as elements of another dtype: narrower ones have a dimension more, wider ones
// are made of the innermost dimension.
std::optional<View> Reinterpreted(const View& operand, DType dtype) {
  View out = operand;
  out.dtype = dtype;
  const int64_t from = ByteSize(operand.dtype), to = ByteSize(dtype);
  if (from > to) {
    const int64_t ratio = from / to;
    out.offset *= ratio;
    for (int64_t& stride : out.strides) stride *= ratio;
    out.sizes.push_back(ratio);
    out.strides.push_back(1);
  } else if (from < to) {
    const int64_t ratio = to / from;
    if (out.sizes.back() != ratio || out.strides.back() != 1) return std::nullopt;
    out.sizes.pop_back();
    out.strides.pop_back();
    if (out.offset % ratio != 0) return std::nullopt;
    out.offset /= ratio;
    for (int64_t& stride : out.strides) {
      if (stride % ratio != 0) return std::nullopt;
      stride /= ratio;
    }
  }
  return out;
}

}  // namespace

std::optional<View> ApplyViewOp(const hlo::Instruction& op, const View& operand) {
  const hlo::Attributes& a = op.attributes();
  View out = operand;
  switch (op.opcode()) {
    case Opcode::kReshape: {
      auto strides = ReshapeStrides(operand.sizes, operand.strides, op.shape().dims);
      if (!strides) return std::nullopt;
      out.sizes = op.shape().dims;
      out.strides = *std::move(strides);
      return out;
    }
    case Opcode::kTranspose:
      return Transposed(operand, a.dimensions);
    case Opcode::kBroadcast:
      return Broadcast(operand, op.shape().dims, a.dimensions);
    case Opcode::kSlice:
      for (size_t i = 0; i < out.sizes.size(); ++i) {
        out.offset += a.slice_starts[i] * operand.strides[i];
        out.strides[i] *= a.slice_strides.empty() ? 1 : a.slice_strides[i];
      }
      out.sizes = op.shape().dims;
      return out;
    case Opcode::kReverse:
      for (int64_t d : a.dimensions) {
        const auto i = static_cast<size_t>(d);
        if (out.sizes[i] == 0) continue;
        out.offset += (out.sizes[i] - 1) * out.strides[i];
        out.strides[i] = -out.strides[i];
      }
      return out;
    case Opcode::kConvert:  // low word: XLA's conversion of 64-bit integers truncates
      if (!Is64BitInteger(operand.dtype)) return std::nullopt;
      if (op.shape().dtype != DType::kS32 && op.shape().dtype != DType::kU32) return std::nullopt;
      return Words(operand, op.shape().dtype, 0);
    case Opcode::kBitcastConvert:
      return Reinterpreted(operand, op.shape().dtype);
    case Opcode::kReal:
    case Opcode::kImag:
      if (!IsComplex(operand.dtype)) return std::nullopt;
      return Words(operand, op.shape().dtype, op.opcode() == Opcode::kImag ? 1 : 0);
    default:
      return std::nullopt;
  }
}

std::optional<Dims> CommonRefinement(const Dims& a, const Dims& b) {
  if (a == b) return a;
  if (Product(a) != Product(b)) return std::nullopt;
  if (Product(a) == 0) return std::nullopt;
  Dims cuts;  // suffix products of both
  for (const Dims* dims : {&a, &b}) {
    int64_t n = 1;
    cuts.push_back(1);
    for (size_t i = dims->size(); i-- > 0;) cuts.push_back(n *= (*dims)[i]);
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  Dims out;
  for (size_t i = cuts.size(); i-- > 1;) {
    if (cuts[i] % cuts[i - 1] != 0) return std::nullopt;
    out.push_back(cuts[i] / cuts[i - 1]);
  }
  return out;
}

int CollapseDims(Dims& sizes, std::vector<Dims>& strides, int barrier) {
  Dims new_sizes;
  std::vector<Dims> new_strides(strides.size());
  int new_barrier = 0;
  int last_side = -1;  // side of the dimension that stands last in new_sizes
  const int rank = static_cast<int>(sizes.size());
  for (int d = 0; d < rank; ++d) {
    const int side = barrier >= 0 && d >= barrier ? 1 : 0;
    const auto i = static_cast<size_t>(d);
    if (sizes[i] == 1) continue;
    bool merges = last_side == side;
    for (size_t k = 0; merges && k < strides.size(); ++k)
      merges = new_strides[k].back() == strides[k][i] * sizes[i];
    if (merges) {
      new_sizes.back() *= sizes[i];
      for (size_t k = 0; k < strides.size(); ++k) new_strides[k].back() = strides[k][i];
    } else {
      new_sizes.push_back(sizes[i]);
      for (size_t k = 0; k < strides.size(); ++k) new_strides[k].push_back(strides[k][i]);
      if (side == 0) ++new_barrier;
    }
    last_side = side;
  }
  const auto insert = [&](size_t at) {
    new_sizes.insert(new_sizes.begin() + static_cast<int64_t>(at), 1);
    for (Dims& s : new_strides) s.insert(s.begin() + static_cast<int64_t>(at), 0);
  };
  if (barrier >= 0) {
    if (new_barrier == 0) insert(0), new_barrier = 1;
    if (static_cast<int>(new_sizes.size()) == new_barrier) insert(new_sizes.size());
  } else if (new_sizes.empty()) {
    insert(0);
  }
  sizes = std::move(new_sizes);
  strides = std::move(new_strides);
  return barrier >= 0 ? new_barrier : -1;
}

}  // namespace neuron::compiler
