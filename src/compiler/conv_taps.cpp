#include <algorithm>

#include "compiler/conv_mappings.h"

namespace neuron::compiler {
namespace {

constexpr int64_t kMostTapsUnrolled = 32;

class TapsEmitter {
 public:
  TapsEmitter(EmitContext& ctx, const Kernel& kernel, const ConvProblem& p, LoopBody& body)
      : ctx_(ctx), kernel_(kernel), p_(p), body_(body), images_(ctx), sums_(ctx), values_(ctx) {}

  Status Run() {
    const int64_t columns = std::min<int64_t>(isa::RowOf(ctx_.options.target).max_moving_free, 512);
    ConvTile largest = LargestTile(p_, isa::kPartitions, columns);
    // Weight gradients: a few places, many taps. The moving operand is then walked along `n`, which
    // stands innermost so that its runs are long.
    largest.batch_inside = p_.num_taps() > kMostTapsUnrolled;
    Fit(largest);
    const size_t rank = kernel_.domain.size();
    NEURON_RETURN_IF_ERROR(body_.Begin(SpecOf(p_, rank, largest), LoopedDims(p_, rank, largest)));
    NEURON_RETURN_IF_ERROR(ConvLoops(ctx_, p_, largest)
                               .Run(
                                   [&](const ConvTile& tile) -> Status {
                                     if (!resident_) return OkStatus();
                                     for (int64_t i = 0; i < p_.inputs; i += isa::kPartitions) {
                                       NEURON_ASSIGN_OR_RETURN(const Tile w,
                                                               LoadWeights(tile, i, 0, p_.taps[0]));
                                       weights_.push_back(w);
                                     }
                                     return OkStatus();
                                   },
                                   [&](const ConvTile& tile) { return Pixels(tile); },
                                   [&] {
                                     for (const Tile& w : weights_) ctx_.Free(w);
                                     weights_.clear();
                                   }));
    for (TakingTurns* tiles : {&images_, &sums_, &values_}) tiles->Clear();
    body_.End();
    return OkStatus();
  }

 private:
  int64_t InputTiles() const { return (p_.inputs + isa::kPartitions - 1) / isa::kPartitions; }
  // Image extents that `places` outputs and `taps` taps of dimension d touch.
  int64_t Extent(size_t d, int64_t places, int64_t taps) const {
    return (places - 1) * p_.stride[d] + (taps - 1) * p_.dilation[d] + 1;
  }
  int64_t TapsOf(size_t d) const { return d == 0 ? chunk_ : p_.taps[d]; }
  int64_t ImageBytes(const ConvTile& tile) const {
    int64_t n = tile.batch * ByteSize(p_.image.dtype);
    for (size_t d = 0; d < p_.rank(); ++d) n *= Extent(d, tile.places[d], TapsOf(d));
    return n;
  }
  int64_t WeightBytes(const ConvTile& tile) const {
    return tile.outputs * p_.num_taps() / p_.taps[0] * chunk_ * ByteSize(p_.weight.dtype);
  }

  // Decides whether the weights of all taps and input features stay in SBUF, how many taps of the
  // first dimension pass at a time, and cuts the tile until one pass fits.
  void Fit(ConvTile& tile) {
    const int64_t room = ctx_.sbuf.capacity() / 6;
    chunk_ = p_.taps[0];
    while (chunk_ > 1 && std::max(ImageBytes(tile), WeightBytes(tile)) > room)
      chunk_ = (chunk_ + 1) / 2;
    while (WeightBytes(tile) > room && tile.outputs > 1) tile.outputs = (tile.outputs + 1) / 2;
    while (ImageBytes(tile) > room) {
      if (tile.batch > 1) {
        tile.batch = (tile.batch + 1) / 2;
        continue;
      }
      const auto widest = std::max_element(tile.places.begin(), tile.places.end());
      if (*widest == 1) break;
      *widest = (*widest + 1) / 2;
    }
    resident_ = chunk_ == p_.taps[0] && WeightBytes(tile) * InputTiles() <= 2 * room;
  }

