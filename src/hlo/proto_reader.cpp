#include <unordered_map>

#include "hlo/proto.h"
#include "hlo/proto_attributes.h"
#include "hlo/proto_fields.h"
#include "hlo/shape_rules.h"

namespace neuron::hlo {
namespace {

struct ComputationRecord {
  std::string name;
  std::vector<InstructionRecord> instructions;
  int64_t id = 0, root_id = 0;
};

StatusOr<ComputationRecord> ReadComputation(std::string_view bytes) {
  namespace n = proto::computation;
  ComputationRecord record;
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    switch (f.number) {
      case n::kName:
        record.name = r.Bytes(f);
        break;
      case n::kId:
        record.id = r.Int(f);
        break;
      case n::kRootId:
        record.root_id = r.Int(f);
        break;
      case n::kInstructions: {
        NEURON_ASSIGN_OR_RETURN(InstructionRecord instruction, ReadInstruction(r.Bytes(f)));
        record.instructions.push_back(std::move(instruction));
        break;
      }
      default:
        break;
    }
  }
  NEURON_RETURN_IF_ERROR(r.status());
  return record;
}

Status ReadAliases(std::string_view bytes, Module& module) {
  namespace n = proto::alias;
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    if (f.number != n::kEntries) continue;
    InputOutputAlias alias;
    std::vector<int64_t> output, inside;
    WireReader entry(r.Bytes(f));
    for (WireField g; entry.Next(g);) {
      switch (g.number) {
        case n::kOutputIndex:
          entry.AppendInts(g, output);
          break;
        case n::kParameter:
          alias.parameter = entry.Int(g);
          break;
        case n::kParameterIndex:
          entry.AppendInts(g, inside);
          break;
        default:
          break;
      }
    }
    NEURON_RETURN_IF_ERROR(entry.status());
    if (output.size() > 1 || !inside.empty())
      return Unimplemented("an alias inside of nested tuples");
    if (!output.empty()) alias.output = output[0];
    module.aliases().push_back(alias);
  }
  return r.status();
}

// The program's own shapes say how the caller lays out its buffers. JAX leaves in the result the
// layout of the last transpose and asks for row major when it compiles, so only parameters count.
// Per parameter the order of its dimensions in memory, empty for row major.
StatusOr<std::vector<std::vector<int64_t>>> ReadParameterOrders(std::string_view bytes) {
  namespace n = proto::program_shape;
  std::vector<std::vector<int64_t>> orders;
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    if (f.number != n::kParameters) continue;
    std::vector<int64_t> order;
    NEURON_RETURN_IF_ERROR(ReadShape(r.Bytes(f), &order).status());
    orders.push_back(std::move(order));
  }
  NEURON_RETURN_IF_ERROR(r.status());
  return orders;
}

