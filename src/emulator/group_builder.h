// Takes instructions into a group, one after the other, and makes the group's row program.
//
// It follows what tiles on chip hold (a value, or the bits of another tile), so that what an
// instruction of the group reads is taken from there rather than from memory. In the end, writes
// that nobody reads from memory are dropped.
#pragma once

#include <memory>
#include <vector>

#include "emulator/group.h"
#include "emulator/liveness.h"
#include "emulator/row_reduction_op.h"

namespace neuron::emulator {

class GroupBuilder {
 public:
  static constexpr size_t kMaxTiles = 64;

  struct Context {
    const isa::Program& program;
    const Core& core;
    const std::vector<Step>& steps;
    const Liveness& liveness;
  };
  // `sub_rows` rows lie on each partition of the tiles.
  GroupBuilder(const Context& context, int64_t sub_rows) : context_(context), sub_rows_(sub_rows) {}

  // Takes instruction `index`; false if it cannot be a part of the group.
  bool Add(uint32_t index);
  // The group, or nullptr if it is not worth its while.
  std::unique_ptr<Group> Finish();

 private:
  // What a tile on chip holds at this point of the group, as the group knows it.
  struct Content {
    int16_t value = -1;             // stored from this value ...
    ConvertKernel store = nullptr;  // ... through this conversion
    int16_t source = -1;            // or: the same bits as this tile, which is still in memory
  };  // neither: only its own memory knows
  // An instruction as the group sees it.
  struct Part {
    const Operation& op;
    std::vector<TileRef> tiles;  // of op, with the group's rows
    std::vector<bool> spread;    // by tile: one element per row, read for each element of it
    RowReductionParts reduction;
    bool copy = false, reduces = false;
    bool per_row = false;  // all tiles have one element per row
  };

  bool See(Part* part) const;
  bool Fits(const Part& part);
  bool FitsFullRows(const Part& part);
  static bool SpreadsFit(const Part& part);
  bool Independent(const Part& part);
  bool InStep(const TileRef& a, const TileRef& b) const;
  bool SameRows(const TileRef& a, const TileRef& b) const;

  int16_t Intern(const Part& part, int tile);
  bool MayShare(int16_t a, int16_t b) const;
  void Keep(int16_t tile);
  void Forget(int16_t tile);
  void ForgetWhatItWouldOverrun(const Part& part);

  void AddCopy(const Part& part);
  void AddRows(const Part& part);
  void AddReduction(const Part& part);
  int16_t AddReduce(int16_t row, isa::AluOp op, bool negate, float* accumulator);
  void StoreScalar(const Part& part, int16_t value, int tile, ConvertKernel convert);
  void AddSpreadForm(RowStep* step) const;
  int16_t AddSpread(int16_t scalar, int16_t like);
  int16_t AddLoad(RowStep step);
  void AddStore(RowStep step);
  int16_t Append(RowStep step);

  void Elide();
  bool RowsAreApart() const;
  void Bind();
  bool ReadsAcross(const RowStep& step, int16_t tile) const;
  bool WrittenAfter(size_t index) const;
  void Describe();
  void DropUnusedTiles();

  const Context context_;
  const int64_t sub_rows_;
  std::unique_ptr<Group> group_;
  std::vector<TileRef> tiles_;      // with the group's rows
  std::vector<TileRef> originals_;  // as the instructions have them
  std::vector<Content> contents_;
  bool kept_[kMaxTiles + 8] = {};  // by tile: its memory is read inside the group
  int64_t rows_ = 0;               // partitions
  int64_t elements_ = 0;           // of a row; 0: no tile of whole rows has come yet
  bool whole_ = false;             // steps count on a row being one chunk
  int shape_tile_ = -1;
  int next_value_ = 0;
  std::vector<int16_t> lazy_tile_;  // by value: the tile in whose memory it is read, or -1
  std::vector<bool> scalar_;        // by value: one per row ...
  std::vector<bool> uniform_;       // ... and the same one
};

}  // namespace neuron::emulator