  // [i][taps][o] for few taps, else [i][o][taps]: as they lie in HBM, in long runs.
  bool FeaturesInside() const { return p_.num_taps() <= kMostTapsUnrolled; }

  StatusOr<Tile> LoadWeights(const ConvTile& tile, int64_t first_input, int64_t first_tap,
                             int64_t taps) {
    const int64_t inputs = std::min<int64_t>(isa::kPartitions, p_.inputs - first_input);
    std::vector<Count> counts;
    if (!FeaturesInside()) counts.emplace_back(tile.outputs);
    for (size_t d = 0; d < p_.rank(); ++d) counts.emplace_back(d == 0 ? taps : p_.taps[d]);
    if (FeaturesInside()) counts.emplace_back(tile.outputs);
    NEURON_ASSIGN_OR_RETURN(const Tile w,
                            ctx_.AllocateTile(p_.weight.dtype, Count(inputs), counts));
    std::vector<Affine> at(p_.rank(), Affine(0));
    at[0] = Affine(first_tap);
    AccessPattern from = AccessPattern::Hbm(
        p_.weight.dtype, p_.weight.tensor,
        ConvAddress(p_.weight, tile.group, tile.o, first_input, at), Count(inputs), p_.weight.inner,
        {{p_.weight.outer, Count(tile.outputs)}});
    AccessPattern to = w.pattern;
    if (FeaturesInside()) {  // walked as HBM is: features outside
      to.dims[0] = w.pattern.dims[p_.rank()];
      for (size_t d = 0; d < p_.rank(); ++d) to.dims[d + 1] = w.pattern.dims[d];
    }
    for (size_t d = 0; d < p_.rank(); ++d)
      from.dims[static_cast<size_t>(from.num_dims++)] = {p_.weight.spatial[d],
                                                         Count(d == 0 ? taps : p_.taps[d])};
    ctx_.DmaCopy(to, from);
    return w;
  }

  // [i][n][extents...], or [i][extents...][n] with batch_inside.
  StatusOr<Tile> LoadImage(const ConvTile& tile, int64_t first_input, int64_t first_tap,
                           int64_t taps) {
    const int64_t inputs = std::min<int64_t>(isa::kPartitions, p_.inputs - first_input);
    std::vector<Count> counts;
    std::vector<Affine> at;
    if (!tile.batch_inside) counts.emplace_back(tile.batch);
    for (size_t d = 0; d < p_.rank(); ++d) {
      counts.emplace_back(Extent(d, tile.places[d], d == 0 ? taps : p_.taps[d]));
      at.push_back(tile.place[d] * p_.stride[d] + Affine(d == 0 ? first_tap * p_.dilation[0] : 0));
    }
    if (tile.batch_inside) counts.emplace_back(tile.batch);
    NEURON_ASSIGN_OR_RETURN(const Tile image,
                            ctx_.AllocateTile(p_.image.dtype, Count(inputs), counts));
    // Both sides are walked as HBM lies: n outside.
    AccessPattern to = image.pattern;
    AccessPattern from = AccessPattern::Hbm(
        p_.image.dtype, p_.image.tensor, ConvAddress(p_.image, tile.group, tile.n, first_input, at),
        Count(inputs), p_.image.inner, {{p_.image.outer, Count(tile.batch)}});
    to.dims[0] = image.pattern.dims[tile.batch_inside ? p_.rank() : 0];
    for (size_t d = 0; d < p_.rank(); ++d) {
      const isa::Dim& extent = image.pattern.dims[SpatialDim(tile, d)];
      to.dims[d + 1] = extent;
      from.dims[static_cast<size_t>(from.num_dims++)] = {p_.image.spatial[d], extent.count};
    }
    ctx_.DmaCopy(to, from);
    return image;
  }
  // Where spatial dimension d lies among an image tile's free dimensions.
  static size_t SpatialDim(const ConvTile& tile, size_t d) { return tile.batch_inside ? d : d + 1; }

