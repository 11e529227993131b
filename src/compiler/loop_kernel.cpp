// Geometry of a loop kernel: which domain dimension becomes partitions, which lie along the free
// axes, which are loops; and the tails.
#include <algorithm>

#include "compiler/loop_body.h"
#include "compiler/movement.h"

namespace neuron::compiler {
namespace {

// Bytes of a row that keep a DMA engine busy, and the fewest worth a partition of their own.
constexpr int64_t kRowBytes = 4096;
constexpr int64_t kLeastElements = 128;
constexpr int64_t kPartitionCount = isa::kPartitions;
// Dimensions along the free axes of a tile: as many as an access pattern has, but few where a load
// is transposed, which the DMA does for plain rows only.
constexpr int kFreeDims = 4;
// Shorter loops are not worth a body that is written out twice.
constexpr int64_t kLeastTurns = 8;
constexpr int kFreeDimsTransposed = 2;

struct Geometry {
  int partition = 0;  // dimension whose indices are p * per_partition + r
  int64_t per_partition = 1;
  int chunked = -1;  // dimension taken `chunk` elements at a time
  int64_t chunk = 0;
  std::vector<int> whole;  // dimensions that lie wholly along the free axes
  std::vector<int> outer;  // one index at a time
};

// n elements over at most 128 partitions with at most `most` each: how many on a partition.
int64_t SplitFlat(int64_t n, int64_t least, int64_t most) {
  const int64_t r =
      std::min(most, std::max(std::min(n, least), (n + kPartitionCount - 1) / kPartitionCount));
  for (int64_t c = r; c <= std::min(most, r + 64); ++c)  // without a tail, if one is near
    if (n % c == 0 && n / c <= kPartitionCount) return c;
  return r;
}

Geometry ChooseFlat(const Dims& dims, int dim, int64_t most) {
  Geometry g;
  g.partition = dim;
  g.per_partition = SplitFlat(dims[static_cast<size_t>(dim)], kLeastElements, most);
  for (int d = 0; d < static_cast<int>(dims.size()); ++d)
    if (d != dim) g.outer.push_back(d);
  return g;
}

Geometry Choose(const Dims& dims, int64_t most, int free_dims) {
  const int rank = static_cast<int>(dims.size());
  if (rank == 1) return ChooseFlat(dims, 0, most);
  // As many inner dimensions as fit lie along the free axes.
  int s = rank;
  int64_t inside = 1;
  while (s > 1 && rank - s < free_dims && inside * dims[static_cast<size_t>(s - 1)] <= most)
    inside *= dims[static_cast<size_t>(--s)];
  if (s == rank) {  // the innermost is longer than a tile's row
    int widest = rank - 2;
    for (int d = 0; d < rank - 1; ++d)
      if (dims[static_cast<size_t>(d)] > dims[static_cast<size_t>(widest)]) widest = d;
    if (dims[static_cast<size_t>(widest)] < 64) return ChooseFlat(dims, rank - 1, most);
    Geometry g;
    g.partition = widest;
    g.chunked = rank - 1;
    g.chunk = most;
    for (int d = 0; d < rank - 1; ++d)
      if (d != widest) g.outer.push_back(d);
    return g;
  }
  Geometry g;
  g.partition = s - 1;
  const int64_t rows = dims[static_cast<size_t>(s - 1)];
  if (rows < 32) {
    int widest = s - 1;
    for (int d = 0; d < rank; ++d)
      if (dims[static_cast<size_t>(d)] > dims[static_cast<size_t>(widest)]) widest = d;
    if (dims[static_cast<size_t>(widest)] > 4 * rows && widest < s - 1) {
      // Many outer indices, few rows: partitions from outside, the rows join the free axes.
      g.partition = widest;
      int64_t room = most / inside;
      for (int d = 0; d < s; ++d) {
        if (d == widest) continue;
        if (d > widest && d == s - 1 && dims[static_cast<size_t>(d)] <= room &&
            rank - s < free_dims)
          g.whole.push_back(d);
        else
          g.outer.push_back(d);
      }
      for (int d = s; d < rank; ++d) g.whole.push_back(d);
      return g;
    }
  }
  const int64_t fill = std::max<int64_t>(1, kLeastElements / inside);
  if (rank - s < free_dims)
    g.per_partition = std::clamp<int64_t>(
        std::max((rows + kPartitionCount - 1) / kPartitionCount, std::min(fill, rows)), 1,
        std::max<int64_t>(1, most / inside));
  for (int d = 0; d < s - 1; ++d) g.outer.push_back(d);
  for (int d = s; d < rank; ++d) g.whole.push_back(d);
  return g;
}

// Rows on partitions; a reduced row lies whole along the free axes.
Geometry ChooseRows(const Dims& dims, int num_kept, int64_t most) {
  Geometry g;
  int64_t row = 1;
  for (size_t d = static_cast<size_t>(num_kept); d < dims.size(); ++d) row *= dims[d];
  int widest = num_kept - 1;
  for (int d = 0; d < num_kept; ++d)
    if (dims[static_cast<size_t>(d)] > dims[static_cast<size_t>(widest)]) widest = d;
  if (dims[static_cast<size_t>(num_kept - 1)] >= 64) widest = num_kept - 1;
  g.partition = widest;
  const int64_t rows = dims[static_cast<size_t>(widest)];
  if (dims.size() - static_cast<size_t>(num_kept) <= 2)
    g.per_partition = std::clamp<int64_t>((rows + kPartitionCount - 1) / kPartitionCount, 1,
                                          std::max<int64_t>(1, most / row));
  for (int d = 0; d < num_kept; ++d)
    if (d != widest) g.outer.push_back(d);
  for (size_t d = static_cast<size_t>(num_kept); d < dims.size(); ++d)
    g.whole.push_back(static_cast<int>(d));
  return g;
}

// A copy whose runs are whole in both places goes from HBM to HBM.
StatusOr<bool> CopiedDirectly(EmitContext& ctx, const hlo::Instruction& x) {
  if (x.opcode() != hlo::Opcode::kCopy && x.opcode() != hlo::Opcode::kReshape) return false;
  const View& from = ctx.plan.ViewOf(x.operand(0));
  const View to = ctx.StoreOf(&x);
  const auto base = from.base->opcode();
  if (base == hlo::Opcode::kConstant || base == hlo::Opcode::kIota ||
      ctx.ScalarRegister(from.base) != isa::kNoRegister)
    return false;
  const auto strides = ReshapeStrides(to.sizes, to.strides, from.sizes);
  if (!strides) return false;
  Dims sizes = from.sizes;
  std::vector<Dims> both = {*strides, from.strides};
  CollapseDims(sizes, both);
  if (both[0].back() != 1 || both[1].back() != 1) return false;
  if (sizes.size() > 1 && sizes.back() * ByteSize(from.dtype) < 64) return false;
  HbmView dst = HbmViewOf(ctx, to);
  dst.strides = *strides;
  NEURON_RETURN_IF_ERROR(EmitCopy(ctx, from.sizes, dst, HbmViewOf(ctx, from)));
  return true;
}

class LoopEmitter {
 public:
  LoopEmitter(EmitContext& ctx, LoopBody& body, Geometry g)
      : ctx_(ctx), body_(body), g_(std::move(g)), dims_(body.members().dims) {}

