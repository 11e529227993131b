// ChainResults: what a chain's consumers make of each block of rows, and their epilogues.
//
// A row consumer multiplies the block, transposed, with its panel: a result per block. A column
// consumer contracts the rows: its sums stay in PSUM until all blocks have been added.
#pragma once

#include <optional>
#include <vector>

#include "compiler/chain_tiles.h"
#include "compiler/loop_body.h"

namespace neuron::compiler {

class ChainResults {
 public:
  // `epilogues`: one per consumer.
  ChainResults(ChainTiles& tiles, LoopBody& body, std::vector<LoopBody>& epilogues);

  // What no loop changes.
  Status Begin();
  // Loads the panels whose place the first `depth` outer dimensions decide, and adds them to
  // `loaded`, for the caller to free.
  Status LoadPanels(int depth, std::vector<std::optional<Tile>*>& loaded);
  // Around all blocks of rows.
  Status BeginSums();
  Status FinishSums();
  // True if a block of this many columns would begin sums that others go on with.
  bool WouldBeginSums(int64_t live) const { return !sums_.empty() && live > summed_; }
  // The block whose values the body holds.
  Status Consume(const TileSpec& spec, int64_t rows, int64_t live);
  void End();

 private:
  struct Sums {
    size_t consumer;
    int64_t per_bank;  // tiles of columns in one PSUM bank
    std::vector<Tile> banks;
  };
  StatusOr<Tile> Transposed(const AccessPattern& x, int64_t rows, int64_t live);
  Status MultiplyRows(size_t i, const Tile& columns, int64_t rows, int64_t live);
  AccessPattern Sum(const Sums& sums, int64_t slot, int64_t count) const;
  Status AddToSums(size_t i, const AccessPattern& x, int64_t rows, int64_t live);
  // A tile of a consumer's result leaves PSUM, through its epilogue. No sum: zeros.
  Status Finish(size_t i, const std::optional<AccessPattern>& sum, const TileSpec& spec);

  ChainTiles& tiles_;
  EmitContext& ctx_;
  const ChainProblem& p_;
  LoopBody& body_;
  std::vector<LoopBody>& epilogues_;
  const std::vector<KTile> columns_tiles_;
  std::vector<std::optional<Tile>> panels_;  // by consumer
  std::vector<Sums> sums_;
  int64_t summed_ = 0;  // columns whose sums have begun
};

}  // namespace neuron::compiler