  AccessPattern Stationary(const Tile& w, const std::vector<Affine>& tap) const {
    AccessPattern p = w.pattern;
    const size_t first = FeaturesInside() ? 0 : 1;
    for (size_t d = 0; d < p_.rank(); ++d)
      p.offset = p.offset + tap[d] * (w.pattern.dims[first + d].step * ByteSize(p.dtype));
    p.dims[0] = w.pattern.dims[FeaturesInside() ? p_.rank() : 0];
    p.num_dims = 1;
    return p;
  }
  AccessPattern Moving(const Tile& image, const ConvTile& tile,
                       const std::vector<Affine>& tap) const {
    AccessPattern p = image.pattern;
    for (size_t d = 0; d < p_.rank(); ++d) {
      isa::Dim& dim = p.dims[SpatialDim(tile, d)];
      p.offset = p.offset + tap[d] * (p_.dilation[d] * dim.step * ByteSize(p.dtype));
      dim = {dim.step * p_.stride[d], Count(tile.places[d])};
    }
    return p;
  }

  Status Pixels(const ConvTile& tile) {
    NEURON_ASSIGN_OR_RETURN(const Tile sum,
                            ctx_.AllocatePsum(DType::kF32, Count(tile.outputs), FreeCounts(tile)));
    const bool loops = p_.num_taps() > kMostTapsUnrolled;
    if (loops) ctx_.Memset(sum.pattern, 0);  // a loop's body is the same each time: it always adds
    bool accumulate = loops;
    for (int64_t i = 0; i < p_.inputs; i += isa::kPartitions)
      for (int64_t first = 0; first < p_.taps[0]; first += chunk_) {
        const int64_t taps = std::min(chunk_, p_.taps[0] - first);
        Tile w;
        if (resident_) {
          w = weights_[static_cast<size_t>(i / isa::kPartitions)];
        } else {
          NEURON_ASSIGN_OR_RETURN(w, LoadWeights(tile, i, first, taps));
        }
        NEURON_ASSIGN_OR_RETURN(const Tile image, LoadImage(tile, i, first, taps));
        std::vector<Affine> tap(p_.rank(), Affine(0));
        NEURON_RETURN_IF_ERROR(ForEachTap(0, taps, !loops, tap, [&] {
          ctx_.Matmul(sum.pattern, Stationary(w, tap), Moving(image, tile, tap), accumulate);
          accumulate = true;
        }));
        images_.Done(image);
        if (!resident_) ctx_.Free(w);
      }
    NEURON_RETURN_IF_ERROR(EvacuateConv(ctx_, kernel_, body_, p_, tile, sum, values_));
    sums_.Done(sum);
    return OkStatus();
  }

  template <typename Body>
  Status ForEachTap(size_t d, int64_t taps, bool unroll, std::vector<Affine>& tap,
                    const Body& body) {
    if (d == p_.rank()) {
      body();
      return OkStatus();
    }
    return ForEachTile(ctx_, d == 0 ? taps : p_.taps[d], 1, unroll, [&](Affine at, int64_t) {
      tap[d] = at;
      return ForEachTap(d + 1, taps, unroll, tap, body);
    });
  }

  EmitContext& ctx_;
  const Kernel& kernel_;
  const ConvProblem& p_;
  LoopBody& body_;
  int64_t chunk_ = 1;  // taps of dimension 0 that pass at a time
  bool resident_ = false;
  std::vector<Tile> weights_;
  TakingTurns images_, sums_, values_;
};

}  // namespace

Status EmitConvTaps(EmitContext& ctx, const Kernel& kernel, const ConvProblem& p) {
  NEURON_ASSIGN_OR_RETURN(LoopBody body, LoopBody::Create(ctx, kernel));
  return TapsEmitter(ctx, kernel, p, body).Run();
}

}  // namespace neuron::compiler
