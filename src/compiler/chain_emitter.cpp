#include <algorithm>

#include "compiler/chain.h"
#include "compiler/chain_problem.h"
#include "compiler/dot_panel.h"
#include "compiler/live_columns.h"
#include "compiler/loop_body.h"
#include "compiler/operands.h"
#include "compiler/tiling.h"

namespace neuron::compiler {
namespace {

constexpr int64_t kRows = isa::kPartitions;
constexpr int64_t kBankColumns = kWidthAtOnce;
constexpr int64_t kColumnsInPsum = 1024;  // of a row of scores that leave PSUM at once
constexpr int64_t kMostBands = 8;         // blocks of rows with the same live columns

int64_t Blocks(int64_t n, int64_t of) { return (n + of - 1) / of; }

class ChainEmitter {
 public:
  ChainEmitter(EmitContext& ctx, ChainProblem& p, LoopBody& body, std::vector<LoopBody>& epilogues)
      : ctx_(ctx), p_(p), body_(body), epilogues_(epilogues) {}

  Status Run() {
    for (ChainConsumer& c : p_.consumers)
      if (c.contracts_rows) c.moving.domain[static_cast<size_t>(p_.row())] = c.moving.k[0];
    diagonal_ = LiveDiagonal(ctx_.plan, p_);
    start_.assign(p_.body.domain.size() + 1, Affine(0));
    columns_tiles_ = TilesOfK({p_.columns()});
    NEURON_RETURN_IF_ERROR(Begin());
    producer_panels_.resize(p_.producers.size());
    consumer_panels_.resize(p_.consumers.size());
    NEURON_RETURN_IF_ERROR(Outer(0));
    body_.End();
    for (LoopBody& epilogue : epilogues_) epilogue.End();
    return OkStatus();
  }

 private:
  int64_t Extent(int d) const { return p_.body.domain[static_cast<size_t>(d)]; }

  // ---- Tiles of the body and of the consumers' results --------------------------------------
  TileSpec BodySpec(int64_t rows, int64_t columns) const {
    TileSpec spec;
    spec.start.assign(start_.begin(), start_.end() - 1);
    spec.partition = {p_.row(), 1, Count(rows)};
    spec.free = {{p_.column(), 1, Count(columns)}};
    return spec;
  }
  TileSpec ResultSpec(const ChainConsumer& c, Affine row, int64_t rows, int64_t column,
                      int64_t columns) const {
    TileSpec spec;
    for (int d : c.body_dim)
      spec.start.push_back(d < 0 ? Affine(column) : start_[static_cast<size_t>(d)]);
    spec.start[static_cast<size_t>(c.row)] = row;
    spec.partition = {c.row, 1, Count(rows)};
    spec.free = {{c.column, 1, Count(columns)}};
    return spec;
  }

  Status Begin() {
    std::vector<bool> looped(p_.body.domain.size());
    for (int d = 0; d < p_.row(); ++d) looped[static_cast<size_t>(d)] = Extent(d) > 1;
    looped[static_cast<size_t>(p_.row())] = p_.rows() > kRows;
    for (size_t i = 0; i < p_.consumers.size(); ++i) body_.Keep(p_.consumers[i].taken);
    NEURON_RETURN_IF_ERROR(body_.Begin(BodySpec(std::min(p_.rows(), kRows), p_.columns()), looped));
    for (size_t i = 0; i < p_.consumers.size(); ++i) {
      const ChainConsumer& c = p_.consumers[i];
      const Dims& domain = c.shaped.domain;
      std::vector<bool> varies(domain.size());
      for (size_t d = 0; d < domain.size(); ++d) varies[d] = domain[d] > 1;
      const int64_t rows = domain[static_cast<size_t>(c.row)];
      varies[static_cast<size_t>(c.row)] = rows > kRows;
      varies[static_cast<size_t>(c.column)] = c.width > kBankColumns;
      const TileSpec largest =
          ResultSpec(c, Affine(0), std::min(rows, kRows), 0, std::min(c.width, kBankColumns));
      NEURON_RETURN_IF_ERROR(epilogues_[i].Begin(largest, varies));
    }
    return OkStatus();
  }

