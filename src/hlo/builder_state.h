// Inside of Builder: the computation being filled, and what all computations of a module share.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "hlo/builder.h"

namespace neuron::hlo {

struct Builder::State {
  struct Shared {
    explicit Shared(std::string name) : module(std::move(name)) {}
    Module module;
    std::map<std::pair<Opcode, DType>, Computation*> combiners;
  };
  std::shared_ptr<Shared> shared;
  Computation* computation = nullptr;
  std::string metadata;
};

}  // namespace neuron::hlo
