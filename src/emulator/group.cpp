#include "emulator/group.h"

#include <algorithm>
#include <array>

#include "emulator/liveness.h"
#include "emulator/program.h"
#include "emulator/region.h"
#include "emulator/row_reduction_op.h"
#include "emulator/strided_copy.h"

namespace neuron::emulator {
namespace {

constexpr size_t kMaxTiles = 64;
constexpr size_t kMaxSteps = 256;           // finding what a group can drop looks at pairs of steps
constexpr int kMaxValues = 56;              // after slots were shared
constexpr int64_t kStreamBytes = 16 << 20;  // tensors from this size on bypass the caches

// What a tile on chip holds at this point of the group, as the group knows it.
struct Content {
  int16_t value = -1;             // stored from this value ...
  ConvertKernel store = nullptr;  // ... through this conversion
  int16_t source = -1;            // or: the same bits as this tile, which is still in memory
};  // neither: only its own memory knows

class Builder {
 public:
  Builder(const isa::Program& program, const std::vector<Step>& steps, const Liveness& liveness)
      : program_(program), steps_(steps), liveness_(liveness) {}

  // Takes instruction `index` into the group; false if it cannot be a part of it.
  bool Add(uint32_t index) {
    const Operation& op = steps_[index].operation;
    if (group_ != nullptr && group_->program.steps.size() >= kMaxSteps) return false;
    if (!Fits(op) || !Independent(op)) return false;
    if (group_ == nullptr) {
      group_ = std::make_unique<Group>();
      group_->first = index;
    }
    group_->last = index + 1;
    ForgetWhatItWouldOverrun(op);
    RowReductionParts reduction;
    if (IsCopy(op)) {
      AddCopy(op);
    } else if (AsRowReduction(op, &reduction)) {
      AddReduction(op, reduction);
    } else {
      AddRows(op);
    }
    return true;
  }

  // The group, or nullptr if it is not worth its while.
  std::unique_ptr<Group> Finish() {
    if (group_ == nullptr || group_->last - group_->first < 2) return nullptr;
    Elide();
    Bind();
    ShareSlots();
    if (group_->program.num_values > kMaxValues) return nullptr;
    FindAliases();
    group_->program.shape_tile = shape_tile_;
    return std::move(group_);
  }

 private:
  // Rows of one length, dense enough that a copy gains nothing from its own plan. Where a row is
  // one chunk, reductions of it and work on their results, one value per row, belong to it too.
  bool Fits(const Operation& op) {
    if (op.tiles.empty() || tiles_.size() + op.tiles.size() > kMaxTiles) return false;
    for (const TileRef& tile : op.tiles)
      if (tile.dynamic) return false;
    const bool copy = IsCopy(op);
    RowReductionParts reduction;
    const bool reduces = AsRowReduction(op, &reduction);
    if (!copy && !reduces && !IsRowProgram(op)) return false;
    if (!copy && !reduces && IsPerRow(op)) return group_ != nullptr && elements_ <= kRowChunk;
    const RowProgram* rows = copy || reduces ? nullptr : &op.as<RowProgram>();
    if (rows != nullptr && rows->flat) return false;
    const TileShape& shape = op.tiles[copy ? 0 : reduces ? 1 : rows->shape_tile].shape;
    for (const TileRef& tile : op.tiles) {
      if (tile.shape.rows != shape.rows) return false;
      if (copy && (tile.shape.elements != shape.elements || !tile.shape.contiguous())) return false;
    }
    if (rows != nullptr) {
      for (const RowStep& step : rows->steps)
        if ((step.kind == RowStep::Kind::kLoad || step.kind == RowStep::Kind::kStore) &&
            op.tiles[step.tile].shape.elements != shape.elements)
          return false;
      for (const RowReduce& reduce : rows->reductions)
        if (reduce.command != isa::ReduceCmd::kReset &&
            reduce.command != isa::ReduceCmd::kResetReduce)
          return false;
    }
    if ((reduces || (rows != nullptr && !rows->reductions.empty())) && shape.elements > kRowChunk)
      return false;
    if (shape.rows * shape.elements < 64 || shape.elements == 1) return false;
    if (group_ == nullptr) {
      rows_ = shape.rows;
      elements_ = shape.elements;
    }
    return shape.rows == rows_ && shape.elements == elements_;
  }

