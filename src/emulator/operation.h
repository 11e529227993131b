// A decoded instruction and what it runs on.
//
// Decoding happens once, when a program is loaded onto a core: addresses become base plus affine
// terms, shapes are normalised, kernels are chosen for the host's SIMD target. Executing an
// operation resolves its tiles (adds registers, checks HBM bounds) and calls `execute`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "emulator/counters.h"
#include "emulator/machine.h"
#include "emulator/tile.h"
#include "isa/program.h"

namespace neuron::emulator {

struct Operation;

// HBM that a program's tensor is bound to for one execution.
struct BoundTensor {
  char* data = nullptr;  // of the tensor, without its byte-offset register
  int64_t bytes = 0;     // of what is bound there
  int64_t offset = 0;    // value of the byte-offset register
};

// In a loop that host threads share: whether each has this tile for itself, and where.
enum class Own : uint8_t { kNo, kSbuf, kPsum, kPacked };

// One tile operand.
struct TileRef {
  char* base = nullptr;  // on chip: first element, registers at 0. HBM: nullptr
  int64_t offset = 0;    // HBM: constant byte offset
  uint16_t tensor = 0;   // HBM
  bool hbm = false;
  bool dynamic = false;  // counts or steps come from registers
  bool flat = false;     // the shape is flattened to a single row
  bool written = false;
  bool packed = false;  // lies in the core's packed memory (packed_tile.h)
  Own own = Own::kNo;
  uint8_t num_terms = 0;
  isa::Affine::Term terms[isa::Affine::kMaxTerms];
  int64_t low = 0, high = 0;                    // bytes touched, relative to the first element
  uint16_t operand = 0;                         // index in the instruction
  TileShape shape;                              // at maximal counts
  const isa::AccessPattern* pattern = nullptr;  // lives in the program
};

// State of one execution on one core.
struct Execution {
  Core* core = nullptr;
  int64_t* registers = nullptr;
  const BoundTensor* tensors = nullptr;
  Counters* counters = nullptr;
  int64_t* loop_ends = nullptr;  // by register: the bound its loop was entered with
  const char** late = nullptr;   // by late tile (packed_tile.h): its source, or nullptr
  int64_t own_shift[4] = {};     // by Own: bytes to this thread's memory

  // Address and shape of a tile; `storage` holds the shape if counts are dynamic. OutOfRange if
  // an HBM pattern leaves the bound tensor.
  Status Resolve(const Operation& operation, const TileRef& ref, TileShape* storage,
                 Tile* tile) const;
};

struct Operation {
  struct Payload {
    virtual ~Payload() = default;
  };
  using ExecuteFn = Status (*)(const Operation&, Execution&);

  ExecuteFn execute = nullptr;
  uint32_t index = 0;  // in Program::instructions
  isa::Opcode opcode{};
  std::vector<TileRef> tiles;
  std::unique_ptr<Payload> payload;  // what the semantics decoded for itself

  template <typename T>
  const T& as() const {
    return static_cast<const T&>(*payload);
  }
  template <typename T>
  T& as() {
    return static_cast<T&>(*payload);
  }
};

// "tensor_tensor (instruction 12)": how every message of an execution begins.
std::string NameOf(const Operation& operation);

// Tiles resolved for one execution of an operation with up to N tiles.
template <int N>
struct ResolvedTiles {
  Tile tile[N];
  TileShape storage[N];
  Status Resolve(const Operation& operation, const Execution& execution) {
    for (size_t i = 0; i < operation.tiles.size(); ++i)
      NEURON_RETURN_IF_ERROR(
          execution.Resolve(operation, operation.tiles[i], &storage[i], &tile[i]));
    return OkStatus();
  }
};

}  // namespace neuron::emulator
