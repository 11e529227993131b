// Copying bits between two layouts of the same elements.
#pragma once

#include <cstdint>
#include <memory>

#include "emulator/decoder.h"
#include "emulator/tile.h"

namespace neuron::emulator {

// The joint loop nest of a copy, made once where shapes are static.
struct CopyPlan {
  enum class Kind : uint8_t {
    kNone,              // nothing to copy
    kRows,              // innermost level is dense on both sides
    kTranspose,         // one level is dense in src, another in dst
    kTransposeColumns,  // the same, but dense in src only over two levels together
    kStrided,           // innermost level walks with a step
    kGather,            // the two shapes do not factor into one nest
  };
  static constexpr int kMaxLevels = 12;

  Kind kind = Kind::kNone;
  int32_t element_bytes = 4;
  int levels = 0;  // outer levels, then the inner ones: one (kRows, kStrided), two (kTranspose:
                   // dense in dst, dense in src) or three (kTransposeColumns: a level before those)
  int64_t count[kMaxLevels], dst_stride[kMaxLevels], src_stride[kMaxLevels];
};

// Requires rows * elements of both shapes to be equal.
CopyPlan PlanCopy(const TileShape& dst, const TileShape& src);
void RunCopy(const CopyPlan& plan, const KernelTable& kernels, const Tile& dst, const Tile& src);
// The same, shared between host threads where it is long.
void RunShared(const CopyPlan& plan, const Tile& dst, const Tile& src);

// An instruction that copies or transposes: what is moved, and where to.
struct TilePacking;
struct Movement : Operation::Payload {
  CopyPlan plan;
  bool dynamic = false;
  std::shared_ptr<const TilePacking> packing;  // of its destination, if it lies packed
};
// nullptr if it is another instruction.
const Movement* MovementOf(const Operation& operation);
// The destination's tile is packed from now on (packed_tile.h).
void SetPacking(Operation* operation, TilePacking packing);

// An instruction that copies operand src to operand dst bit by bit.
Status DecodeCopy(const DecodeInput& input, Operation* op);
bool IsCopy(const Operation& operation);

}  // namespace neuron::emulator
