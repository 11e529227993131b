// One instruction at a time, between a DMA in and a DMA out, against its definition written out in
// scalar C++ here.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>

#include "emulator/nrt_client.h"
#include "isa/program_builder.h"

namespace neuron::emulator {
namespace {

using isa::AccessPattern;
using isa::ActivationFunction;
using isa::AluOp;
using isa::Engine;
using isa::Opcode;
using isa::ProgramBuilder;
using isa::Target;
using isa::TensorKind;

constexpr int64_t kSlot = 32768;  // SBUF bytes per operand

// Inputs go to SBUF slots 0, 1, ... as [rows, columns]; slot 5 comes back.
class OneInstruction {
 public:
  OneInstruction() : b_("one", Target::kTrn2) {}

  static AccessPattern At(int slot, DType dtype, int64_t rows, int64_t columns, int64_t step = 1) {
    return AccessPattern::Sbuf(dtype, 0, rows, slot * kSlot, {{step, columns}});
  }
  template <typename T>
  AccessPattern In(DType dtype, int64_t rows, const std::vector<T>& values) {
    const int slot = static_cast<int>(inputs_.size());
    const int64_t columns = static_cast<int64_t>(values.size()) / rows;
    const std::string name = "input" + std::to_string(slot);
    const auto bytes = static_cast<int64_t>(values.size() * sizeof(T));
    const uint16_t t = b_.AddTensor({.name = name, .kind = TensorKind::kInput, .bytes = bytes});
    b_.Emit(Opcode::dma_copy, Engine::kDma,
            {At(slot, dtype, rows, columns),
             AccessPattern::Hbm(dtype, t, 0, rows, columns, {{1, columns}})});
    std::vector<uint8_t> raw(bytes);
    std::memcpy(raw.data(), values.data(), bytes);
    inputs_.push_back(raw);
    return At(slot, dtype, rows, columns);
  }
  AccessPattern Out(DType dtype, int64_t rows, int64_t columns) {
    out_ = At(5, dtype, rows, columns);
    rows_ = rows;
    columns_ = columns;
    return out_;
  }
  ProgramBuilder& builder() { return b_; }
  void Emit(Opcode opcode, Engine engine, std::vector<isa::Operand> operands) {
    b_.Emit(opcode, engine, std::move(operands));
  }

  template <typename T>
  std::vector<T> Run() {
    const int64_t bytes = rows_ * columns_ * ByteSize(out_.dtype);
    const uint16_t t =
        b_.AddTensor({.name = "output0", .kind = TensorKind::kOutput, .bytes = bytes});
    b_.Emit(Opcode::dma_copy, Engine::kDma,
            {AccessPattern::Hbm(out_.dtype, t, 0, rows_, columns_, {{1, columns_}}), out_});
    auto program = std::move(b_).Build();
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    if (!program.ok()) return std::vector<T>(rows_ * columns_);
    RunningProgram run(*program);
    EXPECT_EQ(run.load_status, NRT_SUCCESS) << run.error();
    for (size_t i = 0; i < inputs_.size(); ++i) run.Input("input" + std::to_string(i), inputs_[i]);
    run.Output("output0", bytes);
    EXPECT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
    return run.Read<T>("output0");
  }