// A parameter that is not row major becomes one of its dimensions in their order in memory, and a
// transpose: inside, layouts are no matter.
Status MakeRowMajor(Module& module, const std::vector<std::vector<int64_t>>& orders) {
  Computation& entry = *module.entry();
  bool changed = false;
  for (Instruction* x : entry.Parameters()) {
    const auto number = static_cast<size_t>(x->attributes().parameter_number);
    if (number >= orders.size() || orders[number].empty() || !x->shape().is_array()) continue;
    const std::vector<int64_t>& order = orders[number];
    if (static_cast<int64_t>(order.size()) != x->shape().rank()) continue;  // of another shape
    for (const InputOutputAlias& alias : module.aliases())
      if (alias.parameter == static_cast<int64_t>(number))
        return Unimplemented("parameter ", number, " has the layout ", ListText(order),
                             " and is aliased to a result; a result is row major");
    Shape shape = x->shape();
    Attributes transpose;
    transpose.dimensions.resize(order.size());
    for (size_t i = 0; i < order.size(); ++i) {
      shape.dims[i] = x->shape().dims[static_cast<size_t>(order[i])];
      transpose.dimensions[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    }
    Shape logical = x->shape();
    Instruction* stored = entry.Add(Opcode::kParameter, std::move(shape), {}, x->attributes());
    Instruction* view =
        entry.Add(Opcode::kTranspose, std::move(logical), {stored}, std::move(transpose));
    entry.ReplaceAllUses(x, view);
    entry.RemoveParameter(x);
    changed = true;
  }
  if (changed) entry.SortTopologically();
  return OkStatus();
}

// Ids become pointers. An instruction id is unique in its computation; JAX adds the computation's
// id in the upper 32 bits, so all 64 are compared.
class Linker {
 public:
  explicit Linker(Module& module) : module_(module) {}

  Status Declare(const ComputationRecord& record) {
    if (!computations_.emplace(record.id, module_.AddComputation(record.name)).second)
      return InvalidArgument("two computations have the id ", record.id);
    return OkStatus();
  }

  Status Fill(ComputationRecord& record) {
    Computation* c = computations_.at(record.id);
    std::unordered_map<int64_t, Instruction*> by_id;
    for (InstructionRecord& i : record.instructions) {
      const Status added = Add(*c, i, by_id);
      if (!added.ok()) return added.WithPrefix(record.name + "/" + i.name + ": ");
    }
    const auto root = by_id.find(record.root_id);
    if (root == by_id.end())
      return InvalidArgument(record.name, ": its root, id ", record.root_id, ", is missing");
    c->set_root(root->second);
    return OkStatus();
  }

  StatusOr<Computation*> Find(int64_t id) const {
    const auto found = computations_.find(id);
    if (found == computations_.end()) return InvalidArgument("no computation has the id ", id);
    return found->second;
  }

 private:
  Status Add(Computation& c, InstructionRecord& i,
             std::unordered_map<int64_t, Instruction*>& by_id) const {
    const std::optional<Opcode> opcode = OpcodeFromName(i.opcode);
    if (!opcode) {
      const std::string_view why = WhyNoOpcode(i.opcode);
      return Unimplemented("opcode '", i.opcode, "' is not supported",
                           why.empty() ? "; XLA's documentation knows none of this name" : ": ",
                           why);
    }
    std::vector<Instruction*> operands;
    for (const int64_t id : i.operand_ids) {
      const auto found = by_id.find(id);
      if (found == by_id.end())
        return InvalidArgument("its operand, id ", id, ", does not stand before it");
      operands.push_back(found->second);
    }
    std::vector<Computation*> called;
    for (const int64_t id : i.called_ids) {
      NEURON_ASSIGN_OR_RETURN(Computation* const computation, Find(id));
      called.push_back(computation);
    }
    // XLA lists a loop's body before its condition.
    if (*opcode == Opcode::kWhile && called.size() == 2) std::swap(called[0], called[1]);
    Instruction* added = c.Add(*opcode, std::move(i.shape), std::move(operands),
                               std::move(i.attributes), std::move(called), i.name);
    if (!i.metadata.empty()) c.SetMetadata(added, std::move(i.metadata));
    if (!by_id.emplace(i.id, added).second)
      return InvalidArgument("another instruction has its id ", i.id);
    return OkStatus();
  }

  Module& module_;
  std::unordered_map<int64_t, Computation*> computations_;
};

}  // namespace

StatusOr<Module> FromProto(std::string_view bytes) {
  namespace n = proto::module;
  std::string name;
  int64_t entry_id = 0;
  std::vector<ComputationRecord> computations;
  std::string_view aliases;
  std::vector<std::vector<int64_t>> orders;
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    switch (f.number) {
      case n::kName:
        name = r.Bytes(f);
        break;
      case n::kEntryId:
        entry_id = r.Int(f);
        break;
      case n::kAlias:
        aliases = r.Bytes(f);
        break;
      case n::kProgramShape: {
        NEURON_ASSIGN_OR_RETURN(orders, ReadParameterOrders(r.Bytes(f)));
        break;
      }
      case n::kComputations: {
        NEURON_ASSIGN_OR_RETURN(ComputationRecord record, ReadComputation(r.Bytes(f)));
        computations.push_back(std::move(record));
        break;
      }
      default:
        break;
    }
  }
  NEURON_RETURN_IF_ERROR(r.status());

  Module module(std::move(name));
  Linker linker(module);
  for (const ComputationRecord& record : computations)
    NEURON_RETURN_IF_ERROR(linker.Declare(record));
  for (ComputationRecord& record : computations) NEURON_RETURN_IF_ERROR(linker.Fill(record));
  NEURON_ASSIGN_OR_RETURN(Computation* const entry, linker.Find(entry_id));
  module.set_entry(entry);
  NEURON_RETURN_IF_ERROR(ReadAliases(aliases, module));
  NEURON_RETURN_IF_ERROR(MakeRowMajor(module, orders));
  NEURON_RETURN_IF_ERROR(Verify(module));
  return module;
}

}  // namespace neuron::hlo
