#include "emulator/packed_tile.h"

#include <algorithm>

#include "emulator/matmul_chain.h"
#include "emulator/packing.h"
#include "emulator/program.h"
#include "emulator/region.h"

namespace neuron::emulator {
namespace {

using Kind = StepControl::Kind;

struct Reader {
  uint32_t step;
  size_t tile;  // of its operation
  int64_t column;
  bool inside;  // of a loop that the load is not in
};

// Whether a tensor that is written meanwhile is bound to memory that the load reads.
bool MayBeWritten(const Operation& load, const TilePacking& packing, const char* source,
                  const Execution& execution) {
  const TileRef& ref = load.tiles[1];
  return std::ranges::any_of(packing.written, [&](uint16_t tensor) {
    const BoundTensor& bound = execution.tensors[tensor];
    return source + ref.low < bound.data + bound.bytes && bound.data < source + ref.high;
  });
}

class Finder {
 public:
  Finder(const isa::Program& program, const Core& core, std::vector<Step>& steps,
         std::span<const std::unique_ptr<Group>> groups,
         std::span<const std::unique_ptr<SumLoop>> sum_loops, const Liveness& liveness)
      : core_(core), steps_(steps), liveness_(liveness), free_(steps.size(), true) {
    for (const auto& group : groups)
      std::fill(free_.begin() + group->first, free_.begin() + group->last, false);
    for (const auto& loop : sum_loops) free_[loop->matmul] = false;
    regions_.resize(steps.size());
    for (size_t i = 0; i < steps.size(); ++i)
      for (const TileRef& tile : steps[i].operation.tiles)
        regions_[i].push_back(tile.hbm ? Region{} : PatternRegion(program, tile));
  }

  int Run() {
    for (uint32_t i = 0; i < steps_.size(); ++i) {
      if (!free_[i] || steps_[i].control.kind != Kind::kOperation) continue;
      if (const Movement* movement = MovementOf(steps_[i].operation)) TryAt(i, *movement);
    }
    return num_late_;
  }

 private:
  void TryAt(uint32_t at, const Movement& movement) {
    const Operation& load = steps_[at].operation;
    const TileRef& tile = load.tiles[0];
    const TileRef& source = load.tiles[1];
    if (movement.dynamic || tile.hbm || !source.hbm || tile.num_terms > 0 ||
        tile.pattern->memory != isa::Memory::kSbuf || tile.pattern->start_partition != 0 ||
        !tile.shape.contiguous())
      return;
    const std::optional<Packing> order = PackingOf(movement.plan, tile.shape);
    if (!order) return;
    TilePacking packing;
    static_cast<Packing&>(packing) = *order;
    std::vector<Reader> readers;
    if (!FindReaders(at, &readers) || readers.empty()) return;
    const DType dtype = steps_[readers[0].step].operation.tiles[readers[0].tile].shape.dtype;
    packing.kernels = &Kernels();
    packing.pairs = dtype == DType::kBF16;
    packing.block = readers[0].tile == 1 ? kDotRows : kDotColumns;
    for (const Reader& reader : readers)
      if (reader.tile != readers[0].tile || reader.column % packing.block != 0 ||
          steps_[reader.step].operation.tiles[reader.tile].shape.dtype != dtype)
        return;
    // Tiles from partition 0 on that share no byte of one share none here either.
    char* data = core_.packed() + tile.pattern->offset.base * isa::kPartitions;
    const auto move = [&](TileRef& ref) {
      ref.packed = true;
      ref.base = data;
    };
    move(steps_[at].operation.tiles[0]);
    if (MayBeLate(at, readers, &packing)) packing.late = num_late_++;
    for (const Reader& reader : readers) {
      Operation& matmul = steps_[reader.step].operation;
      move(matmul.tiles[reader.tile]);
      ReadPacked(&matmul, reader.tile, packing, reader.column, packing.late);
    }
    SetPacking(&steps_[at].operation, std::move(packing));
  }

