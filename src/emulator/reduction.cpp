#include "emulator/reduction.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace neuron::emulator {

using isa::AluOp;

uint32_t ReduceIdentity(Domain domain, AluOp op) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (domain == Domain::kFloat) {
    switch (op) {
      case AluOp::kMultiply:
      case AluOp::kLogicalAnd:
        return std::bit_cast<uint32_t>(1.0f);
      case AluOp::kMaximum:
        return std::bit_cast<uint32_t>(-kInfinity);
      case AluOp::kMinimum:
      case AluOp::kAbsMin:
        return std::bit_cast<uint32_t>(kInfinity);
      default:
        return 0;
    }
  }
  const bool is_signed = domain == Domain::kSigned;
  switch (op) {
    case AluOp::kMultiply:
    case AluOp::kLogicalAnd:
      return 1;
    case AluOp::kMaximum:
      return is_signed ? 0x80000000u : 0;
    case AluOp::kMinimum:
      return is_signed ? 0x7fffffffu : 0xffffffffu;
    case AluOp::kBitwiseAnd:
      return 0xffffffffu;
    default:
      return 0;
  }
}

namespace {
// An average is a sum until its end.
int CombineIndex(AluOp op) { return static_cast<int>(op == AluOp::kAverage ? AluOp::kAdd : op); }
}  // namespace

bool RowReduction::Supports(const KernelTable& kernels, Domain domain, AluOp op) {
  return kernels.reduce[static_cast<int>(domain)][static_cast<int>(op)] != nullptr;
}

RowReduction::RowReduction(const KernelTable& kernels, Domain domain, AluOp op)
    : reduce_(kernels.reduce[static_cast<int>(domain)][static_cast<int>(op)]),
      combine_(kernels.binary[static_cast<int>(domain)][CombineIndex(op)]
                             [static_cast<int>(OperandForm::kRowRow)]),
      identity_(ReduceIdentity(domain, op)) {
  Reset(lanes_);
}

void RowReduction::Reset(uint32_t* lanes) const { std::fill_n(lanes, kReduceLanes, identity_); }

uint32_t RowReduction::Fold(uint32_t* lanes) const {
  for (int half = kReduceLanes / 2; half > 0; half /= 2) combine_(lanes, lanes, lanes + half, half);
  return lanes[0];
}

void RowReduction::Add(const void* values, int64_t n) {
  if (in_chunk_ == kReduceChunk) {
    if (chunks_done_ == 0) Reset(chunks_);
    // Lane of the chunk's result in the row of results, which no row in SBUF makes longer than a
    // chunk itself.
    uint32_t result = Fold(lanes_);
    uint32_t* lane = &chunks_[chunks_done_++ % kReduceLanes];
    combine_(lane, lane, &result, 1);
    Reset(lanes_);
    in_chunk_ = 0;
  }
  reduce_(lanes_, values, n);
  in_chunk_ += n;
}

uint32_t RowReduction::Finish() {
  const uint32_t last = Fold(lanes_);
  if (chunks_done_ == 0) return last;
  uint32_t result = last;
  uint32_t* lane = &chunks_[chunks_done_ % kReduceLanes];
  combine_(lane, lane, &result, 1);
  return Fold(chunks_);
}

}  // namespace neuron::emulator
