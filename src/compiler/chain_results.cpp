#include "compiler/chain_results.h"

#include <algorithm>

namespace neuron::compiler {

ChainResults::ChainResults(ChainTiles& tiles, LoopBody& body, std::vector<LoopBody>& epilogues)
    : tiles_(tiles),
      ctx_(tiles.ctx),
      p_(tiles.p),
      body_(body),
      epilogues_(epilogues),
      columns_tiles_(TilesOfK({tiles.p.columns()})),
      panels_(tiles.p.consumers.size()) {}

Status ChainResults::Begin() {
  for (size_t i = 0; i < p_.consumers.size(); ++i) {
    const ChainConsumer& c = p_.consumers[i];
    const Dims& domain = c.shaped.domain;
    std::vector<bool> varies(domain.size());
    for (size_t d = 0; d < domain.size(); ++d) varies[d] = domain[d] > 1;
    const int64_t rows = domain[static_cast<size_t>(c.row)];
    varies[static_cast<size_t>(c.row)] = rows > kChainRows;
    varies[static_cast<size_t>(c.column)] = c.width > kWidthAtOnce;
    const TileSpec largest = tiles_.ResultSpec(c, Affine(0), std::min(rows, kChainRows), 0,
                                               std::min(c.width, kWidthAtOnce));
    NEURON_RETURN_IF_ERROR(epilogues_[i].Begin(largest, varies));
  }
  return OkStatus();
}

Status ChainResults::LoadPanels(int depth, std::vector<std::optional<Tile>*>& loaded) {
  for (size_t i = 0; i < p_.consumers.size(); ++i) {
    const ChainConsumer& c = p_.consumers[i];
    if (c.contracts_rows || tiles_.Depth(c.moving) != depth) continue;
    NEURON_ASSIGN_OR_RETURN(
        panels_[i], tiles_.Panel(c.moving, p_.column() + 1, c.width, p_.columns(), columns_tiles_));
    loaded.push_back(&panels_[i]);
  }
  return OkStatus();
}

Status ChainResults::Consume(const TileSpec& spec, int64_t rows, int64_t live) {
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

StatusOr<Tile> ChainResults::Transposed(const AccessPattern& x, int64_t rows, int64_t live) {
  NEURON_ASSIGN_OR_RETURN(
      const Tile columns,
      AllocatePanel(ctx_, x.dtype, live, static_cast<size_t>(Blocks(live, kChainRows)), rows));
  for (int64_t at = 0; at < live; at += kChainRows) {
    const int64_t count = std::min(kChainRows, live - at);
    ctx_.DmaTranspose(PanelSlot(columns, at / kChainRows, count, 0, rows), Columns(x, at, count));
  }
  return columns;
}

Status ChainResults::MultiplyRows(size_t i, const Tile& columns, int64_t rows, int64_t live) {
  const ChainConsumer& c = p_.consumers[i];
  for (int64_t w = 0; w < c.width; w += kWidthAtOnce) {
    const int64_t width = std::min(kWidthAtOnce, c.width - w);
    NEURON_ASSIGN_OR_RETURN(const Tile sum,
                            ctx_.AllocatePsum(DType::kF32, Count(rows), {Count(width)}));
    for (int64_t at = 0; at < live; at += kChainRows) {
      const int64_t count = std::min(kChainRows, live - at);
      ctx_.Matmul(sum.pattern, PanelSlot(columns, at / kChainRows, count, 0, rows),
                  PanelSlot(*panels_[i], at / kChainRows, count, w, width), at > 0);
    }
    NEURON_RETURN_IF_ERROR(
        Finish(i, sum.pattern, tiles_.ResultSpec(c, tiles_.row(), rows, w, width)));
    ctx_.Free(sum);
  }
  return OkStatus();
}

Status ChainResults::BeginSums() {
  summed_ = 0;
  sums_.clear();
  for (size_t i = 0; i < p_.consumers.size(); ++i) {
    const ChainConsumer& c = p_.consumers[i];
    if (!c.contracts_rows) continue;
    Sums sums{.consumer = i, .per_bank = kWidthAtOnce / c.width, .banks = {}};
    const int64_t slots = Blocks(p_.columns(), kChainRows);
    for (int64_t b = 0; b < Blocks(slots, sums.per_bank); ++b) {
      const int64_t in_bank = std::min(sums.per_bank, slots);
      NEURON_ASSIGN_OR_RETURN(
          const Tile bank, ctx_.AllocatePsum(DType::kF32, Count(std::min(p_.columns(), kChainRows)),
                                             {Count(in_bank), Count(c.width)}));
      sums.banks.push_back(bank);
    }
    sums_.push_back(std::move(sums));
  }
  return OkStatus();
}

AccessPattern ChainResults::Sum(const Sums& sums, int64_t slot, int64_t count) const {
  return PanelSlot(sums.banks[static_cast<size_t>(slot / sums.per_bank)], slot % sums.per_bank,
                   count, 0, p_.consumers[sums.consumer].width);
}

Status ChainResults::AddToSums(size_t i, const AccessPattern& x, int64_t rows, int64_t live) {
  const ChainConsumer& c = p_.consumers[i];
  const auto sums =
      std::find_if(sums_.begin(), sums_.end(), [&](const Sums& s) { return s.consumer == i; });
  const KTile all[] = {{{}, 0, rows}};
  NEURON_ASSIGN_OR_RETURN(const Tile moving,
                          tiles_.Panel(c.moving, p_.column() + 1, c.width, rows, all));
  for (int64_t at = 0; at < live; at += kChainRows) {
    const int64_t count = std::min(kChainRows, live - at);
    ctx_.Matmul(Sum(*sums, at / kChainRows, count), Columns(x, at, count),
                PanelSlot(moving, 0, rows, 0, c.width), at < summed_);
  }
  ctx_.Free(moving);
  if (sums == sums_.end() - 1) summed_ = std::max(summed_, live);
  return OkStatus();
}

Status ChainResults::FinishSums() {
  for (const Sums& sums : sums_) {
    const ChainConsumer& c = p_.consumers[sums.consumer];
    ctx_.SetSource(c.stage->hero);
    for (int64_t at = 0; at < p_.columns(); at += kChainRows) {
      const int64_t count = std::min(kChainRows, p_.columns() - at);
      NEURON_RETURN_IF_ERROR(
          Finish(sums.consumer,
                 at < summed_ ? std::optional(Sum(sums, at / kChainRows, count)) : std::nullopt,
                 tiles_.ResultSpec(c, Affine(at), count, 0, c.width)));
    }
    for (const Tile& bank : sums.banks) ctx_.Free(bank);
  }
  sums_.clear();
  return OkStatus();
}

Status ChainResults::Finish(size_t i, const std::optional<AccessPattern>& sum,
                            const TileSpec& spec) {
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

void ChainResults::End() {
  for (LoopBody& epilogue : epilogues_) epilogue.End();
}

}  // namespace neuron::compiler
