// nrta_*: requests on the execution units of a core.
#include "emulator/abi/async.h"

#include <fcntl.h>

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "emulator/abi/execution_unit.h"
#include "emulator/abi/models.h"
#include "emulator/abi/tensor_access.h"

namespace neuron::emulator::abi {
namespace {

// Queues of each type of a core, as documented. The collectives' exist and carry nothing yet.
constexpr std::array<int, NRTA_XU_TYPE_NUM> kQueues = {2, 1, 3};
constexpr int kUnitsPerCore = 6;

// The units of a machine, by core, type and number; ids count from 1.
struct Units {
  std::shared_ptr<Machine> machine;
  std::vector<std::unique_ptr<ExecutionUnit>> units;
};

struct State {
  std::mutex mutex;
  std::shared_ptr<Units> units;
};
State& GlobalState() {
  static State* const state = new State;  // outlives every static destructor
  return *state;
}

Outcome CurrentUnits(std::shared_ptr<Units>* units) {
  std::shared_ptr<Machine> machine;
  NEURON_ABI_RETURN_IF_ERROR(RequireMachine(&machine));
  State& state = GlobalState();
  const std::lock_guard lock(state.mutex);
  if (state.units == nullptr || state.units->machine != machine) {
    auto made = std::make_shared<Units>();
    made->machine = machine;
    for (int id = 1; id <= machine->num_cores() * kUnitsPerCore; ++id)
      made->units.push_back(std::make_unique<ExecutionUnit>(static_cast<nrta_xu_id_t>(id)));
    state.units = std::move(made);
  }
  *units = state.units;
  return {};
}

Outcome FindUnit(int64_t lnc, int type, int queue, std::shared_ptr<Units>* units,
                 ExecutionUnit** unit) {
  NEURON_ABI_RETURN_IF_ERROR(CurrentUnits(units));
  const int cores = (*units)->machine->num_cores();
  if (lnc < 0 || lnc >= cores)
    return InvalidArgument("core ", lnc, " asked for, ", cores, " visible");
  if (type < 0 || type >= NRTA_XU_TYPE_NUM)
    return InvalidArgument("execution unit type ", type, " is not known");
  if (queue < 0 || queue >= kQueues[static_cast<size_t>(type)])
    return InvalidArgument("queue ", queue, " asked for; a core has ",
                           kQueues[static_cast<size_t>(type)], " of that type, counted from 0");
  size_t index = static_cast<size_t>(lnc) * kUnitsPerCore + static_cast<size_t>(queue);
  for (int before = 0; before < type; ++before)
    index += static_cast<size_t>(kQueues[static_cast<size_t>(before)]);
  *unit = (*units)->units[index].get();
  return {};
}

Outcome UnitOf(nrta_seq_t seq, std::shared_ptr<Units>* units, ExecutionUnit** unit) {
  NEURON_ABI_RETURN_IF_ERROR(CurrentUnits(units));
  const uint64_t id = seq >> NRTA_SEQ_NUM_BITS;
  const bool known = id >= 1 && id <= (*units)->units.size();
  *unit = known ? (*units)->units[id - 1].get() : nullptr;
  if (!known || !(*unit)->Knows(seq)) return InvalidArgument("no request has the id ", seq);
  return {};
}

Outcome CheckEventfd(int fd) {
  if (fd >= 0 && fcntl(fd, F_GETFD) < 0) return InvalidArgument("fd ", fd, " is not open");
  return {};
}

Outcome ScheduleTensorOp(const char* call, int lnc, int queue, NRT_STATUS* ret, nrta_seq_t* seq,
                         ExecutionUnit::Work work) {
  std::shared_ptr<Units> units;
  ExecutionUnit* unit = nullptr;
  NEURON_ABI_RETURN_IF_ERROR(FindUnit(lnc, NRTA_XU_TENSOR_OP, queue, &units, &unit));
  return unit->Schedule(call, std::move(work), ret, seq);
}

}  // namespace

void CloseAsync() {
  std::shared_ptr<Units> units;
  State& state = GlobalState();
  const std::lock_guard lock(state.mutex);
  units.swap(state.units);  // whoever holds them still ends them
}

}  // namespace neuron::emulator::abi

namespace abi = neuron::emulator::abi;
using neuron::InvalidArgument;

