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

constexpr int64_t kRows = 40, kColumns = 200;
constexpr int kTensors = 3;
constexpr int64_t kIterations = 3;

class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed), b_("random", isa::Target::kTrn2) {
    const int64_t bytes = kIterations * kRows * kColumns * 4;
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
              {AccessPattern::Sbuf(DType::kF32, 0, kRows, 7 * kColumns * 4 + i * 64, {{1, 1}}),
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
  int Pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  // Slots of fp32; now and then shifted, so that neighbours overlap. What an instruction does whose
  // destination overlaps a source without being it is undefined: such ones may differ from chip to
  // chip, but here both ways give the same.
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
    return AccessPattern::Sbuf(DType::kF32, 0, kRows, 7 * kColumns * 4 + Pick(4) * 64, {{1, 1}});
  }
  AccessPattern Scalar() {
    if (Pick(3) != 0) return PerRow();
    return AccessPattern::Sbuf(DType::kF32, 0, kRows, Pick(6 * kColumns) * 4, {{1, 1}});
  }
  AccessPattern Hbm(uint16_t tensor, DType dtype = DType::kF32) {
    return AccessPattern::Hbm(dtype, tensor, offset_, kRows, kColumns, {{1, kColumns}});
  }

  void Instruction() {
    constexpr AluOp kOps[] = {AluOp::kAdd, AluOp::kSubtract, AluOp::kMultiply, AluOp::kMaximum};
    const AluOp op = kOps[Pick(4)];
    switch (Pick(17)) {
      case 0:
      case 1:
        b_.Emit(Opcode::dma_copy, Engine::kDma, {Tile(), Hbm(in_[Pick(kTensors)])});
        break;
      case 2:
        b_.Emit(Opcode::dma_copy, Engine::kDma, {Tile(), Hbm(out_[Pick(kTensors)])});
        break;
      case 3:
      case 4:
        b_.Emit(Opcode::dma_copy, Engine::kDma, {Hbm(out_[Pick(kTensors)]), Tile()});
        break;
      case 5:
      case 6:
        b_.Emit(Opcode::tensor_tensor, Engine::kVector, {Tile(), Tile(), Tile(), op});
        break;
      case 7:
        b_.Emit(Opcode::tensor_scalar, Engine::kVector, {Tile(), Tile(), op, Scalar()});
        break;
      case 8:
        b_.Emit(Opcode::tensor_copy, Engine::kVector, {Other(DType::kBF16), Tile()});
        b_.Emit(Opcode::tensor_tensor, Engine::kVector, {Tile(), Other(DType::kBF16), Tile(), op});
        break;
      case 9:
        b_.Emit(Opcode::tensor_copy, Engine::kVector, {Tile(), Tile()});
        break;
      case 10:
        b_.Emit(Opcode::tensor_scalar, Engine::kVector,
                {Other(DType::kS32), Other(DType::kS32), AluOp::kBitwiseXor, 3.0});
        break;
      case 11:
      case 12:
        b_.Emit(Opcode::tensor_reduce, Engine::kVector,
                {PerRow(), Pick(2) == 0 ? AluOp::kAdd : AluOp::kMaximum, Tile(), int64_t{1},
                 int64_t{Pick(2)}});
        break;
      case 13:
        b_.Emit(Opcode::activation_reduce, Engine::kScalar,
                {Tile(), ActivationFunction::kSigmoid, Tile(), AluOp::kAdd, PerRow(), PerRow()});
        break;
      case 14:
        b_.Emit(
            Opcode::tensor_scalar, Engine::kVector,
            {PerRow(), PerRow(), op, Pick(2) == 0 ? isa::Operand(PerRow()) : isa::Operand(1.5)});
        break;
      case 15:
        b_.Emit(Opcode::tensor_tensor, Engine::kVector, {PerRow(), PerRow(), PerRow(), op});
        break;
      default:
        b_.Emit(Opcode::activation, Engine::kScalar, {Tile(), ActivationFunction::kTanh, Tile()});
        break;
    }
  }

  std::mt19937 random_;
  ProgramBuilder b_;
  uint16_t in_[kTensors], out_[kTensors];
  isa::Affine offset_ = 0;
};

std::vector<std::vector<uint32_t>> Outputs(const isa::Program& program, bool aliased) {
  NrtClient& nrt = NrtClient::Get();
  RunningProgram run(program);
  EXPECT_EQ(run.load_status, NRT_SUCCESS) << run.error();
  const int64_t n = kIterations * kRows * kColumns;
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

TEST(Groups, ComputeTheSameBitsAsInstructionsOneByOne) {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const isa::Program program = RandomProgram(seed).Make();
    const bool aliased = seed % 3 == 0;
    setenv("TORCHNEURON_INSTRUCTION_GROUPS", "0", 1);
    const auto want = Outputs(program, aliased);
    setenv("TORCHNEURON_INSTRUCTION_GROUPS", "1", 1);
    const auto got = Outputs(program, aliased);
    unsetenv("TORCHNEURON_INSTRUCTION_GROUPS");
    for (int i = 0; i < kTensors; ++i)
      ASSERT_EQ(got[i], want[i]) << "seed " << seed << ", output" << i << '\n'
                                 << isa::Disassemble(program);
  }
}

}  // namespace
}  // namespace neuron::emulator
