#include "emulator/group_builder.h"

#include <algorithm>
#include <array>

#include "emulator/group_aliases.h"
#include "emulator/program.h"
#include "emulator/reduction.h"
#include "emulator/row_execution.h"
#include "emulator/row_slots.h"
#include "emulator/strided_copy.h"

namespace neuron::emulator {
namespace {

constexpr size_t kMaxSteps = 256;  // finding what a group can drop looks at pairs of steps
constexpr int kMaxValues = 56;     // after slots were shared
constexpr int64_t kPartitionsAtOnce = 16;
constexpr ReduceRowsKernel kNoReduceRows[kNumAluOps] = {};
constexpr int64_t kStreamBytes = 16 << 20;  // tensors from this size on bypass the caches

ConvertKernel FloatConversion(const ConvertKernel (&table)[kNumDomains][kNumDTypes], DType dtype) {
  if (dtype == DType::kF32 || dtype == DType::kTF32) return nullptr;
  return table[static_cast<int>(Domain::kFloat)][static_cast<int>(dtype)];
}

}  // namespace

bool GroupBuilder::Add(uint32_t index) {
  if (group_ != nullptr && group_->program.steps.size() >= kMaxSteps) return false;
  GroupPart part(context_.steps[index].operation);
  if (part.op.tiles.empty() || tiles_.size() + part.op.tiles.size() > kMaxTiles) return false;
  if (!part.See(context_.core, rows_.sub_rows) || !rows_.Fit(part) || !Independent(part))
    return false;
  if (group_ == nullptr) {
    group_ = std::make_unique<Group>();
    group_->first = index;
  }
  group_->last = index + 1;
  ForgetWhatItWouldOverrun(part);
  if (part.copy) {
    AddCopy(part);
  } else if (part.reduces) {
    AddReduction(part);
  } else {
    AddRows(part);
  }
  return true;
}

// Every byte that the instruction shares with the group is the same element of the same tile, or,
// where a row is one chunk, a byte of the same row: rows pass through the group in program order.
// Operands of the instruction itself overlap only as the same tile.
bool GroupBuilder::Independent(const GroupPart& part) {
  bool whole = rows_.whole;
  for (size_t i = 0; i < part.tiles.size(); ++i) {
    const TileRef& tile = part.tiles[i];
    for (const TileRef& other : tiles_) {
      if (InStep(tile, other)) continue;
      if (!SameRows(tile, other)) return false;
      whole = true;
    }
    for (size_t j = 0; j < i; ++j)
      if (!InStep(tile, part.tiles[j])) return false;
  }
  rows_.whole = whole;
  return true;
}

bool GroupBuilder::InStep(const TileRef& a, const TileRef& b) const {
  if (!a.written && !b.written) return true;
  const bool walked = a.shape.elements == rows_.elements || (a.shape.elements == 1 && rows_.whole);
  return (walked && SameWalk(a, b)) || Disjoint(context_.program, a, b);
}

bool GroupBuilder::SameRows(const TileRef& a, const TileRef& b) const {
  return rows_.elements <= kWholeRow && !a.hbm && !b.hbm &&
         a.pattern->memory == b.pattern->memory &&
         a.pattern->start_partition == b.pattern->start_partition;
}

int16_t GroupBuilder::Intern(const GroupPart& part, int index) {
  const TileRef& tile = part.tiles[index];
  for (size_t i = 0; i < tiles_.size(); ++i)
    if (SameWalk(tiles_[i], tile) && tiles_[i].shape.dtype == tile.shape.dtype) {
      tiles_[i].written = tiles_[i].written || tile.written;
      return static_cast<int16_t>(i);
    }
  tiles_.push_back(tile);
  originals_.push_back(part.op.tiles[index]);
  contents_.emplace_back();
  if (shape_tile_ < 0 && rows_.elements > 1 && tile.shape.elements == rows_.elements)
    shape_tile_ = static_cast<int>(tiles_.size()) - 1;
  return static_cast<int16_t>(tiles_.size() - 1);
}

bool GroupBuilder::MayShare(int16_t a, int16_t b) const {
  return tiles_[a].hbm == tiles_[b].hbm && !Disjoint(context_.program, tiles_[a], tiles_[b]);
}

// The tile's memory is read inside the group: whatever was written there must be there.
void GroupBuilder::Keep(int16_t tile) {
  for (size_t i = 0; i < tiles_.size(); ++i)
    if (MayShare(static_cast<int16_t>(i), tile)) kept_[i] = true;
}

// The tile is about to be written: what was known of bytes there, and of values that are still
// read from there, is known no more. Who wants it reads the memory of its tile, and so keeps it.
void GroupBuilder::Forget(int16_t tile) {
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
void GroupBuilder::ForgetWhatItWouldOverrun(const GroupPart& part) {
  for (const TileRef& tile : part.tiles) {
    if (!tile.written) continue;
    const auto across = [&](int16_t other) {
      return other >= 0 && tiles_[other].hbm == tile.hbm && !SameWalk(tiles_[other], tile) &&
             !Disjoint(context_.program, tiles_[other], tile);
    };
    for (Content& content : contents_)
      if (across(content.source) || (content.value >= 0 && across(lazy_tile_[content.value])))
        content = {};
  }
}

void GroupBuilder::AddCopy(const GroupPart& part) {
  const int16_t dst = Intern(part, 0);
  const int16_t src = Intern(part, 1);
  const Content from = contents_[src];
  RowStep step;
  step.tile = dst;
  step.dtype = tiles_[dst].shape.dtype;
  if (from.value >= 0) {
    step.kind = RowStep::Kind::kStore;
    step.a = from.value;
    step.convert = from.store;
    step.scalar = part.per_row;
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

void GroupBuilder::AddRows(const GroupPart& part) {
  const auto& rows = part.op.as<RowProgram>();
  std::array<int16_t, kMaxRowValues> map{};  // the instruction's values in the group
  for (RowStep step : rows.steps) {
    const int16_t out = step.out;
    if (step.kind != RowStep::Kind::kLoad && step.kind != RowStep::Kind::kLoadScalar &&
        step.kind != RowStep::Kind::kStore)
      step.tile = -1;
    const int16_t tile = step.tile;
    if (tile >= 0) step.tile = Intern(part, tile);
    const bool spread = step.kind == RowStep::Kind::kLoad && part.spread[tile];
    if (part.per_row || spread) {
      step.scalar = true;
      if (step.kind == RowStep::Kind::kLoad) step.kind = RowStep::Kind::kLoadScalar;
    }
    for (int16_t* operand : {&step.a, &step.b, &step.c})
      if (*operand >= 0) *operand = map[*operand];
    if (step.kind == RowStep::Kind::kBinary && !step.scalar) AddSpreadForm(&step);
    if (step.kind == RowStep::Kind::kSelect && !step.scalar) {
      const int16_t row = scalar_[step.a] ? step.b : step.a;
      for (int16_t* operand : {&step.a, &step.b, &step.c})
        if (scalar_[*operand]) *operand = AddSpread(*operand, row);
    }
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
    if (reduce.tile >= 0) StoreScalar(part, result, reduce.tile, reduce.store);
  }
}

// The operator's form for an operand that has become one value per row.
void GroupBuilder::AddSpreadForm(RowStep* step) const {
  if (step->form != OperandForm::kRowRow) return;
  if (scalar_[step->b]) step->form = OperandForm::kRowValue;
  if (scalar_[step->a]) step->form = OperandForm::kValueRow;
  step->binary = Kernels().binary[static_cast<int>(step->domain)][static_cast<int>(step->alu)]
                                 [static_cast<int>(step->form)];
}

// A row of the value that `scalar` is for it, as long as the row `like`.
int16_t GroupBuilder::AddSpread(int16_t scalar, int16_t like) {
  RowStep step;
  step.kind = RowStep::Kind::kBinary;
  step.domain = Domain::kSigned;  // bits, whatever they mean
  step.alu = isa::AluOp::kBypass;
  step.form = OperandForm::kValueRow;
  step.binary = Kernels().binary[static_cast<int>(step.domain)][static_cast<int>(step.alu)]
                                [static_cast<int>(step.form)];
  step.a = scalar;
  step.b = like;
  return Append(step);
}

void GroupBuilder::AddReduction(const GroupPart& part) {
  RowStep load;
  load.kind = RowStep::Kind::kLoad;
  load.tile = Intern(part, 1);
  load.dtype = part.tiles[1].shape.dtype;
  load.convert = FloatConversion(Kernels().load, load.dtype);
  const int16_t row = AddLoad(load);
  StoreScalar(part, AddReduce(row, part.reduction.op, part.reduction.negate, nullptr), 0,
              FloatConversion(Kernels().store, part.tiles[0].shape.dtype));
}

int16_t GroupBuilder::AddReduce(int16_t row, isa::AluOp op, bool negate, float* accumulator) {
  RowStep step;
  step.kind = RowStep::Kind::kReduce;
  step.a = row;
  step.reduce = op;
  step.reduce_rows = Kernels().reduce_rows[static_cast<int>(op)];
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

void GroupBuilder::StoreScalar(const GroupPart& part, int16_t value, int tile,
                               ConvertKernel convert) {
  RowStep step;
  step.kind = RowStep::Kind::kStore;
  step.a = value;
  step.tile = Intern(part, tile);
  step.dtype = part.tiles[tile].shape.dtype;
  step.convert = convert;
  step.scalar = true;
  AddStore(step);
}

int16_t GroupBuilder::Append(RowStep step) {
  step.out = static_cast<int16_t>(next_value_++);
  const bool lazy = step.kind == RowStep::Kind::kLoad && step.convert == nullptr;
  lazy_tile_.push_back(lazy ? step.tile : int16_t{-1});
  const auto uniform = [&](int16_t value) { return value < 0 || uniform_[value]; };
  bool same = step.kind == RowStep::Kind::kScalar;
  if (step.kind == RowStep::Kind::kLoadScalar) same = tiles_[step.tile].shape.sub_stride == 0;
  if (step.kind == RowStep::Kind::kUnary || step.kind == RowStep::Kind::kBinary)
    same = step.scalar && uniform(step.a) && uniform(step.b);
  if (step.kind == RowStep::Kind::kBinary && !step.scalar)
    step.uniform = uniform(step.form == OperandForm::kRowValue ? step.b : step.a);
  scalar_.push_back(step.scalar);
  uniform_.push_back(same);
  group_->program.steps.push_back(step);
  return step.out;
}

int16_t GroupBuilder::AddLoad(RowStep step) {
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

void GroupBuilder::AddStore(RowStep step) {
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
void GroupBuilder::Elide() {
  std::erase_if(group_->program.steps, [&](const RowStep& step) {
    if (step.kind != RowStep::Kind::kStore && step.kind != RowStep::Kind::kCopy) return false;
    return !tiles_[step.tile].hbm && !kept_[step.tile] &&
           !context_.liveness.ReadFrom(group_->last, originals_[step.tile]);
  });
}

// Whether what is left to write in SBUF and PSUM meets, of what the group reads or writes there,
// only its own row. Rows of different partitions never meet.
bool GroupBuilder::RowsAreApart() const {
  if (rows_.sub_rows == 1) return true;
  std::vector<int16_t> used, written;
  for (const RowStep& step : group_->program.steps) {
    if (step.tile >= 0) used.push_back(step.tile);
    if (step.kind == RowStep::Kind::kCopy) used.push_back(step.a);
    if (step.kind == RowStep::Kind::kStore || step.kind == RowStep::Kind::kCopy)
      written.push_back(step.tile);
  }
  for (const int16_t w : written)
    for (const int16_t u : used)
      if (!InStep(tiles_[w], tiles_[u])) return false;
  return true;
}

// Rows that are loaded for nothing but a reduction are reduced as they lie.
void GroupBuilder::ReduceInPlace() {
  std::vector<RowStep>& steps = group_->program.steps;
  if (rows_.elements > kReduceChunk) return;
  for (size_t i = 0; i < steps.size(); ++i) {
    const RowStep load = steps[i];
    if (load.kind != RowStep::Kind::kLoad || !tiles_[load.tile].shape.contiguous()) continue;
    const KernelTable& kernels = Kernels();
    const auto& table = load.convert == nullptr      ? kernels.reduce_rows
                        : load.dtype == DType::kBF16 ? kernels.reduce_bf16_rows
                                                     : kNoReduceRows;
    const auto reads = [&](const RowStep& step) {
      return step.kind != RowStep::Kind::kCopy &&
             (step.a == load.out || step.b == load.out || step.c == load.out);
    };
    if (std::count_if(steps.begin(), steps.end(), reads) != 1) continue;
    const auto reader = std::find_if(steps.begin(), steps.end(), reads);
    if (reader->kind != RowStep::Kind::kReduce) continue;
    const ReduceRowsKernel kernel = table[static_cast<int>(reader->reduce)];
    if (kernel == nullptr || std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(i), reader,
                                         [&](const RowStep& step) {
                                           return (step.kind == RowStep::Kind::kStore ||
                                                   step.kind == RowStep::Kind::kCopy) &&
                                                  MayShare(step.tile, load.tile);
                                         }))
      continue;
    reader->a = -1;
    reader->tile = load.tile;
    reader->reduce_rows = kernel;
  }
}

// A value that is computed right before its store is computed in place; large outputs stream,
// unless computing takes longer than the caches need to write them back.
void GroupBuilder::Bind() {
  std::vector<RowStep>& steps = group_->program.steps;
  const bool slow = std::any_of(steps.begin(), steps.end(),
                                [](const RowStep& step) { return step.slow && !step.scalar; });
  for (size_t i = 0; i < steps.size(); ++i) {
    RowStep& store = steps[i];
    if (store.kind != RowStep::Kind::kStore && store.kind != RowStep::Kind::kCopy) continue;
    const TileRef& tile = tiles_[store.tile];
    store.stream = !slow && tile.hbm && context_.program.tensors[tile.tensor].bytes >= kStreamBytes;
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
bool GroupBuilder::ReadsAcross(const RowStep& step, int16_t tile) const {
  for (const int16_t operand : {step.a, step.b, step.c}) {
    const int16_t lazy = operand >= 0 ? lazy_tile_[operand] : int16_t{-1};
    if (lazy >= 0 && MayShare(lazy, tile) && !SameWalk(tiles_[lazy], tiles_[tile])) return true;
  }
  return false;
}

// Whether a later step writes the tile of the store at `index`: a value that lives there would be
// lost to those who still use it.
bool GroupBuilder::WrittenAfter(size_t index) const {
  const std::vector<RowStep>& steps = group_->program.steps;
  for (size_t i = index + 1; i < steps.size(); ++i)
    if ((steps[i].kind == RowStep::Kind::kStore || steps[i].kind == RowStep::Kind::kCopy) &&
        MayShare(steps[i].tile, steps[index].tile))
      return true;
  return false;
}

// What the executor wants to know of the finished program.
void GroupBuilder::Describe() {
  RowProgram& program = group_->program;
  program.sub_rows = rows_.sub_rows;
  if (rows_.whole)
    program.chunk = (rows_.elements + kReduceLanes - 1) / kReduceLanes * kReduceLanes;
  for (const RowStep& step : program.steps) {
    const bool stores = step.kind == RowStep::Kind::kStore || step.kind == RowStep::Kind::kCopy;
    if (stores || step.accumulator != nullptr)
      group_->writes_on_chip |= step.accumulator != nullptr || !tiles_[step.tile].hbm;
    if (!step.scalar || step.kind == RowStep::Kind::kReduce)
      program.ns_per_element += step.kind == RowStep::Kind::kUnary ? 0.4 : 0.1;
  }
  // Nothing is as long as a row: partitions are taken together, which costs the caches nothing.
  const bool short_values =
      rows_.sub_rows == 1 && rows_.whole &&
      std::all_of(program.steps.begin(), program.steps.end(), [&](const RowStep& step) {
        if (step.kind == RowStep::Kind::kCopy) return tiles_[step.tile].shape.elements == 1;
        return step.scalar && (step.kind != RowStep::Kind::kReduce || step.a < 0);
      });
  if (short_values) program.partitions = kPartitionsAtOnce;
}

// Only what the program still touches is resolved at each execution.
void GroupBuilder::DropUnusedTiles() {
  RowProgram& program = group_->program;
  std::vector<int16_t> place(tiles_.size(), -1);
  const auto take = [&](int16_t tile) {
    if (place[tile] < 0) {
      place[tile] = static_cast<int16_t>(group_->tiles.size());
      group_->tiles.push_back(tiles_[tile]);
    }
    return place[tile];
  };
  for (RowStep& step : program.steps) {
    if (step.tile >= 0) step.tile = take(step.tile);
    if (step.kind == RowStep::Kind::kCopy) step.a = take(step.a);
  }
  program.shape_tile = take(static_cast<int16_t>(shape_tile_));
}

std::unique_ptr<Group> GroupBuilder::Finish() {
  if (group_ == nullptr || group_->last - group_->first < 2 || shape_tile_ < 0) return nullptr;
  Elide();
  if (!RowsAreApart()) return nullptr;
  ReduceInPlace();
  Bind();
  group_->program.num_values = ShareSlots(&group_->program.steps, next_value_);
  Describe();
  if (group_->program.num_values > kMaxValues) return nullptr;
  DropUnusedTiles();
  group_->may_alias = FindAliases(*group_);
  return std::move(group_);
}

}  // namespace neuron::emulator