  // Packed once in any case, and from what the load saw.
  bool MayBeLate(uint32_t at, const std::vector<Reader>& readers, TilePacking* packing) const {
    std::vector<bool> read(static_cast<size_t>(packing->columns));
    for (const Reader& reader : readers) {
      if (reader.tile != 2 || reader.inside) return false;
      const int64_t n = steps_[reader.step].operation.tiles[reader.tile].shape.elements;
      for (int64_t column = reader.column; column < reader.column + n; ++column) {
        if (read[static_cast<size_t>(column)]) return false;
        read[static_cast<size_t>(column)] = true;
      }
    }
    const uint16_t source = steps_[at].operation.tiles[1].tensor;
    for (uint32_t i = at + 1; i < readers.back().step; ++i)
      for (const TileRef& tile : steps_[i].operation.tiles) {
        if (!tile.hbm || !tile.written) continue;
        if (tile.tensor == source) return false;
        packing->written.push_back(tile.tensor);
      }
    std::ranges::sort(packing->written);
    const auto [first, last] = std::ranges::unique(packing->written);
    packing->written.erase(first, last);
    return true;
  }

  // Walks on from the load until its tile is dead. False if anything but a matmul reads of it, or
  // if a reader may find there what another instruction wrote. The load stands before all in its
  // sequence of instructions, so that whoever reads before the tile is dead reads what it wrote.
  bool FindReaders(uint32_t at, std::vector<Reader>* readers) {
    const TileRef& tile = steps_[at].operation.tiles[0];
    const Region& region = regions_[at][0];
    const auto dead = [&](uint32_t i) { return !liveness_.AliveAt(i).Touches(region); };
    int depth = 0;
    for (uint32_t i = at + 1; i < steps_.size(); ++i) {
      const StepControl& control = steps_[i].control;
      switch (control.kind) {
        case Kind::kMeeting:
          return false;
        case Kind::kLoopBegin:
        case Kind::kWhileBegin:
          if (depth == 0 && dead(i)) return true;
          ++depth;
          continue;
        case Kind::kLoopEnd:
          if (depth == 0) return dead(i);
          if (--depth == 0 && dead(i + 1)) return true;
          continue;
        default:
          break;
      }
      const std::vector<TileRef>& tiles = steps_[i].operation.tiles;
      for (size_t t = 0; t < tiles.size(); ++t) {
        if (tiles[t].hbm || !regions_[i][t].Overlaps(region)) continue;
        if (tiles[t].written) return depth == 0 && dead(i);
        if (!Reads(i, t, tile, region, depth > 0, readers)) return false;
      }
    }
    return true;
  }

  bool Reads(uint32_t at, size_t t, const TileRef& tile, const Region& region, bool inside,
             std::vector<Reader>* readers) {
    const Operation& op = steps_[at].operation;
    const TileRef& operand = op.tiles[t];
    const Region& read = regions_[at][t];
    if (!free_[at] || steps_[at].control.kind != Kind::kOperation || t == 0 || !MayReadPacked(op) ||
        operand.num_terms > 0 || read.first_partition != 0 ||
        operand.shape.rows != tile.shape.rows ||
        operand.shape.element_bytes != tile.shape.element_bytes || read.begin < region.begin ||
        read.end > region.end || (read.begin - region.begin) % tile.shape.element_bytes != 0)
      return false;
    readers->push_back({at, t, (read.begin - region.begin) / tile.shape.element_bytes, inside});
    return true;
  }

  const Core& core_;
  std::vector<Step>& steps_;
  const Liveness& liveness_;
  std::vector<bool> free_;  // in no group, in no sum loop
  std::vector<std::vector<Region>> regions_;
  int num_late_ = 0;
};

}  // namespace

void FillPacked(const Operation& load, const TilePacking& packing, const char* source, char* packed,
                Execution& execution) {
  if (packing.late >= 0) {
    const bool late = !MayBeWritten(load, packing, source, execution);
    execution.late[packing.late] = late ? source : nullptr;
    if (late) return;
  }
  Pack(packing, source, packed);
}

int PackTiles(const isa::Program& program, const Core& core, std::vector<Step>& steps,
              std::span<const std::unique_ptr<Group>> groups,
              std::span<const std::unique_ptr<SumLoop>> sum_loops, const Liveness& liveness) {
  if (std::none_of(steps.begin(), steps.end(),
                   [](const Step& step) { return MayReadPacked(step.operation); }))
    return 0;
  return Finder(program, core, steps, groups, sum_loops, liveness).Run();
}

}  // namespace neuron::emulator