  // A row program whose tiles have one element per row, and the group's rows.
  bool IsPerRow(const Operation& op) const {
    const auto& program = op.as<RowProgram>();
    if (!program.reductions.empty()) return false;
    for (const RowStep& step : program.steps)
      if (step.kind == RowStep::Kind::kIota) return false;
    for (const TileRef& tile : op.tiles)
      if (tile.pattern->MaxElementsPerPartition() != 1 || tile.pattern->partitions.max != rows_)
        return false;
    return true;
  }

  // The tile with a row per partition, as it was before it was flattened.
  static TileRef Unflattened(TileRef tile) {
    if (!tile.flat) return tile;
    TileShape& shape = tile.shape;
    shape.row_stride = shape.num_dims == 0 ? 0 : shape.stride[0];
    shape.rows = tile.pattern->partitions.max;
    shape.elements = 1;
    shape.num_dims = 0;
    tile.flat = false;
    return tile;
  }

  // Every byte that the instruction shares with the group is the same element of the same tile, or,
  // where a row is one chunk, a byte of the same row: rows pass through the group in program order.
  // Operands of the instruction itself overlap only as the same tile.
  bool Independent(const Operation& op) const {
    const bool per_row = op.tiles[0].flat;
    for (size_t i = 0; i < op.tiles.size(); ++i) {
      const TileRef tile = per_row ? Unflattened(op.tiles[i]) : op.tiles[i];
      for (const TileRef& other : tiles_)
        if (!InStep(tile, other) && !SameRows(tile, other)) return false;
      for (size_t j = 0; j < i; ++j)
        if (!InStep(tile, per_row ? Unflattened(op.tiles[j]) : op.tiles[j])) return false;
    }
    return true;
  }
  bool InStep(const TileRef& a, const TileRef& b) const {
    if (!a.written && !b.written) return true;
    const bool walked =
        a.shape.elements == elements_ || (a.shape.elements == 1 && elements_ <= kRowChunk);
    return (SameWalk(a, b) && walked) || Disjoint(program_, a, b);
  }
  bool SameRows(const TileRef& a, const TileRef& b) const {
    return elements_ <= kRowChunk && !a.hbm && !b.hbm && a.pattern->memory == b.pattern->memory &&
           a.pattern->start_partition == b.pattern->start_partition;
  }

  int16_t Intern(const TileRef& tile) {
    for (size_t i = 0; i < tiles_.size(); ++i)
      if (SameWalk(tiles_[i], tile) && tiles_[i].shape.dtype == tile.shape.dtype) {
        tiles_[i].written = tiles_[i].written || tile.written;
        return static_cast<int16_t>(i);
      }
    tiles_.push_back(tile);
    contents_.emplace_back();
    if (shape_tile_ < 0 && tile.shape.elements == elements_)
      shape_tile_ = static_cast<int>(tiles_.size()) - 1;
    return static_cast<int16_t>(tiles_.size() - 1);
  }

  bool MayShare(int16_t a, int16_t b) const {
    return tiles_[a].hbm == tiles_[b].hbm && !Disjoint(program_, tiles_[a], tiles_[b]);
  }

  // The tile's memory is read inside the group: whatever was written there must be there.
  void Keep(int16_t tile) {
    for (size_t i = 0; i < tiles_.size(); ++i)
      if (MayShare(static_cast<int16_t>(i), tile)) kept_[i] = true;
  }

