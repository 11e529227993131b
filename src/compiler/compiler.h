// HLO in, NeuronCore program out.
//
//   canonicalise -> fuse -> choose layouts and tiles -> allocate SBUF and PSUM -> emit
//
// Each step is a pass in its own file. Deterministic: same module and options, same bytes. Thread
// safe: no state outside a call.
//
// A parameter that is a tuple counts as its leaves: one parameter each, in order.
//
// Program arguments (architecture, section 5). The program's tensors are named "input<i>" for
// parameter i that is a buffer, "output<j>" for result j, "scalars" for the packed block. Slots of
// the block, 8 bytes each, in this order:
//   [0, B)        byte offset of each bound buffer: inputs in parameter order, then outputs that
//                 are not aliased
//   [B, B + S)    run-time scalar parameters, in parameter order: fp32 bits in the low word for
//                 floating dtypes of up to 32 bits (value converted to fp32; a narrower dtype's own
//                 bits in the high word, for what reads it as memory), f64 bits for f64,
//                 sign-extended integers, 0 or 1 for pred
//   then the run-time extent, if the module has one; buffers' bytes are those at its bound
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "hlo/module.h"
#include "isa/program.h"

namespace neuron::compiler {

enum class ParameterPlace : uint8_t { kBuffer, kScalarBlock };  // kScalarBlock: rank 0 only

enum class AutoCast : uint8_t { kNone, kMatmult, kAll };  // auto_cast.h

struct Options {
  isa::Target target = isa::Target::kTrn2;
  int lnc = 1;
  std::vector<ParameterPlace> parameters;  // empty: all buffers
  // Reassociation and online softmax allowed (torch.compile), or the order of every reduction a
  // function of (op, extent, dtype) alone (eager).
  bool relaxed = false;
  // Above 0: the module has a run-time extent (hlo/extent.h) in [1, extent_bound], which the last
  // slot of the scalar block holds.
  int64_t extent_bound = 0;
  // Of parameters that are not dense in memory, per dimension in elements; empty: dense. Only
  // parameters that nothing is written to may have them.
  std::vector<std::vector<int64_t>> strides;
  AutoCast auto_cast = AutoCast::kNone;
  DType auto_cast_type = DType::kBF16;
  std::string dump_directory;  // each pass's result as text, "" for none
  bool verify = false;         // each pass's result (verify.h)
};

// What the runtime needs to bind buffers, beside the program.
struct Signature {
  struct Buffer {
    std::string name;  // in the program
    int64_t bytes = 0;
    int64_t parameter = -1;  // index of the HLO parameter, or -1
    int64_t output = -1;     // index of the HLO result, or -1; both set: aliased
    int64_t offset_slot = -1;
  };
  std::vector<Buffer> buffers;
  std::vector<int64_t> scalar_parameters;  // HLO parameter of each scalar slot, in slot order
  int64_t first_scalar_slot = 0;
  int64_t num_slots = 0;
};

struct CompiledProgram {
  isa::Program program;
  Signature signature;
};

StatusOr<CompiledProgram> Compile(const hlo::Module& module, const Options& options);
// The container: isa::Encode with the signature as a section of its own (ReadSignature).
std::string ToContainer(const CompiledProgram& compiled);
StatusOr<Signature> ReadSignature(std::string_view container);

// Changes with the library's code: part of every cache key.
std::string BuildId();

}  // namespace neuron::compiler
