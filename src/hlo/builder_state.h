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
    explicit Shared(std::string name) : owned(std::move(name)) {}
    Module owned;
    Module* module = &owned;  // or one that exists (Builder::Into)
    std::map<std::pair<Opcode, DType>, Computation*> combiners;
  };
  std::shared_ptr<Shared> shared;
  Computation* computation = nullptr;
  std::string metadata;
};

}  // namespace neuron::hlo
