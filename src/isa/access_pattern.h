// Access patterns: how one operand of an instruction walks SBUF, PSUM or HBM.
//
// `partitions` rows, then up to four free dimensions of (step, count), in elements of the
// operand's dtype. On chip a row is a partition and rows have unit step (nki.isa: partition axis
// first, at most 128); in HBM `partition_step` elements lie between rows, 0 repeats one row for
// all. A step of 0 broadcasts, a negative step walks backwards. Numbers that a program learns at
// run time come from registers. Plain values: copy them freely.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "base/dtype.h"

namespace neuron::isa {

enum class Memory : uint8_t { kSbuf = 1, kPsum = 2, kHbm = 4 };  // also bits of a mask

// One of the program's 64-bit virtual registers (program.h declares their ranges).
using Register = uint16_t;
inline constexpr Register kNoRegister = 0xffff;

// base + sum of coefficient * register. Registers are loop counters, argument scalars and results
// of register_alu.
struct Affine {
  static constexpr int kMaxTerms = 4;
  struct Term {
    Register reg = kNoRegister;
    int64_t coefficient = 0;
    bool operator==(const Term&) const = default;
  };
  int64_t base = 0;
  std::array<Term, kMaxTerms> terms{};
  uint8_t num_terms = 0;

  Affine() = default;
  Affine(int64_t constant) : base(constant) {}  // NOLINT(google-explicit-constructor)
  static Affine Of(Register reg, int64_t coefficient = 1, int64_t base = 0);
  bool is_constant() const { return num_terms == 0; }
  // Terms of one register are merged. Requires room for the terms of both.
  Affine operator+(const Affine& other) const;
  Affine operator*(int64_t factor) const;
  int64_t Evaluate(const int64_t* registers) const;
  bool operator==(const Affine&) const = default;
};

// A count: `max`, or what `reg` holds, which is never above `max` (checked where it is computed),
// so that footprints are known before a run.
struct Count {
  int32_t max = 1;
  Register reg = kNoRegister;

  Count() = default;
  Count(int64_t constant) : max(static_cast<int32_t>(constant)) {}  // NOLINT
  Count(int64_t most, Register in) : max(static_cast<int32_t>(most)), reg(in) {}
  bool is_constant() const { return reg == kNoRegister; }
  int64_t Evaluate(const int64_t* registers) const {
    return reg == kNoRegister ? max : registers[reg];
  }
  bool operator==(const Count&) const = default;
};

// In HBM a step, too, may be what a register holds: rows as long as a run-time extent lie that far
// apart. The step's own number does not count then.
struct Dim {
  int64_t step = 1;  // elements
  Count count;
  Register step_from = kNoRegister;
  int64_t StepAt(const int64_t* registers) const {
    return step_from == kNoRegister ? step : registers == nullptr ? 0 : registers[step_from];
  }
  bool operator==(const Dim&) const = default;
};

// Documented: 16-bit fields of on-chip patterns, counts unsigned.
inline constexpr int64_t kMaxCountOnChip = 0xffff;

struct AccessPattern {
  static constexpr int kMaxDims = 4;

  Memory memory = Memory::kSbuf;
  DType dtype = DType::kF32;
  uint16_t tensor = 0;          // HBM only: index into Program::tensors
  Affine offset;                // bytes: within each partition, or from the HBM tensor's start
  uint8_t start_partition = 0;  // on chip only
  Count partitions = 1;
  int64_t partition_step = 0;  // HBM only, elements
  Register partition_step_from = kNoRegister;
  uint8_t num_dims = 1;  // free dimensions, outermost first
  std::array<Dim, kMaxDims> dims{};

  static AccessPattern Sbuf(DType dtype, int start_partition, Count partitions, Affine byte_offset,
                            std::initializer_list<Dim> dims);
  static AccessPattern Psum(DType dtype, int start_partition, Count partitions, Affine byte_offset,
                            std::initializer_list<Dim> dims);
  static AccessPattern Hbm(DType dtype, uint16_t tensor, Affine byte_offset, Count partitions,
                           int64_t partition_step, std::initializer_list<Dim> dims);

  int64_t MaxElementsPerPartition() const;
  int64_t PartitionStepAt(const int64_t* registers) const {
    return Dim{partition_step, 1, partition_step_from}.StepAt(registers);
  }
  bool is_constant() const;  // no count and no step comes from a register
  bool operator==(const AccessPattern&) const = default;
};

struct ByteRange {  // half open
  int64_t begin = 0;
  int64_t end = 0;
};

// Bytes that the pattern touches: of one partition on chip, of the tensor in HBM. Registers are
// taken at the values given, counts too; nullptr means counts at their maximum and registers 0.
ByteRange Footprint(const AccessPattern& pattern, const int64_t* registers);

// "sbuf[0:128] f32 @0x400 [(1, 512)]", "hbm %2 bf16 @r3*4096+128 [128 step 64][(1, 64)]".
std::string ToString(const Affine& affine);
std::string ToString(const AccessPattern& pattern);

}  // namespace neuron::isa
