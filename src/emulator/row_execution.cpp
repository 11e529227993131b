#include "emulator/row_execution.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/parallel.h"
#include "emulator/reduction.h"
#include "emulator/row_moves.h"

namespace neuron::emulator {
namespace {

// Where a compute step writes: straight into its destination tile if that is dense 32-bit.
void* Target(const RowStep& step, RowFrame& f) {
  if (step.scalar) return f.Scalars(step);
  if (step.tile >= 0) {
    const Tile& tile = f.tiles[step.tile];
    if (f.Dense(*tile.shape)) return f.value[step.out] = f.Row(tile) + f.first * 4;
  }
  return f.value[step.out] = f.scratch.row(step.out);
}

void Binary(const RowStep& step, RowFrame& f) {
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

void Reduce(const RowStep& step, RowFrame& f) {
  uint32_t* results = f.Scalars(step);
  if (step.a < 0) {
    const Tile& tile = f.tiles[step.tile];
    step.reduce_rows(results, f.Row(tile), f.SubStride(*tile.shape), f.sub_rows, f.n);
  } else if (step.reduce_rows != nullptr && f.n <= kReduceChunk) {
    step.reduce_rows(results, f.value[step.a], f.n * 4, f.sub_rows, f.n);
  } else {
    const char* rows = static_cast<const char*>(f.value[step.a]);
    for (int64_t s = 0; s < f.sub_rows; ++s) {
      RowReduction reduction(Kernels(), Domain::kFloat, step.reduce);
      for (int64_t at = 0; at < f.n; at += kReduceChunk)
        reduction.Add(rows + (s * f.n + at) * 4, std::min(kReduceChunk, f.n - at));
      results[s] = reduction.Finish();
    }
  }
  if (step.accumulator == nullptr) return;
  for (int64_t s = 0; s < (f.across ? f.sub_rows : 1); ++s)
    step.accumulator[f.row + s] = std::bit_cast<float>(results[s]);
}

void Iota(const RowStep& step, const IotaPattern& pattern, RowFrame& f) {
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

void Scalar(const RowStep& step, RowFrame& f) {
  const uint32_t bits = step.value.reg == isa::kNoRegister
                            ? step.value.bits
                            : static_cast<uint32_t>(f.registers[step.value.reg]);
  std::fill_n(f.Scalars(step), f.sub_rows, bits);
}

void RunChunk(const RowProgram& program, RowFrame& f) {
  for (const RowStep& step : program.steps) {
    const int64_t n = step.scalar ? f.sub_rows : f.all();
    switch (step.kind) {
      case RowStep::Kind::kLoad:
        LoadRow(step, f);
        break;
      case RowStep::Kind::kLoadScalar:
        LoadRowScalar(step, f);
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
        StoreRow(step, f);
        break;
      case RowStep::Kind::kCopy:
        CopyRow(step, f);
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
void FinishReduction(const RowReduce& reduce, float result, const BinaryKernel combine,
                     RowFrame& f) {
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
  RowFrame frame{.tiles = tiles,
                 .registers = registers,
                 .scratch = RowScratch::OfThread(program),
                 .tables = few ? nullptr : &ElementTables::OfThread(),
                 .across = program.partitions > 1,
                 .sub_rows = program.sub_rows,
                 .row_elements = program.row_elements > 0 ? program.row_elements
                                                          : shape.elements * program.sub_rows,
                 .value = {}};
  for (frame.row = first; frame.row < last; frame.row += program.partitions) {
    if (frame.across) frame.sub_rows = std::min(program.partitions, last - frame.row);
    for (frame.first = 0; frame.first < shape.elements; frame.first += program.chunk) {
      frame.n = std::min(program.chunk, shape.elements - frame.first);
      RunChunk(program, frame);
    }
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
    RowFrame frame{.tiles = tiles.tile,
                   .registers = execution.registers,
                   .scratch = RowScratch::OfThread(program),
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