 private:
  ProgramBuilder b_;
  std::vector<std::vector<uint8_t>> inputs_;
  AccessPattern out_;
  int64_t rows_ = 0, columns_ = 0;
};

std::vector<float> Values(int64_t n, float scale = 0.37f) {
  std::vector<float> values(n);
  for (int64_t i = 0; i < n; ++i)
    values[i] = scale * static_cast<float>((i * 7919) % 1013 - 506) + 0.01f;
  return values;
}
std::vector<int32_t> Integers(int64_t n, int32_t factor = 1) {
  std::vector<int32_t> values(n);
  for (int64_t i = 0; i < n; ++i)
    values[i] = static_cast<int32_t>((i * 7919) % 1013 - 506) * factor;
  return values;
}

// The reduction order of the contract, written as it is stated.
float ReduceInOrder(const std::vector<float>& row) {
  std::vector<float> chunks;
  for (size_t first = 0; first < row.size(); first += 4096) {
    float lanes[16] = {};
    for (size_t i = first; i < std::min(first + 4096, row.size()); ++i)
      lanes[(i - first) % 16] += row[i];
    for (int half = 8; half > 0; half /= 2)
      for (int l = 0; l < half; ++l) lanes[l] += lanes[l + half];
    chunks.push_back(lanes[0]);
  }
  return chunks.size() == 1 ? chunks[0] : ReduceInOrder(chunks);
}

class RowShapes : public testing::TestWithParam<std::pair<int64_t, int64_t>> {};
INSTANTIATE_TEST_SUITE_P(Rows, RowShapes,
                         testing::Values(std::pair<int64_t, int64_t>{1, 1}, std::pair{128, 1},
                                         std::pair{128, 37}, std::pair{5, 1500},
                                         std::pair{33, 64}));

TEST_P(RowShapes, TensorTensorRoundsOnceToBf16) {
  const auto [p, n] = GetParam();
  OneInstruction one;
  const auto a = Values(p * n), b = Values(p * n, 0.11f);
  const auto x = one.In(DType::kF32, p, a);
  const auto y = one.In(DType::kF32, p, b);
  one.Emit(Opcode::tensor_tensor, Engine::kVector,
           {one.Out(DType::kBF16, p, n), x, y, AluOp::kMultiply});
  const auto got = one.Run<uint16_t>();
  for (int64_t i = 0; i < p * n; ++i) ASSERT_EQ(got[i], ToBFloat16(a[i] * b[i]).bits) << i;
}

TEST_P(RowShapes, TensorScalarTakesOneValuePerPartition) {
  const auto [p, n] = GetParam();
  OneInstruction one;
  const auto a = Values(p * n), s = Values(p, 0.05f);
  const auto x = one.In(DType::kF32, p, a);
  const auto y = one.In(DType::kF32, p, s);
  one.Emit(Opcode::tensor_scalar, Engine::kVector,
           {one.Out(DType::kF32, p, n), x, AluOp::kSubtract, y, int64_t{1}, AluOp::kMultiply, 3.0,
            int64_t{0}});
  const auto got = one.Run<float>();
  for (int64_t i = 0; i < p * n; ++i) ASSERT_EQ(got[i], (s[i / n] - a[i]) * 3.0f) << i;
}

TEST_P(RowShapes, IntegersAreExact) {
  const auto [p, n] = GetParam();
  OneInstruction one;
  const auto a = Integers(p * n, 4000037), b = Integers(p * n, 17);
  const auto x = one.In(DType::kS32, p, a);
  const auto y = one.In(DType::kS32, p, b);
  one.Emit(Opcode::scalar_tensor_tensor, Engine::kVector,
           {one.Out(DType::kS32, p, n), x, AluOp::kMultiply, 3.0, AluOp::kAdd, y});
  const auto got = one.Run<int32_t>();
  for (int64_t i = 0; i < p * n; ++i)
    ASSERT_EQ(static_cast<uint32_t>(got[i]),
              static_cast<uint32_t>(a[i]) * 3u + static_cast<uint32_t>(b[i]));
}

TEST_P(RowShapes, SelectKeepsWhatThePredicateExcludes) {
  const auto [p, n] = GetParam();
  OneInstruction one;
  const auto old = Values(p * n), src = Values(p * n, 2.0f);
  std::vector<uint8_t> predicate(p * n);
  for (int64_t i = 0; i < p * n; ++i) predicate[i] = i % 3 == 0 ? 2 : 0;
  const auto d = one.In(DType::kF32, p, old);
  const auto s = one.In(DType::kF32, p, src);
  const auto q = one.In(DType::kU8, p, predicate);
  one.Emit(Opcode::tensor_copy_predicated, Engine::kVector, {d, s, q});
  one.Emit(Opcode::tensor_copy, Engine::kVector, {one.Out(DType::kF32, p, n), d});
  const auto got = one.Run<float>();
  for (int64_t i = 0; i < p * n; ++i) ASSERT_EQ(got[i], i % 3 == 0 ? src[i] : old[i]);
}

TEST_P(RowShapes, IotaAndAffineSelect) {
  const auto [p, n] = GetParam();
  OneInstruction one;
  const auto a = Values(p * n);
  const auto x = one.In(DType::kF32, p, a);
  one.Emit(Opcode::affine_select, Engine::kGpSimd,
           {one.Out(DType::kF32, p, n), std::vector<int64_t>{-1, n}, int64_t{3}, x, -9.0,
            AluOp::kGreaterEqual, isa::Affine(2)});
  const auto got = one.Run<float>();
  OneInstruction two;
  two.Emit(Opcode::iota, Engine::kGpSimd,
           {two.Out(DType::kS32, p, n), std::vector<int64_t>{5, n}, isa::Affine(7), int64_t{-2}});
  const auto counted = two.Run<int32_t>();
  for (int64_t i = 0; i < p * n; ++i) {
    ASSERT_EQ(got[i], 2 + 3 * (i / n) - i % n >= 0 ? a[i] : -9.0f) << i;
    ASSERT_EQ(counted[i], 7 - 2 * (i / n) + 5 * (i % n)) << i;
  }
}

TEST_P(RowShapes, CastsThroughMemset) {
  const auto [p, n] = GetParam();
  OneInstruction one;
  one.Emit(Opcode::memset, Engine::kVector, {one.Out(DType::kF16, p, n), 1.5});
  for (const uint16_t bits : one.Run<uint16_t>()) ASSERT_EQ(bits, 0x3e00);
  OneInstruction two;
  const auto a = Values(p * n);
  const auto x = two.In(DType::kF32, p, a);
  two.Emit(Opcode::tensor_copy, Engine::kVector, {two.Out(DType::kS16, p, n), x});
  const auto got = two.Run<int16_t>();
  for (int64_t i = 0; i < p * n; ++i)
    ASSERT_EQ(got[i], static_cast<int16_t>(std::nearbyint(a[i]))) << a[i];
}

TEST(Instruction, ShiftsAndBitCountsSeeNarrowElements) {
  std::vector<int8_t> a(256);
  std::iota(a.begin(), a.end(), -128);
  const auto run = [&](AluOp op, double amount) {
    OneInstruction one;
    const auto x = one.In(DType::kS8, 1, a);
    one.Emit(Opcode::tensor_scalar, Engine::kVector, {one.Out(DType::kS8, 1, 256), x, op, amount});
    return one.Run<int8_t>();
  };
  const auto right = run(AluOp::kRightShift, 3), arith = run(AluOp::kArithRightShift, 3),
             zeros = run(AluOp::kCountLeadingZeros, 0), ones = run(AluOp::kPopulationCount, 0);
  for (int i = 0; i < 256; ++i) {
    const auto u = static_cast<uint8_t>(a[i]);
    EXPECT_EQ(static_cast<uint8_t>(right[i]), u >> 3);
    EXPECT_EQ(arith[i], a[i] >> 3);
    EXPECT_EQ(zeros[i], std::countl_zero(u));
    EXPECT_EQ(ones[i], std::popcount(u));
  }
}

TEST(Instruction, ReducesInTheContractsOrder) {
  for (const int64_t n : {1, 15, 16, 100, 4096, 5000, 8000}) {
    OneInstruction one;
    const auto a = Values(3 * n, 0.0137f);
    const auto x = one.In(DType::kF32, 3, a);
    one.Emit(Opcode::tensor_reduce, Engine::kVector,
             {one.Out(DType::kF32, 3, 1), AluOp::kAdd, x, int64_t{1}});
    const auto got = one.Run<float>();
    for (int64_t p = 0; p < 3; ++p)
      EXPECT_EQ(got[p], ReduceInOrder({a.begin() + p * n, a.begin() + (p + 1) * n})) << n;
  }
}

TEST(Instruction, ReducesTrailingDimensionsOfAnyStride) {
  constexpr int64_t kKept = 40;
  for (const int64_t reduced : {2, 9, 16, 50, 200}) {
    OneInstruction one;
    const auto a = Values(4 * kKept * reduced, 0.0137f);
    const auto whole = one.In(DType::kF32, 4, a);
    // data[p, k, r] lies at column r * kKept + k: the reduced dimension is the outer one in memory.
    const auto x =
        AccessPattern::Sbuf(DType::kF32, 0, 4, whole.offset, {{1, kKept}, {kKept, reduced}});
    one.Emit(Opcode::tensor_reduce, Engine::kVector,
             {one.Out(DType::kF32, 4, kKept), AluOp::kAdd, x, int64_t{1}, int64_t{1}});
    const auto got = one.Run<float>();
    for (int64_t i = 0; i < 4 * kKept; ++i) {
      std::vector<float> row;
      for (int64_t r = 0; r < reduced; ++r)
        row.push_back(a[i / kKept * kKept * reduced + r * kKept + i % kKept]);
      ASSERT_EQ(got[i], -ReduceInOrder(row)) << i << ' ' << reduced;
    }
  }
}

TEST(Instruction, MaximumKeepsNan) {
  OneInstruction one;
  std::vector<float> a = Values(200);
  a[70] = NAN;
  const auto x = one.In(DType::kF32, 2, a);
  one.Emit(Opcode::tensor_reduce, Engine::kVector,
           {one.Out(DType::kF32, 2, 1), AluOp::kMaximum, x, int64_t{1}});
  const auto got = one.Run<float>();
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_EQ(got[1], *std::max_element(a.begin() + 100, a.end()));
}

TEST(Instruction, ActivationScalesBiasesAndReduces) {
  constexpr int64_t kN = 1300;
  OneInstruction one;
  const auto a = Values(2 * kN, 0.003f), bias = Values(2, 0.001f);
  const auto x = one.In(DType::kF32, 2, a);
  const auto b = one.In(DType::kF32, 2, bias);
  const auto y = OneInstruction::At(6, DType::kF32, 2, kN);
  one.Emit(Opcode::activation_reduce, Engine::kScalar,
           {y, ActivationFunction::kExp, x, AluOp::kAdd, one.Out(DType::kF32, 2, 1), b, 2.0});
  const auto got = one.Run<float>();
  for (int64_t p = 0; p < 2; ++p) {
    double want = 0;
    for (int64_t i = 0; i < kN; ++i) want += std::exp(double{a[p * kN + i] * 2 + bias[p]});
    EXPECT_NEAR(got[p], want, 1e-5 * want);
  }
}

TEST(Instruction, TensorScalarReduceAccumulates) {
  OneInstruction one;
  const auto a = Values(2 * 50, 0.5f);
  const auto x = one.In(DType::kF32, 2, a);
  const auto y = OneInstruction::At(6, DType::kF32, 2, 50);
  const auto total = one.Out(DType::kF32, 2, 1);
  for (const int64_t command : {3, 2})
    one.Emit(Opcode::tensor_scalar_reduce, Engine::kVector,
             {y, x, AluOp::kAdd, 1.0, AluOp::kMaximum, total, int64_t{0}, command});
  const auto got = one.Run<float>();
  EXPECT_EQ(got[1], *std::max_element(a.begin() + 50, a.end()) + 1.0f);
}

TEST(Instruction, ScansAlongTheRow) {
  OneInstruction one;
  const auto a = Values(3 * 70, 0.01f), b = Values(3 * 70, 0.02f);
  const auto x = one.In(DType::kF32, 3, a);
  const auto y = one.In(DType::kF32, 3, b);
  one.Emit(Opcode::tensor_tensor_scan, Engine::kVector,
           {one.Out(DType::kF32, 3, 70), x, y, 0.5, AluOp::kMultiply, AluOp::kAdd});
  const auto got = one.Run<float>();
  for (int64_t p = 0; p < 3; ++p) {
    float r = 0.5f;
    for (int64_t i = p * 70; i < (p + 1) * 70; ++i) {
      r = a[i] * r + b[i];
      ASSERT_EQ(got[i], r);
    }
  }
}

TEST(Instruction, Max8AndFindIndex8) {
  OneInstruction one;
  auto a = Values(40);
  a[3] = a[17] = a[29] = 1e6f;
  const auto x = one.In(DType::kF32, 1, a);
  const auto top = OneInstruction::At(6, DType::kF32, 1, 8);
  one.Emit(Opcode::max8, Engine::kVector, {top, x});
  one.Emit(Opcode::nc_find_index8, Engine::kVector, {one.Out(DType::kU32, 1, 8), x, top});
  const auto got = one.Run<uint32_t>();
  std::vector<uint32_t> order(40);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t i, uint32_t j) { return a[i] > a[j]; });
  for (int i = 0; i < 8; ++i) EXPECT_EQ(got[i], order[i]);
}

