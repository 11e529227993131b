// Random programs, executed in groups and instruction by instruction: the same bytes in every
// output. Tiles overlap, change type, are updated in place, and inputs are bound over outputs.
#include <random>

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
using isa::TensorKind;

constexpr int kTensors = 3;
constexpr int64_t kIterations = 3;

struct Extents {
  int64_t rows, columns;
  int64_t per_partition = 1;  // rows of columns / per_partition elements that a reduction sees
  int64_t bytes() const { return kIterations * rows * columns * 4; }
};

class RandomProgram {
 public:
  RandomProgram(uint32_t seed, const Extents& extents)
      : kRows(extents.rows),
        kColumns(extents.columns),
        kPer(extents.per_partition),
        random_(seed),
        b_("random", isa::Target::kTrn2) {
    const int64_t bytes = extents.bytes();
    for (int i = 0; i < kTensors; ++i)
      in_[i] = b_.AddTensor(
          {.name = "input" + std::to_string(i), .kind = TensorKind::kInput, .bytes = bytes});
    for (int i = 0; i < kTensors; ++i)
      out_[i] = b_.AddTensor(
          {.name = "output" + std::to_string(i), .kind = TensorKind::kInOut, .bytes = bytes});
  }

  isa::Program Make() {
    for (int slot = 0; slot < 7; ++slot)  // the seventh: what a shifted sixth reaches
      b_.Emit(Opcode::memset, Engine::kVector, {Tile(slot, false), 0.25 * slot});
    for (int i = 0; i < 4; ++i)
      b_.Emit(Opcode::memset, Engine::kVector,
              {AccessPattern::Sbuf(DType::kF32, 0, kRows, 7 * kColumns * 4 + i * 64, {{1, kPer}}),
               0.5 + i});
    for (int line = 0; line < 3; ++line) {
      const bool loop = Pick(2) == 0;
      offset_ = 0;
      if (loop)
        offset_ =
            isa::Affine::Of(b_.LoopBegin(0, kIterations, 1, kIterations - 1), kRows * kColumns * 4);
      const int count = 2 + Pick(10);
      for (int i = 0; i < count; ++i) Instruction();
      if (loop) b_.LoopEnd();
    }
    offset_ = 0;
    for (int i = 0; i < kTensors; ++i)
      b_.Emit(Opcode::dma_copy, Engine::kDma, {Hbm(out_[i]), Tile(i)});
    auto program = std::move(b_).Build();
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    return *program;
  }

 private:
  // What may not be, a destination that overlaps a source in part, is left out.
  void Emit(Opcode opcode, Engine engine, std::vector<isa::Operand> operands) {
    isa::Instruction instruction;
    instruction.opcode = opcode;
    instruction.engine = engine;
    instruction.operands = operands;
    if (isa::VerifyInstruction(instruction, isa::Target::kTrn2).ok())
      b_.Emit(opcode, engine, std::move(operands));
  }

  int Pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  // Slots of fp32; now and then shifted, so that neighbours overlap. An instruction whose
  // destination overlaps a source without being it is not legal: Emit leaves it out.
  AccessPattern Tile(int slot, bool may_shift = true) {
    const int64_t shift = may_shift && Pick(5) == 0 ? 64 : 0;
    return AccessPattern::Sbuf(DType::kF32, 0, kRows, slot * kColumns * 4 + shift, {{1, kColumns}});
  }
  AccessPattern Tile() { return Tile(Pick(6)); }
  // The low half of a slot's bytes as bf16, or the slot's bits as integers.
  AccessPattern Other(DType dtype) {
    return AccessPattern::Sbuf(dtype, 0, kRows, Pick(6) * kColumns * 4, {{1, kColumns}});
  }
  // One value per row: anywhere in the slots, or in a place of its own.
  AccessPattern PerRow() {
    return AccessPattern::Sbuf(DType::kF32, 0, kRows, 7 * kColumns * 4 + Pick(4) * 64, {{1, kPer}});
  }
  // The same, in HBM or spread over the row.
  AccessPattern HbmPerRow(uint16_t tensor) {
    return AccessPattern::Hbm(DType::kF32, tensor, offset_ + isa::Affine(Pick(2) * 640), kRows,
                              kPer, {{1, kPer}});
  }
  AccessPattern Spread(AccessPattern per_row) {
    per_row.num_dims = 2;
    per_row.dims[1] = {0, kColumns / kPer};
    return per_row;
  }
  AccessPattern AsRows(AccessPattern tile) {
    if (kPer == 1) return tile;
    tile.num_dims = 2;
    tile.dims[0] = {kColumns / kPer, kPer};
    tile.dims[1] = {1, kColumns / kPer};
    return tile;
  }
  AccessPattern Scalar() {
    if (Pick(3) != 0 && kPer == 1) return PerRow();
    return AccessPattern::Sbuf(DType::kF32, 0, kRows, Pick(6 * kColumns) * 4, {{1, 1}});
  }
  AccessPattern Hbm(uint16_t tensor, DType dtype = DType::kF32) {
    return AccessPattern::Hbm(dtype, tensor, offset_, kRows, kColumns, {{1, kColumns}});
  }