  // ---- Loops --------------------------------------------------------------------------------
  // The outer dimensions that decide where an operand's panel lies: it is loaded inside them.
  int Depth(const DotOperand& operand) const {
    int depth = 0;
    for (int d = 0; d < p_.row(); ++d)
      if (operand.domain[static_cast<size_t>(d)] != 0 && Extent(d) > 1) depth = d + 1;
    return depth;
  }

  Status Outer(int d) {
    std::vector<std::optional<Tile>*> loaded;
    for (size_t i = 0; i < p_.producers.size(); ++i) {
      const ChainProducer& x = p_.producers[i];
      if (Depth(x.moving) != d) continue;
      const std::vector<KTile> tiles = TilesOfK(x.k);
      NEURON_ASSIGN_OR_RETURN(producer_panels_[i],
                              Panel(x.moving, p_.column(), p_.columns(), x.k.back(), tiles));
      loaded.push_back(&producer_panels_[i]);
    }
    for (size_t i = 0; i < p_.consumers.size(); ++i) {
      const ChainConsumer& c = p_.consumers[i];
      if (c.contracts_rows || Depth(c.moving) != d) continue;
      NEURON_ASSIGN_OR_RETURN(consumer_panels_[i], Panel(c.moving, p_.column() + 1, c.width,
                                                         p_.columns(), columns_tiles_));
      loaded.push_back(&consumer_panels_[i]);
    }
    if (d == p_.row()) {
      NEURON_RETURN_IF_ERROR(Rows());
    } else {
      // An address has four registers: one is for rows.
      const bool unroll = outer_loops_ == 2;
      if (!unroll) ++outer_loops_;
      NEURON_RETURN_IF_ERROR(ForEachTile(ctx_, Extent(d), 1, unroll, [&](Affine start, int64_t) {
        start_[static_cast<size_t>(d)] = start;
        return Outer(d + 1);
      }));
      if (!unroll) --outer_loops_;
    }
    for (std::optional<Tile>* tile : loaded) {
      ctx_.Free(**tile);
      tile->reset();
    }
    return OkStatus();
  }

  StatusOr<Tile> Panel(const DotOperand& operand, int dim, int64_t length, int64_t k,
                       std::span<const KTile> tiles) {
    NEURON_ASSIGN_OR_RETURN(const Tile panel,
                            AllocatePanel(ctx_, operand.view.dtype, k, tiles.size(), length));
    NEURON_RETURN_IF_ERROR(LoadPanel(ctx_, operand, start_, dim, length, tiles, panel));
    return panel;
  }

  Status Rows() {
    NEURON_RETURN_IF_ERROR(BeginSums());
    const int64_t blocks = Blocks(p_.rows(), kRows);
    const int64_t per_band = diagonal_ ? Blocks(blocks, kMostBands) : blocks;
    for (int64_t first = 0; first < blocks; first += per_band) {
      const int64_t begin = first * kRows;
      const int64_t end = std::min(p_.rows(), (first + per_band) * kRows);
      int64_t live = p_.columns();
      if (diagonal_)  // whole tiles of columns, as the consumers take them
        live = std::clamp<int64_t>(Blocks(end + *diagonal_, kRows) * kRows, 1, live);
      NEURON_RETURN_IF_ERROR(Band(begin, end, live));
    }
    start_[static_cast<size_t>(p_.row())] = Affine(0);
    return FinishSums();
  }

  Status Band(int64_t begin, int64_t end, int64_t live) {
    // The first block begins the sums of columns that no block had before.
    if (!sums_.empty() && live > summed_ && end - begin > kRows) {
      NEURON_RETURN_IF_ERROR(Block(Affine(begin), kRows, live));
      begin += kRows;
    }
    return ForEachTile(ctx_, end - begin, kRows, false, [&](Affine start, int64_t rows) {
      return Block(start + Affine(begin), rows, live);
    });
  }