TEST(Instruction, PartitionReduceAndTransposes) {
  OneInstruction one;
  const auto a = Values(100 * 60);
  const auto x = one.In(DType::kF32, 100, a);
  one.Emit(Opcode::tensor_partition_reduce, Engine::kGpSimd,
           {one.Out(DType::kF32, 1, 60), AluOp::kMaximum, x});
  const auto most = one.Run<float>();
  for (int64_t i = 0; i < 60; ++i) {
    float want = -1e9f;
    for (int64_t p = 0; p < 100; ++p) want = std::max(want, a[p * 60 + i]);
    ASSERT_EQ(most[i], want);
  }
  OneInstruction two;
  const auto y = two.In(DType::kF32, 100, a);
  const auto psum = AccessPattern::Psum(DType::kF32, 0, 60, 0, {{1, 100}});
  two.Emit(Opcode::nc_transpose, Engine::kTensor, {psum, y});
  two.Emit(Opcode::tensor_copy, Engine::kVector, {two.Out(DType::kF32, 60, 100), psum});
  const auto turned = two.Run<float>();
  for (int64_t i = 0; i < 6000; ++i) ASSERT_EQ(turned[i % 60 * 100 + i / 60], a[i]);
}

TEST(Instruction, MatmulTakesStridedAndNarrowOperands) {
  OneInstruction one;
  std::vector<uint16_t> a(50 * 60), b(50 * 90);
  for (size_t i = 0; i < a.size(); ++i) a[i] = ToFloat16(0.01f * static_cast<float>(i % 97)).bits;
  for (size_t i = 0; i < b.size(); ++i) b[i] = ToFloat16(0.02f * static_cast<float>(i % 89)).bits;
  const auto s = one.In(DType::kF16, 50, a);
  const auto m = one.In(DType::kF16, 50, b);
  // Every second column of both.
  const auto every = [](const AccessPattern& t, int64_t n) {
    return AccessPattern::Sbuf(t.dtype, 0, 50, t.offset, {{2, n}});
  };
  const auto psum = AccessPattern::Psum(DType::kF32, 0, 30, 0, {{1, 45}});
  one.Emit(Opcode::nc_matmul, Engine::kTensor, {psum, every(s, 30), every(m, 45), int64_t{0}});
  one.Emit(Opcode::nc_matmul, Engine::kTensor, {psum, every(s, 30), every(m, 45), int64_t{1}});
  one.Emit(Opcode::tensor_copy, Engine::kVector, {one.Out(DType::kF32, 30, 45), psum});
  const auto got = one.Run<float>();
  for (int64_t i = 0; i < 30; ++i)
    for (int64_t j = 0; j < 45; ++j) {
      double want = 0;
      for (int64_t k = 0; k < 50; ++k)
        want += 2.0 * ToFloat(Float16{a[k * 60 + 2 * i]}) * ToFloat(Float16{b[k * 90 + 2 * j]});
      ASSERT_NEAR(got[i * 45 + j], want, 1e-4);
    }
}