  void Instruction() {
    constexpr AluOp kOps[] = {AluOp::kAdd, AluOp::kSubtract, AluOp::kMultiply, AluOp::kMaximum};
    const AluOp op = kOps[Pick(4)];
    switch (Pick(21)) {
      case 0:
      case 1:
        Emit(Opcode::dma_copy, Engine::kDma, {Tile(), Hbm(in_[Pick(kTensors)])});
        break;
      case 2:
        Emit(Opcode::dma_copy, Engine::kDma, {Tile(), Hbm(out_[Pick(kTensors)])});
        break;
      case 3:
      case 4:
        Emit(Opcode::dma_copy, Engine::kDma, {Hbm(out_[Pick(kTensors)]), Tile()});
        break;
      case 5:
      case 6:
        Emit(Opcode::tensor_tensor, Engine::kVector, {Tile(), Tile(), Tile(), op});
        break;
      case 7:
        Emit(Opcode::tensor_scalar, Engine::kVector, {Tile(), Tile(), op, Scalar()});
        break;
      case 8:
        Emit(Opcode::tensor_copy, Engine::kVector, {Other(DType::kBF16), Tile()});
        Emit(Opcode::tensor_tensor, Engine::kVector, {Tile(), Other(DType::kBF16), Tile(), op});
        break;
      case 9:
        Emit(Opcode::tensor_copy, Engine::kVector, {Tile(), Tile()});
        break;
      case 10:
        Emit(Opcode::tensor_scalar, Engine::kVector,
             {Other(DType::kS32), Other(DType::kS32), AluOp::kBitwiseXor, 3.0});
        break;
      case 11:
      case 12:
        Emit(Opcode::tensor_reduce, Engine::kVector,
             {PerRow(), Pick(2) == 0 ? AluOp::kAdd : AluOp::kMaximum, AsRows(Tile()), int64_t{1},
              int64_t{Pick(2)}});
        break;
      case 17:
        Emit(Opcode::dma_copy, Engine::kDma, {PerRow(), HbmPerRow(in_[Pick(kTensors)])});
        break;
      case 18:
        Emit(Opcode::dma_copy, Engine::kDma, {HbmPerRow(out_[Pick(kTensors)]), PerRow()});
        break;
      case 19:
        if (kPer == 1) break;
        Emit(Opcode::tensor_tensor, Engine::kVector,
             {AsRows(Tile()), AsRows(Tile()), Spread(PerRow()), op});
        break;
      case 13:
        if (kPer != 1) break;
        Emit(Opcode::activation_reduce, Engine::kScalar,
             {Tile(), ActivationFunction::kSigmoid, Tile(), AluOp::kAdd, PerRow(), PerRow()});
        break;
      case 14:
        Emit(Opcode::tensor_scalar, Engine::kVector,
             {PerRow(), PerRow(), op, Pick(2) == 0 ? isa::Operand(Scalar()) : isa::Operand(1.5)});
        break;
      case 15:
        Emit(Opcode::tensor_tensor, Engine::kVector, {PerRow(), PerRow(), PerRow(), op});
        break;
      default:
        Emit(Opcode::activation, Engine::kScalar, {Tile(), ActivationFunction::kTanh, Tile()});
        break;
    }
  }

  const int64_t kRows, kColumns, kPer;
  std::mt19937 random_;
  ProgramBuilder b_;
  uint16_t in_[kTensors], out_[kTensors];
  isa::Affine offset_ = 0;
};

std::vector<std::vector<uint32_t>> Outputs(const isa::Program& program, int64_t bytes,
                                           bool aliased) {
  NrtClient& nrt = NrtClient::Get();
  RunningProgram run(program);
  EXPECT_EQ(run.load_status, NRT_SUCCESS) << run.error();
  const int64_t n = bytes / 4;
  for (int i = 0; i < kTensors; ++i) {
    std::vector<float> values(n), old(n);
    for (int64_t k = 0; k < n; ++k) {
      values[k] = 0.01f * static_cast<float>((k * 37 + i) % 199 - 99);
      old[k] = 0.02f * static_cast<float>((k * 13 + i) % 97 - 48);
    }
    run.Input("output" + std::to_string(i), old);
    if (aliased && i == 1) {
      nrt.nrt_add_tensor_to_tensor_set(run.in, "input1", run.tensors.at("output0"));
    } else {
      run.Input("input" + std::to_string(i), values);
    }
  }
  EXPECT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
  std::vector<std::vector<uint32_t>> outputs;
  for (int i = 0; i < kTensors; ++i)
    outputs.push_back(run.Read<uint32_t>("output" + std::to_string(i)));
  return outputs;
}

