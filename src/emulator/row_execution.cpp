#include "emulator/row_execution.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "emulator/parallel.h"
#include "emulator/reduction.h"

namespace neuron::emulator {
namespace {

// Scratch of one thread: rows of values, then raw bytes of a chunk before or after conversion.
class Scratch {
 public:
  static Scratch& OfThread(const RowProgram& program) {
    thread_local Scratch scratch;
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

// Where the elements of a row lie, for shapes whose rows are short and in short runs (windows,
// elements repeated inside a row): walking their dimensions anew for each row would take longer
// than the elements. Of one thread and one run of rows.
class ElementTables {
 public:
  static ElementTables& OfThread() {
    thread_local ElementTables tables;
    tables.used_ = 0;
    return tables;
  }

  // Byte offsets of a row's elements, or nullptr where the shape is better walked.
  const int32_t* Of(const TileShape& shape) {
    constexpr int64_t kMostElements = kRowChunk;
    constexpr int64_t kLongRun = 32;  // bytes
    if (shape.elements > kMostElements || shape.num_dims < 2) return nullptr;
    const int last = shape.num_dims - 1;
    if (shape.stride[last] == shape.element_bytes &&
        shape.count[last] * shape.element_bytes >= kLongRun)
      return nullptr;
    for (size_t i = 0; i < used_; ++i)
      if (tables_[i].shape == &shape) return tables_[i].offsets.data();
    int64_t reach = 0;
    for (int d = 0; d < shape.num_dims; ++d) reach += shape.count[d] * std::abs(shape.stride[d]);
    if (reach > INT32_MAX) return nullptr;
    if (used_ == tables_.size()) tables_.emplace_back();
    Table& table = tables_[used_++];
    table.shape = &shape;
    table.offsets.assign(1, 0);
    for (int d = 0; d < shape.num_dims; ++d) {  // outermost first
      const size_t outer = table.offsets.size();
      std::vector<int32_t> next;
      next.reserve(outer * static_cast<size_t>(shape.count[d]));
      for (const int32_t at : table.offsets)
        for (int64_t i = 0; i < shape.count[d]; ++i)
          next.push_back(at + static_cast<int32_t>(i * shape.stride[d]));
      table.offsets = std::move(next);
    }
    return table.offsets.data();
  }

 private:
  struct Table {
    const TileShape* shape = nullptr;
    std::vector<int32_t> offsets;
  };
  std::vector<Table> tables_;
  size_t used_ = 0;
};

template <typename T>
void GatherElements(const char* row, const int32_t* offsets, int64_t n, void* dense) {
  T* to = static_cast<T*>(dense);
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i, row + offsets[i], sizeof(T));
}

void GatherElements(int64_t bytes, const char* row, const int32_t* offsets, int64_t n,
                    void* dense) {
  switch (bytes) {
    case 1:
      return GatherElements<uint8_t>(row, offsets, n, dense);
    case 2:
      return GatherElements<uint16_t>(row, offsets, n, dense);
    default:
      return GatherElements<uint32_t>(row, offsets, n, dense);
  }
}

// What is being worked on: a chunk of one row, or all of the rows that lie on one partition. Values
// are dense, sub-row after sub-row; values per row are one for each of them.
struct Frame {
  const Tile* tiles;
  const int64_t* registers;
  Scratch& scratch;
  ElementTables* tables = nullptr;  // null: not worth making for so few rows
  int64_t sub_rows = 1;
  int64_t row_elements = 0;  // for iota: of a partition, also where rows are walked across
  int64_t row = 0;
  int64_t first = 0, n = 0;  // elements of each row
  void* value[kMaxRowValues];