TEST(Dma, GathersAndScattersRowsByIndex) {
  OneInstruction one;
  const auto table = Values(20 * 6);
  const std::vector<int32_t> index = {3, 19, 0, 3, 7};
  const auto i = one.In(DType::kS32, 5, index);
  const uint16_t t =
      one.builder().AddTensor({.name = "input1", .kind = TensorKind::kInput, .bytes = 20 * 6 * 4});
  const auto row = AccessPattern::Hbm(DType::kF32, t, 0, 5, 0, {{1, 6}});
  one.Emit(Opcode::dma_copy, Engine::kDma,
           {one.Out(DType::kF32, 5, 6), row, i, int64_t{0}, int64_t{6}, isa::Affine(20)});
  const uint16_t y =
      one.builder().AddTensor({.name = "output0", .kind = TensorKind::kOutput, .bytes = 30 * 4});
  one.Emit(Opcode::dma_copy, Engine::kDma,
           {AccessPattern::Hbm(DType::kF32, y, 0, 5, 6, {{1, 6}}), one.Out(DType::kF32, 5, 6)});
  auto program = std::move(one.builder()).Build();
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  RunningProgram run(*program);
  ASSERT_EQ(run.load_status, NRT_SUCCESS) << run.error();
  run.Input("input0", index);
  run.Input("input1", table);
  run.Output("output0", 120);
  ASSERT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
  const auto got = run.Read<float>("output0");
  for (int64_t k = 0; k < 30; ++k) ASSERT_EQ(got[k], table[index[k / 6] * 6 + k % 6]);
  RunningProgram bad(*program);
  bad.Input("input0", std::vector<int32_t>{3, 20, 0, 3, 7});
  bad.Input("input1", table);
  bad.Output("output0", 120);
  EXPECT_EQ(bad.Execute(), NRT_EXEC_OOB);
  EXPECT_NE(bad.error().find("index 20 at row 1 is out of bounds [0, 20)"), std::string::npos)
      << bad.error();
}

