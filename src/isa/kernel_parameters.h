// Parameters of the GpSimd kernels, as structs that the compiler fills and the kernel reads.
//
// An instruction `gpsimd_kernel` carries them as its integer operands. Pack and Unpack translate by
// walking a struct's Fields: integers, enums and dtypes are one integer each, a list is its length
// followed by its elements. A kernel's tiles are dense spans of HBM, outputs before inputs; how the
// elements lie inside a span is said here, so ranks and strides have no hardware limit.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"
#include "isa/wide_program.h"

namespace neuron::isa {

// Where element (i0, i1, ...) of an iteration space lies: offset + sum of strides[d] * i[d], in
// elements of the tile's dtype.
struct StridedView {
  int64_t offset = 0;
  std::vector<int64_t> strides;
  static void Fields(auto& self, auto&& visit) {
    visit(self.offset);
    visit(self.strides);
  }
  bool operator==(const StridedView&) const = default;
};

// Row-major strides of `dims`.
StridedView DenseView(const std::vector<int64_t>& dims);

// {new state u64[w], bits} <- {state u64[w]}; w is 2 (key, counter) or 3 (key, counter low, high).
struct PhiloxBitsParameters {
  int64_t state_words = 2;
  static void Fields(auto& self, auto&& visit) { visit(self.state_words); }
};

enum class NanOrder : uint8_t { kLast, kFirst };  // whatever the direction
// One key of a sort. total_order: -0 before +0 and NaNs by sign, as totalOrder of IEEE 754.
struct SortKey {
  int64_t operand = 0;
  bool descending = false;
  NanOrder nan = NanOrder::kLast;
  bool total_order = false;
  static void Fields(auto& self, auto&& visit) {
    visit(self.operand);
    visit(self.descending);
    visit(self.nan);
    visit(self.total_order);
  }
  bool operator==(const SortKey&) const = default;
};
// {sorted...} <- {operands...}, all of `dims`, along `dimension`, stable. Without keys the
// comparator decides: inputs (lhs0, rhs0, lhs1, rhs1, ...), output pred "lhs before rhs".
struct SortParameters {
  std::vector<int64_t> dims;
  int64_t dimension = 0;
  std::vector<SortKey> keys;
  WideProgram comparator;
  static void Fields(auto& self, auto&& visit) {
    visit(self.dims);
    visit(self.dimension);
    visit(self.keys);
    visit(self.comparator);
  }
};

// {values [rows, k], indices [rows, k]} <- {x [rows, length]}. Equal values: lowest index first.
// NaN counts as the largest.
struct TopkParameters {
  int64_t rows = 1, length = 1, k = 1;
  bool largest = true;
  static void Fields(auto& self, auto&& visit) {
    visit(self.rows);
    visit(self.length);
    visit(self.k);
    visit(self.largest);
  }
};

// HLO gather: {out} <- {operand, indices}. Start indices are clamped.
struct GatherParameters {
  std::vector<int64_t> operand_dims, index_dims, out_dims;
  std::vector<int64_t> offset_dims, collapsed_slice_dims, start_index_map;
  std::vector<int64_t> operand_batching_dims, start_indices_batching_dims;
  int64_t index_vector_dim = 0;
  std::vector<int64_t> slice_sizes;
  static void Fields(auto& self, auto&& visit) {
    visit(self.operand_dims);
    visit(self.index_dims);
    visit(self.out_dims);
    visit(self.offset_dims);
    visit(self.collapsed_slice_dims);
    visit(self.start_index_map);
    visit(self.operand_batching_dims);
    visit(self.start_indices_batching_dims);
    visit(self.index_vector_dim);
    visit(self.slice_sizes);
  }
};

// HLO scatter: {out...} <- {operand..., indices, updates...}. An out of bounds window is dropped.
// Updates apply in row-major order. combiner kCopy assigns; kNone: `program` computes, inputs
// (old..., update...), one output per operand.
struct ScatterParameters {
  std::vector<int64_t> operand_dims, index_dims, update_dims;
  std::vector<int64_t> update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
  std::vector<int64_t> input_batching_dims, scatter_indices_batching_dims;
  int64_t index_vector_dim = 0;
  WideOp combiner = WideOp::kCopy;
  WideProgram program;
  static void Fields(auto& self, auto&& visit) {
    visit(self.operand_dims);
    visit(self.index_dims);
    visit(self.update_dims);
    visit(self.update_window_dims);
    visit(self.inserted_window_dims);
    visit(self.scatter_dims_to_operand_dims);
    visit(self.input_batching_dims);
    visit(self.scatter_indices_batching_dims);
    visit(self.index_vector_dim);
    visit(self.combiner);
    visit(self.program);
  }
};

// An input of wide_elementwise: a tile walked by `view`, or, with tile -1, the number that `view`
// gives (an iota).
struct WideInput {
  int64_t tile = -1;  // among the input tiles
  DType dtype = DType::kInvalid;
  StridedView view;
  static void Fields(auto& self, auto&& visit) {
    visit(self.tile);
    visit(self.dtype);
    visit(self.view);
  }
};
// {out...} <- {in...}: `program` at every point of `dims`. One view per program output.
struct WideElementwiseParameters {
  std::vector<int64_t> dims;
  std::vector<WideInput> inputs;
  std::vector<StridedView> outputs;
  WideProgram program;
  static void Fields(auto& self, auto&& visit) {
    visit(self.dims);
    visit(self.inputs);
    visit(self.outputs);
    visit(self.program);
  }
};

// {out...} <- {in..., init...}: reduces the dimensions marked in `reduced`; out is dense over the
// others. op kNone: `program` combines, inputs (accumulator..., element...).
struct WideReduceParameters {
  std::vector<int64_t> dims;
  std::vector<int64_t> reduced;
  std::vector<StridedView> views;  // one per input
  WideOp op = WideOp::kAdd;
  WideProgram program;
  static void Fields(auto& self, auto&& visit) {
    visit(self.dims);
    visit(self.reduced);
    visit(self.views);
    visit(self.op);
    visit(self.program);
  }
};

// {out [batch, m, n]} <- {lhs over (batch, m, k), rhs over (batch, n, k)}; sums in out's dtype.
struct WideDotParameters {
  std::vector<int64_t> batch, m, n, k;
  StridedView lhs, rhs;
  static void Fields(auto& self, auto&& visit) {
    visit(self.batch);
    visit(self.m);
    visit(self.n);
    visit(self.k);
    visit(self.lhs);
    visit(self.rhs);
  }
};

// {out} <- {x}: the trailing lengths.size() dimensions. type: 0 FFT, 1 IFFT, 2 RFFT, 3 IRFFT.
struct FftParameters {
  int64_t type = 0, batch = 1;
  std::vector<int64_t> lengths;
  static void Fields(auto& self, auto&& visit) {
    visit(self.type);
    visit(self.batch);
    visit(self.lengths);
  }
};

// {x} <- {a [batch, n, n], b}: op(a) x = b, or x op(a) = b; b is [batch, n, m] or [batch, m, n].
struct TriangularSolveParameters {
  int64_t batch = 1, n = 1, m = 1;
  bool left_side = true, lower = true, unit_diagonal = false;
  int64_t transpose = 0;  // 0 a, 1 transpose, 2 adjoint
  static void Fields(auto& self, auto&& visit) {
    visit(self.batch);
    visit(self.n);
    visit(self.m);
    visit(self.left_side);
    visit(self.lower);
    visit(self.unit_diagonal);
    visit(self.transpose);
  }
};

// {l} <- {a [batch, n, n]}: a = l l^H (lower) or a = l^H l; the other triangle is zero. A matrix
// that is not positive definite gives NaN.
struct CholeskyParameters {
  int64_t batch = 1, n = 1;
  bool lower = true;
  static void Fields(auto& self, auto&& visit) {
    visit(self.batch);
    visit(self.n);
    visit(self.lower);
  }
};

struct KernelWindow {
  int64_t size = 1, stride = 1, padding_low = 0, padding_high = 0;
  int64_t window_dilation = 1, base_dilation = 1;
  static void Fields(auto& self, auto&& visit) {
    visit(self.size);
    visit(self.stride);
    visit(self.padding_low);
    visit(self.padding_high);
    visit(self.window_dilation);
    visit(self.base_dilation);
  }
};
// HLO reduce-window: {out...} <- {in..., init...}; op and program as in WideReduceParameters.
struct ReduceWindowParameters {
  std::vector<int64_t> dims, out_dims;
  std::vector<KernelWindow> window;
  WideOp op = WideOp::kAdd;
  WideProgram program;
  static void Fields(auto& self, auto&& visit) {
    visit(self.dims);
    visit(self.out_dims);
    visit(self.window);
    visit(self.op);
    visit(self.program);
  }
};
// HLO select-and-scatter: {out} <- {operand, source, init}. select: inputs (best, candidate),
// output pred "keep best"; scatter kAdd and others combine.
struct SelectAndScatterParameters {
  std::vector<int64_t> dims, source_dims;
  std::vector<KernelWindow> window;
  WideProgram select;
  WideOp scatter = WideOp::kAdd;
  static void Fields(auto& self, auto&& visit) {
    visit(self.dims);
    visit(self.source_dims);
    visit(self.window);
    visit(self.select);
    visit(self.scatter);
  }
};

namespace internal {

template <typename T>
concept IsNumber = std::is_integral_v<T> || std::is_enum_v<T>;

template <typename T>
void PackInto(const T& value, std::vector<int64_t>& out) {
  if constexpr (IsNumber<T>) {
    out.push_back(static_cast<int64_t>(value));
  } else if constexpr (requires { value.begin(); }) {
    out.push_back(static_cast<int64_t>(value.size()));
    for (const auto& element : value) PackInto(element, out);
  } else {
    T::Fields(value, [&](const auto& field) { PackInto(field, out); });
  }
}

// False if `in` ends early or a length cannot be right.
template <typename T>
bool UnpackFrom(T& value, std::span<const int64_t> in, size_t& at) {
  if constexpr (IsNumber<T>) {
    if (at >= in.size()) return false;
    value = static_cast<T>(in[at++]);
    return true;
  } else if constexpr (requires { value.begin(); }) {
    int64_t size = 0;
    if (!UnpackFrom(size, in, at) || size < 0 || static_cast<size_t>(size) > in.size() - at)
      return false;
    value.resize(static_cast<size_t>(size));
    for (auto& element : value)
      if (!UnpackFrom(element, in, at)) return false;
    return true;
  } else {
    bool ok = true;
    T::Fields(value, [&](auto& field) { ok = ok && UnpackFrom(field, in, at); });
    return ok;
  }
}

}  // namespace internal

template <typename Parameters>
std::vector<int64_t> Pack(const Parameters& parameters) {
  std::vector<int64_t> out;
  internal::PackInto(parameters, out);
  return out;
}

template <typename Parameters>
StatusOr<Parameters> Unpack(std::string_view kernel, std::span<const int64_t> in) {
  Parameters parameters;
  size_t at = 0;
  if (!internal::UnpackFrom(parameters, in, at) || at != in.size())
    return InvalidArgument("gpsimd_kernel ", kernel, ": its ", in.size(),
                           " parameters do not have the form it declares (read ", at, ")");
  return parameters;
}

}  // namespace neuron::isa