  Status Run() {
    const size_t rank = dims_.size();
    const int64_t most = ctx_.AtBound(Extent(g_.partition));
    TileSpec spec =
        SpecOf(std::min(kPartitionCount, most / g_.per_partition), g_.per_partition, g_.chunk);
    if (spec.partition.count.max == 0) spec.partition.count = Count(1);
    std::vector<bool> looped(rank, false);
    for (int d : g_.outer) looped[static_cast<size_t>(d)] = Extent(d) > 1;
    looped[static_cast<size_t>(g_.partition)] =
        Extent(g_.partition) != spec.partition.count.max * g_.per_partition;
    if (g_.chunked >= 0) looped[static_cast<size_t>(g_.chunked)] = Extent(g_.chunked) > g_.chunk;
    NEURON_RETURN_IF_ERROR(body_.Begin(spec, looped));
    int64_t elements = 1;
    for (const TileAxis& axis : spec.free) elements *= axis.count.max;
    ChooseTurns(elements);
    start_.assign(rank, Affine(0));
    NEURON_RETURN_IF_ERROR(Outer(0));
    body_.End();
    return OkStatus();
  }

 private:
  int64_t Extent(int d) const { return dims_[static_cast<size_t>(d)]; }

  TileSpec SpecOf(Count partitions, Count per_partition, Count chunk) {
    TileSpec spec;
    spec.start.assign(dims_.size(), Affine(0));
    spec.partition = {g_.partition, g_.per_partition, partitions};
    if (g_.per_partition > 1) spec.free.push_back({g_.partition, 1, per_partition});
    std::vector<int> inside = g_.whole;
    for (int d : inside) spec.free.push_back({d, 1, ctx_.CountOf(Extent(d))});
    if (g_.chunked >= 0) spec.free.push_back({g_.chunked, 1, chunk});
    if (spec.free.empty()) spec.free.push_back({g_.partition, 1, Count(1)});
    return spec;
  }