TEST(Dma, AddsRowsWithEqualIndices) {
  ProgramBuilder b("scatter_add", Target::kTrn2);
  const uint16_t x =
      b.AddTensor({.name = "input0", .kind = TensorKind::kInput, .bytes = 5 * 8 * 4});
  const uint16_t i = b.AddTensor({.name = "input1", .kind = TensorKind::kInput, .bytes = 5 * 4});
  const uint16_t y =
      b.AddTensor({.name = "output0", .kind = TensorKind::kInOut, .bytes = 4 * 8 * 4});
  const auto rows = AccessPattern::Sbuf(DType::kF32, 0, 5, 0, {{1, 8}});
  const auto index = AccessPattern::Sbuf(DType::kS32, 0, 5, 1024, {{1, 1}});
  b.Emit(Opcode::dma_copy, Engine::kDma,
         {rows, AccessPattern::Hbm(DType::kF32, x, 0, 5, 8, {{1, 8}})});
  b.Emit(Opcode::dma_copy, Engine::kDma,
         {index, AccessPattern::Hbm(DType::kS32, i, 0, 5, 1, {{1, 1}})});
  b.Emit(Opcode::dma_compute, Engine::kDma,
         {AccessPattern::Hbm(DType::kF32, y, 0, 5, 0, {{1, 8}}), AluOp::kAdd, index, int64_t{1},
          int64_t{8}, isa::Affine(4), int64_t{1}, rows});
  auto program = std::move(b).Build();
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  RunningProgram run(*program);
  ASSERT_EQ(run.load_status, NRT_SUCCESS) << run.error();
  run.Input("input0", std::vector<float>(40, 1.0f));
  run.Input("input1", std::vector<int32_t>{2, 2, 0, 99, 2});  // 99 is skipped
  run.Input("output0", std::vector<float>(32, 10.0f));
  ASSERT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
  const auto got = run.Read<float>("output0");
  EXPECT_EQ(got[0], 11.0f);
  EXPECT_EQ(got[8], 10.0f);
  EXPECT_EQ(got[16], 13.0f);
}

