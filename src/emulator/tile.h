// An operand at run time: where its bytes are and how they are walked.
//
// A TileShape is what the decoder makes of an access pattern: rows (partitions on chip), then free
// dimensions in bytes, outermost first, with unit counts dropped and neighbours merged wherever
// they walk memory as one. A Tile adds the address. Plain values; a Tile points to its shape.
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace neuron::emulator {

struct TileShape {
  static constexpr int kMaxDims = 5;

  int64_t rows = 1;
  int64_t row_stride = 0;  // bytes
  int64_t elements = 1;    // of one row
  int64_t count[kMaxDims] = {};
  int64_t stride[kMaxDims] = {};  // bytes
  int num_dims = 0;               // 0: one element per row
  DType dtype = DType::kF32;
  int32_t element_bytes = 4;
  // Groups take the outermost free dimension for rows of their own, `sub_rows` on each partition:
  // `elements` and the dimensions are then those of one of them.
  int64_t sub_rows = 1;
  int64_t sub_stride = 0;  // bytes

  bool contiguous() const {  // the elements of a row lie side by side
    return num_dims == 0 || (num_dims == 1 && stride[0] == element_bytes);
  }
  bool broadcast() const { return num_dims == 0 || (num_dims == 1 && stride[0] == 0); }

  // Drops unit counts and merges neighbours; sets `elements`.
  void Normalise();
  // Rows become the outermost free dimension of a single row.
  TileShape Flattened() const;
  // Takes `rows` of them off the outermost dimension. False if it does not divide that way. A
  // partition with a single element has it on each of its rows.
  bool SplitRows(int64_t rows);
};

struct Tile {
  char* data = nullptr;  // row 0, first element
  const TileShape* shape = nullptr;

  int64_t rows() const { return shape->rows; }
  int64_t elements() const { return shape->elements; }
  char* row(int64_t r) const { return data + r * shape->row_stride; }
};

// Copies elements [first, first + n) of a row, in logical order, to or from dense memory.
void GatherRow(const TileShape& shape, const char* row, int64_t first, int64_t n, void* dense);
void ScatterRow(const TileShape& shape, char* row, int64_t first, int64_t n, const void* dense);

}  // namespace neuron::emulator