  // Rounds of `step` indices of dimension d from 0 to `end`, which is at most `most`.
  template <typename Body>
  Status LoopTo(int d, const Affine& end, int64_t most, int64_t step, const Body& body) {
    if (most < step) return OkStatus();
    start_[static_cast<size_t>(d)] =
        Affine::Of(ctx_.b.LoopBegin(Affine(0), end, step, most / step * step - step));
    NEURON_RETURN_IF_ERROR(body());
    ctx_.b.LoopEnd();
    return OkStatus();
  }

  // What is left of run-time dimension d behind `whole` tiles of `tile` indices, if anything.
  template <typename Body>
  Status Rest(int d, const Affine& whole, int64_t tile, const Body& body) {
    const int64_t n = Extent(d);
    const int64_t most = std::min(tile - 1, ctx_.AtBound(n));
    const Register left = ctx_.Computed("sub", ctx_.ValueOf(n), whole, most);
    return ctx_.IfAny(left, [&] {
      start_[static_cast<size_t>(d)] = whole;
      return body(Count(most, left));
    });
  }

  // `trips` rounds of `step` indices of dimension d from `begin`.
  template <typename Body>
  Status Loop(int d, int64_t begin, int64_t trips, int64_t step, const Body& body) {
    Affine& start = start_[static_cast<size_t>(d)];
    if (trips <= 0) return OkStatus();
    if (trips == 1) {
      start = Affine(begin);
      return body();
    }
    const int64_t last = begin + (trips - 1) * step;
    start = Affine::Of(ctx_.b.LoopBegin(Affine(begin), Affine(last + 1), step, last));
    NEURON_RETURN_IF_ERROR(body());
    ctx_.b.LoopEnd();
    return OkStatus();
  }

  // How much SBUF each of two tiles in turn has for itself: room for values of its own even where
  // one could take another's place, since a load would have to wait for whoever reads that.
  void ChooseTurns(int64_t elements) {
    constexpr int64_t kAlignment = 64;
    const int64_t least = 3 * body_.members().PeakBytesPerElement() * elements / 2 + kRowBytes;
    const int64_t room = (ctx_.sbuf.capacity() - ctx_.sbuf.top()) / 2;
    if (room >= least) turn_bytes_ = std::min(room, 3 * least) / kAlignment * kAlignment;
  }