  // The tile is about to be written: what was known of bytes there, and of values that are still
  // read from there, is known no more. Who wants it reads the memory of its tile, and so keeps it.
  void Forget(int16_t tile) {
    for (size_t i = 0; i < tiles_.size(); ++i) {
      Content& content = contents_[i];
      const int16_t lazy = content.value >= 0 ? lazy_tile_[content.value] : int16_t{-1};
      const bool lost = MayShare(static_cast<int16_t>(i), tile) ||
                        (lazy >= 0 && MayShare(lazy, tile)) ||
                        (content.source >= 0 && MayShare(content.source, tile));
      if (lost) content = {};
    }
  }

  // A value or source that is read from other memory than its tile's own must not lie across what
  // the instruction writes, element against another element: the tile's own memory does not.
  void ForgetWhatItWouldOverrun(const Operation& op) {
    for (const TileRef& written : op.tiles) {
      if (!written.written) continue;
      const TileRef tile = Unflattened(written);
      const auto across = [&](int16_t other) {
        return other >= 0 && tiles_[other].hbm == tile.hbm && !SameWalk(tiles_[other], tile) &&
               !Disjoint(program_, tiles_[other], tile);
      };
      for (Content& content : contents_)
        if (across(content.source) || (content.value >= 0 && across(lazy_tile_[content.value])))
          content = {};
    }
  }

  void AddCopy(const Operation& op) {
    const int16_t dst = Intern(op.tiles[0]);
    const int16_t src = Intern(op.tiles[1]);
    const Content from = contents_[src];
    RowStep step;
    step.tile = dst;
    step.dtype = tiles_[dst].shape.dtype;
    if (from.value >= 0) {
      step.kind = RowStep::Kind::kStore;
      step.a = from.value;
      step.convert = from.store;
    } else {
      step.kind = RowStep::Kind::kCopy;
      step.a = from.source >= 0 ? from.source : src;  // a tile, not a value
      if (step.a == src) Keep(src);
    }
    Forget(dst);
    contents_[dst] = {};
    if (from.value >= 0) {
      contents_[dst].value = from.value;
      contents_[dst].store = from.store;
    } else if (!MayShare(step.a, dst)) {
      contents_[dst].source = step.a;
    }
    group_->program.steps.push_back(step);
  }

  void AddRows(const Operation& op) {
    const auto& rows = op.as<RowProgram>();
    const bool per_row = op.tiles[0].flat || op.tiles[0].shape.elements == 1;
    std::array<int16_t, 64> map{};  // the instruction's values in the group
    for (RowStep step : rows.steps) {
      const int16_t out = step.out;
      if (step.kind != RowStep::Kind::kLoad && step.kind != RowStep::Kind::kLoadScalar &&
          step.kind != RowStep::Kind::kStore)
        step.tile = -1;
      if (step.tile >= 0) step.tile = Intern(Unflattened(op.tiles[step.tile]));
      if (per_row) {
        step.scalar = true;
        if (step.kind == RowStep::Kind::kLoad) step.kind = RowStep::Kind::kLoadScalar;
      }
      for (int16_t* operand : {&step.a, &step.b, &step.c})
        if (*operand >= 0) *operand = map[*operand];
      switch (step.kind) {
        case RowStep::Kind::kLoad:
        case RowStep::Kind::kLoadScalar:
          map[out] = AddLoad(step);
          break;
        case RowStep::Kind::kStore:
          AddStore(step);
          break;
        default:
          if (step.kind == RowStep::Kind::kIota) {
            group_->program.iotas.push_back(rows.iotas[step.iota]);
            step.iota = static_cast<int32_t>(group_->program.iotas.size() - 1);
          }
          map[out] = Append(step);
      }
    }
    for (const RowReduce& reduce : rows.reductions) {
      const int16_t result = AddReduce(map[reduce.value], reduce.op,
                                       reduce.negate && reduce.tile >= 0, reduce.accumulator);
      if (reduce.tile >= 0) StoreScalar(result, op.tiles[reduce.tile], reduce.store);
    }
    group_->program.ns_per_element += rows.ns_per_element;
  }