TEST(Dma, CopiesAnyPatternsAndCasts) {
  // [6, 4, 10] to [6, 10, 4]: rows keep, the free dimensions swap, f32 to bf16.
  ProgramBuilder b("swap", Target::kTrn2);
  const uint16_t x = b.AddTensor({.name = "input0", .kind = TensorKind::kInput, .bytes = 240 * 4});
  const uint16_t y =
      b.AddTensor({.name = "output0", .kind = TensorKind::kOutput, .bytes = 240 * 4});
  const uint16_t z =
      b.AddTensor({.name = "output1", .kind = TensorKind::kOutput, .bytes = 240 * 2});
  const auto swapped = AccessPattern::Hbm(DType::kF32, x, 0, 6, 40, {{1, 10}, {10, 4}});
  b.Emit(Opcode::dma_copy, Engine::kDma,
         {AccessPattern::Hbm(DType::kF32, y, 0, 6, 40, {{4, 10}, {1, 4}}), swapped});
  b.Emit(Opcode::dma_copy, Engine::kDma,
         {AccessPattern::Hbm(DType::kBF16, z, 0, 6, 40, {{1, 40}}), swapped});
  auto program = std::move(b).Build();
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  RunningProgram run(*program);
  const auto a = Values(240);
  run.Input("input0", a);
  run.Output("output0", 960);
  run.Output("output1", 480);
  ASSERT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
  const auto got = run.Read<float>("output0");
  const auto narrow = run.Read<uint16_t>("output1");
  for (int64_t r = 0; r < 6; ++r)
    for (int64_t i = 0; i < 10; ++i)
      for (int64_t j = 0; j < 4; ++j) {
        ASSERT_EQ(got[r * 40 + i * 4 + j], a[r * 40 + j * 10 + i]);
        ASSERT_EQ(narrow[r * 40 + i * 4 + j], ToBFloat16(a[r * 40 + j * 10 + i]).bits);
      }
}

