// Views. Eager returns aliases and never lowers these; FX graphs contain them. The *_copy forms and
// the *_scatter forms (a view written back into its base) are ordinary ops.
#include "lowering/dims.h"
#include "lowering/elementwise.h"
#include "lowering/rows.h"
#include "lowering/strided.h"

namespace neuron::lowering {
namespace {

using hlo::Builder;
using hlo::Value;

Dims DenseStrides(const Dims& sizes) {
  Dims strides(sizes.size());
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(sizes[i], 1);
  }
  return strides;
}

struct View {
  Dims sizes, strides;
  int64_t offset = 0;
};
View WholeOf(Value x) { return {x.shape().dims, DenseStrides(x.shape().dims), 0}; }

Value Flat(Builder& b, Value x) { return b.Reshape(x, {x.shape().num_elements()}); }

Value Read(Builder& b, Value base, const View& view) {
  if (Product(view.sizes) == 0) return b.Full(hlo::Shape::Array(base.dtype(), view.sizes), 0);
  const Value flat = Flat(b, base);
  const int64_t end = view.offset + FlatExtent(view.sizes, view.strides);
  return FromStrided(b, b.Slice(flat, {view.offset}, {end}, {1}), view.sizes, view.strides);
}

// `base` with the view's elements replaced by `value`.
Value Write(Builder& b, Value base, const View& view, Value value) {
  if (Product(view.sizes) == 0) return base;
  value = b.BroadcastTo(b.Convert(value, base.dtype()), view.sizes);
  const Value flat = Flat(b, base);
  const int64_t begin = view.offset;
  const int64_t end = begin + FlatExtent(view.sizes, view.strides);
  const Value part = ToStrided(b, b.Slice(flat, {begin}, {end}, {1}), value, view.strides);
  const int64_t n = flat.dim(0);
  std::vector<Value> parts;
  if (begin > 0) parts.push_back(b.Slice(flat, {0}, {begin}, {1}));
  parts.push_back(part);
  if (end < n) parts.push_back(b.Slice(flat, {end}, {n}, {1}));
  const Value whole = parts.size() == 1 ? part : b.Concatenate(parts, 0);
  return b.Reshape(whole, base.shape().dims);
}

// View functions: from the base's view and the arguments from position `i` on.
View AsStridedView(const View& base, const Args& args, size_t i) {
  return {args.integers(i), args.integers(i + 1),
          base.offset + args.integer_or(i + 2, base.offset)};
}

View SelectView(View view, const Args& args, size_t i) {
  const auto dim =
      static_cast<size_t>(WrapDim(args.integer(i), static_cast<int64_t>(view.sizes.size())));
  int64_t index = args.integer(i + 1);
  if (index < 0) index += view.sizes[dim];
  view.offset += index * view.strides[dim];
  view.sizes.erase(view.sizes.begin() + static_cast<int64_t>(dim));
  view.strides.erase(view.strides.begin() + static_cast<int64_t>(dim));
  return view;
}

View SliceView(View view, const Args& args, size_t i) {
  const auto dim =
      static_cast<size_t>(WrapDim(args.integer_or(i, 0), static_cast<int64_t>(view.sizes.size())));
  const int64_t n = view.sizes[dim];
  const auto wrap = [n](int64_t k) { return std::clamp<int64_t>(k < 0 ? k + n : k, 0, n); };
  const int64_t start = wrap(args.integer_or(i + 1, 0));
  const int64_t end = std::max(start, wrap(args.integer_or(i + 2, n)));
  const int64_t step = args.integer_or(i + 3, 1);
  view.offset += start * view.strides[dim];
  view.sizes[dim] = (end - start + step - 1) / step;
  view.strides[dim] *= step;
  return view;
}

View DiagonalView(View view, const Args& args, size_t i) {
  const auto rank = static_cast<int64_t>(view.sizes.size());
  const int64_t offset = args.integer_or(i, 0);
  const auto d1 = static_cast<size_t>(WrapDim(args.integer_or(i + 1, 0), rank));
  const auto d2 = static_cast<size_t>(WrapDim(args.integer_or(i + 2, 1), rank));
  const int64_t rows = view.sizes[d1];
  const int64_t columns = view.sizes[d2];
  const int64_t n = std::max<int64_t>(
      0, offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns));
  if (n > 0) view.offset += offset >= 0 ? offset * view.strides[d2] : -offset * view.strides[d1];
  const int64_t stride = view.strides[d1] + view.strides[d2];
  for (const size_t d : {std::max(d1, d2), std::min(d1, d2)}) {
    view.sizes.erase(view.sizes.begin() + static_cast<int64_t>(d));
    view.strides.erase(view.strides.begin() + static_cast<int64_t>(d));
  }
  view.sizes.push_back(n);
  view.strides.push_back(stride);
  return view;
}