extern "C" {

NRT_STATUS nrta_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                                 nrt_tensor_set_t* output_set, int queue, NRT_STATUS* ret,
                                 nrta_seq_t* seq) {
  return abi::Call("nrta_execute_schedule", [&]() -> abi::Outcome {
    int vnc = 0;
    std::shared_ptr<abi::Units> units;
    abi::ExecutionUnit* unit = nullptr;
    NEURON_ABI_RETURN_IF_ERROR(abi::CurrentUnits(&units));
    NEURON_ABI_RETURN_IF_ERROR(abi::CoreOfModel(model, &vnc));
    NEURON_ABI_RETURN_IF_ERROR(abi::FindUnit(vnc, NRTA_XU_COMPUTE, queue, &units, &unit));
    return unit->Schedule(
        "nrta_execute_schedule", [=] { return abi::ExecuteModel(model, input_set, output_set); },
        ret, seq);
  });
}

NRT_STATUS nrta_tensor_write(nrt_tensor_t* tensor, const void* buffer, uint64_t offset,
                             uint64_t size, int lnc, int queue, NRT_STATUS* ret, nrta_seq_t* seq) {
  return abi::Call("nrta_tensor_write", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::CheckRange(tensor, offset, size));
    if (buffer == nullptr) return InvalidArgument("buffer is null");
    return abi::ScheduleTensorOp("nrta_tensor_write", lnc, queue, ret, seq, [=]() -> abi::Outcome {
      abi::WriteBytes(tensor, offset, size, buffer);
      return {};
    });
  });
}

NRT_STATUS nrta_tensor_read(void* buffer, nrt_tensor_t* tensor, uint64_t offset, uint64_t size,
                            int lnc, int queue, NRT_STATUS* ret, nrta_seq_t* seq) {
  return abi::Call("nrta_tensor_read", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::CheckRange(tensor, offset, size));
    if (buffer == nullptr) return InvalidArgument("buffer is null");
    return abi::ScheduleTensorOp("nrta_tensor_read", lnc, queue, ret, seq, [=]() -> abi::Outcome {
      abi::ReadBytes(tensor, offset, size, buffer);
      return {};
    });
  });
}

NRT_STATUS nrta_tensor_copy(nrt_tensor_t* source, uint64_t source_offset, nrt_tensor_t* destination,
                            uint64_t destination_offset, uint64_t size, int lnc, int queue,
                            NRT_STATUS* ret, nrta_seq_t* seq) {
  return abi::Call("nrta_tensor_copy", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(
        abi::CheckCopy(source, source_offset, destination, destination_offset, size));
    return abi::ScheduleTensorOp("nrta_tensor_copy", lnc, queue, ret, seq, [=]() -> abi::Outcome {
      abi::CopyBytes(source, source_offset, destination, destination_offset, size);
      return {};
    });
  });
}

NRT_STATUS nrta_is_completed(nrta_seq_t seq, bool* completed) {
  return abi::Call("nrta_is_completed", [&]() -> abi::Outcome {
    if (completed == nullptr) return InvalidArgument("completed is null");
    std::shared_ptr<abi::Units> units;
    abi::ExecutionUnit* unit = nullptr;
    NEURON_ABI_RETURN_IF_ERROR(abi::UnitOf(seq, &units, &unit));
    *completed = unit->last_completed() >= seq;
    return {};
  });
}

NRT_STATUS nrta_get_sequence(uint32_t lnc, nrta_xu_t xu, int queue, nrta_seq_t* seq) {
  return abi::Call("nrta_get_sequence", [&]() -> abi::Outcome {
    if (seq == nullptr) return InvalidArgument("seq is null");
    std::shared_ptr<abi::Units> units;
    abi::ExecutionUnit* unit = nullptr;
    NEURON_ABI_RETURN_IF_ERROR(abi::FindUnit(lnc, xu, queue, &units, &unit));
    *seq = unit->last_completed();
    return {};
  });
}

NRT_STATUS nrta_event_register_seq_id_completion(nrta_seq_t seq, int fd) {
  return abi::Call("nrta_event_register_seq_id_completion", [&]() -> abi::Outcome {
    std::shared_ptr<abi::Units> units;
    abi::ExecutionUnit* unit = nullptr;
    NEURON_ABI_RETURN_IF_ERROR(abi::UnitOf(seq, &units, &unit));
    NEURON_ABI_RETURN_IF_ERROR(abi::CheckEventfd(fd));
    return unit->WatchRequest(seq, fd);
  });
}

NRT_STATUS nrta_event_register_xu_completion(int lnc, nrta_xu_t xu, int queue, int fd) {
  return abi::Call("nrta_event_register_xu_completion", [&]() -> abi::Outcome {
    std::shared_ptr<abi::Units> units;
    abi::ExecutionUnit* unit = nullptr;
    NEURON_ABI_RETURN_IF_ERROR(abi::FindUnit(lnc, xu, queue, &units, &unit));
    NEURON_ABI_RETURN_IF_ERROR(abi::CheckEventfd(fd));
    unit->WatchAll(fd);
    return {};
  });
}

}  // extern "C"
