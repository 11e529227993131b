// Each rule by its label, in the words that help: the message is tested, not only the refusal.
#include <gtest/gtest.h>

#include "test_programs.h"

namespace neuron::isa {
namespace {

using A = AccessPattern;

Instruction Make(Opcode opcode, Engine engine, std::vector<Operand> operands) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.engine = engine;
  instruction.operands = std::move(operands);
  return instruction;
}

A Sbuf(int64_t partitions, int64_t elements, DType dtype = DType::kF32, int start = 0,
       int64_t offset = 0) {
  return A::Sbuf(dtype, start, partitions, offset, {{1, elements}});
}
A Psum(int64_t partitions, int64_t elements, int64_t offset = 0, DType dtype = DType::kF32) {
  return A::Psum(dtype, 0, partitions, offset, {{1, elements}});
}

void ExpectRefused(const Instruction& instruction, std::string_view words,
                   Target target = Target::kTrn2) {
  const Status status = VerifyInstruction(instruction, target);
  ASSERT_FALSE(status.ok()) << "accepted; expected: " << words;
  EXPECT_NE(status.message().find(words), std::string_view::npos) << status.message();
}

void ExpectLegal(const Instruction& instruction, Target target = Target::kTrn2) {
  const Status status = VerifyInstruction(instruction, target);
  EXPECT_TRUE(status.ok()) << status.message();
}

Instruction Matmul(A dst, A stationary, A moving, int64_t accumulate = 0, int64_t transpose = 0) {
  return Make(Opcode::nc_matmul, Engine::kTensor, {dst, stationary, moving, accumulate, transpose});
}

TEST(VerifyInstruction, Matmul) {
  ExpectLegal(Matmul(Psum(128, 512), Sbuf(128, 128), Sbuf(128, 512)));
  ExpectRefused(Matmul(Psum(128, 512), Sbuf(128, 192), Sbuf(128, 512)),
                "nc_matmul.stationary: stationary's free size M is 192, allowed are 1 to 128");
  ExpectRefused(Matmul(Psum(128, 512), Sbuf(64, 128), Sbuf(128, 512)), "nc_matmul.contraction");
  ExpectRefused(Matmul(Psum(128, 1024), Sbuf(128, 128), Sbuf(128, 1024)), "nc_matmul.moving");
  ExpectLegal(Matmul(Psum(128, 1024), Sbuf(128, 128), Sbuf(128, 1024)), Target::kTrn3);
  ExpectRefused(Matmul(Psum(128, 256), Sbuf(128, 128), Sbuf(128, 512)), "nc_matmul.shape");
  ExpectRefused(Matmul(Psum(128, 512, 1024), Sbuf(128, 128), Sbuf(128, 512)), "nc_matmul.bank");
  ExpectRefused(Matmul(Sbuf(128, 512), Sbuf(128, 128), Sbuf(128, 512)), "dst is in sbuf");
  ExpectRefused(Matmul(Psum(128, 512), Sbuf(128, 128, DType::kBF16), Sbuf(128, 512)),
                "nc_matmul.dtype");
  ExpectRefused(Matmul(Psum(128, 512), Sbuf(128, 128, DType::kS32), Sbuf(128, 512)),
                "nc_matmul.dtype");
  ExpectRefused(Matmul(Psum(128, 128), Sbuf(128, 128), Sbuf(128, 128), 1, 1),
                "nc_matmul.transpose");
  ExpectLegal(Matmul(Psum(64, 128), Sbuf(128, 64), Sbuf(128, 128), 0, 1));
  ExpectRefused(Matmul(Psum(128, 512), Sbuf(128, 128), Sbuf(128, 512), 2), "accumulate");
}

TEST(VerifyInstruction, PartitionsStartAtQuadrants) {
  const auto copy = [](int64_t partitions, int start) {
    const A tile = Sbuf(partitions, 4, DType::kF32, start);
    return Make(Opcode::tensor_copy, Engine::kVector, {tile, tile});
  };
  for (const int start : {0, 32, 64, 96}) ExpectLegal(copy(32, start));
  for (const int start : {0, 64}) ExpectLegal(copy(64, start));
  ExpectLegal(copy(128, 0));
  ExpectRefused(copy(1, 5), "starts at partition 5; 1 partitions may start at multiples of 32");
  ExpectRefused(copy(33, 32), "starts at partition 32; 33 partitions may start at multiples of 64");
  ExpectRefused(copy(65, 32), "may start at multiples of 128");
  ExpectRefused(copy(64, 96), "covers partitions 96 to 160");
  ExpectRefused(copy(129, 0), "has 129 partitions");
  ExpectLegal(Make(Opcode::dma_copy, Engine::kDma,
                   {Sbuf(1, 4, DType::kF32, 5), Sbuf(1, 4, DType::kF32, 77)}));
}

TEST(VerifyInstruction, DmaWritesAnyPartitions) {
  const auto load = [](int64_t partitions, int start) {
    return Make(Opcode::dma_copy, Engine::kDma,
                {Sbuf(partitions, 4, DType::kF32, start),
                 A::Hbm(DType::kF32, 0, 0, partitions, 4, {{1, 4}})});
  };
  ExpectLegal(load(1, 5));
  ExpectLegal(load(33, 32));
  ExpectRefused(load(64, 96), "covers partitions 96 to 160");
}

TEST(VerifyInstruction, TilesStayInsideMemory) {
  const auto fill = [](A tile) { return Make(Opcode::memset, Engine::kVector, {tile, 0.0}); };
  ExpectLegal(fill(Sbuf(128, 4, DType::kF32, 0, 224 * 1024 - 16)));
  ExpectRefused(fill(Sbuf(128, 5, DType::kF32, 0, 224 * 1024 - 16)),
                "covers bytes 229360 to 229380 of a partition, trn2's sbuf has 229376");
  ExpectRefused(fill(Psum(128, 4097)), "trn2's psum has 16384");
  ExpectRefused(fill(Sbuf(128, 4, DType::kF32, 0, 2)), "begins at byte 2");
  ExpectRefused(fill(Sbuf(128, 70000, DType::kU8)), "counts go to 65535");
  ExpectRefused(fill(A::Sbuf(DType::kF32, 0, 1, 0, {{-1, 4}})), "covers bytes -12 to 4");
}

TEST(VerifyInstruction, EnginesReachTheirMemories) {
  ExpectRefused(Make(Opcode::tensor_copy, Engine::kGpSimd, {Sbuf(1, 4), Psum(1, 4)}),
                "src is in psum, which gpsimd cannot reach");
  ExpectRefused(Make(Opcode::dma_copy, Engine::kDma, {Sbuf(1, 4), Psum(1, 4)}),
                "dma_copy: src is in psum, expected sbuf or hbm");
  ExpectRefused(Make(Opcode::tensor_copy, Engine::kTensor, {Sbuf(1, 4), Sbuf(1, 4)}),
                "tensor_copy: cannot run on engine tensor");
  ExpectRefused(Make(Opcode::tensor_tensor, Engine::kVector,
                     {Sbuf(1, 4), Psum(1, 4), Psum(1, 4), AluOp::kAdd}),
                "tensor_tensor.psum");
}

TEST(VerifyInstruction, Operators) {
  const A tile = Sbuf(4, 8);
  const A bits = Sbuf(4, 8, DType::kS32);
  const auto scalar = [](A t, AluOp op0, AluOp op1, Engine engine = Engine::kVector) {
    return Make(Opcode::tensor_scalar, engine, {t, t, op0, 1.0, int64_t{0}, op1, 1.0});
  };
  ExpectLegal(scalar(tile, AluOp::kMultiply, AluOp::kAdd));
  ExpectLegal(scalar(bits, AluOp::kLeftShift, AluOp::kBitwiseAnd));
  ExpectRefused(scalar(bits, AluOp::kLeftShift, AluOp::kAdd), "tensor_scalar.alu");
  ExpectRefused(scalar(tile, AluOp::kLeftShift, AluOp::kBitwiseAnd), "needs integer tiles");
  ExpectRefused(scalar(tile, AluOp::kSubtract, AluOp::kAdd, Engine::kScalar),
                "tensor_scalar.engine");
  ExpectRefused(
      Make(Opcode::tensor_scalar, Engine::kVector, {tile, tile, AluOp::kMultiply, Sbuf(4, 8)}),
      "tensor_scalar.operand: operand0 has 8 elements per partition");
  ExpectRefused(
      Make(Opcode::tensor_reduce, Engine::kVector, {Sbuf(4, 1), AluOp::kEqual, tile, int64_t{1}}),
      "tensor_reduce.alu: equal is no reduction operator");
  ExpectRefused(
      Make(Opcode::tensor_reduce, Engine::kVector, {Sbuf(4, 1), AluOp::kAdd, tile, int64_t{2}}),
      "tensor_reduce.axes");
  ExpectRefused(Make(Opcode::tensor_tensor, Engine::kVector, {tile, tile, tile, AluOp::kAbs}),
                "tensor_tensor.alu: abs is unary");
}

TEST(VerifyInstruction, OperandCountAndKind) {
  const A tile = Sbuf(4, 8);
  ExpectRefused(Make(Opcode::tensor_copy, Engine::kVector, {tile}), "tensor_copy: src is missing");
  ExpectRefused(Make(Opcode::tensor_copy, Engine::kVector, {tile, 1.0}),
                "src is of the wrong kind");
  ExpectRefused(Make(Opcode::tensor_copy, Engine::kVector, {tile, tile, tile}), "at most 2");
  ExpectRefused(Make(Opcode::loop_end, Engine::kSync, {tile}), "at most 0");
}

TEST(VerifyInstruction, RegistersLoopsAndKernels) {
  const RegisterOperand r{0};
  const auto alu = [&](std::string op, Operand b) {
    return Make(Opcode::register_alu, Engine::kSync, {r, std::move(op), Affine(1), std::move(b)});
  };
  ExpectLegal(alu("add", Affine(2)));
  ExpectRefused(alu("xor", Affine(2)), "register_alu.op: \"xor\"");
  ExpectRefused(alu("add", std::monostate()), "register_alu.operand: add needs b");
  ExpectRefused(Make(Opcode::loop_begin, Engine::kSync, {r, Affine(0), Affine(9), int64_t{0}}),
                "loop_begin.step: step is 0");
  ExpectRefused(Make(Opcode::register_load, Engine::kSync, {r, Sbuf(1, 2, DType::kS32)}),
                "register_load.shape: src is [1, 2]");
  ExpectRefused(Make(Opcode::gpsimd_kernel, Engine::kGpSimd, {std::string(), int64_t{0}}),
                "gpsimd_kernel.name");
  ExpectRefused(
      Make(Opcode::gpsimd_kernel, Engine::kGpSimd, {std::string("sort"), int64_t{2}, Sbuf(1, 2)}),
      "gpsimd_kernel.num_outputs: num_outputs is 2, allowed are 0 to 1");
  ExpectRefused(Make(Opcode::sendrecv, Engine::kDma,
                     {Sbuf(4, 8), Sbuf(4, 8, DType::kF32, 0, 64), int64_t{0}, int64_t{1},
                      int64_t{0}, int64_t{3}}),
                "sendrecv.dma_engine: dma_engine is 3, allowed are 1 to 2");
}

TEST(VerifyInstruction, ShapesAndEnginesOfTransfersAndStates) {
  const auto transpose = [](A dst, A src) {
    return Make(Opcode::dma_transpose, Engine::kDma, {std::move(dst), std::move(src)});
  };
  ExpectRefused(transpose(Sbuf(8, 5), Sbuf(4, 8, DType::kF32, 0, 64)), "dma_transpose.shape");
  const A sum = Sbuf(4, 8);
  const A part = Sbuf(4, 9, DType::kF32, 0, 64);
  const Operand none;
  ExpectRefused(Make(Opcode::dma_compute, Engine::kDma,
                     {sum, AluOp::kAdd, none, none, none, none, none, part}),
                "dma_compute.shape: a source is [4, 9], dst [4, 8]");
  ExpectRefused(Make(Opcode::dma_compute, Engine::kDma,
                     {sum, AluOp::kAdd, none, int64_t{0}, none, none, none, sum}),
                "dma_compute.index: index_side is given without index");
  const auto state = [](Opcode opcode, int64_t words) {
    return Make(opcode, Engine::kVector, {Sbuf(4, words, DType::kU32)});
  };
  for (const Opcode opcode : {Opcode::rand_get_state, Opcode::rand_set_state}) {
    ExpectLegal(state(opcode, 24), Target::kTrn3);
    ExpectRefused(state(opcode, 6), "_state.shape", Target::kTrn3);
  }
  ExpectRefused(state(Opcode::rand_get_state, 24), "rand_get_state.engine: vector has it");
  ExpectRefused(state(Opcode::rand_set_state, 24), "rand_set_state.engine: vector has it");
  ExpectRefused(state(Opcode::rand_get_state, 6), "rand_get_state.shape", Target::kTrn3);
}

// The memory of a destination and a source: apart, one place, a part.
TEST(VerifyInstruction, Overlap) {
  const auto copy = [](A dst, A src) {
    return Make(Opcode::tensor_copy, Engine::kVector, {std::move(dst), std::move(src)});
  };
  const auto every_second = [](int64_t offset) {
    return A::Sbuf(DType::kF32, 0, 32, offset, {{2, 8}});
  };
  ExpectLegal(copy(Sbuf(32, 8), Sbuf(32, 8)));
  ExpectLegal(copy(Sbuf(32, 8), Sbuf(32, 8, DType::kF32, 0, 32)));
  ExpectLegal(copy(Sbuf(32, 8), Sbuf(32, 8, DType::kF32, 32, 4)));
  ExpectLegal(copy(every_second(0), every_second(4)));
  ExpectLegal(copy(A::Sbuf(DType::kF32, 0, 32, 0, {{4, 2}, {1, 4}}), Sbuf(32, 8)));
  ExpectRefused(copy(Sbuf(32, 8), Sbuf(32, 8, DType::kF32, 0, 28)), "tensor_copy.overlap");
  ExpectRefused(copy(every_second(0), Sbuf(32, 8)), "tensor_copy.overlap");
  ExpectRefused(copy(A::Sbuf(DType::kF32, 0, 32, 0, {{1, 4}, {4, 2}}), Sbuf(32, 8)),
                "tensor_copy.overlap");
  ExpectRefused(copy(Sbuf(32, 8, DType::kBF16), Sbuf(32, 8)), "tensor_copy.overlap");
  const A moved = A::Sbuf(DType::kF32, 0, 32, Affine::Of(Register{0}, 32), {{1, 8}});
  ExpectLegal(copy(moved, Sbuf(32, 8)));  // a run-time offset is not known
  ExpectRefused(Make(Opcode::nc_transpose, Engine::kVector, {Sbuf(32, 32), Sbuf(32, 32)}),
                "nc_transpose.overlap");
}

TEST(VerifyInstruction, IndirectDma) {
  const A rows = Sbuf(16, 8);
  const A table = A::Hbm(DType::kF32, 0, 0, 16, 0, {{1, 8}});
  const A index = Sbuf(16, 1, DType::kS32, 0, 4096);
  const auto gather = [&](A idx, std::vector<Operand> rest) {
    std::vector<Operand> operands = {rows, table, idx};
    operands.insert(operands.end(), rest.begin(), rest.end());
    return Make(Opcode::dma_copy, Engine::kDma, operands);
  };
  ExpectLegal(gather(index, {int64_t{0}, int64_t{8}, Affine(100), int64_t{1}}));
  ExpectRefused(gather(index, {int64_t{0}, int64_t{8}}), "dma_copy.index: index_bound is missing");
  ExpectRefused(gather(index, {int64_t{1}, int64_t{8}, Affine(100)}), "must be in HBM");
  ExpectRefused(gather(Sbuf(8, 1, DType::kS32, 0, 4096), {int64_t{0}, int64_t{8}, Affine(100)}),
                "dma_copy.index: index is [8, 1], expected [16, 1]");
  ExpectRefused(
      Make(Opcode::dma_copy, Engine::kDma, {rows, table, std::monostate(), int64_t{0}, int64_t{8}}),
      "is given without index");
}

void ExpectRefused(const Program& program, std::string_view words) {
  const Status status = Verify(program);
  ASSERT_FALSE(status.ok()) << "accepted; expected: " << words;
  EXPECT_NE(status.message().find(words), std::string_view::npos) << status.message();
}

TEST(Verify, NamesInstructionSourceAndOperand) {
  Program program = AddProgram();
  ASSERT_TRUE(Verify(program).ok()) << Verify(program).message();
  std::get<A>(program.instructions[3].operands[2]).dims[0].count = 256;
  ExpectRefused(program, "instruction 3 (add.py:7): tensor_tensor.shape: data2 has 256 elements");
}

TEST(Verify, LoopBoundsLimitFootprints) {
  Program program = AddProgram();
  program.registers[0].max = 4;  // one tile too far
  ExpectRefused(program, "dma_copy: src covers bytes 0 to 1310720 of input0, which has 1048576");
  program.registers[0].max = INT64_MAX;
  ExpectRefused(program, "declare closer bounds");
}

TEST(Verify, StepsFromRegistersAreOfHbm) {
  Program program = AddProgram();
  program.registers.push_back({.min = 0, .max = 64, .scalar_slot = 9});
  const auto step = static_cast<Register>(program.registers.size() - 1);
  auto& load = program.instructions[1];
  std::get<A>(load.operands[1]).partition_step_from = step;
  ASSERT_TRUE(Verify(program).ok()) << Verify(program).message();
  program.registers[step].min = -1;
  ExpectRefused(program, "declare bounds within [0, 2^40]");
  program.registers[step] = {.min = 0, .max = 64};
  ExpectRefused(program, "is read before it is written");
  program.registers[step].scalar_slot = 9;
  std::get<A>(load.operands[0]).dims[0].step_from = step;
  ExpectRefused(program, "only HBM is walked so");
}

TEST(Verify, LoopsNest) {
  Program program = AddProgram();
  program.instructions.pop_back();
  ExpectRefused(program, "program.loops: 1 loop_begin without a loop_end");
  program = AddProgram();
  program.instructions.push_back(Make(Opcode::loop_end, Engine::kSync, {}));
  ExpectRefused(program, "loop_end without loop_begin");
  program = AddProgram();
  program.instructions.insert(program.instructions.begin() + 1,
                              Make(Opcode::register_alu, Engine::kSync,
                                   {RegisterOperand{0}, std::string("move"), Affine(1)}));
  ExpectRefused(program, "r0 counts an open loop and is written");
}

TEST(Verify, RegistersAreWrittenBeforeTheyAreRead) {
  Program program = AddProgram();
  std::rotate(program.instructions.begin(), program.instructions.begin() + 1,
              program.instructions.end());
  ExpectRefused(program, "r0 is read before it is written");
  program = AddProgram();
  program.instructions.push_back(program.instructions[1]);  // the counter, after its loop
  ExpectRefused(program, "r0 is read before it is written");
}

TEST(Verify, TensorsAreDeclaredOnce) {
  Program program = AddProgram();
  program.tensors[1].name = "input0";
  ExpectRefused(program, "two tensors are named input0");
  program = AddProgram();
  program.tensors.pop_back();
  ExpectRefused(program, "names tensor %2, the program has 2");
}

}  // namespace
}  // namespace neuron::isa