View UnfoldView(View view, const Args& args, size_t i) {
  const auto rank = static_cast<int64_t>(view.sizes.size());
  const int64_t size = args.integer(i + 1);
  const int64_t step = args.integer(i + 2);
  if (rank == 0) return {{size}, {1}, view.offset};
  const auto dim = static_cast<size_t>(WrapDim(args.integer(i), rank));
  view.sizes.push_back(size);
  view.strides.push_back(view.strides[dim]);
  view.sizes[dim] = (view.sizes[dim] - size) / step + 1;
  view.strides[dim] *= step;
  return view;
}

template <auto kView>
Values LowerView(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  return {Read(b, x, kView(WholeOf(x), args, 1))};
}
// (self, src, view arguments...)
template <auto kView>
Values LowerScatter(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  return {Write(b, x, kView(WholeOf(x), args, 2), args.tensor(1))};
}
// (grad, sizes, view arguments...): the gradient of a view of a tensor of these sizes.
template <auto kView>
Values LowerViewBackward(Builder& b, Args& args) {
  const Value grad = args.tensor(0);
  const Value zeros = b.Full(hlo::Shape::Array(grad.dtype(), args.integers(1)), 0);
  return {Write(b, zeros, kView(WholeOf(zeros), args, 2), grad)};
}

// Slice and select stay what they are, which reads better and compiles faster.
Values LowerSlice(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  const View view = SliceView(WholeOf(x), args, 1);
  const int64_t dim = WrapDim(args.integer_or(1, 0), x.rank());
  const int64_t step = args.integer_or(4, 1);
  const int64_t count = view.sizes[static_cast<size_t>(dim)];
  const int64_t stride = DenseStrides(x.shape().dims)[static_cast<size_t>(dim)];
  const int64_t start = std::min(view.offset / stride, x.dim(dim));
  const int64_t end = count == 0 ? start : start + (count - 1) * step + 1;
  return {b.SliceInDim(x, start, end, step, dim)};
}

Values LowerSelect(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  const int64_t dim = WrapDim(args.integer(1), x.rank());
  int64_t index = args.integer(2);
  if (index < 0) index += x.dim(dim);
  return {
      b.Reshape(b.SliceInDim(x, index, index + 1, 1, dim), SelectView(WholeOf(x), args, 1).sizes)};
}

Values LowerReshape(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  Dims dims = args.integers(1);
  int64_t known = 1;
  for (const int64_t d : dims) known *= d == -1 ? 1 : d;
  for (int64_t& d : dims) {
    if (d == -1) d = known == 0 ? 0 : x.shape().num_elements() / known;
  }
  return {b.Reshape(x, dims)};
}

Values LowerPermute(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  Dims permutation = args.integers(1);
  for (int64_t& d : permutation) d = WrapDim(d, x.rank());
  return {b.Transpose(x, permutation)};
}

Value Swapped(Builder& b, Value x, int64_t d0, int64_t d1) {
  if (x.rank() < 2) return x;
  Dims permutation = AllDims(x.rank());
  std::swap(permutation[static_cast<size_t>(d0)], permutation[static_cast<size_t>(d1)]);
  return b.Transpose(x, permutation);
}
Values LowerTranspose(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  return {Swapped(b, x, WrapDim(args.integer(1), x.rank()), WrapDim(args.integer(2), x.rank()))};
}
Values LowerT(Builder& b, Args& args) { return {Swapped(b, args.tensor(0), 0, 1)}; }

Values LowerExpand(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  Dims dims = args.integers(1);
  const size_t lead = dims.size() - static_cast<size_t>(x.rank());
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == -1) dims[i] = x.dim(static_cast<int64_t>(i - lead));
  }
  return {b.BroadcastTo(x, dims)};
}

Value Squeezed(Builder& b, Value x, const Dims& dims) {
  Dims kept;
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (x.dim(d) != 1 || std::ranges::find(dims, d) == dims.end()) kept.push_back(x.dim(d));
  }
  return b.Reshape(x, kept);
}
Values LowerSqueeze(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  return {Squeezed(b, x, AllDims(x.rank()))};
}
Values LowerSqueezeDims(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  Dims dims = args.integers(1);
  for (int64_t& d : dims) d = WrapDim(d, x.rank());
  return {Squeezed(b, x, dims)};
}

Values LowerUnsqueeze(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  Dims dims = x.shape().dims;
  dims.insert(dims.begin() + WrapDim(args.integer(1), x.rank() + 1), 1);
  return {b.Reshape(x, dims)};
}

Values Pieces(Builder& b, Value x, int64_t dim, const Dims& sizes) {
  Values out;
  int64_t start = 0;
  for (const int64_t size : sizes) {
    out.push_back(b.SliceInDim(x, start, start + size, 1, dim));
    start += size;
  }
  return out;
}
Values LowerSplit(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  const int64_t size = args.integer(1);
  const int64_t dim = WrapDim(args.integer_or(2, 0), x.rank());
  const int64_t n = x.dim(dim);
  Dims sizes;
  for (int64_t start = 0; start < n; start += size) sizes.push_back(std::min(size, n - start));
  if (sizes.empty()) sizes.push_back(0);
  return Pieces(b, x, dim, sizes);
}
Values LowerSplitWithSizes(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  return Pieces(b, x, WrapDim(args.integer_or(2, 0), x.rank()), args.integers(1));
}
Values LowerUnbind(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  const int64_t dim = WrapDim(args.integer_or(1, 0), x.rank());
  Values out = Pieces(b, x, dim, Dims(static_cast<size_t>(x.dim(dim)), 1));
  for (Value& piece : out) piece = Squeezed(b, piece, {dim});
  return out;
}

