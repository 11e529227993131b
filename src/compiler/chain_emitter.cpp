// The loops of a chain: outer dimensions, blocks of rows in bands of equally many live columns; and
// what its producers multiply for each block.
#include <algorithm>

#include "compiler/chain.h"
#include "compiler/chain_results.h"
#include "compiler/live_columns.h"
#include "compiler/loop_body.h"
#include "compiler/operands.h"
#include "compiler/tiling.h"

namespace neuron::compiler {
namespace {

constexpr int64_t kColumnsInPsum = 1024;  // of a row of scores that leave PSUM at once
constexpr int64_t kMostBands = 8;         // blocks of rows with the same live columns

class ChainEmitter {
 public:
  ChainEmitter(EmitContext& ctx, const ChainProblem& p, LoopBody& body,
               std::vector<LoopBody>& epilogues)
      : ctx_(ctx),
        p_(p),
        body_(body),
        tiles_(ctx, p),
        results_(tiles_, body, epilogues),
        panels_(p.producers.size()) {}

  Status Run() {
    diagonal_ = LiveDiagonal(ctx_.plan, p_);
    NEURON_RETURN_IF_ERROR(Begin());
    NEURON_RETURN_IF_ERROR(Outer(0));
    body_.End();
    results_.End();
    return OkStatus();
  }

 private:
  Status Begin() {
    std::vector<bool> looped(p_.body.domain.size());
    for (int d = 0; d < p_.row(); ++d) looped[static_cast<size_t>(d)] = tiles_.Extent(d) > 1;
    looped[static_cast<size_t>(p_.row())] = p_.rows() > kChainRows;
    for (size_t i = 0; i < p_.consumers.size(); ++i) body_.Keep(p_.consumers[i].taken);
    NEURON_RETURN_IF_ERROR(
        body_.Begin(tiles_.BodySpec(std::min(p_.rows(), kChainRows), p_.columns()), looped));
    return results_.Begin();
  }

  Status Outer(int d) {
    std::vector<std::optional<Tile>*> loaded;
    for (size_t i = 0; i < p_.producers.size(); ++i) {
      const ChainProducer& x = p_.producers[i];
      if (tiles_.Depth(x.moving) != d) continue;
      const std::vector<KTile> tiles = TilesOfK(x.k);
      NEURON_ASSIGN_OR_RETURN(panels_[i],
                              tiles_.Panel(x.moving, p_.column(), p_.columns(), x.k.back(), tiles));
      loaded.push_back(&panels_[i]);
    }
    NEURON_RETURN_IF_ERROR(results_.LoadPanels(d, loaded));
    if (d == p_.row()) {
      NEURON_RETURN_IF_ERROR(Rows());
    } else {
      // An address has four registers: one is for rows.
      const bool unroll = outer_loops_ == 2;
      if (!unroll) ++outer_loops_;
      NEURON_RETURN_IF_ERROR(
          ForEachTile(ctx_, tiles_.Extent(d), 1, unroll, [&](Affine start, int64_t) {
            tiles_.start[static_cast<size_t>(d)] = start;
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

  Status Rows() {
    NEURON_RETURN_IF_ERROR(results_.BeginSums());
    const int64_t blocks = Blocks(p_.rows(), kChainRows);
    const int64_t per_band = diagonal_ ? Blocks(blocks, kMostBands) : blocks;
    for (int64_t first = 0; first < blocks; first += per_band) {
      const int64_t begin = first * kChainRows;
      const int64_t end = std::min(p_.rows(), (first + per_band) * kChainRows);
      int64_t live = p_.columns();
      if (diagonal_)  // whole tiles of columns, as the consumers take them
        live = std::clamp<int64_t>(Blocks(end + *diagonal_, kChainRows) * kChainRows, 1, live);
      NEURON_RETURN_IF_ERROR(Band(begin, end, live));
    }
    tiles_.row() = Affine(0);
    return results_.FinishSums();
  }

  Status Band(int64_t begin, int64_t end, int64_t live) {
    // The first block begins the sums of columns that no block had before.
    if (results_.WouldBeginSums(live) && end - begin > kChainRows) {
      NEURON_RETURN_IF_ERROR(Block(Affine(begin), kChainRows, live));
      begin += kChainRows;
    }
    return ForEachTile(ctx_, end - begin, kChainRows, false, [&](Affine start, int64_t rows) {
      return Block(start + Affine(begin), rows, live);
    });
  }

  Status Block(Affine start, int64_t rows, int64_t live) {
    tiles_.row() = start;
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
                              tiles_.Panel(x.stationary, p_.row(), rows, x.k.back(), tiles));
      if (whole) {
        NEURON_ASSIGN_OR_RETURN(const Tile sum,
                                ctx_.AllocatePsum(DType::kF32, Count(rows), {Count(live)}));
        for (int64_t at = 0; at < live; at += kWidthAtOnce)
          Multiply(Columns(sum.pattern, at, std::min(kWidthAtOnce, live - at)), tiles, stationary,
                   *panels_[i], at);
        psums.push_back(sum);
      } else {
        for (int64_t at = 0; at < live; at += kWidthAtOnce) {
          const int64_t count = std::min(kWidthAtOnce, live - at);
          NEURON_ASSIGN_OR_RETURN(const Tile sum,
                                  ctx_.AllocatePsum(DType::kF32, Count(rows), {Count(count)}));
          Multiply(sum.pattern, tiles, stationary, *panels_[i], at);
          ctx_.TensorCopy(Columns(value.pattern, at, count), sum.pattern);
          ctx_.Free(sum);
        }
      }
      ctx_.Free(stationary);
    }
    const TileSpec spec = tiles_.BodySpec(rows, live);
    NEURON_RETURN_IF_ERROR(body_.LoadRowValues(spec));
    for (size_t i = 0; i < psums.size(); ++i)
      ctx_.TensorCopy(given[i].second.pattern, psums[i].pattern);
    NEURON_RETURN_IF_ERROR(body_.Emit(spec, given));
    for (const Tile& sum : psums) ctx_.Free(sum);
    NEURON_RETURN_IF_ERROR(results_.Consume(spec, rows, live));
    body_.ReleaseKept();
    for (const auto& [dot, value] : given) ctx_.Free(value);
    return OkStatus();
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

  EmitContext& ctx_;
  const ChainProblem& p_;
  LoopBody& body_;
  ChainTiles tiles_;
  ChainResults results_;
  std::optional<int64_t> diagonal_;
  std::vector<std::optional<Tile>> panels_;  // by producer
  int outer_loops_ = 0;
};

}  // namespace

Status EmitChain(EmitContext& ctx, const Kernel& kernel) {
  auto problem = MakeChainProblem(ctx.plan, kernel.stages, kernel.results,
                                  [&](const hlo::Instruction* x) { return ctx.StoreOf(x); });
  NEURON_CHECK(problem.has_value(), "the chain of ", kernel.stages[0].hero->name(),
               " does not fit together any more");
  for (ChainConsumer& c : problem->consumers)
    if (c.contracts_rows) c.moving.domain[static_cast<size_t>(problem->row())] = c.moving.k[0];
  for (const ChainProducer& p : problem->producers)
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