  // The loop around tiles. Two at a time where there is room for both: the DMA of one then overlaps
  // the work on the other.
  template <typename Body>
  Status TileLoop(int d, int64_t trips, int64_t step, const Body& body) {
    if (turn_bytes_ == 0 || trips < kLeastTurns) return Loop(d, 0, trips, step, body);
    NEURON_RETURN_IF_ERROR(Loop(d, 0, trips / 2, 2 * step, [&]() -> Status {
      ColumnAllocator& sbuf = ctx_.sbuf;
      const int64_t first = sbuf.top();
      const int64_t second = first + turn_bytes_;
      NEURON_RETURN_IF_ERROR(Within(first, second, body));
      Affine& start = start_[static_cast<size_t>(d)];
      start = start + Affine(step);
      return Within(second, second + turn_bytes_, body);
    }));
    return trips % 2 == 0 ? OkStatus() : Loop(d, (trips - 1) * step, 1, step, body);
  }

  // With tiles in [begin, end) only.
  template <typename Body>
  Status Within(int64_t begin, int64_t end, const Body& body) {
    ColumnAllocator& sbuf = ctx_.sbuf;
    std::vector<int64_t> others = sbuf.Take(0, begin);
    for (const int64_t address : sbuf.Take(end, sbuf.capacity())) others.push_back(address);
    sbuf.Defer();
    NEURON_RETURN_IF_ERROR(body());
    sbuf.EndDefer();
    for (const int64_t address : others) sbuf.Free(address);
    return OkStatus();
  }

  Status Outer(size_t level) {
    if (level == g_.outer.size()) return Partitions();
    const int d = g_.outer[level];
    if (ctx_.IsRunTime(Extent(d)))
      return LoopTo(d, ctx_.ValueOf(Extent(d)), ctx_.AtBound(Extent(d)), 1,
                    [&] { return Outer(level + 1); });
    return Loop(d, 0, Extent(d), 1, [&] { return Outer(level + 1); });
  }

  Status Partitions() {
    const int d = g_.partition;
    const int64_t r = g_.per_partition;
    const int64_t n = Extent(d);
    const int64_t tile = kPartitionCount * r;
    if (ctx_.IsRunTime(n)) return RunTimePartitions(d, n, r, tile);
    const auto whole = [&] { return Chunks(kPartitionCount, r); };
    if (g_.chunked < 0)
      NEURON_RETURN_IF_ERROR(TileLoop(d, n / tile, tile, whole));
    else
      NEURON_RETURN_IF_ERROR(Loop(d, 0, n / tile, tile, whole));
    int64_t done = n / tile * tile;
    if ((n - done) / r > 0)
      NEURON_RETURN_IF_ERROR(Loop(d, done, 1, tile, [&] { return Chunks((n - done) / r, r); }));
    done += (n - done) / r * r;
    if (n > done) NEURON_RETURN_IF_ERROR(Loop(d, done, 1, r, [&] { return Chunks(1, n - done); }));
    return OkStatus();
  }

  Status RunTimePartitions(int d, int64_t n, int64_t r, int64_t tile) {
    const Affine whole = ctx_.EndOfWhole(n, tile);
    NEURON_RETURN_IF_ERROR(LoopTo(d, whole, ctx_.AtBound(n) / tile * tile, tile,
                                  [&] { return Chunks(kPartitionCount, r); }));
    if (r == 1)
      return Rest(d, whole, tile, [&](Count partitions) { return Chunks(partitions, 1); });
    // Whole partitions, then the last one.
    const int64_t most = std::min(tile - 1, ctx_.AtBound(n));
    const Register left = ctx_.Computed("sub", ctx_.ValueOf(n), whole, most);
    const Register rows = ctx_.Computed("floordiv", Affine::Of(left), Affine(r), most / r);
    if (most >= r)
      NEURON_RETURN_IF_ERROR(ctx_.IfAny(rows, [&] {
        start_[static_cast<size_t>(d)] = whole;
        return Chunks(Count(most / r, rows), r);
      }));
    return Rest(d, ctx_.Sum(whole, Affine::Of(rows, r)), r,
                [&](Count elements) { return Chunks(1, elements); });
  }

