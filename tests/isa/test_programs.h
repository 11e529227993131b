// Programs that several isa tests share.
#pragma once

#include "isa/program_builder.h"

namespace neuron::isa {

// output0 = input0 + input1 over `tiles` tiles of [128, 512] fp32, in a loop.
inline Program AddProgram(int64_t tiles = 4) {
  const int64_t tile_bytes = int64_t{128} * 512 * 4;
  ProgramBuilder b("add", Target::kTrn2);
  uint16_t tensors[3];
  const char* names[] = {"input0", "input1", "output0"};
  for (int i = 0; i < 3; ++i) {
    TensorDecl decl;
    decl.name = names[i];
    decl.kind = i < 2 ? TensorKind::kInput : TensorKind::kOutput;
    decl.bytes = tiles * tile_bytes;
    tensors[i] = b.AddTensor(decl);
  }
  b.SetSource(b.AddSource("add.py:7"));
  const Register i = b.LoopBegin(0, tiles, 1, tiles - 1);
  const auto sbuf = [](int64_t at) {
    return AccessPattern::Sbuf(DType::kF32, 0, 128, at, {{1, 512}});
  };
  const auto hbm = [&](int tensor) {
    return AccessPattern::Hbm(DType::kF32, tensors[tensor], Affine::Of(i, tile_bytes), 128, 512,
                              {{1, 512}});
  };
  b.Emit(Opcode::dma_copy, Engine::kDma, {sbuf(0), hbm(0)});
  b.Emit(Opcode::dma_copy, Engine::kDma, {sbuf(2048), hbm(1)});
  b.Emit(Opcode::tensor_tensor, Engine::kVector, {sbuf(4096), sbuf(0), sbuf(2048), AluOp::kAdd});
  b.Emit(Opcode::dma_copy, Engine::kDma, {hbm(2), sbuf(4096)});
  b.LoopEnd();
  return std::move(b.program());
}

}  // namespace neuron::isa
