// The programs of the C client, written into a directory: what a compiler would give it.
#include <fstream>
#include <iostream>

#include "isa/core_programs.h"
#include "isa/program_builder.h"

namespace neuron::isa {
namespace {

constexpr int64_t kColumns = 16;
constexpr int64_t kBytes = 128 * kColumns * 4;

AccessPattern HbmTile(uint16_t tensor) {
  return AccessPattern::Hbm(DType::kF32, tensor, 0, 128, kColumns, {{1, kColumns}});
}
AccessPattern SbufTile(int64_t slot) {
  return AccessPattern::Sbuf(DType::kF32, 0, 128, slot * kColumns * 4, {{1, kColumns}});
}

// output0 = input0 + input1
Program Add() {
  ProgramBuilder b("add", Target::kTrn2);
  const uint16_t x = b.AddTensor({.name = "input0", .kind = TensorKind::kInput, .bytes = kBytes});
  const uint16_t y = b.AddTensor({.name = "input1", .kind = TensorKind::kInput, .bytes = kBytes});
  const uint16_t z = b.AddTensor({.name = "output0", .kind = TensorKind::kOutput, .bytes = kBytes});
  b.Emit(Opcode::dma_copy, Engine::kDma, {SbufTile(0), HbmTile(x)});
  b.Emit(Opcode::dma_copy, Engine::kDma, {SbufTile(1), HbmTile(y)});
  b.Emit(Opcode::tensor_tensor, Engine::kVector,
         {SbufTile(2), SbufTile(0), SbufTile(1), AluOp::kAdd});
  b.Emit(Opcode::dma_copy, Engine::kDma, {HbmTile(z), SbufTile(2)});
  return *std::move(b).Build();
}

// state = state + state, in place
Program Twice() {
  ProgramBuilder b("twice", Target::kTrn2);
  const uint16_t x = b.AddTensor({.name = "state", .kind = TensorKind::kInOut, .bytes = kBytes});
  b.Emit(Opcode::dma_copy, Engine::kDma, {SbufTile(0), HbmTile(x)});
  b.Emit(Opcode::tensor_tensor, Engine::kVector,
         {SbufTile(1), SbufTile(0), SbufTile(0), AluOp::kAdd});
  b.Emit(Opcode::dma_copy, Engine::kDma, {HbmTile(x), SbufTile(1)});
  return *std::move(b).Build();
}

// Reads input0 from the byte that the scalar block's first slot names.
Program Indirect() {
  ProgramBuilder b("indirect", Target::kTrn2);
  const uint16_t x = b.AddTensor(
      {.name = "input0", .kind = TensorKind::kInput, .bytes = kBytes, .byte_offset = 0});
  b.AddTensor({.name = "scalars", .kind = TensorKind::kScalars, .bytes = 8});
  b.AddRegister({.scalar_slot = 0});
  b.Emit(Opcode::dma_copy, Engine::kDma, {SbufTile(0), HbmTile(x)});
  return *std::move(b).Build();
}

// A constant that is larger than the HBM which the client asks for.
Program Large() {
  ProgramBuilder b("large", Target::kTrn2);
  b.AddTensor({.name = "scratch", .kind = TensorKind::kScratch, .bytes = int64_t{64} << 20});
  const uint16_t x = b.AddTensor({.name = "input0", .kind = TensorKind::kInput, .bytes = kBytes});
  b.Emit(Opcode::dma_copy, Engine::kDma, {SbufTile(0), HbmTile(x)});
  return *std::move(b).Build();
}

}  // namespace
}  // namespace neuron::isa

int main(int count, char** words) {
  using neuron::isa::Program;
  if (count != 2) {
    std::cerr << "usage: write_programs DIRECTORY\n";
    return 2;
  }
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::ofstream(std::string(words[1]) + "/" + name, std::ios::binary) << bytes;
  };
  write("add", neuron::isa::Encode(neuron::isa::Add()));
  write("twice", neuron::isa::Encode(neuron::isa::Twice()));
  write("indirect", neuron::isa::Encode(neuron::isa::Indirect()));
  write("large", neuron::isa::Encode(neuron::isa::Large()));
  return 0;
}
