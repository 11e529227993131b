#include "hlo/shape_inference.h"

#include <gtest/gtest.h>

#include "hlo/builder.h"

namespace neuron::hlo {
namespace {

Shape F32(std::vector<int64_t> dims) { return Shape::Array(DType::kF32, std::move(dims)); }
Shape S32(std::vector<int64_t> dims) { return Shape::Array(DType::kS32, std::move(dims)); }

StatusOr<Shape> Infer(Opcode opcode, std::vector<Shape> operands, const Attributes& attributes = {},
                      const Shape* stated = nullptr) {
  return InferShape(opcode, operands, attributes, {}, stated);
}

void ExpectShape(const StatusOr<Shape>& got, const std::string& text) {
  ASSERT_TRUE(got.ok()) << got.status().ToString();
  EXPECT_EQ(got->ToString(), text);
}
void ExpectRefusal(const StatusOr<Shape>& got, const std::string& words) {
  ASSERT_FALSE(got.ok()) << got->ToString();
  EXPECT_EQ(got.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(got.status().message().find(words), std::string::npos) << got.status().message();
}

TEST(ShapeInference, ElementwiseKeepsShape) {
  ExpectShape(Infer(Opcode::kTanh, {F32({2, 3})}), "f32[2,3]");
  ExpectShape(Infer(Opcode::kAdd, {F32({2, 3}), F32({2, 3})}), "f32[2,3]");
  ExpectShape(Infer(Opcode::kCompare, {F32({4}), F32({4})}), "pred[4]");
  ExpectShape(Infer(Opcode::kIsFinite, {F32({4})}), "pred[4]");
  ExpectShape(Infer(Opcode::kAbs, {Shape::Array(DType::kC64, {2})}), "f32[2]");
  ExpectShape(Infer(Opcode::kComplex, {F32({2}), F32({2})}), "c64[2]");
}

TEST(ShapeInference, ElementwiseRefuses) {
  ExpectRefusal(Infer(Opcode::kAdd, {F32({2, 3}), F32({3})}), "extents differ");
  ExpectRefusal(Infer(Opcode::kAdd, {F32({2}), S32({2})}), "element types differ, f32 and s32");
  ExpectRefusal(Infer(Opcode::kAdd, {F32({2})}), "takes 2 operands, got 1");
  ExpectRefusal(Infer(Opcode::kExp, {S32({2})}), "floating or complex, got s32");
  ExpectRefusal(Infer(Opcode::kAnd, {F32({2}), F32({2})}), "pred or an integer");
  ExpectRefusal(Infer(Opcode::kSelect, {S32({2}), F32({2}), F32({2})}), "must be pred");
  ExpectRefusal(Infer(Opcode::kAdd, {Shape::Tuple({F32({})}), F32({})}), "expected arrays");
  Attributes less;
  less.comparison = Comparison::kLt;
  const Shape complex = Shape::Array(DType::kC64, {2});
  ExpectRefusal(Infer(Opcode::kCompare, {complex, complex}, less), "no order");
}

TEST(ShapeInference, DynamicExtentsMerge) {
  Shape x = F32({8, 4});
  x.dynamic = {true, false};
  ExpectShape(Infer(Opcode::kAdd, {F32({8, 4}), x}), "f32[<=8,4]");
}

TEST(ShapeInference, BitcastConvertMovesTheLastDimension) {
  const Shape bytes = Shape::Array(DType::kU8, {3, 4}), words = Shape::Array(DType::kU32, {3});
  ExpectShape(Infer(Opcode::kBitcastConvert, {words}, {}, &bytes), "u8[3,4]");
  ExpectShape(Infer(Opcode::kBitcastConvert, {bytes}, {}, &words), "u32[3]");
  const Shape odd = Shape::Array(DType::kU8, {3, 3});
  ExpectRefusal(Infer(Opcode::kBitcastConvert, {odd}, {}, &words), "does not make up one u32");
}

TEST(ShapeInference, Movement) {
  Attributes a;
  a.dimensions = {1};
  const Shape to = F32({2, 3});
  ExpectShape(Infer(Opcode::kBroadcast, {F32({3})}, a, &to), "f32[2,3]");
  ExpectRefusal(Infer(Opcode::kBroadcast, {F32({2})}, a, &to), "extent");
  ExpectRefusal(Infer(Opcode::kReshape, {F32({5})}, {}, &to), "5 elements");
  a.dimensions = {1, 0};
  ExpectShape(Infer(Opcode::kTranspose, {F32({2, 3})}, a), "f32[3,2]");
  a.dimensions = {1, 1};
  ExpectRefusal(Infer(Opcode::kTranspose, {F32({2, 3})}, a), "no permutation");
  a.slice_starts = {1, 0};
  a.slice_limits = {5, 3};
  a.slice_strides = {3, 2};
  ExpectShape(Infer(Opcode::kSlice, {F32({6, 3})}, a), "f32[2,2]");
  ExpectRefusal(Infer(Opcode::kSlice, {F32({4, 3})}, a), "no slice of dimension 0");
  a.padding = {{-1, 2, 1}};
  ExpectShape(Infer(Opcode::kPad, {F32({3}), F32({})}, a), "f32[6]");
  ExpectRefusal(Infer(Opcode::kPad, {F32({3}), S32({})}, a), "scalar f32");
  a.padding = {{-4, 0, 0}};
  ExpectRefusal(Infer(Opcode::kPad, {F32({3}), F32({})}, a), "no extent");
  a.dimensions = {1};
  ExpectShape(Infer(Opcode::kConcatenate, {F32({2, 3}), F32({2, 5})}, a), "f32[2,8]");
  ExpectRefusal(Infer(Opcode::kConcatenate, {F32({2, 3}), F32({3, 3})}, a), "dimension 1 only");
}

TEST(ShapeInference, GatherAndScatter) {
  Attributes rows;
  rows.gather = {{1}, {0}, {0}, {}, {}, 1, {1, 8}, false};
  ExpectShape(Infer(Opcode::kGather, {F32({100, 8}), S32({5, 1})}, rows), "f32[5,8]");
  ExpectRefusal(Infer(Opcode::kGather, {F32({100, 8}), F32({5, 1})}, rows), "integers");
  ExpectRefusal(Infer(Opcode::kGather, {F32({100, 4}), S32({5, 1})}, rows), "slice size 8");
  ExpectRefusal(Infer(Opcode::kGather, {F32({100, 8}), S32({5, 2})}, rows), "index map");

  Builder b("scatter");
  const Value x = b.Parameter(0, F32({100, 8}));
  const Value i = b.Parameter(1, S32({5, 1}));
  const Value u = b.Parameter(2, F32({5, 8}));
  const ScatterDimensions dims = {{1}, {0}, {0}, {}, {}, 1, false, false};
  const Value y = b.Scatter(x, i, u, dims, b.Combiner(Opcode::kAdd, DType::kF32));
  EXPECT_EQ(y.shape().ToString(), "f32[100,8]") << b.status().ToString();
  b.Scatter(x, i, b.SliceInDim(u, 0, 4, 1, 0), dims, b.Combiner(Opcode::kAdd, DType::kF32));
  EXPECT_NE(b.status().message().find("update dimension 0"), std::string::npos);
}

TEST(ShapeInference, DotWithBatch) {
  Attributes a;
  a.dot = {{2}, {1}, {0}, {0}};
  ExpectShape(Infer(Opcode::kDot, {F32({7, 2, 3}), F32({7, 3, 5})}, a), "f32[7,2,5]");
  ExpectRefusal(Infer(Opcode::kDot, {F32({7, 2, 3}), F32({7, 4, 5})}, a), "contracting dimension");
  ExpectRefusal(Infer(Opcode::kDot, {F32({7, 2, 3}), F32({6, 3, 5})}, a), "batch dimension");
  const Shape bf16 = Shape::Array(DType::kBF16, {7, 2, 3});
  ExpectRefusal(Infer(Opcode::kDot, {bf16, F32({7, 3, 5})}, a), "state the result's");
}

TEST(ShapeInference, Convolution) {
  Attributes a;
  a.convolution.input_spatial = a.convolution.kernel_spatial =
      a.convolution.output_spatial = {2, 3};
  a.window.assign(2, {3, 2, 1, 1, 1, 1, false});
  ExpectShape(Infer(Opcode::kConvolution, {F32({4, 6, 8, 9}), F32({10, 6, 3, 3})}, a),
              "f32[4,10,4,5]");
  ExpectRefusal(Infer(Opcode::kConvolution, {F32({4, 6, 8, 9}), F32({10, 3, 3, 3})}, a),
                "6 features");
  a.feature_group_count = 2;
  ExpectShape(Infer(Opcode::kConvolution, {F32({4, 6, 8, 9}), F32({10, 3, 3, 3})}, a),
              "f32[4,10,4,5]");
  ExpectRefusal(Infer(Opcode::kConvolution, {F32({4, 6, 8, 9}), F32({9, 3, 3, 3})}, a),
                "groups must divide");
  ExpectRefusal(Infer(Opcode::kConvolution, {F32({4, 6, 8, 9}), F32({10, 3, 2, 3})}, a),
                "window size 3");
}

TEST(ShapeInference, Fft) {
  Attributes a;
  a.fft_length = {8};
  a.fft_type = 2;
  ExpectShape(Infer(Opcode::kFft, {F32({3, 8})}, a), "c64[3,5]");
  a.fft_type = 3;
  ExpectShape(Infer(Opcode::kFft, {Shape::Array(DType::kC64, {3, 5})}, a), "f32[3,8]");
  ExpectRefusal(Infer(Opcode::kFft, {F32({3, 5})}, a), "complex");
}

TEST(ShapeInference, HugeExtentsAreNoOverflow) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  Attributes a;
  a.padding = {{kHuge, kHuge, 0}};
  ExpectRefusal(Infer(Opcode::kPad, {F32({kHuge}), F32({})}, a), "no extent");
  const Shape to = F32({kHuge, 4});
  ExpectRefusal(Infer(Opcode::kReshape, {F32({0})}, {}, &to), "elements");
}

}  // namespace
}  // namespace neuron::hlo
