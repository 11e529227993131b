// Takes instructions into a group, one after the other, and makes the group's row program.
//
// It follows what tiles on chip hold (a value, or the bits of another tile), so that what an
// instruction of the group reads is taken from there rather than from memory. In the end, writes
// that nobody reads from memory are dropped.
#pragma once

#include <memory>
#include <vector>

#include "emulator/group.h"
#include "emulator/group_part.h"
#include "emulator/liveness.h"

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
  GroupBuilder(const Context& context, int64_t sub_rows)
      : context_(context), rows_{.sub_rows = sub_rows} {}

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

  bool Independent(const GroupPart& part);
  bool InStep(const TileRef& a, const TileRef& b) const;
  bool SameRows(const TileRef& a, const TileRef& b) const;

  int16_t Intern(const GroupPart& part, int tile);
  bool MayShare(int16_t a, int16_t b) const;
  void Keep(int16_t tile);
  void Forget(int16_t tile);
  void ForgetWhatItWouldOverrun(const GroupPart& part);

  void AddCopy(const GroupPart& part);
  void AddRows(const GroupPart& part);
  void AddReduction(const GroupPart& part);
  int16_t AddReduce(int16_t row, isa::AluOp op, bool negate, float* accumulator);
  void StoreScalar(const GroupPart& part, int16_t value, int tile, ConvertKernel convert);
  void AddSpreadForm(RowStep* step) const;
  int16_t AddSpread(int16_t scalar, int16_t like);
  int16_t AddLoad(RowStep step);
  void AddStore(RowStep step);
  int16_t Append(RowStep step);

  void Elide();
  bool RowsAreApart() const;
  void ReduceInPlace();
  void Bind();
  bool ReadsAcross(const RowStep& step, int16_t tile) const;
  bool WrittenAfter(size_t index) const;
  void Describe();
  void DropUnusedTiles();

  const Context context_;
  std::unique_ptr<Group> group_;
  std::vector<TileRef> tiles_;      // with the group's rows
  std::vector<TileRef> originals_;  // as the instructions have them
  std::vector<Content> contents_;
  bool kept_[kMaxTiles + 8] = {};  // by tile: its memory is read inside the group
  GroupRows rows_;
  int shape_tile_ = -1;
  int next_value_ = 0;
  std::vector<int16_t> lazy_tile_;  // by value: the tile in whose memory it is read, or -1
  std::vector<bool> scalar_;        // by value: one per row ...
  std::vector<bool> uniform_;       // ... and the same one
};

}  // namespace neuron::emulator
