// What a row program is working on, and its scratch.
#pragma once

#include <memory>

#include "emulator/element_tables.h"
#include "emulator/row_steps.h"

namespace neuron::emulator {

// Scratch of one thread: rows of values, then raw bytes of a chunk before or after conversion.
class RowScratch {
 public:
  static RowScratch& OfThread(const RowProgram& program) {
    thread_local RowScratch scratch;
    scratch.Grow(program);
    return scratch;
  }

  char* row(int value) { return rows_ + value * pitch_; }
  char* raw() { return rows_ + kMaxRowValues * pitch_; }
  uint32_t* scalars(int value) { return scalars_[value]; }

 private:
  // Rows a cache line further apart than they are long: not all in the same sets.
  void Grow(const RowProgram& program) {
    const int64_t elements = program.chunk * program.sub_rows;
    if (elements <= elements_) return;
    elements_ = elements;
    pitch_ = elements * 4 + 64;
    memory_.reset(new char[kMaxRowValues * pitch_ + elements * 16 + 64]);
    rows_ = memory_.get() + (-reinterpret_cast<intptr_t>(memory_.get()) & 63);
  }

  std::unique_ptr<char[]> memory_;  // pages that no value has touched take none of the host's
  char* rows_ = nullptr;
  int64_t elements_ = 0, pitch_ = 0;
  uint32_t scalars_[kMaxRowValues][kMaxSubRows];
};

// What is being worked on: a chunk of one row, or all of the rows that lie on one partition. Values
// are dense, sub-row after sub-row; values per row are one for each of them.
struct RowFrame {
  const Tile* tiles;
  const int64_t* registers;
  RowScratch& scratch;
  ElementTables* tables = nullptr;  // null: not worth making for so few rows
  bool across = false;              // sub-rows are those of as many partitions
  int64_t sub_rows = 1;
  int64_t row_elements = 0;  // for iota: of a partition, also where rows are walked across
  int64_t row = 0;
  int64_t first = 0, n = 0;  // elements of each row
  void* value[kMaxRowValues];

  int64_t SubStride(const TileShape& shape) const {
    return across ? shape.row_stride : shape.sub_stride;
  }
  char* Row(const Tile& tile, int64_t sub = 0) const {
    return tile.data + row * tile.shape->row_stride + sub * SubStride(*tile.shape);
  }
  int64_t all() const { return sub_rows * n; }
  // Whether the rows of a partition follow each other as values do.
  bool Dense(const TileShape& shape) const {
    return shape.contiguous() &&
           (sub_rows == 1 || SubStride(shape) == shape.elements * shape.element_bytes);
  }
  uint32_t* Scalars(const RowStep& step) {
    uint32_t* to = scratch.scalars(step.out);
    value[step.out] = to;
    return to;
  }
};

}  // namespace neuron::emulator
