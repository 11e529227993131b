// wide_reduce: reductions of 64-bit and complex numbers, and of several values together.
//
// The order of combination is the project's: rows in chunks of 4096 elements, inside a chunk 16
// lanes (lane l takes elements l, l + 16, ...), lanes joined by the tree l with l + 8, + 4, + 2,
// + 1, chunk results reduced the same way as a row of their own.
#include <cstring>
#include <vector>

#include "emulator/wide/checks.h"
#include "emulator/wide/combiner.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::gpsimd_kernels {
namespace {

constexpr std::string_view kName = "wide_reduce";
constexpr int kLanes = 16;
constexpr int kChunk = 4096;
constexpr int kRows = wide::kBlock / kLanes;  // kept elements computed together

// The values of `rows` rows at positions [begin, begin + lanes): element[lane * rows + row].
class Source {
 public:
  virtual ~Source() = default;
  virtual void Load(int64_t begin, int lanes, wide::Combiner& combiner) = 0;
};

// Leaves the reduction of a row of `length` elements, per row, in accumulator[0, rows).
void ReduceRow(Source& source, int64_t begin, int64_t length, int rows, wide::Combiner& combiner) {
  const int lanes = static_cast<int>(std::min<int64_t>(kLanes, length));
  source.Load(begin, lanes, combiner);
  combiner.ElementToAccumulator(0, lanes * rows);
  for (int64_t at = kLanes; at < length; at += kLanes) {
    const int n = static_cast<int>(std::min<int64_t>(kLanes, length - at));
    source.Load(begin + at, n, combiner);
    combiner.Run(n * rows);
  }
  for (int half = kLanes / 2; half > 0; half /= 2) {
    const int partners = std::min(lanes - half, half);  // lanes that have data above `half`
    if (partners <= 0) continue;
    combiner.AccumulatorToElement(half * rows, partners * rows);
    combiner.Run(partners * rows);
  }
}

class TileSource : public Source {
 public:
  TileSource(std::span<const KernelTensor> inputs, const wide::StridedWalk& reduced,
             const std::vector<std::vector<int64_t>>& strides)
      : inputs_(inputs), reduced_(reduced), strides_(strides), rows_(inputs.size()) {}
  void SetRows(size_t input, const int64_t* offsets, int rows) {
    rows_[input].assign(offsets, offsets + rows);
  }
  void Load(int64_t begin, int lanes, wide::Combiner& combiner) override {
    int64_t positions[kLanes];
    int64_t offsets[wide::kBlock];
    for (size_t i = 0; i < inputs_.size(); ++i) {
      reduced_.Offsets(0, strides_[i], begin, lanes, positions);
      int n = 0;
      for (int lane = 0; lane < lanes; ++lane)
        for (const int64_t row : rows_[i]) offsets[n++] = row + positions[lane];
      wide::Load(inputs_[i].dtype, inputs_[i].data, offsets, n,
                 combiner.element(static_cast<int>(i)));
    }
  }

 private:
  std::span<const KernelTensor> inputs_;
  const wide::StridedWalk& reduced_;
  const std::vector<std::vector<int64_t>>& strides_;
  std::vector<std::vector<int64_t>> rows_;  // per input: offset of each row
};

// Chunk results kept as blocks: [chunk][value][row] in the representation of each dtype.
class ChunkSource : public Source {
 public:
  ChunkSource(const std::vector<DType>& dtypes, int rows) : dtypes_(dtypes), rows_(rows) {}
  void Append(wide::Combiner& combiner) {
    for (size_t i = 0; i < dtypes_.size(); ++i) {
      const auto* from = static_cast<const std::byte*>(combiner.accumulator(static_cast<int>(i)));
      values_.insert(values_.end(), from, from + RowBytes(i));
    }
    ++chunks_;
  }
  int64_t chunks() const { return chunks_; }
  void Load(int64_t begin, int lanes, wide::Combiner& combiner) override {
    size_t chunk_bytes = 0;
    for (size_t i = 0; i < dtypes_.size(); ++i) chunk_bytes += RowBytes(i);
    for (int lane = 0; lane < lanes; ++lane) {
      size_t at = static_cast<size_t>(begin + lane) * chunk_bytes;
      for (size_t i = 0; i < dtypes_.size(); ++i) {
        std::memcpy(static_cast<std::byte*>(combiner.element(static_cast<int>(i))) +
                        static_cast<size_t>(lane) * RowBytes(i),
                    &values_[at], RowBytes(i));
        at += RowBytes(i);
      }
    }
  }