  void AddReduction(const Operation& op, const RowReductionParts& parts) {
    RowStep load;
    load.kind = RowStep::Kind::kLoad;
    load.tile = Intern(op.tiles[1]);
    load.dtype = op.tiles[1].shape.dtype;
    load.convert = FloatConversion(Kernels().load, load.dtype);
    const int16_t row = AddLoad(load);
    StoreScalar(AddReduce(row, parts.op, parts.negate, nullptr), op.tiles[0],
                FloatConversion(Kernels().store, op.tiles[0].shape.dtype));
    group_->program.ns_per_element += 0.1;
  }

  int16_t AddReduce(int16_t row, isa::AluOp op, bool negate, float* accumulator) {
    RowStep step;
    step.kind = RowStep::Kind::kReduce;
    step.a = row;
    step.reduce = op;
    step.accumulator = accumulator;
    step.scalar = true;
    const int16_t result = Append(step);
    if (!negate) return result;
    RowStep negation;
    negation.kind = RowStep::Kind::kUnary;
    negation.unary = Kernels().unary[0][static_cast<int>(isa::AluOp::kNegate)];
    negation.a = result;
    negation.scalar = true;
    return Append(negation);
  }

  void StoreScalar(int16_t value, const TileRef& tile, ConvertKernel convert) {
    RowStep step;
    step.kind = RowStep::Kind::kStore;
    step.a = value;
    step.tile = Intern(tile);
    step.dtype = tile.shape.dtype;
    step.convert = convert;
    step.scalar = true;
    AddStore(step);
  }

  static ConvertKernel FloatConversion(const ConvertKernel (&table)[kNumDomains][kNumDTypes],
                                       DType dtype) {
    if (dtype == DType::kF32 || dtype == DType::kTF32) return nullptr;
    return table[static_cast<int>(Domain::kFloat)][static_cast<int>(dtype)];
  }

  int16_t Append(RowStep step) {
    step.out = static_cast<int16_t>(next_value_++);
    const bool lazy = step.kind == RowStep::Kind::kLoad && step.convert == nullptr;
    lazy_tile_.push_back(lazy ? step.tile : int16_t{-1});
    group_->program.steps.push_back(step);
    return step.out;
  }

  int16_t AddLoad(RowStep step) {
    const Content& content = contents_[step.tile];
    if (content.value >= 0) {
      // What memory would hold is store(value), what is loaded is convert of that.
      if (content.store == nullptr && step.convert == nullptr) return content.value;
      step.a = content.value;
      step.tile = -1;
      if (content.store != nullptr && step.convert != nullptr) {
        step.kind = RowStep::Kind::kRound;
        step.round = content.store;
      } else {
        step.kind = RowStep::Kind::kUnary;
        step.unary = content.store != nullptr ? content.store : step.convert;
      }
      return Append(step);
    }
    if (content.source >= 0) {
      step.tile = content.source;
    } else {
      Keep(step.tile);
    }
    return Append(step);
  }

  void AddStore(RowStep step) {
    Forget(step.tile);
    contents_[step.tile] = {};
    // A fill is read back from memory: as a value it would be no row.
    if (!step.scalar || tiles_[step.tile].shape.elements == 1) {
      contents_[step.tile].value = step.a;
      contents_[step.tile].store = step.convert;
    }
    group_->program.steps.push_back(step);
  }

  // Drops writes to SBUF and PSUM that nobody reads from memory.
  void Elide() {
    std::erase_if(group_->program.steps, [&](const RowStep& step) {
      if (step.kind != RowStep::Kind::kStore && step.kind != RowStep::Kind::kCopy) return false;
      const TileRef& tile = tiles_[step.tile];
      return !tile.hbm && !kept_[step.tile] &&
             !liveness_.ReadElsewhere(tile, group_->first, group_->last);
    });
  }

