#include "compiler/reduce_window.h"

#include <algorithm>

#include "compiler/irregular.h"
#include "compiler/operands.h"
#include "compiler/padding.h"
#include "compiler/reduction.h"
#include "compiler/tiling.h"

namespace neuron::compiler {
namespace {

using hlo::Opcode;
using isa::AluOp;

constexpr int64_t kMostTaps = 256;
constexpr int64_t kPlaces = 2048;  // of a tile, per partition
constexpr int64_t kImageBytes = int64_t{64} << 10;

struct WindowProblem {
  AluOp op{};
  double init = 0;
  PaddedOperand image;
  DType accumulator{};
  // Of the result: plain dimensions (joined), then windowed ones.
  Dims domain, image_strides;
  size_t num_plain = 0;
  std::vector<hlo::WindowDimension> window;
  int64_t taps = 1;
};

bool IsPlain(const hlo::WindowDimension& w) {
  return w.size == 1 && w.stride == 1 && w.padding_low == 0 && w.padding_high == 0 &&
         w.base_dilation == 1;
}

// nullopt: for the general kernel.
StatusOr<std::optional<WindowProblem>> MakeProblem(EmitContext& ctx, const hlo::Instruction& hero) {
  const std::optional<AluOp> op = ReductionAlu(hero);
  const hlo::Instruction* init = hero.operand(1);
  const View& start = ctx.plan.ViewOf(init);
  if (!op || hero.operands().size() != 2 || start.base->opcode() != Opcode::kConstant ||
      !start.base->attributes().literal.IsSplat() || IsWide(hero.shape().dtype) ||
      hero.operand(0)->shape().num_elements() == 0)
    return std::optional<WindowProblem>();
  WindowProblem p;
  p.op = *op;
  p.init = start.base->attributes().literal.AsDouble(0);
  const DType dtype = hero.shape().dtype;
  p.accumulator = TileDType(dtype);
  if (IsFloating(dtype) && (p.op == AluOp::kAdd || p.op == AluOp::kMultiply))
    p.accumulator = DType::kF32;

  Dims windowed;
  const auto& window = hero.attributes().window;
  for (size_t d = 0; d < window.size(); ++d) {
    if (IsPlain(window[d])) continue;
    windowed.push_back(static_cast<int64_t>(d));
    p.window.push_back(window[d]);
    p.taps *= window[d].size;
  }
  if (windowed.empty() || windowed.size() > 3 || p.taps > kMostTaps)
    return std::optional<WindowProblem>();
  NEURON_ASSIGN_OR_RETURN(const View x, OperandView(ctx, hero.operand(0)));
  NEURON_ASSIGN_OR_RETURN(p.image, PadOperand(ctx, x, windowed, p.window, p.init));

  // Plain dimensions first, then windowed ones: strides say where both lie.
  const Dims& out = hero.shape().dims;
  Dims sizes, strides;
  for (size_t d = 0; d < out.size(); ++d) {
    if (!IsPlain(window[d])) continue;
    sizes.push_back(out[d]);
    strides.push_back(p.image.strides[d]);
  }
  p.num_plain = sizes.size();
  for (int64_t d : windowed) {
    sizes.push_back(out[static_cast<size_t>(d)]);
    strides.push_back(p.image.strides[static_cast<size_t>(d)]);
  }
  p.domain = std::move(sizes);
  p.image_strides = std::move(strides);
  return std::optional<WindowProblem>(std::move(p));
}

class WindowEmitter {
 public:
  WindowEmitter(EmitContext& ctx, const hlo::Instruction& hero, const WindowProblem& p)
      : ctx_(ctx), hero_(hero), p_(p) {
    // Where each dimension of the problem lies in the result.
    const Dims natural = DenseStrides(hero.shape().dims);
    const auto& window = hero.attributes().window;
    for (bool plain : {true, false})
      for (size_t d = 0; d < window.size(); ++d)
        if (IsPlain(window[d]) == plain) out_strides_.push_back(natural[d]);
    std::vector<Dims> lists = {p.image_strides, out_strides_};
    Dims plain(p.domain.begin(), p.domain.begin() + static_cast<int64_t>(p.num_plain));
    for (Dims& list : lists) list.resize(p.num_plain);
    CollapseDims(plain, lists);  // at least one dimension remains
    plain_ = plain;
    plain_image_ = lists[0];
    plain_out_ = lists[1];
    const auto first = static_cast<int64_t>(p.num_plain);
    places_.assign(p.domain.begin() + first, p.domain.end());
    image_.assign(p.image_strides.begin() + first, p.image_strides.end());
    out_.assign(out_strides_.begin() + first, out_strides_.end());
    partition_ =
        static_cast<size_t>(std::max_element(plain_.begin(), plain_.end()) - plain_.begin());
  }

