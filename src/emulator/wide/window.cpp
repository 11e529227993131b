#include "emulator/wide/window.h"

namespace neuron::emulator::wide {

StatusOr<WindowWalk> WindowWalk::Make(std::string_view kernel, std::span<const int64_t> dims,
                                      std::span<const int64_t> out_dims,
                                      std::span<const isa::KernelWindow> window) {
  if (dims.size() != out_dims.size() || dims.size() != window.size())
    return InvalidArgument("gpsimd_kernel ", kernel, ": window of rank ", window.size(),
                           " over rank ", dims.size(), " to rank ", out_dims.size());
  WindowWalk walk;
  int64_t stride = 1;
  walk.dims_.resize(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    const isa::KernelWindow& w = window[d];
    if (dims[d] < 0 || out_dims[d] < 0 || w.size < 1 || w.stride < 1 || w.window_dilation < 1 ||
        w.base_dilation < 1)
      return InvalidArgument("gpsimd_kernel ", kernel, ": window dimension ", d,
                             " has a size, stride or dilation below 1");
    const int64_t base = dims[d] == 0 ? 0 : (dims[d] - 1) * w.base_dilation + 1;
    const int64_t reach = (w.size - 1) * w.window_dilation + 1;
    const int64_t padded = base + w.padding_low + w.padding_high;
    const int64_t places = padded < reach ? 0 : (padded - reach) / w.stride + 1;
    if (places != out_dims[d])
      return InvalidArgument("gpsimd_kernel ", kernel, ": window dimension ", d, " has ", places,
                             " places, the parameters say ", out_dims[d]);
    walk.dims_[d] = {.window = w, .extent = dims[d], .places = out_dims[d], .stride = stride};
    stride *= dims[d];
    walk.places_ *= out_dims[d];
    walk.positions_ *= w.size;
  }
  return walk;
}

void WindowWalk::Offsets(int64_t position, int64_t begin, int n, int64_t* out) const {
  for (int i = 0; i < n; ++i) {
    int64_t place = begin + i, inside = position, offset = 0;
    for (size_t d = dims_.size(); d-- > 0 && offset >= 0;) {
      const Dim& dim = dims_[d];
      const int64_t at = place % dim.places * dim.window.stride +
                         inside % dim.window.size * dim.window.window_dilation -
                         dim.window.padding_low;
      place /= dim.places;
      inside /= dim.window.size;
      const int64_t element = at / dim.window.base_dilation;
      const bool inside_operand =
          at >= 0 && at % dim.window.base_dilation == 0 && element < dim.extent;
      offset = inside_operand ? offset + element * dim.stride : -1;
    }
    out[i] = offset;
  }
}

}  // namespace neuron::emulator::wide