  char* Row(const Tile& tile, int64_t sub = 0) const {
    return tile.data + row * tile.shape->row_stride + sub * tile.shape->sub_stride;
  }
  int64_t all() const { return sub_rows * n; }
  // Whether the rows of a partition follow each other as values do.
  bool Dense(const TileShape& shape) const {
    return shape.contiguous() &&
           (sub_rows == 1 || shape.sub_stride == shape.elements * shape.element_bytes);
  }
  uint32_t* Scalars(const RowStep& step) {
    uint32_t* to = scratch.scalars(step.out);
    value[step.out] = to;
    return to;
  }
};

// Elements of the chunk as they stand in the tile, dense.
void Gather(const Tile& tile, Frame& f, void* to) {
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

void Scatter(const Tile& tile, const Frame& f, const void* from) {
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

void Load(const RowStep& step, Frame& f) {
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

void LoadScalar(const RowStep& step, Frame& f) {
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

// One value per row, to each element of the row or to the one that the tile has.
void StoreScalar(const RowStep& step, Frame& f) {
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

void Store(const RowStep& step, Frame& f) {
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

void CopyChunk(const RowStep& step, Frame& f) {
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

// Where a compute step writes: straight into its destination tile if that is dense 32-bit.
void* Target(const RowStep& step, Frame& f) {
  if (step.scalar) return f.Scalars(step);
  if (step.tile >= 0) {
    const Tile& tile = f.tiles[step.tile];
    if (f.Dense(*tile.shape)) return f.value[step.out] = f.Row(tile) + f.first * 4;
  }
  return f.value[step.out] = f.scratch.row(step.out);
}

void Binary(const RowStep& step, Frame& f) {
  const char* a = static_cast<const char*>(f.value[step.a]);
  const char* b = static_cast<const char*>(f.value[step.b]);
  char* to = static_cast<char*>(Target(step, f));
  if (step.scalar) return step.binary(to, a, b, f.sub_rows);
  if (step.form == OperandForm::kRowRow || step.uniform || f.sub_rows == 1)
    return step.binary(to, a, b, f.all());
  const int64_t row = f.n * 4;
  const int64_t a_step = step.form == OperandForm::kValueRow ? 4 : row;
  const int64_t b_step = step.form == OperandForm::kRowValue ? 4 : row;
  for (int64_t s = 0; s < f.sub_rows; ++s)
    step.binary(to + s * row, a + s * a_step, b + s * b_step, f.n);
}

void Reduce(const RowStep& step, Frame& f) {
  const char* rows = static_cast<const char*>(f.value[step.a]);
  uint32_t* results = f.Scalars(step);
  if (step.reduce_rows != nullptr && f.n <= kReduceChunk) {
    step.reduce_rows(results, rows, f.sub_rows, f.n);
  } else {
    for (int64_t s = 0; s < f.sub_rows; ++s) {
      RowReduction reduction(Kernels(), Domain::kFloat, step.reduce);
      for (int64_t at = 0; at < f.n; at += kReduceChunk)
        reduction.Add(rows + (s * f.n + at) * 4, std::min(kReduceChunk, f.n - at));
      results[s] = reduction.Finish();
    }
  }
  if (step.accumulator != nullptr) step.accumulator[f.row] = std::bit_cast<float>(results[0]);
}

void Iota(const RowStep& step, const IotaPattern& pattern, Frame& f) {
  auto* out = reinterpret_cast<int32_t*>(f.scratch.row(step.out));
  f.value[step.out] = out;
  const int64_t base = pattern.offset.Evaluate(f.registers);
  int64_t done = 0;
  while (done < f.all()) {
    // In flat mode a chunk runs over several rows.
    const int64_t at = f.first + done;
    const int64_t row = f.row + at / f.row_elements;
    int64_t rest = at % f.row_elements;
    int64_t run = std::min(f.all() - done, f.row_elements - rest);
    int64_t value = base + row * pattern.channel_multiplier;
    int64_t inner_step = 0;
    for (int d = pattern.num_dims - 1; d >= 0; --d) {
      const int64_t index = rest % pattern.count[d];
      rest /= pattern.count[d];
      value += index * pattern.step[d];
      if (d == pattern.num_dims - 1) {
        inner_step = pattern.step[d];
        run = std::min(run, pattern.count[d] - index);
      }
    }
    for (int64_t i = 0; i < run; ++i) out[done + i] = static_cast<int32_t>(value + i * inner_step);
    done += run;
  }
}

void Scalar(const RowStep& step, Frame& f) {
  const uint32_t bits = step.value.reg == isa::kNoRegister
                            ? step.value.bits
                            : static_cast<uint32_t>(f.registers[step.value.reg]);
  std::fill_n(f.Scalars(step), f.sub_rows, bits);
}

void RunChunk(const RowProgram& program, Frame& f) {
  for (const RowStep& step : program.steps) {
    const int64_t n = step.scalar ? f.sub_rows : f.all();
    switch (step.kind) {
      case RowStep::Kind::kLoad:
        Load(step, f);
        break;
      case RowStep::Kind::kLoadScalar:
        LoadScalar(step, f);
        break;
      case RowStep::Kind::kScalar:
        Scalar(step, f);
        break;
      case RowStep::Kind::kUnary: {
        const void* a = f.value[step.a];
        step.unary(Target(step, f), a, n);
        break;
      }
      case RowStep::Kind::kBinary:
        Binary(step, f);
        break;
      case RowStep::Kind::kSelect: {
        const void* p = f.value[step.c];
        const void* a = f.value[step.a];
        const void* b = f.value[step.b];
        step.select(Target(step, f), static_cast<const uint32_t*>(p), a, b, n);
        break;
      }
      case RowStep::Kind::kStore:
        Store(step, f);
        break;
      case RowStep::Kind::kCopy:
        CopyChunk(step, f);
        break;
      case RowStep::Kind::kRound: {
        step.round(f.scratch.raw(), f.value[step.a], n);
        step.convert(Target(step, f), f.scratch.raw(), n);
        break;
      }
      case RowStep::Kind::kReduce:
        Reduce(step, f);
        break;
      case RowStep::Kind::kIota:
        Iota(step, program.iotas[step.iota], f);
        break;
    }
  }
}

// Calls body(first, last) for rows in ranges, shared between host threads where there is enough to
// do.
template <typename Body>
void ForRows(const RowProgram& program, const TileShape& shape, const Body& body) {
  const double work =
      static_cast<double>(shape.rows * shape.sub_rows * shape.elements) * program.ns_per_element;
  ParallelFor(shape.rows, 1, work, body);
}

// What the row's reduction comes to, with the accumulator's part in it.
void FinishReduction(const RowReduce& reduce, float result, const BinaryKernel combine, Frame& f) {
  float* accumulator = reduce.accumulator + f.row;
  switch (reduce.command) {
    case isa::ReduceCmd::kIdle:
      break;
    case isa::ReduceCmd::kReset:
      *accumulator = std::bit_cast<float>(ReduceIdentity(Domain::kFloat, reduce.op));
      break;
    case isa::ReduceCmd::kResetReduce:
      *accumulator = result;
      break;
    case isa::ReduceCmd::kReduce:
      combine(accumulator, accumulator, &result, 1);
      break;
    case isa::ReduceCmd::kLoadReduce:
      combine(accumulator, f.value[reduce.init], &result, 1);
      break;
  }
  if (reduce.tile < 0) return;
  const float value = reduce.negate ? -*accumulator : *accumulator;
  char* to = f.Row(f.tiles[reduce.tile]);
  if (reduce.store == nullptr) {
    std::memcpy(to, &value, 4);
  } else {
    reduce.store(to, &value, 1);
  }
}

}  // namespace

void RunRowRange(const RowProgram& program, const Tile* tiles, const int64_t* registers,
                 int64_t first, int64_t last) {
  constexpr int64_t kFewRows = 4;
  const TileShape& shape = *tiles[program.shape_tile].shape;
  const bool few = (last - first) * program.sub_rows < kFewRows;
  Frame frame{.tiles = tiles,
              .registers = registers,
              .scratch = Scratch::OfThread(program),
              .tables = few ? nullptr : &ElementTables::OfThread(),
              .sub_rows = program.sub_rows,
              .row_elements = program.row_elements > 0 ? program.row_elements
                                                       : shape.elements * program.sub_rows,
              .value = {}};
  for (frame.row = first; frame.row < last; ++frame.row)
    for (frame.first = 0; frame.first < shape.elements; frame.first += program.chunk) {
      frame.n = std::min(program.chunk, shape.elements - frame.first);
      RunChunk(program, frame);
    }
}

void RunRows(const RowProgram& program, const Tile* tiles, const int64_t* registers) {
  ForRows(program, *tiles[program.shape_tile].shape, [&](int64_t first, int64_t last) {
    RunRowRange(program, tiles, registers, first, last);
  });
}

Status ExecuteRows(const Operation& operation, Execution& execution) {
  const auto& program = operation.as<RowProgram>();
  ResolvedTiles<8> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  RunRows(program, tiles.tile, execution.registers);
  return OkStatus();
}

Status ExecuteReducingRows(const Operation& operation, Execution& execution) {
  const auto& program = operation.as<RowProgram>();
  ResolvedTiles<8> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const TileShape& shape = *tiles.tile[program.shape_tile].shape;
  const KernelTable& kernels = Kernels();
  ForRows(program, shape, [&](int64_t first_row, int64_t last_row) {
    Frame frame{.tiles = tiles.tile,
                .registers = execution.registers,
                .scratch = Scratch::OfThread(program),
                .tables = &ElementTables::OfThread(),
                .row_elements = shape.elements,
                .value = {}};
    for (frame.row = first_row; frame.row < last_row; ++frame.row) {
      for (const RowReduce& reduce : program.reductions) {
        RowReduction reduction(kernels, Domain::kFloat, reduce.op);
        for (frame.first = 0; frame.first < shape.elements; frame.first += kRowChunk) {
          frame.n = std::min(kRowChunk, shape.elements - frame.first);
          RunChunk(program, frame);
          reduction.Add(frame.value[reduce.value], frame.n);
        }
        FinishReduction(reduce, std::bit_cast<float>(reduction.Finish()),
                        kernels.binary[0][static_cast<int>(reduce.op)][0], frame);
      }
    }
  });
  return OkStatus();
}

bool IsRowProgram(const Operation& operation) {
  return operation.execute == ExecuteRows || operation.execute == ExecuteReducingRows;
}

}  // namespace neuron::emulator
