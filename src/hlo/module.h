// The graph: a Module owns computations, a Computation owns instructions.
//
// Instructions are in topological order inside their computation and refer to operands by pointer.
// Attributes are a flat struct, as in HloInstructionProto; an opcode uses the few it needs. A
// Module is built by Builder (or read from protobuf), changed only by passes, not thread safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/status.h"
#include "hlo/literal.h"
#include "hlo/opcode.h"
#include "hlo/shape.h"

namespace neuron::hlo {

class Computation;
class Module;

enum class Comparison : uint8_t { kEq, kNe, kGe, kGt, kLe, kLt };

struct WindowDimension {
  int64_t size = 1, stride = 1, padding_low = 0, padding_high = 0;
  int64_t window_dilation = 1, base_dilation = 1;
  bool reversal = false;
  bool operator==(const WindowDimension&) const = default;
};
struct PaddingDimension {
  int64_t low = 0, high = 0, interior = 0;  // low and high may be negative
  bool operator==(const PaddingDimension&) const = default;
};
struct DotDimensions {
  std::vector<int64_t> lhs_contracting, rhs_contracting, lhs_batch, rhs_batch;
  bool operator==(const DotDimensions&) const = default;
};
struct ConvolutionDimensions {
  int64_t input_batch = 0, input_feature = 1;
  int64_t kernel_input_feature = 1, kernel_output_feature = 0;
  int64_t output_batch = 0, output_feature = 1;
  std::vector<int64_t> input_spatial, kernel_spatial, output_spatial;
  bool operator==(const ConvolutionDimensions&) const = default;
};
struct GatherDimensions {
  std::vector<int64_t> offset_dims, collapsed_slice_dims, start_index_map;
  std::vector<int64_t> operand_batching_dims, start_indices_batching_dims;
  int64_t index_vector_dim = 0;
  std::vector<int64_t> slice_sizes;
  bool indices_are_sorted = false;
  bool operator==(const GatherDimensions&) const = default;
};
struct ScatterDimensions {
  std::vector<int64_t> update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
  std::vector<int64_t> input_batching_dims, scatter_indices_batching_dims;
  int64_t index_vector_dim = 0;
  bool indices_are_sorted = false, unique_indices = false;
  bool operator==(const ScatterDimensions&) const = default;
};

struct Attributes {
  int64_t parameter_number = 0;     // parameter
  int64_t tuple_index = 0;          // get-tuple-element
  Literal literal;                  // constant
  std::vector<int64_t> dimensions;  // broadcast, transpose, reverse, reduce, concatenate[0],
                                    // iota[0], sort[0], get-dimension-size[0]
  std::vector<int64_t> slice_starts, slice_limits, slice_strides;  // slice
  std::vector<int64_t> dynamic_slice_sizes;                        // dynamic-slice
  std::vector<PaddingDimension> padding;                           // pad
  std::vector<WindowDimension> window;  // convolution, reduce-window, select-and-scatter
  DotDimensions dot;
  ConvolutionDimensions convolution;
  int64_t feature_group_count = 1, batch_group_count = 1;
  GatherDimensions gather;
  ScatterDimensions scatter;
  Comparison comparison = Comparison::kEq;
  bool total_order = false;  // compare of floats: -NaN < -inf < ... < -0 < +0 < ... < NaN
  bool is_stable = false;    // sort
  int64_t k = 0;             // topk
  bool largest = true;       // topk
  int rng_algorithm = 0;     // rng-bit-generator: 1 three-fry, 2 philox;
                             // rng: 1 uniform, 2 normal
  int exponent_bits = 0, mantissa_bits = 0;  // reduce-precision
  int fft_type = 0;                          // 0 FFT, 1 IFFT, 2 RFFT, 3 IRFFT
  std::vector<int64_t> fft_length;
  bool left_side = false, lower = false, unit_diagonal = false, transpose_a = false;
  // Collectives: replicas that work together (none: all of them); collective-permute: pairs of
  // source and target.
  std::vector<std::vector<int64_t>> groups;
  int64_t channel_id = 0;  // above 0: groups are of partitions, or of devices if so said
  bool use_global_device_ids = false;
  float epsilon = 0;          // batch-norm-*
  int64_t feature_index = 0;  // batch-norm-*
  std::string custom_call_target;
  std::string backend_config;  // custom-call parameters, fusion kind
  bool operator==(const Attributes&) const = default;
};

class Instruction {
 public:
  Opcode opcode() const { return opcode_; }
  const Shape& shape() const { return shape_; }
  const std::string& name() const { return name_; }
  int64_t id() const { return id_; }  // unique in the module
  const std::vector<Instruction*>& operands() const { return operands_; }
  Instruction* operand(int64_t i) const { return operands_[static_cast<size_t>(i)]; }
  // while {condition, body}; conditional its branches ({true, false} if the index is a pred);
  // select-and-scatter {select, scatter}; all others one.
  const std::vector<Computation*>& called() const { return called_; }
  const Attributes& attributes() const { return attributes_; }
  Attributes& mutable_attributes() { return attributes_; }
  const std::string& metadata() const { return metadata_; }  // source op; no part of cache keys
  Computation* parent() const { return parent_; }
  // Instructions that have this one among their operands, each once, in order of first use.
  const std::vector<Instruction*>& users() const { return users_; }

