// Windows of HLO reduce-window and select-and-scatter over an operand.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::wide {

class WindowWalk {
 public:
  // `out_dims` are the places of the window; refuses dims that disagree with the window.
  static StatusOr<WindowWalk> Make(std::string_view kernel, std::span<const int64_t> dims,
                                   std::span<const int64_t> out_dims,
                                   std::span<const isa::KernelWindow> window);
  int64_t places() const { return places_; }
  int64_t positions() const { return positions_; }  // elements of one window
  // Operand offsets of window element `position` at places [begin, begin + n), -1 in the padding.
  void Offsets(int64_t position, int64_t begin, int n, int64_t* out) const;

 private:
  struct Dim {
    isa::KernelWindow window;
    int64_t extent, places, stride;
  };
  std::vector<Dim> dims_;
  int64_t places_ = 1, positions_ = 1;
};

}  // namespace neuron::emulator::wide
