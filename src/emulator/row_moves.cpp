#include "emulator/row_moves.h"

#include <algorithm>
#include <cstring>

namespace neuron::emulator {
namespace {

// Elements of the chunk as they stand in the tile, dense.
void Gather(const Tile& tile, RowFrame& f, void* to) {
  const TileShape& shape = *tile.shape;
  const int64_t bytes = f.n * shape.element_bytes;
  const bool tabled = f.tables != nullptr && shape.element_bytes <= 4;
  const int32_t* offsets = tabled ? f.tables->Of(shape) : nullptr;
  for (int64_t s = 0; s < f.sub_rows; ++s) {
    char* dense = static_cast<char*>(to) + s * bytes;
    const char* row = f.Row(tile, s);
    if (offsets != nullptr) {
      GatherElements(shape.element_bytes, row, offsets + f.first, f.n, dense);
    } else if (shape.contiguous()) {
      std::memcpy(dense, row + f.first * shape.element_bytes, bytes);
    } else if (shape.broadcast() && shape.element_bytes == 4) {
      uint32_t word;
      std::memcpy(&word, row, 4);
      std::fill_n(reinterpret_cast<uint32_t*>(dense), f.n, word);
    } else {
      GatherRow(shape, row, f.first, f.n, dense);
    }
  }
}

void Scatter(const Tile& tile, const RowFrame& f, const void* from) {
  const TileShape& shape = *tile.shape;
  const int64_t bytes = f.n * shape.element_bytes;
  for (int64_t s = 0; s < f.sub_rows; ++s) {
    const char* dense = static_cast<const char*>(from) + s * bytes;
    if (shape.contiguous()) {
      std::memcpy(f.Row(tile, s) + f.first * shape.element_bytes, dense, bytes);
    } else {
      ScatterRow(shape, f.Row(tile, s), f.first, f.n, dense);
    }
  }
}

// One value per row, to each element of the row or to the one that the tile has.
void StoreScalar(const RowStep& step, RowFrame& f) {
  const Tile& tile = f.tiles[step.tile];
  const TileShape& shape = *tile.shape;
  const int64_t bytes = shape.element_bytes;
  const int64_t n = std::min(f.n, shape.elements);
  for (int64_t s = 0; s < f.sub_rows; ++s) {
    char* row = f.Row(tile, s);
    const uint32_t* from = static_cast<const uint32_t*>(f.value[step.a]) + s;
    uint32_t word = 0;
    if (step.convert == nullptr) {
      word = *from;
    } else {
      step.convert(&word, from, 1);
    }
    char* to = shape.contiguous() ? row + f.first * bytes : f.scratch.raw();
    switch (bytes) {
      case 1:
        std::memset(to, static_cast<uint8_t>(word), n);
        break;
      case 2:
        std::fill_n(reinterpret_cast<uint16_t*>(to), n, static_cast<uint16_t>(word));
        break;
      default:
        std::fill_n(reinterpret_cast<uint32_t*>(to), n, word);
        break;
    }
    if (!shape.contiguous()) ScatterRow(shape, row, f.first, n, f.scratch.raw());
  }
}

}  // namespace

void LoadRow(const RowStep& step, RowFrame& f) {
  const Tile& tile = f.tiles[step.tile];
  const char* from = f.Row(tile) + f.first * tile.shape->element_bytes;
  if (f.Dense(*tile.shape)) {
    if (step.convert == nullptr) {
      f.value[step.out] = const_cast<char*>(from);  // read only: steps write scratch or stores
      return;
    }
    f.value[step.out] = f.scratch.row(step.out);
    step.convert(f.value[step.out], from, f.all());
    return;
  }
  f.value[step.out] = f.scratch.row(step.out);
  Gather(tile, f, step.convert == nullptr ? f.value[step.out] : f.scratch.raw());
  if (step.convert != nullptr) step.convert(f.value[step.out], f.scratch.raw(), f.all());
}

void LoadRowScalar(const RowStep& step, RowFrame& f) {
  const Tile& tile = f.tiles[step.tile];
  uint32_t* to = f.Scalars(step);
  for (int64_t s = 0; s < f.sub_rows; ++s) {
    if (step.convert == nullptr) {
      std::memcpy(to + s, f.Row(tile, s), 4);
    } else {
      step.convert(to + s, f.Row(tile, s), 1);
    }
  }
}

void StoreRow(const RowStep& step, RowFrame& f) {
  if (step.scalar) return StoreScalar(step, f);
  const Tile& tile = f.tiles[step.tile];
  const int64_t bytes = tile.shape->element_bytes;
  const void* from = f.value[step.a];
  char* to = f.Row(tile) + f.first * bytes;
  const bool dense = f.Dense(*tile.shape);
  if (step.convert != nullptr) {
    void* converted = dense && !step.stream ? to : f.scratch.raw();
    step.convert(converted, from, f.all());
    from = converted;
  }
  if (!dense) {
    Scatter(tile, f, from);
  } else if (step.stream) {
    Kernels().stream(to, from, f.all() * bytes);
  } else if (to != from) {
    std::memmove(to, from, f.all() * bytes);
  }
}

void CopyRow(const RowStep& step, RowFrame& f) {
  const Tile& from = f.tiles[step.a];
  const Tile& to = f.tiles[step.tile];
  const int64_t bytes = to.shape->element_bytes;
  int64_t n = std::min(f.n, to.shape->elements) * bytes;  // also one element per row
  int64_t copies = f.sub_rows;
  if (f.Dense(*from.shape) && f.Dense(*to.shape)) {
    n *= copies;
    copies = 1;
  }
  for (int64_t s = 0; s < copies; ++s) {
    const char* src = f.Row(from, s) + f.first * bytes;
    char* dst = f.Row(to, s) + f.first * bytes;
    if (step.stream) {
      Kernels().stream(dst, src, n);
    } else {
      std::memmove(dst, src, n);
    }
  }
}

}  // namespace neuron::emulator
