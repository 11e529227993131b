// One loaded program with device tensors of its own, run through the NRT library in use.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "nrt/loader.h"

namespace neuron::testing {

class NrtProgram {
 public:
  static StatusOr<std::unique_ptr<NrtProgram>> Load(const std::string& container,
                                                    const compiler::Signature& signature);
  ~NrtProgram();
  NrtProgram(const NrtProgram&) = delete;
  NrtProgram& operator=(const NrtProgram&) = delete;

  // `buffers` in signature order: written before, read back after. Scalars from the first scalar
  // slot on.
  Status Run(std::vector<std::string>& buffers, const std::vector<int64_t>& scalars);
  Status Repeat(int n);         // executes again with what is bound
  int64_t duration_ps() const;  // modelled, of one execution; 0 if the library does not say

 private:
  NrtProgram(const nrt::Library& nrt, const compiler::Signature& signature)
      : nrt_(nrt), signature_(signature) {}
  const nrt::Library& nrt_;
  compiler::Signature signature_;
  nrt_model_t* model_ = nullptr;
  nrt_tensor_set_t* inputs_ = nullptr;
  nrt_tensor_set_t* outputs_ = nullptr;
  std::vector<nrt_tensor_t*> tensors_;  // signature order, then the scalar block
};

}  // namespace neuron::testing
