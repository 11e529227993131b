// Modules made with Builder, each with the name under which tests/hlo/test_builder.py has its
// NumPy formula. Every builder method that can fail in XLA's eyes is in one of them.
#pragma once

#include <string>
#include <vector>

#include "hlo/builder.h"

namespace neuron::hlo::examples {

struct Example {
  std::string name;
  StatusOr<Module> module;
};

inline Shape F32(std::vector<int64_t> dims) { return Shape::Array(DType::kF32, std::move(dims)); }
inline Shape S32(std::vector<int64_t> dims) { return Shape::Array(DType::kS32, std::move(dims)); }

inline Example Elementwise() {
  Builder b("elementwise");
  b.SetMetadata("aten::example");
  const Value x = b.Parameter(0, F32({3, 4}), "x"), s = b.Parameter(1, F32({}), "s");
  const Value clamped = b.Clamp(b.Constant(DType::kF32, -1), b.Multiply(x, s), b.Full(F32({}), 1));
  const Value chosen = b.Select(b.Compare(Comparison::kGt, x, b.ZerosLike(x)), clamped, s);
  const Value bits = b.BitcastConvert(chosen, DType::kS32);
  const Value narrow = b.Convert(x, DType::kBF16);
  const Value all[] = {chosen, bits, b.Convert(narrow, DType::kF32), b.ReducePrecision(x, 5, 10),
                       b.Imag(b.Complex(x, b.Negate(x)))};
  return {"elementwise", std::move(b).BuildTuple(all)};
}

inline Example Movement() {
  Builder b("movement");
  const Value x = b.Parameter(0, F32({3, 4}), "x"), i = b.Parameter(1, S32({}), "i");
  const Value row = b.BroadcastTo(b.SliceInDim(x, 1, 2, 1, 0), {2, 3, 4});
  const Value flipped = b.Reverse(b.Transpose(x, {1, 0}), {0});
  const Value padded = b.Pad(x, b.Constant(DType::kF32, 9), {{1, 0, 1}, {-1, 2, 0}});
  const Value parts[] = {x, b.Slice(x, {0, 0}, {3, 4}, {1, 2})};
  const Value starts[] = {i, b.ConstantInt(DType::kS32, 1)};
  const Value window = b.DynamicSlice(x, starts, {2, 2});
  const Value all[] = {row,
                       flipped,
                       padded,
                       b.Concatenate(parts, 1),
                       window,
                       b.DynamicUpdateSlice(x, b.Negate(window), starts),
                       b.Iota(F32({3, 4}), 1)};
  b.Alias(5, 0);
  return {"movement", std::move(b).BuildTuple(all)};
}

inline Example Reductions() {
  Builder b("reductions");
  const Value x = b.Parameter(0, F32({3, 4}), "x");
  const Value positive = b.Compare(Comparison::kGt, x, b.ZerosLike(x));
  const std::vector<WindowDimension> window(2, WindowDimension{.size = 2, .stride = 2});
  const std::vector<WindowDimension> tall = {{.size = 3}, {.size = 2, .stride = 2}};
  Computation* larger = b.SubComputation("larger", {F32({}), F32({})}, [](Builder& c, auto v) {
    return c.Compare(Comparison::kGe, v[0], v[1]);
  });
  const Value pooled = b.ReduceWindow(x, b.Constant(DType::kF32, -1e30), tall,
                                      b.Combiner(Opcode::kMaximum, DType::kF32));
  const Value back = b.SelectAndScatter(x, pooled, b.Constant(DType::kF32, 0), tall, larger,
                                        b.Combiner(Opcode::kAdd, DType::kF32));
  const Value all[] = {b.ReduceSum(x, {0}),
                       b.ReduceProduct(x, {1, 0}),
                       b.ReduceMax(x, {1}),
                       b.ReduceMin(b.Convert(x, DType::kS32), {1}),
                       b.ReduceAnd(positive, {1}),
                       b.ReduceOr(positive, {0}),
                       pooled,
                       back};
  return {"reductions", std::move(b).BuildTuple(all)};
}

inline Example Contractions() {
  Builder b("contractions");
  const Value x = b.Parameter(0, F32({2, 3, 4}), "x"), y = b.Parameter(1, F32({2, 4, 5}), "y");
  const Value image = b.Reshape(x, {1, 2, 3, 4});
  ConvolutionDimensions dims;
  dims.input_spatial = dims.kernel_spatial = dims.output_spatial = {2, 3};
  const std::vector<WindowDimension> one(2, WindowDimension{});
  const Value kernel = b.Reshape(b.SliceInDim(y, 0, 3, 1, 2), {6, 2, 2, 1});
  const Value image_kernel = b.SliceInDim(kernel, 0, 1, 1, 2);
  const Value all[] = {b.Dot(x, y, {{2}, {1}, {0}, {0}}),
                       b.Dot(b.Convert(x, DType::kBF16), b.Convert(y, DType::kBF16),
                             {{2}, {1}, {0}, {0}}, DType::kF32),
                       b.Convolution(image, image_kernel, one, dims)};
  return {"contractions", std::move(b).BuildTuple(all)};
}

inline Example Indexing() {
  Builder b("indexing");
  const Value x = b.Parameter(0, F32({6, 4}), "x"), i = b.Parameter(1, S32({5, 1}), "i");
  const Value rows = b.Gather(x, i, {{1}, {0}, {0}, {}, {}, 1, {1, 4}, false});
  const Value sums = b.Scatter(b.ZerosLike(x), i, rows, {{1}, {0}, {0}, {}, {}, 1, false, false},
                               b.Combiner(Opcode::kAdd, DType::kF32));
  Computation* less =
      b.SubComputation("less", {F32({}), F32({}), S32({}), S32({})},
                       [](Builder& c, auto v) { return c.Compare(Comparison::kLt, v[0], v[1]); });
  const Value keys[] = {x, b.Iota(S32({6, 4}), 1)};
  const std::vector<Value> sorted = b.Sort(keys, 1, true, less);
  const Value all[] = {rows, sums, sorted[0], sorted[1]};
  return {"indexing", std::move(b).BuildTuple(all)};
}

inline Example Control() {
  Builder b("control");
  const Shape state = Shape::Tuple({S32({}), F32({3})});
  const Value n = b.Parameter(0, S32({}), "n"), x = b.Parameter(1, F32({3}), "x");
  Computation* more = b.SubComputation("more", {state}, [](Builder& c, auto v) {
    return c.Compare(Comparison::kGt, c.GetTupleElement(v[0], 0), c.ConstantInt(DType::kS32, 0));
  });
  Computation* step = b.SubComputation("step", {state}, [](Builder& c, auto v) {
    const std::vector<Value> old = c.Untuple(v[0]);
    const Value next[] = {c.Subtract(old[0], c.ConstantInt(DType::kS32, 1)),
                          c.Multiply(old[1], c.Constant(DType::kF32, 2))};
    return c.Tuple(next);
  });
  Computation* negate =
      b.SubComputation("negate", {F32({3})}, [](Builder& c, auto v) { return c.Negate(v[0]); });
  Computation* same =
      b.SubComputation("same", {F32({3})}, [](Builder& c, auto v) { return c.Abs(v[0]); });
  const Value init[] = {n, x};
  const Value doubled = b.GetTupleElement(b.While(more, step, b.Tuple(init)), 1);
  Computation* const branches[] = {negate, same};
  const Value arguments[] = {doubled, x}, one[] = {x};
  const Value all[] = {doubled,
                       b.Conditional(b.Compare(Comparison::kGt, n, b.ConstantInt(DType::kS32, 2)),
                                     branches, arguments),
                       b.Call(negate, one)};
  return {"control", std::move(b).BuildTuple(all)};
}

inline Example Irregular() {
  Builder b("irregular");
  const Value a = b.Parameter(0, F32({3, 3}), "a"), y = b.Parameter(1, F32({3, 2}), "y");
  const Value state = b.Constant(Literal(Shape::Array(DType::kU64, {2}), std::string(16, '\1')));
  const std::vector<Value> random =
      b.RngBitGenerator(state, Shape::Array(DType::kU32, {5}), /*algorithm=*/2);
  const Value lower = b.Cholesky(a, true);
  const Value all[] = {lower, b.TriangularSolve(lower, y, true, true, false, false),
                       b.Real(b.Fft(a, /*fft_type=*/2, {3})), random[1]};
  return {"irregular", std::move(b).BuildTuple(all)};
}

inline std::vector<Example> All() {
  std::vector<Example> all;
  for (Example (*make)() :
       {&Elementwise, &Movement, &Reductions, &Contractions, &Indexing, &Control, &Irregular})
    all.push_back(make());
  return all;
}

}  // namespace neuron::hlo::examples
