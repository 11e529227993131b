// sort: stable, any number of operands moved together, along one dimension.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "emulator/wide/checks.h"
#include "emulator/wide/evaluator.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::gpsimd_kernels {
namespace {

using isa::SortKey;
constexpr std::string_view kName = "sort";

// A row's keys as integers whose unsigned order is the wanted one, so that one comparison serves
// all dtypes. Descending is the complement; ties keep their order because the sort is stable.
uint64_t Ordered(double x, const SortKey& key) {
  if (!key.total_order) {
    if (x != x) return key.nan == isa::NanOrder::kLast ? ~uint64_t{0} : 0;
    if (x == 0) x = 0;  // -0 equals +0
  }
  const uint64_t bits = std::bit_cast<uint64_t>(x);
  uint64_t ordered = bits >> 63 ? ~bits : bits | (uint64_t{1} << 63);
  return key.descending ? ~ordered : ordered;
}
uint64_t Ordered(int64_t x, DType dtype, const SortKey& key) {
  const uint64_t bits = static_cast<uint64_t>(x);
  const uint64_t ordered = dtype == DType::kU64 ? bits : bits ^ (uint64_t{1} << 63);
  return key.descending ? ~ordered : ordered;
}

void LoadKeys(const SortKey& key, const KernelTensor& tile, int64_t offset, int64_t stride,
              std::vector<uint64_t>& keys) {
  int64_t offsets[wide::kBlock];
  alignas(16) std::byte block[wide::kBlock * wide::kElementBytes];
  const int64_t length = static_cast<int64_t>(keys.size());
  for (int64_t begin = 0; begin < length; begin += wide::kBlock) {
    const int n = static_cast<int>(std::min<int64_t>(wide::kBlock, length - begin));
    for (int i = 0; i < n; ++i) offsets[i] = offset + (begin + i) * stride;
    wide::Load(tile.dtype, tile.data, offsets, n, block);
    for (int i = 0; i < n; ++i) {
      uint64_t& out = keys[static_cast<size_t>(begin + i)];
      switch (wide::KindOf(tile.dtype)) {
        case wide::Kind::kFloat:
          out = Ordered(reinterpret_cast<float*>(block)[i], key);
          break;
        case wide::Kind::kDouble:
          out = Ordered(reinterpret_cast<double*>(block)[i], key);
          break;
        default:
          out = Ordered(reinterpret_cast<int64_t*>(block)[i], tile.dtype, key);
          break;
      }
    }
  }
}

// Evaluates the comparator program on two positions of the row.
class ProgramLess {
 public:
  ProgramLess(const isa::WideProgram& program, std::span<const KernelTensor> operands)
      : operands_(operands), evaluator_(program) {}
  void SetRow(int64_t offset, int64_t stride) {
    offset_ = offset;
    stride_ = stride;
  }
  bool operator()(int64_t a, int64_t b) {
    for (size_t i = 0; i < operands_.size(); ++i) {
      const int64_t left = offset_ + a * stride_, right = offset_ + b * stride_;
      const int slot = static_cast<int>(2 * i);
      wide::Load(operands_[i].dtype, operands_[i].data, &left, 1, evaluator_.input(slot));
      wide::Load(operands_[i].dtype, operands_[i].data, &right, 1, evaluator_.input(slot + 1));
    }
    evaluator_.Run(1);
    return *static_cast<const int64_t*>(evaluator_.output(0)) != 0;
  }