  // ---- One block of rows --------------------------------------------------------------------
  Status Block(Affine start, int64_t rows, int64_t live) {
    start_[static_cast<size_t>(p_.row())] = start;
    std::vector<Tile> psums;
    std::vector<std::pair<const hlo::Instruction*, Tile>> given;
    const bool whole = live <= kColumnsInPsum;
    for (size_t i = 0; i < p_.producers.size(); ++i) {
      const ChainProducer& x = p_.producers[i];
      const hlo::Instruction* dot = x.stage->hero;
      ctx_.SetSource(dot);
      NEURON_ASSIGN_OR_RETURN(const Tile value,
                              ctx_.AllocateTile(dot->shape().dtype, Count(rows), {Count(live)}));
      given.emplace_back(dot, value);
      const std::vector<KTile> tiles = TilesOfK(x.k);
      NEURON_ASSIGN_OR_RETURN(const Tile stationary,
                              Panel(x.stationary, p_.row(), rows, x.k.back(), tiles));
      if (whole) {
        NEURON_ASSIGN_OR_RETURN(const Tile sum,
                                ctx_.AllocatePsum(DType::kF32, Count(rows), {Count(live)}));
        for (int64_t at = 0; at < live; at += kBankColumns)
          Multiply(Columns(sum.pattern, at, std::min(kBankColumns, live - at)), tiles, stationary,
                   *producer_panels_[i], at);
        psums.push_back(sum);
      } else {
        for (int64_t at = 0; at < live; at += kBankColumns) {
          const int64_t count = std::min(kBankColumns, live - at);
          NEURON_ASSIGN_OR_RETURN(const Tile sum,
                                  ctx_.AllocatePsum(DType::kF32, Count(rows), {Count(count)}));
          Multiply(sum.pattern, tiles, stationary, *producer_panels_[i], at);
          ctx_.TensorCopy(Columns(value.pattern, at, count), sum.pattern);
          ctx_.Free(sum);
        }
      }
      ctx_.Free(stationary);
    }
    const TileSpec spec = BodySpec(rows, live);
    NEURON_RETURN_IF_ERROR(body_.LoadRowValues(spec));
    for (size_t i = 0; i < psums.size(); ++i)
      ctx_.TensorCopy(given[i].second.pattern, psums[i].pattern);
    NEURON_RETURN_IF_ERROR(body_.Emit(spec, given));
    for (const Tile& sum : psums) ctx_.Free(sum);
    NEURON_RETURN_IF_ERROR(Consume(spec, rows, live));
    body_.ReleaseKept();
    for (const auto& [dot, value] : given) ctx_.Free(value);
    return OkStatus();
  }

  static AccessPattern Columns(AccessPattern p, int64_t begin, int64_t count) {
    p.offset = p.offset + Affine(begin * ByteSize(p.dtype));
    p.dims[0] = {1, Count(count)};
    p.num_dims = 1;
    return p;
  }

  void Multiply(const AccessPattern& sum, std::span<const KTile> tiles, const Tile& stationary,
                const Tile& moving, int64_t column) {
    const int64_t rows = sum.partitions.max, columns = sum.dims[0].count.max;
    for (size_t t = 0; t < tiles.size(); ++t) {
      const auto slot = static_cast<int64_t>(t);
      ctx_.Matmul(sum, PanelSlot(stationary, slot, tiles[t].count, 0, rows),
                  PanelSlot(moving, slot, tiles[t].count, column, columns), t > 0);
    }
  }