  Status Run() {
    largest_.assign(places_.size(), 1);
    int64_t room = kPlaces;
    for (size_t d = places_.size(); d-- > 0;) {
      largest_[d] = std::clamp<int64_t>(places_[d], 1, std::max<int64_t>(room, 1));
      room = largest_[d] == places_[d] ? room / largest_[d] : 0;
    }
    while (Product(Extents(largest_)) * ByteSize(p_.image.dtype) > kImageBytes) {
      const auto cut =
          std::find_if(largest_.begin(), largest_.end(), [](int64_t n) { return n > 1; });
      if (cut == largest_.end()) break;
      *cut = (*cut + 1) / 2;
    }
    starts_.assign(plain_.size(), Affine(0));
    return Plain(0);
  }

 private:
  template <typename Body>
  Status Loop(int64_t extent, int64_t step, const Body& body) {
    const bool loops = extent / step > 1 && registers_ < Affine::kMaxTerms;
    registers_ += loops;
    const Status status = ForEachTile(ctx_, extent, step, !loops, body);
    registers_ -= loops;
    return status;
  }

  Status Plain(size_t d) {
    if (d == plain_.size()) {
      place_.assign(places_.size(), Affine(0));
      counts_ = largest_;
      return Places(0);
    }
    const int64_t step = d == partition_ ? isa::kPartitions : 1;
    return Loop(plain_[d], step, [&](Affine start, int64_t count) {
      starts_[d] = start;
      if (d == partition_) rows_ = count;
      return Plain(d + 1);
    });
  }

  Status Places(size_t d) {
    if (d == places_.size()) return Windows();
    return Loop(places_[d], largest_[d], [&](Affine start, int64_t count) {
      place_[d] = start;
      counts_[d] = count;
      return Places(d + 1);
    });
  }

  // HBM rows of this tile: `steps` and counts along the windowed dimensions.
  AccessPattern Hbm(DType dtype, uint16_t tensor, Affine offset, const Dims& plain,
                    const Dims& steps, const Dims& counts) const {
    const int64_t bytes = ByteSize(dtype);
    for (size_t d = 0; d < plain_.size(); ++d) offset = offset + starts_[d] * (plain[d] * bytes);
    AccessPattern p =
        AccessPattern::Hbm(dtype, tensor, offset, Count(rows_), plain[partition_], {});
    p.num_dims = static_cast<uint8_t>(steps.size());
    for (size_t d = 0; d < steps.size(); ++d) p.dims[d] = {steps[d], Count(counts[d])};
    return p;
  }

  StatusOr<Tile> Load(const Dims& extents) {
    std::vector<Count> counts(extents.begin(), extents.end());
    NEURON_ASSIGN_OR_RETURN(const Tile image,
                            ctx_.AllocateTile(p_.image.dtype, Count(rows_), counts));
    Affine offset(p_.image.byte_offset);
    for (size_t d = 0; d < places_.size(); ++d)
      offset = offset + place_[d] * (p_.window[d].stride * image_[d] * ByteSize(p_.image.dtype));
    ctx_.DmaCopy(image.pattern,
                 Hbm(p_.image.dtype, p_.image.tensor, offset, plain_image_, image_, extents));
    return image;
  }