  // Values whose lives do not overlap share a scratch row.
  void ShareSlots() {
    std::vector<RowStep>& steps = group_->program.steps;
    std::vector<int> last_use(next_value_, -1);
    const auto operands = [](RowStep& step) {
      return step.kind == RowStep::Kind::kCopy ? std::array<int16_t*, 3>{nullptr, nullptr, nullptr}
                                               : std::array<int16_t*, 3>{&step.a, &step.b, &step.c};
    };
    for (size_t i = 0; i < steps.size(); ++i)
      for (const int16_t* operand : operands(steps[i]))
        if (operand != nullptr && *operand >= 0) last_use[*operand] = static_cast<int>(i);
    // A step whose result is no longer used (its store was dropped) goes too.
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = steps.size(); i-- > 0;) {
        if (steps[i].out < 0 || last_use[steps[i].out] >= 0) continue;
        if (steps[i].accumulator != nullptr) continue;
        steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(i));
        changed = true;
        std::fill(last_use.begin(), last_use.end(), -1);
        for (size_t j = 0; j < steps.size(); ++j)
          for (const int16_t* operand : operands(steps[j]))
            if (operand != nullptr && *operand >= 0) last_use[*operand] = static_cast<int>(j);
        break;
      }
    }
    std::vector<int16_t> slot(next_value_, -1);
    std::vector<int16_t> free;
    int16_t used = 0;
    for (size_t i = 0; i < steps.size(); ++i) {
      RowStep& step = steps[i];
      const int16_t value = step.out;
      if (value >= 0) {
        if (free.empty()) {
          slot[value] = used++;
        } else {
          slot[value] = free.back();
          free.pop_back();
        }
        step.out = slot[value];
      }
      int16_t ended[3];
      int count = 0;
      for (int16_t* operand : operands(step)) {
        if (operand == nullptr || *operand < 0) continue;
        const int16_t id = *operand;
        *operand = slot[id];
        if (last_use[id] == static_cast<int>(i) &&
            std::find(ended, ended + count, slot[id]) == ended + count)
          ended[count++] = slot[id];
      }
      free.insert(free.end(), ended, ended + count);
    }
    group_->program.num_values = used;
  }

  // A value that is computed right before its store is computed in place; large outputs stream.
  void Bind() {
    std::vector<RowStep>& steps = group_->program.steps;
    for (size_t i = 0; i < steps.size(); ++i) {
      RowStep& store = steps[i];
      if (store.kind != RowStep::Kind::kStore && store.kind != RowStep::Kind::kCopy) continue;
      const TileRef& tile = tiles_[store.tile];
      store.stream = tile.hbm && program_.tensors[tile.tensor].bytes >= kStreamBytes;
      if (i == 0 || store.stream || store.kind == RowStep::Kind::kCopy) continue;
      RowStep& producer = steps[i - 1];
      const bool compute = producer.kind == RowStep::Kind::kUnary ||
                           producer.kind == RowStep::Kind::kBinary ||
                           producer.kind == RowStep::Kind::kSelect;
      if (compute && producer.out == store.a && store.convert == nullptr && !producer.scalar &&
          !WrittenAfter(i) && !ReadsAcross(producer, store.tile))
        producer.tile = store.tile;
    }
  }

  // Whether an operand of the step is read from memory that lies across the tile.
  bool ReadsAcross(const RowStep& step, int16_t tile) const {
    for (const int16_t operand : {step.a, step.b, step.c}) {
      const int16_t lazy = operand >= 0 ? lazy_tile_[operand] : int16_t{-1};
      if (lazy >= 0 && MayShare(lazy, tile) && !SameWalk(tiles_[lazy], tiles_[tile])) return true;
    }
    return false;
  }

  // Whether a later step writes the tile of the store at `index`: a value that lives there would be
  // lost to those who still use it.
  bool WrittenAfter(size_t index) const {
    const std::vector<RowStep>& steps = group_->program.steps;
    for (size_t i = index + 1; i < steps.size(); ++i)
      if ((steps[i].kind == RowStep::Kind::kStore || steps[i].kind == RowStep::Kind::kCopy) &&
          MayShare(steps[i].tile, steps[index].tile))
        return true;
    return false;
  }

  void FindAliases() {
    const std::vector<RowStep>& steps = group_->program.steps;
    for (size_t w = 0; w < tiles_.size(); ++w) {
      if (!tiles_[w].hbm || !tiles_[w].written) continue;
      size_t stored = steps.size();
      for (size_t i = 0; i < steps.size(); ++i)
        if ((steps[i].kind == RowStep::Kind::kStore || steps[i].kind == RowStep::Kind::kCopy) &&
            steps[i].tile == static_cast<int16_t>(w)) {
          stored = i;
          break;
        }
      for (size_t r = 0; r < tiles_.size(); ++r) {
        if (r == w || !tiles_[r].hbm || tiles_[r].tensor == tiles_[w].tensor) continue;
        bool later = tiles_[r].written;
        for (size_t i = stored; i < steps.size(); ++i)
          later = later || (i > stored && (steps[i].tile == static_cast<int16_t>(r) ||
                                           (steps[i].kind == RowStep::Kind::kCopy &&
                                            steps[i].a == static_cast<int16_t>(r))));
        group_->may_alias.push_back({static_cast<int16_t>(w), static_cast<int16_t>(r), later});
      }
    }
    group_->tiles = std::move(tiles_);
  }

  const isa::Program& program_;
  const std::vector<Step>& steps_;
  const Liveness& liveness_;
  std::unique_ptr<Group> group_;
  std::vector<TileRef> tiles_;
  std::vector<Content> contents_;
  bool kept_[kMaxTiles + 8] = {};  // by tile: its memory is read inside the group
  int64_t rows_ = 0, elements_ = 0;
  int shape_tile_ = -1;
  int next_value_ = 0;
  std::vector<int16_t> lazy_tile_;  // by value: the tile in whose memory it is read, or -1
};