  Status Chunks(Count partitions, Count per_partition) {
    if (g_.chunked < 0) return Tile(partitions, per_partition, 0);
    const int64_t n = Extent(g_.chunked);
    if (ctx_.IsRunTime(n)) {
      const Affine whole = ctx_.EndOfWhole(n, g_.chunk);
      NEURON_RETURN_IF_ERROR(LoopTo(g_.chunked, whole, ctx_.AtBound(n) / g_.chunk * g_.chunk,
                                    g_.chunk,
                                    [&] { return Tile(partitions, per_partition, g_.chunk); }));
      return Rest(g_.chunked, whole, g_.chunk,
                  [&](Count elements) { return Tile(partitions, per_partition, elements); });
    }
    NEURON_RETURN_IF_ERROR(TileLoop(g_.chunked, n / g_.chunk, g_.chunk,
                                    [&] { return Tile(partitions, per_partition, g_.chunk); }));
    const int64_t done = n / g_.chunk * g_.chunk;
    if (n > done)
      return Loop(g_.chunked, done, 1, g_.chunk,
                  [&] { return Tile(partitions, per_partition, n - done); });
    return OkStatus();
  }

  Status Tile(Count partitions, Count per_partition, Count chunk) {
    TileSpec spec = SpecOf(partitions, per_partition, chunk);
    spec.start = start_;
    return body_.Emit(spec);
  }

  EmitContext& ctx_;
  LoopBody& body_;
  Geometry g_;
  const Dims& dims_;
  std::vector<Affine> start_;
  int64_t turn_bytes_ = 0;  // 0: tiles take no turns
};

int FreeDims(const LoopBody& body) {
  for (int d = 0; d < static_cast<int>(body.members().dims.size()); ++d)
    if (body.members().IsTransposed(d)) return kFreeDimsTransposed;
  return kFreeDims;
}

}  // namespace

Status EmitLoopKernel(EmitContext& ctx, const Kernel& kernel) {
  if (Product(kernel.domain) == 0) return OkStatus();
  if (kernel.members.size() == 1) {
    NEURON_ASSIGN_OR_RETURN(const bool done, CopiedDirectly(ctx, *kernel.members[0]));
    if (done) return OkStatus();
  }
  NEURON_ASSIGN_OR_RETURN(LoopBody body, LoopBody::Create(ctx, kernel));
  const int64_t peak = body.members().PeakBytesPerElement();
  const int64_t room = ctx.sbuf.capacity() - ctx.sbuf.in_use() - 4096;
  const bool rows = body.members().num_kept < static_cast<int>(body.members().dims.size());
  // Rows that are reduced are blocks of the host's as they are: longer ones leave its caches.
  const int64_t dense = rows ? 0 : body.members().WidestDenseBytes();
  const int64_t most =
      std::min(room / peak, kRowBytes / (dense == 0 ? 4 : std::clamp<int64_t>(dense, 2, 4)));
  Dims dims = body.members().dims;  // the geometry has to do for the largest
  for (int64_t& d : dims) d = ctx.AtBound(d);
  Geometry g =
      rows ? ChooseRows(dims, body.members().num_kept, most) : Choose(dims, most, FreeDims(body));
  // Rows of a length that is known at run time do not merge with others on their partition.
  for (const int d : g.whole)
    if (ctx.IsRunTime(body.members().dims[static_cast<size_t>(d)])) g.per_partition = 1;
  // One index per partition: then neighbouring partitions are neighbours in HBM, as the transposing
  // DMA wants it.
  if (g.per_partition > 1 && body.members().dims.size() > 1 &&
      body.members().IsTransposed(g.partition))
    g.per_partition = 1;
  return LoopEmitter(ctx, body, std::move(g)).Run();
}

}  // namespace neuron::compiler