  Status Store(Tile value) {
    const DType dtype = TileDType(hero_.shape().dtype);
    if (value.pattern.dtype != dtype) {
      std::vector<Count> counts(counts_.begin(), counts_.end());
      NEURON_ASSIGN_OR_RETURN(const Tile narrow, ctx_.AllocateTile(dtype, Count(rows_), counts));
      ctx_.TensorCopy(narrow.pattern, value.pattern);
      ctx_.Free(value);
      value = narrow;
    }
    const Buffer buffer = ctx_.BufferOf(&hero_);
    Affine offset(buffer.byte_offset);
    for (size_t d = 0; d < places_.size(); ++d)
      offset = offset + place_[d] * (out_[d] * ByteSize(dtype));
    ctx_.DmaCopy(Hbm(dtype, buffer.tensor, offset, plain_out_, out_, counts_), value.pattern);
    ctx_.Free(value);
    return OkStatus();
  }

  // Of the image, that a tile of `places` reads.
  Dims Extents(const Dims& places) const {
    Dims extents;
    for (size_t d = 0; d < places.size(); ++d)
      extents.push_back((places[d] - 1) * p_.window[d].stride +
                        (p_.window[d].size - 1) * p_.window[d].window_dilation + 1);
    return extents;
  }

  Status Windows() {
    const Dims extents = Extents(counts_);
    NEURON_ASSIGN_OR_RETURN(const Tile image, Load(extents));
    const std::vector<Count> counts(counts_.begin(), counts_.end());
    NEURON_ASSIGN_OR_RETURN(const Tile sum,
                            ctx_.AllocateTile(p_.accumulator, Count(rows_), counts));
    Dims tap(places_.size(), 0);
    for (int64_t t = 0; t < p_.taps; ++t) {
      AccessPattern shifted = image.pattern;
      for (size_t d = 0; d < places_.size(); ++d) {
        isa::Dim& dim = shifted.dims[d];
        shifted.offset = shifted.offset + Affine(tap[d] * p_.window[d].window_dilation * dim.step *
                                                 ByteSize(shifted.dtype));
        dim = {dim.step * p_.window[d].stride, counts[d]};
      }
      if (t > 0)
        ctx_.TensorTensor(sum.pattern, sum.pattern, shifted, p_.op);
      else if (IsIdentity(p_.op, hero_.shape().dtype, p_.init))
        ctx_.TensorCopy(sum.pattern, shifted);
      else
        ctx_.TensorScalar(sum.pattern, shifted, p_.op, p_.init);
      for (size_t d = places_.size(); d-- > 0;) {
        if (++tap[d] < p_.window[d].size) break;
        tap[d] = 0;
      }
    }
    ctx_.Free(image);
    return Store(sum);
  }

  EmitContext& ctx_;
  const hlo::Instruction& hero_;
  const WindowProblem& p_;
  Dims out_strides_;
  Dims plain_, plain_image_, plain_out_;  // joined
  Dims places_, image_, out_;             // windowed
  size_t partition_ = 0;                  // of plain_
  Dims largest_, counts_;
  std::vector<Affine> starts_, place_;
  int64_t rows_ = 1;
  int registers_ = 0;
};

}  // namespace

Status EmitReduceWindow(EmitContext& ctx, const Kernel& kernel) {
  if (kernel.hero->shape().is_array() && kernel.hero->shape().num_elements() == 0)
    return OkStatus();
  if (kernel.hero->shape().is_tuple()) return EmitReduceWindowGeneral(ctx, kernel);
  NEURON_ASSIGN_OR_RETURN(const std::optional<WindowProblem> problem,
                          MakeProblem(ctx, *kernel.hero));
  if (!problem) return EmitReduceWindowGeneral(ctx, kernel);
  return WindowEmitter(ctx, *kernel.hero, *problem).Run();
}

}  // namespace neuron::compiler
