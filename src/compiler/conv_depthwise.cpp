#include <algorithm>

#include "compiler/conv_mappings.h"

namespace neuron::compiler {
namespace {

constexpr int64_t kPixels = 1024;  // of a tile

// A group's single input feature per partition; `multiple` outputs of a group one after another.
class DepthwiseEmitter {
 public:
  DepthwiseEmitter(EmitContext& ctx, const Kernel& kernel, const ConvProblem& p, LoopBody& body)
      : ctx_(ctx), kernel_(kernel), p_(p), body_(body) {}

  Status Run() {
    const int64_t groups = std::min<int64_t>(p_.groups, isa::kPartitions);
    largest_ = LargestTile(p_, 1, kPixels);
    largest_.outputs = groups;
    const size_t rank = kernel_.domain.size();
    std::vector<bool> looped = LoopedDims(p_, rank, largest_);
    looped[static_cast<size_t>(p_.o_dim)] = p_.groups > groups || p_.outputs > 1;
    NEURON_RETURN_IF_ERROR(body_.Begin(SpecFor(largest_), looped));
    NEURON_RETURN_IF_ERROR(
        ForEachTile(ctx_, p_.groups, groups, false, [&](Affine group, int64_t count) {
          return ForEachTile(ctx_, p_.outputs, 1, true, [&](Affine o, int64_t) -> Status {
            ConvTile tile = largest_;
            tile.group = group;
            tile.o = o;
            tile.o_in_result = group * p_.outputs + o;
            tile.outputs = count;
            NEURON_ASSIGN_OR_RETURN(const Tile weights, LoadWeights(tile));
            NEURON_RETURN_IF_ERROR(
                ForEachTile(ctx_, p_.batch, largest_.batch, false, [&](Affine n, int64_t batch) {
                  tile.n = n;
                  tile.batch = batch;
                  return Places(0, tile, weights);
                }));
            ctx_.Free(weights);
            return OkStatus();
          });
        }));
    body_.End();
    return OkStatus();
  }

 private:
  TileSpec SpecFor(const ConvTile& tile) const {
    TileSpec spec = SpecOf(p_, kernel_.domain.size(), tile);
    spec.partition = {p_.o_dim, p_.outputs, Count(tile.outputs)};
    return spec;
  }

  Status Places(size_t d, ConvTile& tile, const Tile& weights) {
    if (d == p_.rank()) return Pixels(tile, weights);
    const bool unroll = d + 3 > isa::Affine::kMaxTerms;  // registers: group, n, then places
    return ForEachTile(ctx_, p_.places[d], largest_.places[d], unroll,
                       [&](Affine place, int64_t places) {
                         tile.place[d] = place;
                         tile.places[d] = places;
                         return Places(d + 1, tile, weights);
                       });
  }

  // [group][taps], fp32: scalars of Vector instructions.
  StatusOr<Tile> LoadWeights(const ConvTile& tile) {
    std::vector<Count> counts;
    for (const int64_t taps : p_.taps) counts.emplace_back(taps);
    NEURON_ASSIGN_OR_RETURN(const Tile w,
                            ctx_.AllocateTile(DType::kF32, Count(tile.outputs), counts));
    AccessPattern from = AccessPattern::Hbm(
        p_.weight.dtype, p_.weight.tensor,
        ConvAddress(p_.weight, tile.group, tile.o, 0, std::vector<Affine>(p_.rank(), Affine(0))),
        Count(tile.outputs), p_.weight.group, {});
    from.num_dims = 0;
    for (size_t d = 0; d < p_.rank(); ++d)
      from.dims[static_cast<size_t>(from.num_dims++)] = {p_.weight.spatial[d], counts[d]};
    ctx_.DmaCopy(w.pattern, from);
    return w;
  }

  Status Pixels(const ConvTile& tile, const Tile& weights) {
    std::vector<Count> extents = {Count(tile.batch)};
    std::vector<Affine> at;
    for (size_t d = 0; d < p_.rank(); ++d) {
      extents.emplace_back((tile.places[d] - 1) * p_.stride[d] + (p_.taps[d] - 1) * p_.dilation[d] +
                           1);
      at.push_back(tile.place[d] * p_.stride[d]);
    }
    NEURON_ASSIGN_OR_RETURN(const Tile image,
                            ctx_.AllocateTile(p_.image.dtype, Count(tile.outputs), extents));
    AccessPattern from = AccessPattern::Hbm(
        p_.image.dtype, p_.image.tensor, ConvAddress(p_.image, tile.group, tile.n, 0, at),
        Count(tile.outputs), p_.image.group, {{p_.image.outer, Count(tile.batch)}});
    for (size_t d = 0; d < p_.rank(); ++d)
      from.dims[static_cast<size_t>(from.num_dims++)] = {p_.image.spatial[d], extents[d + 1]};
    ctx_.DmaCopy(image.pattern, from);

    NEURON_ASSIGN_OR_RETURN(const Tile sum,
                            ctx_.AllocateTile(DType::kF32, Count(tile.outputs), FreeCounts(tile)));
    Dims tap(p_.rank(), 0);
    for (int64_t t = 0; t < p_.num_taps(); ++t) {
      AccessPattern shifted = image.pattern;
      AccessPattern weight = weights.pattern;
      int64_t index = 0;
      for (size_t d = 0; d < p_.rank(); ++d) {
        isa::Dim& dim = shifted.dims[d + 1];
        shifted.offset =
            shifted.offset + Affine(tap[d] * p_.dilation[d] * dim.step * ByteSize(shifted.dtype));
        dim = {dim.step * p_.stride[d], Count(tile.places[d])};
        index = index * p_.taps[d] + tap[d];
      }
      weight.offset = weight.offset + Affine(index * 4);
      weight.num_dims = 1;
      weight.dims[0] = {1, 1};
      if (t == 0)
        ctx_.TensorScalar(sum.pattern, shifted, isa::AluOp::kMultiply, weight);
      else
        ctx_.ScalarTensorTensor(sum.pattern, shifted, isa::AluOp::kMultiply, weight, false,
                                isa::AluOp::kAdd, sum.pattern, false);
      for (size_t d = p_.rank(); d-- > 0;) {
        if (++tap[d] < p_.taps[d]) break;
        tap[d] = 0;
      }
    }
    ctx_.Free(image);
    const DType dtype = kernel_.hero->shape().dtype;
    Tile value = sum;
    if (dtype != DType::kF32) {
      NEURON_ASSIGN_OR_RETURN(value,
                              ctx_.AllocateTile(dtype, Count(tile.outputs), FreeCounts(tile)));
      ctx_.TensorCopy(value.pattern, sum.pattern);
      ctx_.Free(sum);
    }
    NEURON_RETURN_IF_ERROR(body_.Emit(SpecFor(tile), {{kernel_.hero, value}}));
    ctx_.Free(value);
    return OkStatus();
  }

  EmitContext& ctx_;
  const Kernel& kernel_;
  const ConvProblem& p_;
  LoopBody& body_;
  ConvTile largest_;
};

}  // namespace

Status EmitConvDepthwise(EmitContext& ctx, const Kernel& kernel, const ConvProblem& p) {
  NEURON_ASSIGN_OR_RETURN(LoopBody body, LoopBody::Create(ctx, kernel));
  return DepthwiseEmitter(ctx, kernel, p, body).Run();
}

}  // namespace neuron::compiler
