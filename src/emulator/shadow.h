// Which bytes an execution has written: finds reads of what nothing wrote.
//
// A byte of SBUF, PSUM, scratch and output tensors counts as written once an instruction of this
// execution wrote it; inputs, constants and the scalar block come written. Instructions that write
// a tile in part (predicated copies, indirect DMA, ...) count as writing all of it. On trn2 a
// matmul may accumulate only onto what a matmul wrote, since the accumulator remembers that and
// not the value. For TORCHNEURON_CHECK_MEMORY.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "emulator/operation.h"

namespace neuron::emulator {

class Shadow {
 public:
  Shadow(const isa::Program& program, const Core& core);

  void Begin(const BoundTensor* bound);
  // InvalidArgument if the operation would read a byte that nothing wrote.
  Status Before(const Operation& operation, const Execution& execution) const;
  void After(const Operation& operation, const Execution& execution);

 private:
  enum State : uint8_t { kNothing, kWritten, kByMatmul };
  // The shadow of a tile's row, `reach` bytes before and after its first element allowed.
  const uint8_t* RowOf(const TileRef& ref, const Tile& tile, const Execution& execution,
                       int64_t row) const;

  const isa::Program& program_;
  std::vector<uint8_t> sbuf_, psum_;
  std::vector<std::vector<uint8_t>> tensors_;  // empty: comes written
};

}  // namespace neuron::emulator
