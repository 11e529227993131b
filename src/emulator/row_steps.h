// What Vector, Scalar and GpSimd instructions do to each row of their tiles, as data.
//
// A row program is a straight line of steps on rows of values (load, operator, store). It runs row
// by row in chunks that stay in the caches; values live in scratch, or in the tile's own memory
// where type and layout allow. Tiles with short rows are walked across rows instead ("flat").
// row_program.h builds one from an instruction, group.h from several, row_execution.h runs it.
#pragma once

#include <cstdint>
#include <vector>

#include "emulator/decoder.h"
#include "isa/operands.h"

namespace neuron::emulator {

inline constexpr int64_t kRowChunk = 1024;  // elements; divides the reduction chunk of 4096
inline constexpr int64_t kWholeRow = 8192;  // the longest row that a group takes as one chunk
inline constexpr int kMaxRowValues = 64;
inline constexpr int64_t kMaxSubRows = 64;

// A 32-bit value that is the same along a whole row (or everywhere).
struct RowScalar {
  uint32_t bits = 0;
  isa::Register reg = isa::kNoRegister;  // taken from a register instead
};

struct RowStep {
  enum class Kind : uint8_t {
    kLoad,
    kLoadScalar,
    kScalar,
    kUnary,
    kBinary,
    kSelect,
    kStore,
    kIota,
    kCopy,    // groups only: tile `a` to `tile`, bit by bit
    kRound,   // groups only: a value to a stored type (`round`) and back (`convert`)
    kReduce,  // groups only: a whole row in one chunk, with `reduce`, to one value; a row of `a`,
              // or, where `a` is none, as it lies in `tile`
  };
  Kind kind{};
  Domain domain{};
  DType dtype{};                             // loads and stores: the tile's, as conversion sees it
  OperandForm form{};                        // kBinary
  isa::AluOp alu{};                          // kBinary
  int16_t out = -1, a = -1, b = -1, c = -1;  // values
  bool scalar = false;                       // one value per row: the result, or what is stored
  bool stream = false;                       // stores and copies: around the caches
  bool uniform = false;                      // kBinary: its value is the same for all sub-rows
  ConvertKernel round = nullptr;             // kRound
  bool slow = false;  // kUnary: many cycles per element, in whose shadow stores pass the caches
  int16_t tile = -1;  // loads, stores; a compute step's destination if it may write there
  union {
    void* any = nullptr;
    UnaryKernel unary;
    BinaryKernel binary;
    ConvertKernel convert;  // nullptr: the tile's bits are the values
    SelectKernel select;
    ReduceRowsKernel reduce_rows;
  };
  RowScalar value;               // kScalar
  isa::AluOp reduce{};           // kReduce; through reduce_rows where a row is short enough
  float* accumulator = nullptr;  // kReduce: of row 0's partition, set to the result too
  int32_t iota = -1;             // kIota: index into RowProgram::iotas
};

// value = offset + row * channel_multiplier + sum of index * step, the last index fastest.
struct IotaPattern {
  isa::Affine offset;
  int64_t channel_multiplier = 0;
  int num_dims = 0;
  int64_t step[4] = {}, count[4] = {};
  // Operands pattern, offset and channel_multiplier of iota and affine_select.
  static IotaPattern From(const Operands& in);
};

struct RowReduce {
  int16_t value = -1, init = -1;
  int16_t tile = -1;  // the result's, -1: accumulator only
  isa::AluOp op{};
  isa::ReduceCmd command{};
  bool negate = false;
  float* accumulator = nullptr;  // of the row 0's partition
  ConvertKernel store = nullptr;
};

struct RowProgram : Operation::Payload {
  std::vector<RowStep> steps;
  std::vector<IotaPattern> iotas;
  std::vector<RowReduce> reductions;
  int num_values = 0;
  int64_t chunk = kRowChunk;  // elements taken at once
  int64_t sub_rows = 1;       // groups: rows on one partition (TileShape::sub_rows), taken together
  int64_t partitions = 1;     // groups: taken together, as if they were sub-rows
  double ns_per_element = 0;  // on the host, roughly
  int64_t row_elements = 0;   // before flattening; 0: known at run time only
  int shape_tile = 0;         // the tile whose rows and elements are walked
  bool flat = false;
};

}  // namespace neuron::emulator
