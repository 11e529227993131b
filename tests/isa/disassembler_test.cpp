#include <gtest/gtest.h>

#include "test_programs.h"

namespace neuron::isa {
namespace {

TEST(Disassembler, ShowsTensorsRegistersLoopsAndCosts) {
  EXPECT_EQ(Disassemble(AddProgram()),
            R"(program add for trn2
tensor %0 input0 input 1048576 bytes
tensor %1 input1 input 1048576 bytes
tensor %2 output0 output 1048576 bytes
register r0 [0, 3]
; add.py:7
    0 sync   loop_begin register=r0, begin=0, end=4, step=1  ; 8 ns
    1 dma      dma_copy dst=sbuf[0:128] f32 @0x0 [(1, 512)], src=hbm %0 f32 @r0*262144 [128 step 512][(1, 512)]  ; 860 ns
    2 dma      dma_copy dst=sbuf[0:128] f32 @0x800 [(1, 512)], src=hbm %1 f32 @r0*262144 [128 step 512][(1, 512)]  ; 860 ns
    3 vector   tensor_tensor dst=sbuf[0:128] f32 @0x1000 [(1, 512)], data1=sbuf[0:128] f32 @0x0 [(1, 512)], data2=sbuf[0:128] f32 @0x800 [(1, 512)], op=add  ; 1217 ns
    4 dma      dma_copy dst=hbm %2 f32 @r0*262144 [128 step 512][(1, 512)], src=sbuf[0:128] f32 @0x1000 [(1, 512)]  ; 860 ns
    5 sync   loop_end
)");
}

TEST(Disassembler, ListsWhatDoesNotVerify) {
  Program program = AddProgram();
  program.instructions[3].operands.resize(1);
  EXPECT_NE(Disassemble(program).find("tensor_tensor dst="), std::string::npos);
}

}  // namespace
}  // namespace neuron::isa