void ExpectSameBits(const Extents& extents, uint32_t seeds) {
  for (uint32_t seed = 0; seed < seeds; ++seed) {
    const isa::Program program = RandomProgram(seed, extents).Make();
    const bool aliased = seed % 3 == 0;
    setenv("TORCHNEURON_INSTRUCTION_GROUPS", "0", 1);
    const auto want = Outputs(program, extents.bytes(), aliased);
    setenv("TORCHNEURON_INSTRUCTION_GROUPS", "1", 1);
    const auto got = Outputs(program, extents.bytes(), aliased);
    unsetenv("TORCHNEURON_INSTRUCTION_GROUPS");
    for (int i = 0; i < kTensors; ++i)
      ASSERT_EQ(got[i], want[i]) << "seed " << seed << ", output" << i << '\n'
                                 << isa::Disassemble(program);
  }
}

TEST(Groups, ComputeTheSameBitsAsInstructionsOneByOne) { ExpectSameBits({40, 200}, 400); }
TEST(Groups, ComputeTheSameBitsInRowsOfSeveralBlocks) { ExpectSameBits({7, 1500}, 150); }
TEST(Groups, ComputeTheSameBitsInRowsOfSeveralReductionChunks) { ExpectSameBits({3, 5000}, 80); }
TEST(Groups, ComputeTheSameBitsWithSeveralRowsOnAPartition) {
  ExpectSameBits({40, 200, 4}, 300);
  ExpectSameBits({7, 1500, 3}, 100);
}
// Rows that are loaded for their reduction alone, of several partitions at once: more of them than
// are taken together, in loops, with work on the results.
TEST(Groups, ReduceRowsAsTheyLie) {
  for (const DType dtype : {DType::kF32, DType::kBF16})
    for (const int64_t rows : {1, 5, 33, 128})
      for (const int64_t columns : {48, 1000, 4096}) {
        constexpr int64_t kTrips = 3;
        ProgramBuilder b("rows", isa::Target::kTrn2);
        const int64_t bytes = kTrips * rows * columns * 4;
        uint16_t in[kTensors], out[kTensors];
        for (int i = 0; i < kTensors; ++i) {
          in[i] = b.AddTensor(
              {.name = "input" + std::to_string(i), .kind = TensorKind::kInput, .bytes = bytes});
          out[i] = b.AddTensor(
              {.name = "output" + std::to_string(i), .kind = TensorKind::kInOut, .bytes = bytes});
        }
        const isa::Affine trip = isa::Affine::Of(b.LoopBegin(0, kTrips, 1, kTrips - 1));
        const int64_t element = dtype == DType::kF32 ? 4 : 2;
        const auto loaded = AccessPattern::Sbuf(dtype, 0, rows, 0, {{1, columns}});
        const auto row = AccessPattern::Sbuf(DType::kF32, 0, rows, columns * 4, {{1, columns}});
        const auto result = [&](int64_t i) {
          return AccessPattern::Sbuf(DType::kF32, 0, rows, columns * 8 + i * 64, {{1, 1}});
        };
        b.Emit(Opcode::dma_copy, Engine::kDma,
               {loaded, AccessPattern::Hbm(dtype, in[0], trip * (rows * columns * element), rows,
                                           columns, {{1, columns}})});
        if (dtype != DType::kF32) b.Emit(Opcode::tensor_copy, Engine::kVector, {row, loaded});
        b.Emit(Opcode::tensor_reduce, Engine::kVector,
               {result(0), AluOp::kAdd, dtype == DType::kF32 ? loaded : row, int64_t{1},
                int64_t{columns % 2}});
        b.Emit(Opcode::tensor_scalar, Engine::kVector,
               {result(1), result(0), AluOp::kMultiply, 0.125});
        b.Emit(Opcode::dma_copy, Engine::kDma,
               {AccessPattern::Hbm(DType::kF32, out[0], trip * (rows * 4), rows, 1, {{1, 1}}),
                result(1)});
        b.LoopEnd();
        auto program = std::move(b).Build();
        ASSERT_TRUE(program.ok()) << program.status().ToString();
        setenv("TORCHNEURON_INSTRUCTION_GROUPS", "0", 1);
        const auto want = Outputs(*program, bytes, false);
        setenv("TORCHNEURON_INSTRUCTION_GROUPS", "1", 1);
        const auto got = Outputs(*program, bytes, false);
        unsetenv("TORCHNEURON_INSTRUCTION_GROUPS");
        EXPECT_EQ(got, want) << DTypeName(dtype) << ' ' << rows << ' ' << columns;
      }
}

TEST(Groups, ComputeTheSameBitsWithSeveralLongRowsOnAPartition) {
  ExpectSameBits({1, 2080, 2}, 150);  // each longer than the block that is taken of a single row
  ExpectSameBits({3, 4500, 3}, 60);
}

}  // namespace
}  // namespace neuron::emulator