Values LowerAlias(Builder&, Args& args) { return {args.tensor(0)}; }

Values LowerViewAsReal(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  Dims dims = x.shape().dims;
  dims.push_back(1);
  const Value parts[] = {b.Reshape(b.Real(x), dims), b.Reshape(b.Imag(x), dims)};
  return {b.Concatenate(parts, x.rank())};
}
Values LowerViewAsComplex(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  const int64_t last = x.rank() - 1;
  const Dims dims(x.shape().dims.begin(), x.shape().dims.end() - 1);
  return {b.Complex(b.Reshape(b.SliceInDim(x, 0, 1, 1, last), dims),
                    b.Reshape(b.SliceInDim(x, 1, 2, 1, last), dims))};
}
// (self, dim, start, length)
Values LowerNarrowCopy(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  const int64_t dim = WrapDim(args.integer(1), x.rank());
  const int64_t start = WrapDim(args.integer(2), x.dim(dim));
  return {b.SliceInDim(x, start, start + args.integer(3), 1, dim)};
}
Values LowerViewDtype(Builder& b, Args& args) {
  const Value x = args.tensor(0);
  const DType dtype = args.dtype(1).value_or(x.dtype());
  if (ByteSize(dtype) == ByteSize(x.dtype()) && dtype != DType::kPred &&
      x.dtype() != DType::kPred && !IsComplex(dtype) && !IsComplex(x.dtype()))
    return {b.BitcastConvert(x, dtype)};
  b.Fail(Unimplemented("view.dtype: from ", DTypeName(x.dtype()), " to ", DTypeName(dtype)));
  return {};
}

constexpr auto kAny = Native::kAny;

constexpr Row kRows[] = {
#define VIEW_OF(name, overload, lower, native) \
  {"aten::" name overload, lower, native, kView}, { "aten::" name "_copy" overload, lower, native }
#define VIEW(name, overload, lower) VIEW_OF(name, overload, lower, kAny)
    VIEW("alias", "", LowerAlias),
    VIEW("as_strided", "", LowerView<AsStridedView>),
    VIEW("detach", "", LowerAlias),
    VIEW("diagonal", "", LowerView<DiagonalView>),
    VIEW("expand", "", LowerExpand),
    VIEW("permute", "", LowerPermute),
    VIEW("select", ".int", LowerSelect),
    VIEW("slice", ".Tensor", LowerSlice),
    VIEW("split", ".Tensor", LowerSplit),
    VIEW("split_with_sizes", "", LowerSplitWithSizes),
    VIEW("squeeze", "", LowerSqueeze),
    VIEW("squeeze", ".dim", LowerSqueezeDims),
    VIEW("squeeze", ".dims", LowerSqueezeDims),
    VIEW("t", "", LowerT),
    VIEW("transpose", ".int", LowerTranspose),
    VIEW("unbind", ".int", LowerUnbind),
    VIEW("unfold", "", LowerView<UnfoldView>),
    VIEW("unsqueeze", "", LowerUnsqueeze),
    VIEW("view", "", LowerReshape),
    VIEW("view", ".dtype", LowerViewDtype),
    VIEW_OF("view_as_complex", "", LowerViewAsComplex, Native::kNone),
    VIEW_OF("view_as_real", "", LowerViewAsReal, Native::kNone),
    VIEW("_reshape_alias", "", LowerReshape),
#undef VIEW
#undef VIEW_OF
    {"aten::narrow_copy", LowerNarrowCopy, kAny},
    {"aten::lift_fresh", LowerAlias, kAny, kView},
    {"aten::_unsafe_view", LowerReshape, kAny, kView},
    {"aten::unsafe_split.Tensor", LowerSplit, kAny, kView},
    {"aten::unsafe_split_with_sizes", LowerSplitWithSizes, kAny, kView},
    {"aten::as_strided_scatter", LowerScatter<AsStridedView>, kAny},
    {"aten::diagonal_scatter", LowerScatter<DiagonalView>, kAny},
    {"aten::select_scatter", LowerScatter<SelectView>, kAny},
    {"aten::slice_scatter", LowerScatter<SliceView>, kAny},
    {"aten::diagonal_backward", LowerViewBackward<DiagonalView>, kAny},
    {"aten::select_backward", LowerViewBackward<SelectView>, kAny},
    {"aten::slice_backward", LowerViewBackward<SliceView>, kAny},
};

}  // namespace

constinit const std::span<const Row> kViewRows = kRows;

}  // namespace neuron::lowering
