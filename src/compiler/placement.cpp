#include "compiler/placement.h"

#include <unordered_set>

#include "compiler/hero.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;
using hlo::Opcode;

constexpr int64_t kLeastRun = 64;  // bytes that a DMA descriptor should move

class Placer {
 public:
  Placer(const CanonicalModule& canonical, Plan& plan) : canonical_(canonical), plan_(plan) {
    CountUses();
  }

  void Run() {
    // From the end: where a movement of a movement goes is known first.
    for (size_t k = plan_.kernels.size(); k-- > 0;) {
      const Kernel& kernel = plan_.kernels[k];
      if (!OnlyMoves(kernel) || fixed_.contains(kernel.members[0])) continue;
      Placed placed;
      if (!Assemble(*kernel.members[0], View::Of(kernel.members[0]), placed)) continue;
      for (auto& [piece, place] : placed.pieces) plan_.places[piece] = std::move(place);
      for (const int emptied : placed.kernels) {
        plan_.kernels[static_cast<size_t>(emptied)].members.clear();
        plan_.kernels[static_cast<size_t>(emptied)].results.clear();
      }
    }
  }

 private:
  struct Placed {
    std::vector<std::pair<const Instruction*, View>> pieces;
    std::vector<int> kernels;  // that have nothing left to do
  };

  static bool OnlyMoves(const Kernel& kernel) {
    if (kernel.members.size() != 1 || kernel.results.size() != 1) return false;
    const Opcode opcode = kernel.members[0]->opcode();
    return opcode == Opcode::kConcatenate ||
           (kernel.kind == KernelKind::kLoop &&
            (opcode == Opcode::kReshape || opcode == Opcode::kCopy));
  }

  // Stores what the movement `whole` moves where it belongs, if `whole` lies at `at`.
  bool Assemble(const Instruction& whole, const View& at, Placed& placed) const {
    placed.kernels.push_back(plan_.KernelOf(&whole));
    const std::vector<View> places = PlacesIn(whole, at);
    for (size_t i = 0; i < places.size(); ++i) {
      View place = places[i];
      const Instruction* piece = Followed(whole.operand(static_cast<int64_t>(i)), place);
      if (piece == nullptr || !IsFree(*piece, place)) return false;
      const Kernel& kernel = plan_.kernels[static_cast<size_t>(plan_.KernelOf(piece))];
      if (OnlyMoves(kernel)) {
        if (!Assemble(*piece, place, placed)) return false;
      } else {
        if (!CanBeStored(*piece, place, kernel)) return false;
        placed.pieces.emplace_back(piece, std::move(place));
      }
    }
    return !places.empty();
  }

  void CountUses() {
    uses_.assign(plan_.kernel_of.size(), 0);
    for (const Kernel& kernel : plan_.kernels)
      for (const Instruction* member : kernel.members)
        for (const Instruction* operand : member->operands())
          if (operand->shape().is_array()) ++uses_[Id(plan_.ViewOf(operand).base)];
    const Instruction* root = canonical_.module.entry()->root();
    if (root->opcode() != Opcode::kTuple) {
      fixed_.insert(root);
      return;
    }
    for (const Instruction* result : root->operands()) fixed_.insert(result);
  }

  static size_t Id(const Instruction* x) { return static_cast<size_t>(x->id()); }

  // Where each operand of a movement lies; empty if strides cannot say it.
  static std::vector<View> PlacesIn(const Instruction& whole, const View& at) {
    std::vector<View> places;
    if (whole.opcode() == Opcode::kConcatenate) {
      const auto d = static_cast<size_t>(whole.attributes().dimensions[0]);
      View place = at;
      for (const Instruction* operand : whole.operands()) {
        place.sizes = operand->shape().dims;
        places.push_back(place);
        place.offset += place.sizes[d] * place.strides[d];
      }
    } else {
      const Dims& dims = whole.operand(0)->shape().dims;
      if (auto strides = ReshapeStrides(at.sizes, at.strides, dims)) {
        View place = at;
        place.sizes = dims;
        place.strides = *std::move(strides);
        places.push_back(std::move(place));
      }
    }
    return places;
  }

  // The value under views that lose no element, and its place; nullptr if there is none.
  const Instruction* Followed(const Instruction* x, View& place) const {
    while (plan_.ViewOf(x).base != x) {
      const Instruction* y = x->operand(0);
      View next = place;
      if (x->opcode() == Opcode::kReshape) {
        auto strides = ReshapeStrides(place.sizes, place.strides, y->shape().dims);
        if (!strides) return nullptr;
        next.sizes = y->shape().dims;
        next.strides = *std::move(strides);
      } else if (x->opcode() == Opcode::kTranspose) {
        for (size_t i = 0; i < place.sizes.size(); ++i) {
          const auto d = static_cast<size_t>(x->attributes().dimensions[i]);
          next.sizes[d] = place.sizes[i];
          next.strides[d] = place.strides[i];
        }
      } else {
        return nullptr;
      }
      place = std::move(next);
      x = y;
    }
    return x;
  }

  // Read by nobody else, and not placed yet.
  bool IsFree(const Instruction& piece, const View& place) const {
    const int k = plan_.KernelOf(&piece);
    return k >= 0 && uses_[Id(&piece)] == 1 && !fixed_.contains(&piece) &&
           !plan_.places.contains(&piece) && piece.shape().dtype == place.dtype &&
           !plan_.kernels[static_cast<size_t>(k)].members.empty();
  }

  static bool CanBeStored(const Instruction& piece, const View& place, const Kernel& kernel) {
    const bool computes = kernel.kind == KernelKind::kLoop ||
                          (kernel.kind == KernelKind::kHero && TakesEpilogue(*kernel.hero));
    if (!computes || Product(kernel.domain) != piece.shape().num_elements()) return false;
    if (!ReshapeStrides(place.sizes, place.strides, kernel.domain)) return false;
    size_t last = place.sizes.size();
    while (last > 0 && place.sizes[last - 1] == 1) --last;
    return last > 0 && place.strides[last - 1] == 1 &&
           place.sizes[last - 1] * ByteSize(place.dtype) >= kLeastRun;
  }

  const CanonicalModule& canonical_;
  Plan& plan_;
  std::vector<int> uses_;                         // by instruction id
  std::unordered_set<const Instruction*> fixed_;  // results have their places
};

}  // namespace

void PlacePieces(const CanonicalModule& canonical, Plan& plan) { Placer(canonical, plan).Run(); }

}  // namespace neuron::compiler