 private:
  friend class Computation;
  friend class Module;
  Opcode opcode_{};
  Shape shape_;
  std::string name_;
  int64_t id_ = 0;
  std::vector<Instruction*> operands_;
  std::vector<Computation*> called_;
  Attributes attributes_;
  std::string metadata_;
  Computation* parent_ = nullptr;
  std::vector<Instruction*> users_;
};

class Computation {
 public:
  const std::string& name() const { return name_; }
  int64_t id() const { return id_; }
  const std::vector<std::unique_ptr<Instruction>>& instructions() const { return instructions_; }
  Instruction* root() const { return root_; }
  void set_root(Instruction* root) { root_ = root; }
  std::vector<Instruction*> Parameters() const;  // by number
  Module* parent() const { return parent_; }

  // Appends; operands must be of this computation and precede. An empty name is made from opcode
  // and id; a taken one gets the id as suffix.
  Instruction* Add(Opcode opcode, Shape shape, std::vector<Instruction*> operands,
                   Attributes attributes = {}, std::vector<Computation*> called = {},
                   std::string name = "");
  void SetMetadata(Instruction* instruction, std::string metadata);
  // Uses of `from` become uses of `to`, the root too, except in `to` itself (which may wrap
  // `from`). `from` stays until RemoveDead().
  void ReplaceAllUses(Instruction* from, Instruction* to);
  void ReplaceOperand(Instruction* user, int64_t operand, Instruction* to);
  void RemoveParameter(Instruction* parameter);  // which nothing uses
  void RemoveDead();         // drops what the root does not need; parameters stay
  void SortTopologically();  // after replacements that made an operand follow its user
  // users()[i] per instruction, computed now; order follows instructions().
  std::vector<std::vector<Instruction*>> Users() const;

 private:
  friend class Module;
  std::string name_;
  int64_t id_ = 0;
  std::vector<std::unique_ptr<Instruction>> instructions_;
  Instruction* root_ = nullptr;
  Module* parent_ = nullptr;
};

// Output `output` (index into the root tuple, 0 if the root is an array) may share the buffer of
// parameter `parameter`: how in-place ops and updated optimizer state are expressed.
struct InputOutputAlias {
  int64_t output = 0;
  int64_t parameter = 0;
  bool operator==(const InputOutputAlias&) const = default;
};

class Module {
 public:
  explicit Module(std::string name);
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module();

  const std::string& name() const { return name_; }
  Computation* entry() const { return entry_; }
  void set_entry(Computation* entry) { entry_ = entry; }
  const std::vector<std::unique_ptr<Computation>>& computations() const { return computations_; }
  Computation* AddComputation(std::string name);
  // Computations reachable from the entry, each after those it calls; the entry is last.
  std::vector<Computation*> PostOrder() const;
  void RemoveUnusedComputations();
  std::vector<InputOutputAlias>& aliases() { return aliases_; }
  const std::vector<InputOutputAlias>& aliases() const { return aliases_; }

  Module Clone() const;
  // XLA's HLO text (HloModule name ... ENTRY ...). Stable: same graph, same text.
  std::string ToText(bool with_metadata = true) const;

 private:
  friend class Computation;
  std::string UniqueName(std::string name, int64_t id);
  std::string name_;
  std::vector<std::unique_ptr<Computation>> computations_;
  Computation* entry_ = nullptr;
  std::vector<InputOutputAlias> aliases_;
  int64_t next_id_ = 1;
  std::unordered_set<std::string> names_;  // of instructions and computations: all differ
};

// Shape rules, operand counts, attributes, topological order, root and parameter numbering.
// The message names computation and instruction and shows both sides.
Status Verify(const Module& module);

}  // namespace neuron::hlo