 private:
  std::span<const KernelTensor> operands_;
  wide::Evaluator evaluator_;
  int64_t offset_ = 0, stride_ = 1;
};

Status CheckKeys(const isa::SortParameters& p, std::span<const KernelTensor> inputs) {
  for (const SortKey& key : p.keys) {
    NEURON_RETURN_IF_ERROR(wide::ExpectRange(kName, "key operand", key.operand, 0,
                                             static_cast<int64_t>(inputs.size()) - 1));
    if (IsComplex(inputs[static_cast<size_t>(key.operand)].dtype))
      return InvalidArgument("gpsimd_kernel sort: complex numbers have no order");
  }
  if (!p.keys.empty()) return OkStatus();
  NEURON_RETURN_IF_ERROR(wide::Check(kName, p.comparator));
  bool ok = p.comparator.inputs.size() == 2 * inputs.size() && p.comparator.outputs.size() == 1 &&
            p.comparator.dtype(p.comparator.outputs[0]) == DType::kPred;
  for (size_t i = 0; ok && i < p.comparator.inputs.size(); ++i)
    ok = p.comparator.inputs[i] == inputs[i / 2].dtype;
  if (!ok)
    return InvalidArgument("gpsimd_kernel sort: the comparator takes ", p.comparator.inputs.size(),
                           " values and gives ", p.comparator.outputs.size(), ", expected ",
                           2 * inputs.size(), " of the operands' dtypes and one pred");
  return OkStatus();
}

// to[offset + i * stride] = from[offset + order[i] * stride]
void Permute(const KernelTensor& from, const KernelTensor& to, int64_t offset, int64_t stride,
             const std::vector<int64_t>& order, std::vector<std::byte>& buffer) {
  const size_t bytes = static_cast<size_t>(ByteSize(from.dtype));
  buffer.resize(order.size() * bytes);  // `to` may be `from`
  for (size_t i = 0; i < order.size(); ++i)
    std::memcpy(&buffer[i * bytes],
                from.data + static_cast<size_t>(offset + order[i] * stride) * bytes, bytes);
  for (size_t i = 0; i < order.size(); ++i)
    std::memcpy(to.data + static_cast<size_t>(offset + static_cast<int64_t>(i) * stride) * bytes,
                &buffer[i * bytes], bytes);
}

}  // namespace

Status sort(std::span<const KernelTensor> tiles, std::span<const int64_t> parameters) {
  NEURON_ASSIGN_OR_RETURN(const auto p, isa::Unpack<isa::SortParameters>(kName, parameters));
  const size_t count = tiles.size() / 2;
  NEURON_RETURN_IF_ERROR(wide::ExpectTiles(kName, tiles, 2 * std::max<size_t>(count, 1)));
  NEURON_RETURN_IF_ERROR(wide::ExpectRange(kName, "dimension", p.dimension, 0,
                                           static_cast<int64_t>(p.dims.size()) - 1));
  const int64_t volume = wide::Volume(p.dims);
  for (size_t i = 0; i < tiles.size(); ++i)
    NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, i, volume));
  const auto inputs = tiles.subspan(count);
  for (size_t i = 0; i < count; ++i)
    NEURON_RETURN_IF_ERROR(wide::ExpectDType(kName, tiles, i, inputs[i].dtype));
  NEURON_RETURN_IF_ERROR(CheckKeys(p, inputs));
  if (volume == 0) return OkStatus();

  const int64_t length = p.dims[static_cast<size_t>(p.dimension)];
  int64_t stride = 1;
  for (size_t d = static_cast<size_t>(p.dimension) + 1; d < p.dims.size(); ++d) stride *= p.dims[d];
  std::vector<std::vector<uint64_t>> keys(p.keys.size(),
                                          std::vector<uint64_t>(static_cast<size_t>(length)));
  std::vector<int64_t> order(static_cast<size_t>(length));
  std::vector<std::byte> buffer;
  const isa::WideProgram none;
  ProgramLess program_less(p.keys.empty() ? p.comparator : none, inputs);
  for (int64_t row = 0; row < volume / length; ++row) {
    const int64_t offset = row / stride * length * stride + row % stride;
    std::iota(order.begin(), order.end(), int64_t{0});
    if (p.keys.empty()) {
      program_less.SetRow(offset, stride);
      // A merge sort with a comparator of the user's: consistent or not, it stays in bounds.
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return program_less(a, b); });
    } else {
      for (size_t k = 0; k < keys.size(); ++k)
        LoadKeys(p.keys[k], inputs[static_cast<size_t>(p.keys[k].operand)], offset, stride,
                 keys[k]);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        for (const auto& key : keys) {
          const uint64_t left = key[static_cast<size_t>(a)], right = key[static_cast<size_t>(b)];
          if (left != right) return left < right;
        }
        return false;
      });
    }
    for (size_t i = 0; i < count; ++i) Permute(inputs[i], tiles[i], offset, stride, order, buffer);
  }
  return OkStatus();
}

}  // namespace neuron::emulator::gpsimd_kernels