  Status Consume(const TileSpec& spec, int64_t rows, int64_t live) {
    const hlo::Instruction* transposed = nullptr;
    std::optional<Tile> columns;  // of the value `transposed`: [column][tile][row]
    for (size_t i = 0; i < p_.consumers.size(); ++i) {
      const ChainConsumer& c = p_.consumers[i];
      AccessPattern x = body_.Kept(c.taken, spec);
      std::optional<Tile> dense;
      if (x.dims[0].step != 1) {  // it does not vary along the row
        NEURON_ASSIGN_OR_RETURN(dense, ctx_.AllocateTile(x.dtype, Count(rows), {Count(live)}));
        ctx_.TensorCopy(dense->pattern, x);
        x = dense->pattern;
      }
      ctx_.SetSource(c.stage->hero);
      if (c.contracts_rows) {
        NEURON_RETURN_IF_ERROR(AddToSums(i, x, rows, live));
      } else {
        if (transposed != c.taken) {
          if (columns) ctx_.Free(*columns);
          NEURON_ASSIGN_OR_RETURN(columns, Transposed(x, rows, live));
          transposed = c.taken;
        }
        NEURON_RETURN_IF_ERROR(MultiplyRows(i, *columns, rows, live));
      }
      if (dense) ctx_.Free(*dense);
    }
    if (columns) ctx_.Free(*columns);
    return OkStatus();
  }

  StatusOr<Tile> Transposed(const AccessPattern& x, int64_t rows, int64_t live) {
    NEURON_ASSIGN_OR_RETURN(
        const Tile columns,
        AllocatePanel(ctx_, x.dtype, live, static_cast<size_t>(Blocks(live, kRows)), rows));
    for (int64_t at = 0; at < live; at += kRows) {
      const int64_t count = std::min(kRows, live - at);
      ctx_.DmaTranspose(PanelSlot(columns, at / kRows, count, 0, rows), Columns(x, at, count));
    }
    return columns;
  }

  Status MultiplyRows(size_t i, const Tile& columns, int64_t rows, int64_t live) {
    const ChainConsumer& c = p_.consumers[i];
    for (int64_t w = 0; w < c.width; w += kBankColumns) {
      const int64_t width = std::min(kBankColumns, c.width - w);
      NEURON_ASSIGN_OR_RETURN(const Tile sum,
                              ctx_.AllocatePsum(DType::kF32, Count(rows), {Count(width)}));
      for (int64_t at = 0; at < live; at += kRows) {
        const int64_t count = std::min(kRows, live - at);
        ctx_.Matmul(sum.pattern, PanelSlot(columns, at / kRows, count, 0, rows),
                    PanelSlot(*consumer_panels_[i], at / kRows, count, w, width), at > 0);
      }
      NEURON_RETURN_IF_ERROR(Finish(
          i, sum.pattern, ResultSpec(c, start_[static_cast<size_t>(p_.row())], rows, w, width)));
      ctx_.Free(sum);
    }
    return OkStatus();
  }

  // ---- Sums over blocks of rows -------------------------------------------------------------
  struct Sums {
    size_t consumer;
    int64_t per_bank;  // tiles of columns in one PSUM bank
    std::vector<Tile> banks;
  };

  Status BeginSums() {
    summed_ = 0;
    sums_.clear();
    for (size_t i = 0; i < p_.consumers.size(); ++i) {
      const ChainConsumer& c = p_.consumers[i];
      if (!c.contracts_rows) continue;
      Sums sums{.consumer = i, .per_bank = kBankColumns / c.width, .banks = {}};
      const int64_t slots = Blocks(p_.columns(), kRows);
      for (int64_t b = 0; b < Blocks(slots, sums.per_bank); ++b) {
        const int64_t in_bank = std::min(sums.per_bank, slots);
        NEURON_ASSIGN_OR_RETURN(const Tile bank,
                                ctx_.AllocatePsum(DType::kF32, Count(std::min(p_.columns(), kRows)),
                                                  {Count(in_bank), Count(c.width)}));
        sums.banks.push_back(bank);
      }
      sums_.push_back(std::move(sums));
    }
    return OkStatus();
  }

  AccessPattern Sum(const Sums& sums, int64_t slot, int64_t count) const {
    return PanelSlot(sums.banks[static_cast<size_t>(slot / sums.per_bank)], slot % sums.per_bank,
                     count, 0, p_.consumers[sums.consumer].width);
  }