 private:
  size_t RowBytes(size_t i) const {
    return static_cast<size_t>(rows_) * wide::BlockElementBytes(dtypes_[i]);
  }
  const std::vector<DType>& dtypes_;
  int rows_;
  int64_t chunks_ = 0;
  std::vector<std::byte> values_;
};

void ReduceLong(Source& source, int64_t length, int rows, const std::vector<DType>& dtypes,
                wide::Combiner& combiner) {
  if (length <= kChunk) return ReduceRow(source, 0, length, rows, combiner);
  ChunkSource chunks(dtypes, rows);
  for (int64_t begin = 0; begin < length; begin += kChunk) {
    ReduceRow(source, begin, std::min<int64_t>(kChunk, length - begin), rows, combiner);
    chunks.Append(combiner);
  }
  ReduceLong(chunks, chunks.chunks(), rows, dtypes, combiner);
}

}  // namespace

Status wide_reduce(std::span<const KernelTensor> tiles, std::span<const int64_t> parameters) {
  NEURON_ASSIGN_OR_RETURN(const auto p, isa::Unpack<isa::WideReduceParameters>(kName, parameters));
  const size_t values = p.views.size();
  NEURON_RETURN_IF_ERROR(wide::ExpectTiles(kName, tiles, 3 * std::max<size_t>(values, 1)));
  if (p.reduced.size() != p.dims.size() || wide::Volume(p.dims) < 0)
    return InvalidArgument("gpsimd_kernel wide_reduce: ", p.reduced.size(), " marks for ",
                           p.dims.size(), " dimensions");
  const auto outs = tiles.first(values), inputs = tiles.subspan(values, values),
             inits = tiles.subspan(2 * values);
  std::vector<int64_t> kept_dims, reduced_dims;
  for (size_t d = 0; d < p.dims.size(); ++d)
    (p.reduced[d] ? reduced_dims : kept_dims).push_back(p.dims[d]);
  const wide::StridedWalk kept(kept_dims), reduced(reduced_dims);
  std::vector<DType> dtypes;
  std::vector<std::vector<int64_t>> kept_strides(values), reduced_strides(values);
  for (size_t i = 0; i < values; ++i) {
    if (!wide::Fits(p.dims, p.views[i].offset, p.views[i].strides, inputs[i].elements))
      return OutOfRange("gpsimd_kernel wide_reduce: input ", i, " reaches beyond its tile of ",
                        inputs[i].elements, " elements");
    NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, i, kept.size()));
    NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 2 * values + i, 1));
    NEURON_RETURN_IF_ERROR(wide::ExpectDType(kName, tiles, i, inputs[i].dtype));
    dtypes.push_back(inputs[i].dtype);
    for (size_t d = 0; d < p.dims.size(); ++d)
      (p.reduced[d] ? reduced_strides : kept_strides)[i].push_back(p.views[i].strides[d]);
  }
  NEURON_ASSIGN_OR_RETURN(const auto program, wide::MakeCombiner(kName, p.op, p.program, dtypes));
  wide::Combiner combiner(program, dtypes);
  TileSource source(inputs, reduced, reduced_strides);
  int64_t offsets[wide::kBlock];
  for (int64_t begin = 0; begin < kept.size(); begin += kRows) {
    const int rows = static_cast<int>(std::min<int64_t>(kRows, kept.size() - begin));
    if (reduced.size() > 0) {
      for (size_t i = 0; i < values; ++i) {
        kept.Offsets(p.views[i].offset, kept_strides[i], begin, rows, offsets);
        source.SetRows(i, offsets, rows);
      }
      ReduceLong(source, reduced.size(), rows, dtypes, combiner);
      combiner.AccumulatorToElement(0, rows);
    }
    const int64_t zeros[kRows] = {};
    for (size_t i = 0; i < values; ++i)  // init op result
      wide::Load(inits[i].dtype, inits[i].data, zeros, rows,
                 combiner.accumulator(static_cast<int>(i)));
    if (reduced.size() > 0) combiner.Run(rows);
    for (int row = 0; row < rows; ++row) offsets[row] = begin + row;
    for (size_t i = 0; i < values; ++i)
      wide::Store(dtypes[i], outs[i].data, offsets, rows,
                  combiner.accumulator(static_cast<int>(i)));
  }
  return OkStatus();
}

}  // namespace neuron::emulator::gpsimd_kernels