bool Overlap(const Tile& a, const TileRef& a_ref, const Tile& b, const TileRef& b_ref) {
  return a.data + a_ref.low < b.data + b_ref.high && b.data + b_ref.low < a.data + a_ref.high;
}

bool SameLayout(const Tile& a, const Tile& b) {
  const TileShape& x = *a.shape;
  const TileShape& y = *b.shape;
  return a.data == b.data && x.element_bytes == y.element_bytes && x.contiguous() &&
         y.contiguous() && x.row_stride == y.row_stride;
}

}  // namespace

std::vector<std::unique_ptr<Group>> FindGroups(const isa::Program& program,
                                               const std::vector<Step>& steps) {
  std::vector<std::unique_ptr<Group>> groups;
  const Liveness liveness(program, steps);
  const auto count = static_cast<uint32_t>(steps.size());
  for (uint32_t i = 0; i < count;) {
    Builder builder(program, steps, liveness);
    uint32_t next = i;
    while (next < count && steps[next].control.kind == StepControl::Kind::kOperation &&
           builder.Add(next))
      ++next;
    if (auto group = builder.Finish()) groups.push_back(std::move(group));
    i = std::max(next, i + 1);
  }
  return groups;
}

void ExecuteGroup(const Group& group, const std::vector<Step>& steps, Execution& execution,
                  bool* done) {
  Tile tiles[kMaxTiles];
  TileShape unused;
  *done = false;
  const Operation& first = steps[group.first].operation;
  for (size_t t = 0; t < group.tiles.size(); ++t)
    if (!execution.Resolve(first, group.tiles[t], &unused, &tiles[t]).ok()) return;
  for (const Group::MayAlias& pair : group.may_alias) {
    const Tile& written = tiles[pair.written];
    const Tile& other = tiles[pair.other];
    if (!Overlap(written, group.tiles[pair.written], other, group.tiles[pair.other])) continue;
    if (pair.read_later || !SameLayout(written, other)) return;
  }
  RunRows(group.program, tiles, execution);
  *done = true;
}

}  // namespace neuron::emulator