TEST(Dma, TransposesRunsThatAreShortInOneDimension) {
  // Columns 2p and 2p + 1 of [300, 70] to partition p: runs of two elements, dense with the next.
  constexpr int64_t kHeight = 300, kWidth = 70, kParts = 35;
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kS64}) {
    const int64_t size = ByteSize(dtype);
    ProgramBuilder b("columns", Target::kTrn2);
    const int64_t bytes = kHeight * kWidth * size;
    const uint16_t x = b.AddTensor({.name = "input0", .kind = TensorKind::kInput, .bytes = bytes});
    const uint16_t y =
        b.AddTensor({.name = "output0", .kind = TensorKind::kOutput, .bytes = bytes});
    const auto sbuf = AccessPattern::Sbuf(dtype, 0, kParts, 0, {{1, 2 * kHeight}});
    b.Emit(Opcode::dma_copy, Engine::kDma,
           {sbuf, AccessPattern::Hbm(dtype, x, 0, kParts, 2, {{1, 2}, {kWidth, kHeight}})});
    b.Emit(Opcode::dma_copy, Engine::kDma,
           {AccessPattern::Hbm(dtype, y, 0, kParts, 2 * kHeight, {{1, 2 * kHeight}}), sbuf});
    auto program = std::move(b).Build();
    ASSERT_TRUE(program.ok()) << program.status().ToString();
    RunningProgram run(*program);
    std::vector<uint8_t> values(bytes);
    for (int64_t i = 0; i < bytes; ++i) values[i] = static_cast<uint8_t>(i * 131 + i / 251);
    run.Input("input0", values);
    run.Output("output0", bytes);
    ASSERT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
    const auto got = run.Read<uint8_t>("output0");
    for (int64_t c = 0; c < kWidth; ++c)
      for (int64_t r = 0; r < kHeight; ++r)
        for (int64_t k = 0; k < size; ++k)
          ASSERT_EQ(got[(c * kHeight + r) * size + k], values[(r * kWidth + c) * size + k]);
  }
}

