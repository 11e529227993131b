#include "isa/access_pattern.h"

#include <algorithm>
#include <cstdio>

#include "base/status.h"

namespace neuron::isa {
namespace {

AccessPattern OnChip(Memory memory, DType dtype, int start_partition, Count partitions,
                     Affine byte_offset, std::initializer_list<Dim> dims) {
  AccessPattern pattern;
  pattern.memory = memory;
  pattern.dtype = dtype;
  pattern.offset = byte_offset;
  pattern.start_partition = static_cast<uint8_t>(start_partition);
  pattern.partitions = partitions;
  NEURON_CHECK(dims.size() <= AccessPattern::kMaxDims, "an access pattern has at most ",
               AccessPattern::kMaxDims, " free dimensions, got ", dims.size());
  pattern.num_dims = static_cast<uint8_t>(dims.size());
  std::copy(dims.begin(), dims.end(), pattern.dims.begin());
  return pattern;
}

std::string ToString(const Count& count) {
  return count.is_constant() ? StrCat(count.max) : StrCat("r", count.reg, "<=", count.max);
}

std::string StepText(int64_t step, Register from) {
  return from == kNoRegister ? StrCat(step) : StrCat("r", from);
}

}  // namespace

Affine Affine::Of(Register reg, int64_t coefficient, int64_t base) {
  Affine result(base);
  if (coefficient != 0) result.terms[result.num_terms++] = {reg, coefficient};
  return result;
}

Affine Affine::operator+(const Affine& other) const {
  Affine sum = *this;
  sum.base += other.base;
  for (int i = 0; i < other.num_terms; ++i) {
    const Term& term = other.terms[i];
    Term* const end = sum.terms.data() + sum.num_terms;
    Term* const same =
        std::find_if(sum.terms.data(), end, [&](const Term& have) { return have.reg == term.reg; });
    if (same == end) {
      NEURON_CHECK(sum.num_terms < kMaxTerms, "a register expression has at most ", kMaxTerms,
                   " terms; compute a part of it with register_alu");
      sum.terms[sum.num_terms++] = term;
    } else {
      same->coefficient += term.coefficient;
      if (same->coefficient == 0) {
        *same = *(end - 1);
        *(end - 1) = Term{};
        --sum.num_terms;
      }
    }
  }
  return sum;
}

Affine Affine::operator*(int64_t factor) const {
  if (factor == 0) return Affine();
  Affine product = *this;
  product.base *= factor;
  for (int i = 0; i < num_terms; ++i) product.terms[i].coefficient *= factor;
  return product;
}

int64_t Affine::Evaluate(const int64_t* registers) const {
  int64_t value = base;
  for (int i = 0; i < num_terms; ++i) value += terms[i].coefficient * registers[terms[i].reg];
  return value;
}

AccessPattern AccessPattern::Sbuf(DType dtype, int start_partition, Count partitions,
                                  Affine byte_offset, std::initializer_list<Dim> dims) {
  return OnChip(Memory::kSbuf, dtype, start_partition, partitions, byte_offset, dims);
}

AccessPattern AccessPattern::Psum(DType dtype, int start_partition, Count partitions,
                                  Affine byte_offset, std::initializer_list<Dim> dims) {
  return OnChip(Memory::kPsum, dtype, start_partition, partitions, byte_offset, dims);
}

AccessPattern AccessPattern::Hbm(DType dtype, uint16_t tensor, Affine byte_offset, Count partitions,
                                 int64_t partition_step, std::initializer_list<Dim> dims) {
  AccessPattern pattern = OnChip(Memory::kHbm, dtype, 0, partitions, byte_offset, dims);
  pattern.tensor = tensor;
  pattern.partition_step = partition_step;
  return pattern;
}

int64_t AccessPattern::MaxElementsPerPartition() const {
  int64_t elements = 1;
  for (int i = 0; i < num_dims; ++i) elements *= dims[i].count.max;
  return elements;
}

bool AccessPattern::is_constant() const {
  bool constant = partitions.is_constant() && partition_step_from == kNoRegister;
  for (int i = 0; i < num_dims; ++i)
    constant = constant && dims[i].count.is_constant() && dims[i].step_from == kNoRegister;
  return constant;
}

ByteRange Footprint(const AccessPattern& pattern, const int64_t* registers) {
  const auto count_of = [&](const Count& count) {
    return registers == nullptr ? int64_t{count.max} : count.Evaluate(registers);
  };
  int64_t first = 0;
  int64_t last = 0;
  bool empty = false;
  const auto walk = [&](int64_t step, int64_t count) {
    if (count <= 0) {
      empty = true;
    } else if (step < 0) {
      first += step * (count - 1);
    } else {
      last += step * (count - 1);
    }
  };
  for (int i = 0; i < pattern.num_dims; ++i)
    walk(pattern.dims[i].StepAt(registers), count_of(pattern.dims[i].count));
  // On chip every partition has the same range; a count of zero partitions touches nothing.
  walk(pattern.memory == Memory::kHbm ? pattern.PartitionStepAt(registers) : 0,
       count_of(pattern.partitions));
  const int64_t offset =
      registers == nullptr ? pattern.offset.base : pattern.offset.Evaluate(registers);
  if (empty) return {offset, offset};
  const int64_t size = ByteSize(pattern.dtype);
  return {offset + first * size, offset + (last + 1) * size};
}

std::string ToString(const Affine& affine) {
  std::string text;
  for (int i = 0; i < affine.num_terms; ++i) {
    const Affine::Term& term = affine.terms[i];
    const int64_t size = term.coefficient < 0 ? -term.coefficient : term.coefficient;
    text += StrCat(term.coefficient < 0 ? "-" : i > 0 ? "+" : "", "r", term.reg);
    if (size != 1) text += StrCat("*", size);
  }
  if (text.empty()) return StrCat(affine.base);
  if (affine.base != 0) text += StrCat(affine.base > 0 ? "+" : "", affine.base);
  return text;
}

std::string ToString(const AccessPattern& pattern) {
  std::string text;
  std::string offset = ToString(pattern.offset);
  if (pattern.memory == Memory::kHbm) {
    text = StrCat("hbm %", pattern.tensor, " ", DTypeName(pattern.dtype), " @", offset, " [",
                  ToString(pattern.partitions), " step ",
                  StepText(pattern.partition_step, pattern.partition_step_from), "][");
  } else {
    if (pattern.offset.is_constant()) {
      char hex[32];
      std::snprintf(hex, sizeof hex, "0x%llx", static_cast<long long>(pattern.offset.base));
      offset = hex;
    }
    const std::string rows =
        pattern.partitions.is_constant()
            ? StrCat(pattern.start_partition + pattern.partitions.max)
            : StrCat(static_cast<int>(pattern.start_partition), "+", ToString(pattern.partitions));
    text = StrCat(pattern.memory == Memory::kSbuf ? "sbuf" : "psum", "[",
                  static_cast<int>(pattern.start_partition), ":", rows, "] ",
                  DTypeName(pattern.dtype), " @", offset, " [");
  }
  for (int i = 0; i < pattern.num_dims; ++i)
    text +=
        StrCat(i > 0 ? ", " : "", "(", StepText(pattern.dims[i].step, pattern.dims[i].step_from),
               ", ", ToString(pattern.dims[i].count), ")");
  return text + "]";
}

}  // namespace neuron::isa
