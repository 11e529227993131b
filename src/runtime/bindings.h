// Tensor sets of one executable, built once per combination of segments and reused.
//
// Buffers whose offset the program reads from the scalar block are bound as their whole segment; a
// buffer without an offset slot is bound as a slice, and its address is part of the key. Used by
// one launch at a time (Queue guarantees it).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "nrt/loader.h"
#include "runtime/scalar_arena.h"
#include "runtime/segment.h"

namespace neuron::runtime {

class Bindings {
 public:
  struct Sets {
    nrt_tensor_set_t* inputs = nullptr;
    nrt_tensor_set_t* outputs = nullptr;
  };

  Bindings(const nrt::Library& nrt, int device, const compiler::Signature& signature,
           ScalarArena& arena);
  ~Bindings();
  Bindings(const Bindings&) = delete;

  // Takes the scalar block. Where memory is short it can be made only before a launch, which holds
  // what would have to be waited for.
  Status TakeScalars();
  // Writes offsets and scalars into the scalar block and returns sets bound to these addresses.
  // `scalars` fills the slots from signature.first_scalar_slot on.
  StatusOr<Sets> Bind(std::span<void* const> buffers, std::span<const int64_t> scalars);
  // Forgets sets that refer to these segments.
  void Drop(std::span<Segment* const> segments);
  size_t size() const { return bound_.size(); }
  // Leaves everything to the end of the process: the library must not be called any more.
  void Abandon() { abandoned_ = true; }

 private:
  struct Bound {
    std::vector<uint64_t> key;  // segment id per buffer, then the address of each slice
    Sets sets;
    std::vector<nrt_tensor_t*> slices;
    uint64_t last_use = 0;
  };
  StatusOr<Bound*> Make(std::span<void* const> buffers);
  void Release(Bound& bound);
  Status Resolve(std::span<void* const> buffers);

  const nrt::Library& nrt_;
  const int device_;
  const compiler::Signature& signature_;
  ScalarArena& arena_;
  std::unique_ptr<ScalarBlock> scalars_;
  std::vector<std::unique_ptr<Bound>> bound_;
  uint64_t uses_ = 0;
  bool fixed_extents_ = true;
  bool abandoned_ = false;
  // Of the launch being bound; members so that a launch allocates nothing.
  std::vector<Segment*> segments_;
  std::vector<uint64_t> key_;
};

}  // namespace neuron::runtime