TEST(Perturbation, ChangesTheResultsOfThatInstructionOnly) {
  const auto run = [] {
    OneInstruction one;
    const auto x = one.In(DType::kF32, 2, Values(20));
    one.Emit(Opcode::tensor_scalar, Engine::kVector,
             {one.Out(DType::kF32, 2, 10), x, AluOp::kAdd, 1.0});
    return one.Run<float>();
  };
  const auto right = run();
  setenv("TORCHNEURON_PERTURB", "tensor_reduce", 1);
  EXPECT_EQ(run(), right);
  setenv("TORCHNEURON_PERTURB", "tensor_scalar", 1);
  const auto wrong = run();
  unsetenv("TORCHNEURON_PERTURB");
  for (size_t i = 0; i < right.size(); ++i) EXPECT_NE(wrong[i], right[i]);
}

// Windows and elements repeated inside a row, in rows few and many: both ways of walking them.
TEST(Instruction, ReadsShortRunsOfManyRows) {
  const std::vector<std::vector<isa::Dim>> patterns = {
      {{4, 4}, {0, 2}, {1, 4}, {0, 2}}, {{8, 3}, {2, 4}}, {{10, 4}, {1, 3}, {3, 2}}};
  for (const int64_t rows : {2, 5, 128})
    for (const auto& dims : patterns)
      for (const DType dtype : {DType::kU8, DType::kS16, DType::kF32}) {
        constexpr int64_t kColumns = 40;
        std::vector<int64_t> offsets{0};
        for (const isa::Dim& dim : dims) {
          std::vector<int64_t> next;
          for (const int64_t at : offsets)
            for (int64_t i = 0; i < dim.count.max; ++i) next.push_back(at + i * dim.step);
          offsets = next;
        }
        const auto n = static_cast<int64_t>(offsets.size());
        OneInstruction one;
        std::vector<float> values(rows * kColumns);
        for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 113);
        const auto in = [&]() -> AccessPattern {
          if (dtype == DType::kF32) return one.In(dtype, rows, values);
          if (dtype == DType::kU8)
            return one.In(dtype, rows, std::vector<uint8_t>(values.begin(), values.end()));
          return one.In(dtype, rows, std::vector<int16_t>(values.begin(), values.end()));
        };
        in();
        AccessPattern data = AccessPattern::Sbuf(dtype, 0, rows, 0, {{1, 1}});
        data.num_dims = static_cast<uint8_t>(dims.size());
        std::copy(dims.begin(), dims.end(), data.dims.begin());
        const AccessPattern out = one.Out(DType::kF32, rows, n);
        one.Emit(Opcode::tensor_tensor, Engine::kVector, {out, data, data, AluOp::kAdd});
        const std::vector<float> got = one.Run<float>();
        for (int64_t r = 0; r < rows; ++r)
          for (int64_t i = 0; i < n; ++i)
            ASSERT_EQ(got[r * n + i], 2 * values[r * kColumns + offsets[i]])
                << rows << " rows, row " << r << ", element " << i;
      }
}

}  // namespace
}  // namespace neuron::emulator