  Status AddToSums(size_t i, const AccessPattern& x, int64_t rows, int64_t live) {
    const ChainConsumer& c = p_.consumers[i];
    const auto sums =
        std::find_if(sums_.begin(), sums_.end(), [&](const Sums& s) { return s.consumer == i; });
    const KTile all[] = {{{}, 0, rows}};
    NEURON_ASSIGN_OR_RETURN(const Tile moving,
                            Panel(c.moving, p_.column() + 1, c.width, rows, all));
    for (int64_t at = 0; at < live; at += kRows) {
      const int64_t count = std::min(kRows, live - at);
      ctx_.Matmul(Sum(*sums, at / kRows, count), Columns(x, at, count),
                  PanelSlot(moving, 0, rows, 0, c.width), at < summed_);
    }
    ctx_.Free(moving);
    if (sums == sums_.end() - 1) summed_ = std::max(summed_, live);
    return OkStatus();
  }

  Status FinishSums() {
    for (const Sums& sums : sums_) {
      const ChainConsumer& c = p_.consumers[sums.consumer];
      ctx_.SetSource(c.stage->hero);
      for (int64_t at = 0; at < p_.columns(); at += kRows) {
        const int64_t count = std::min(kRows, p_.columns() - at);
        NEURON_RETURN_IF_ERROR(
            Finish(sums.consumer,
                   at < summed_ ? std::optional(Sum(sums, at / kRows, count)) : std::nullopt,
                   ResultSpec(c, Affine(at), count, 0, c.width)));
      }
      for (const Tile& bank : sums.banks) ctx_.Free(bank);
    }
    sums_.clear();
    return OkStatus();
  }

  // A tile of a consumer's result leaves PSUM, through its epilogue. No sum: zeros.
  Status Finish(size_t i, const std::optional<AccessPattern>& sum, const TileSpec& spec) {
    const hlo::Instruction* dot = p_.consumers[i].stage->hero;
    NEURON_ASSIGN_OR_RETURN(
        const Tile value,
        ctx_.AllocateTile(dot->shape().dtype, spec.partition.count, {spec.free[0].count}));
    if (sum)
      ctx_.TensorCopy(value.pattern, *sum);
    else
      ctx_.Memset(value.pattern, 0);
    NEURON_RETURN_IF_ERROR(epilogues_[i].Emit(spec, {{dot, value}}));
    ctx_.Free(value);
    return OkStatus();
  }

  EmitContext& ctx_;
  ChainProblem& p_;
  LoopBody& body_;
  std::vector<LoopBody>& epilogues_;
  std::optional<int64_t> diagonal_;
  std::vector<Affine> start_;  // per dimension of the body, then the width
  std::vector<KTile> columns_tiles_;
  std::vector<std::optional<Tile>> producer_panels_, consumer_panels_;
  std::vector<Sums> sums_;
  int64_t summed_ = 0;  // columns whose sums have begun
  int outer_loops_ = 0;
};

}  // namespace

Status EmitChain(EmitContext& ctx, const Kernel& kernel) {
  auto problem = MakeChainProblem(ctx.plan, kernel.stages, kernel.results,
                                  [&](const hlo::Instruction* x) { return ctx.StoreOf(x); });
  NEURON_CHECK(problem.has_value(), "the chain of ", kernel.stages[0].hero->name(),
               " does not fit together any more");
  for (ChainProducer& p : problem->producers)
    for (int side = 0; side < 2; ++side)
      NEURON_RETURN_IF_ERROR(OperandView(ctx, p.stage->hero->operand(side)).status());
  for (const ChainConsumer& c : problem->consumers)
    for (const hlo::Instruction* operand : c.stage->hero->operands())
      if (ctx.plan.ViewOf(operand).base != c.taken)
        NEURON_RETURN_IF_ERROR(OperandView(ctx, operand).status());
  NEURON_ASSIGN_OR_RETURN(LoopBody body, LoopBody::Create(ctx, problem->body));
  std::vector<LoopBody> epilogues;
  for (const ChainConsumer& c : problem->consumers) {
    NEURON_ASSIGN_OR_RETURN(LoopBody epilogue, LoopBody::Create(ctx, c.shaped));
    epilogues.push_back(std::move(epilogue));
  }
  return ChainEmitter(ctx, *problem, body, epilogues).Run();
}

}  // namespace neuron::compiler
