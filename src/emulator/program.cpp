#include "emulator/program.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include "base/environment.h"
#include "emulator/decode_step.h"
#include "emulator/group_loop.h"
#include "emulator/hazards.h"
#include "emulator/packed_tile.h"
#include "emulator/parallel.h"
#include "emulator/perturb.h"
#include "emulator/row_io.h"

namespace neuron::emulator {

StatusOr<std::unique_ptr<LoadedProgram>> LoadedProgram::Load(isa::Program program, Core& core) {
  if (program.target != core.target())
    return FailedPrecondition("program ", program.name, " is made for ",
                              isa::RowOf(program.target).name, ", this machine is a ",
                              isa::RowOf(core.target()).name, " (NEURON_PLATFORM_TARGET_OVERRIDE)");
  NEURON_RETURN_IF_ERROR(isa::Verify(program));
  std::unique_ptr<LoadedProgram> loaded(new LoadedProgram(std::move(program), core));
  NEURON_RETURN_IF_ERROR(loaded->PrepareTensors());
  NEURON_RETURN_IF_ERROR(loaded->Decode(ReadSwitch(Variable::kGroups)));
  loaded->profile_ = HostProfile::For(loaded->program_);
  return loaded;
}

StatusOr<std::unique_ptr<LoadedProgram>> LoadedProgram::WithoutGroups() const {
  std::unique_ptr<LoadedProgram> loaded(new LoadedProgram(program_, core_));
  loaded->own_ = own_;
  loaded->scalars_ = scalars_;
  NEURON_RETURN_IF_ERROR(loaded->Decode(false));
  return loaded;
}

LoadedProgram::~LoadedProgram() {
  for (const Hbm::Block& block : blocks_) core_.hbm().Free(block);
}

Status LoadedProgram::PrepareTensors() {
  own_.resize(program_.tensors.size());
  for (size_t t = 0; t < program_.tensors.size(); ++t) {
    const isa::TensorDecl& decl = program_.tensors[t];
    if (decl.kind == isa::TensorKind::kScalars) scalars_ = static_cast<int>(t);
    const bool constant = decl.kind == isa::TensorKind::kConstant;
    if (!constant && decl.kind != isa::TensorKind::kScratch) continue;
    const int64_t bytes =
        constant ? static_cast<int64_t>(program_.constants[decl.constant].size()) : decl.bytes;
    if (bytes == 0) continue;
    NEURON_ASSIGN_OR_RETURN(const Hbm::Block block, core_.hbm().Allocate(bytes));
    blocks_.push_back(block);
    own_[t] = {block.host, bytes, 0};
    if (constant) std::memcpy(block.host, program_.constants[decl.constant].data(), bytes);
  }
  return OkStatus();
}

Status LoadedProgram::Decode(bool groups) {
  registers_.resize(program_.registers.size());
  loop_end_.resize(program_.registers.size());
  steps_.reserve(program_.instructions.size());
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < program_.instructions.size(); ++i) {
    NEURON_ASSIGN_OR_RETURN(Step step, DecodeStep(program_, core_, i));
    if (step.control.kind == StepControl::Kind::kLoopBegin ||
        step.control.kind == StepControl::Kind::kWhileBegin)
      open.push_back(i);
    if (step.control.kind == StepControl::Kind::kLoopEnd) {
      StepControl& begin = steps_[open.back()].control;
      step.control.match = open.back();
      step.control.reg = begin.reg;
      step.control.step = begin.step;
      begin.match = i;
      open.pop_back();
    }
    steps_.push_back(std::move(step));
  }
  if (const auto mnemonic = Read(Variable::kPerturb)) {
    const auto opcode = isa::OpcodeFromMnemonic(*mnemonic);
    if (!opcode)
      return InvalidArgument("TORCHNEURON_PERTURB is '", *mnemonic, "', which is no instruction");
    perturbed_ = static_cast<int>(*opcode);
  }
  if (ReadSwitch(Variable::kCheckMemory)) shadow_ = std::make_unique<Shadow>(program_, core_);
  if (groups && perturbed_ < 0 && shadow_ == nullptr) FormGroups();
  return OkStatus();
}

void LoadedProgram::FormGroups() {
  const Liveness liveness(program_, steps_);
  groups_ = FindGroups(program_, core_, steps_, liveness);
  for (const auto& group : groups_) {
    steps_[group->first].group = group.get();
    if (IsLoopBody(*group, steps_)) steps_[group->first - 1].loop_body = group.get();
  }
  sum_loops_ = FindSumLoops(steps_);
  for (const auto& loop : sum_loops_) steps_[loop->loops[0]].sums = loop.get();
  late_.resize(
      static_cast<size_t>(PackTiles(program_, core_, steps_, groups_, sum_loops_, liveness)));
  batches_ = FindBatches(program_, steps_);
  for (const auto& batch : batches_) steps_[batch->first].batch = batch.get();
  shared_loops_ = FindSharedLoops(program_, steps_, groups_, liveness);
  for (const auto& loop : shared_loops_) steps_[loop->begin].shared = loop.get();
  has_groups_ = !groups_.empty() || !batches_.empty() || !sum_loops_.empty() ||
                !shared_loops_.empty() ||
                std::any_of(steps_.begin(), steps_.end(), [](const Step& step) {
                  return std::any_of(step.operation.tiles.begin(), step.operation.tiles.end(),
                                     [](const TileRef& tile) { return tile.packed; });
                });
}

Status LoadedProgram::Prepare(std::span<BoundTensor> bound) {
  std::fill(registers_.begin(), registers_.end(), 0);
  for (size_t r = 0; r < registers_.size(); ++r) {
    const isa::RegisterDecl& decl = program_.registers[r];
    if (decl.scalar_slot < 0) continue;
    const int64_t end = (int64_t{decl.scalar_slot} + 1) * 8;
    if (scalars_ < 0 || bound[scalars_].bytes < end)
      return InvalidArgument("program ", program_.name, " reads slot ", decl.scalar_slot,
                             " of its scalar block, which has ",
                             scalars_ < 0 ? 0 : bound[scalars_].bytes, " bytes bound");
    std::memcpy(&registers_[r], bound[scalars_].data + end - 8, 8);
    if (registers_[r] < decl.min || registers_[r] > decl.max)
      return OutOfRange("program ", program_.name, ": scalar slot ", decl.scalar_slot, " holds ",
                        registers_[r], ", allowed is [", decl.min, ", ", decl.max, "]");
  }
  for (size_t t = 0; t < bound.size(); ++t) {
    const isa::TensorDecl& decl = program_.tensors[t];
    if (own_[t].data != nullptr) bound[t] = own_[t];
    bound[t].offset = decl.byte_offset == isa::kNoRegister ? 0 : registers_[decl.byte_offset];
  }
  return OkStatus();
}

Status LoadedProgram::Begin(std::span<BoundTensor> bound, Counters* counters) {
  NEURON_RETURN_IF_ERROR(Prepare(bound));
  initial_ = registers_;
  last_duration_ps_ = scoreboard_.DurationPs(registers_.data());
  execution_ = {&core_, registers_.data(), bound.data(), counters, loop_end_.data(), late_.data()};
  pc_ = 0;
  log_.Clear();
  if (shadow_ != nullptr) {
    if (HasSemaphores(program_)) NEURON_RETURN_IF_ERROR(CheckHazards(program_, registers_.data()));
    shadow_->Begin(bound.data());
  }
  return OkStatus();
}

Status LoadedProgram::Resume() { return Run(execution_, steps_.size(), &pc_); }

Status LoadedProgram::Execute(std::span<BoundTensor> bound, Counters* counters) {
  NEURON_RETURN_IF_ERROR(Begin(bound, counters));
  Status status = Resume();
  if (status.ok() && meeting() != nullptr)
    status = FailedPrecondition(NameOf(meeting()->operation),
                                ": waits for the other core of a logical core, and there is no "
                                "program for one; launch the kernel as kernel[2]");
  ++counters->executions;
  core_.device_time_ps.fetch_add(last_duration_ps_, std::memory_order_relaxed);
  return status;
}

int64_t LoadedProgram::last_duration_ps() {
  if (last_duration_ps_ >= 0) return last_duration_ps_;
  return scoreboard_.is_static() ? scoreboard_.DurationPs(registers_.data()) : 0;
}

std::string LoadedProgram::TraceJson(size_t max_events, std::span<const double> released_ns,
                                     int core) {
  return scoreboard_.TraceJson(initial_.empty() ? registers_.data() : initial_.data(), max_events,
                               released_ns, core);
}

namespace {

void CountDma(const Step& step, int64_t times, const Execution& execution) {
  if (!step.dynamic) {
    execution.counters->dma_bytes_read += times * step.hbm_read;
    execution.counters->dma_bytes_written += times * step.hbm_written;
    return;
  }
  for (const TileRef& tile : step.operation.tiles) {
    if (!tile.hbm) continue;
    const TileShape shape = ShapeOf(*tile.pattern, 0, execution.registers);
    const int64_t bytes = times * shape.rows * shape.elements * shape.element_bytes;
    (tile.written ? execution.counters->dma_bytes_written : execution.counters->dma_bytes_read) +=
        bytes;
  }
}

}  // namespace

namespace {

int64_t StartOf(const HostProfile* profile) { return profile == nullptr ? 0 : HostProfile::Now(); }

}  // namespace

void LoadedProgram::Count(size_t first, size_t last, int64_t times,
                          const Execution& execution) const {
  for (size_t i = first; i < last; ++i) {
    execution.counters->instructions[static_cast<int>(steps_[i].operation.opcode)] += times;
    if (steps_[i].dma) CountDma(steps_[i], times, execution);
  }
}

LoopRange LoadedProgram::RangeOf(const Step& step, const Execution& execution) const {
  const isa::Register reg = step.control.reg;
  LoopRange range{reg, execution.registers[reg], step.control.step, 0};
  range.trips = (execution.loop_ends[reg] - range.begin + range.step - 1) / range.step;
  return range;
}

bool LoadedProgram::RunLoop(const Step& step, const Execution& execution) {
  const LoopRange range = RangeOf(step, execution);
  if (range.trips < 2) return false;
  const auto start = StartOf(profile_);
  if (!RunGroupLoop(*step.loop_body, steps_, range.Rolled(step.loop_body->copies),
                    {execution.registers, registers_.size()}, execution))
    return false;
  if (profile_ != nullptr) profile_->Add(step.loop_body->first, step.loop_body->last, start);
  Count(step.loop_body->first, step.control.match + 1, range.trips, execution);
  execution.registers[range.counter] = range.begin + range.trips * range.step;
  return true;
}

Status LoadedProgram::Run(Execution& execution, size_t last, size_t* next) {
  int64_t* const registers = execution.registers;
  for (size_t pc = *next; pc < last; ++pc) {
    const Step& step = steps_[pc];
    if (step.group != nullptr) {
      bool done = false;
      const auto start = StartOf(profile_);
      ExecuteGroup(*step.group, steps_, execution, &done);
      if (done) {
        if (profile_ != nullptr) profile_->Add(pc, step.group->last, start);
        Count(pc, step.group->last, 1, execution);
        pc = step.group->last - 1;
        continue;
      }
    }
    if (step.batch != nullptr) {
      const auto start = StartOf(profile_);
      NEURON_RETURN_IF_ERROR(ExecuteBatch(*step.batch, steps_, execution));
      if (profile_ != nullptr) profile_->Add(pc, step.batch->last, start);
      Count(pc, step.batch->last, 1, execution);
      pc = step.batch->last - 1;
      continue;
    }
    ++execution.counters->instructions[static_cast<int>(step.operation.opcode)];
    if (shadow_ != nullptr) [[unlikely]] {
      NEURON_RETURN_IF_ERROR(shadow_->Before(step.operation, execution));
      log_.Record(step.operation, execution);
    }
    switch (step.control.kind) {
      case StepControl::Kind::kOperation: {
        const auto start = StartOf(profile_);
        NEURON_RETURN_IF_ERROR(step.operation.execute(step.operation, execution));
        if (profile_ != nullptr) profile_->Add(pc, pc + 1, start);
        if (step.dma) CountDma(step, 1, execution);
        if (static_cast<int>(step.operation.opcode) == perturbed_) [[unlikely]]
          NEURON_RETURN_IF_ERROR(PerturbResults(step.operation, execution));
        break;
      }
      case StepControl::Kind::kLoopBegin: {
        bool runs = false;
        NEURON_RETURN_IF_ERROR(EnterLoop(step, execution, &runs));
        bool done = !runs || (step.loop_body != nullptr && RunLoop(step, execution));
        if (!done && step.sums != nullptr)
          NEURON_RETURN_IF_ERROR(RunSums(*step.sums, execution, &done));
        if (!done && step.shared != nullptr)
          NEURON_RETURN_IF_ERROR(RunShared(*step.shared, execution, &done));
        if (done) pc = step.control.match;
        break;
      }
      case StepControl::Kind::kLoopEnd:
        if (steps_[step.control.match].control.kind == StepControl::Kind::kWhileBegin) {
          pc = size_t{step.control.match} - 1;  // the condition is read again
          break;
        }
        registers[step.control.reg] += step.control.step;
        if (registers[step.control.reg] < execution.loop_ends[step.control.reg])
          pc = step.control.match;
        break;
      case StepControl::Kind::kWhileBegin:
        if (step.control.a.Evaluate(registers) == 0) pc = step.control.match;
        break;
      case StepControl::Kind::kRegisterAlu:
        NEURON_RETURN_IF_ERROR(RunRegisterAlu(step, execution));
        break;
      case StepControl::Kind::kRegisterLoad:
        NEURON_RETURN_IF_ERROR(RunRegisterLoad(step, execution));
        break;
      case StepControl::Kind::kMeeting:
        if (shadow_ != nullptr) shadow_->After(step.operation, execution);
        *next = pc;
        return OkStatus();
    }
    if (shadow_ != nullptr) [[unlikely]]
      shadow_->After(step.operation, execution);
  }
  *next = last;
  return OkStatus();
}

Status LoadedProgram::RunIterations(const SharedLoop& loop, const LoopRange& range, int64_t first,
                                    int64_t last, Execution mine, std::vector<int64_t>* registers) {
  std::vector<int64_t> loop_ends(mine.loop_ends, mine.loop_ends + loop_end_.size());
  mine.registers = registers->data();
  mine.loop_ends = loop_ends.data();
  std::vector<const char*> late(late_.size());
  mine.late = late.data();
  if (const int worker = WorkerNumber(); worker > 0) {
    const Core::OwnMemories* own = core_.own_memories(worker);
    if (own == nullptr)
      return ResourceExhausted("program ", program_.name, ": no host memory for a second thread");
    const auto shift = [](const OnChipMemory& to, const OnChipMemory& from) {
      return to.partition(0) - from.partition(0);
    };
    mine.own_shift[static_cast<int>(Own::kSbuf)] = shift(own->sbuf, core_.sbuf());
    mine.own_shift[static_cast<int>(Own::kPsum)] = shift(own->psum, core_.psum());
    mine.own_shift[static_cast<int>(Own::kPacked)] = own->packed.data() - core_.packed();
  }
  for (int64_t trip = first; trip < last; ++trip) {
    mine.registers[range.counter] = range.begin + trip * range.step;
    size_t next = loop.begin + 1;
    NEURON_RETURN_IF_ERROR(Run(mine, loop.body_end, &next));
    if ((trip + 1) % loop.copies == 0)
      ++mine.counters->instructions[static_cast<int>(steps_[loop.end].operation.opcode)];
  }
  return OkStatus();
}

Status LoadedProgram::RunSums(const SumLoop& loop, Execution& execution, bool* done) {
  std::vector<LoopRange> ranges;
  for (const uint32_t i : loop.loops) {
    const Step& step = steps_[i];
    bool runs = true;
    if (i != loop.loops[0]) NEURON_RETURN_IF_ERROR(EnterLoop(step, execution, &runs));
    if (!runs) return OkStatus();
    ranges.push_back(RangeOf(step, execution));
  }
  const auto start = StartOf(profile_);
  NEURON_RETURN_IF_ERROR(RunSumLoop(loop, steps_, ranges, execution));
  if (profile_ != nullptr) profile_->Add(loop.matmul, loop.matmul + 1, start);
  int64_t trips = 1;
  for (size_t d = 0; d < ranges.size(); ++d) {
    const uint32_t begin = loop.loops[d];
    if (d > 0) Count(begin, begin + 1, trips, execution);
    trips *= ranges[d].trips;
    const uint32_t end = steps_[begin].control.match;
    Count(end, end + 1, trips, execution);
  }
  Count(loop.matmul, loop.matmul + 1, trips, execution);
  *done = true;
  return OkStatus();
}

Status LoadedProgram::RunShared(const SharedLoop& loop, const Execution& execution, bool* done) {
  *done = false;
  const LoopRange range = RangeOf(steps_[loop.begin], execution).Rolled(loop.copies);
  if (range.trips < 2 || profile_ != nullptr) return OkStatus();
  const double work = loop.iteration_ns * static_cast<double>(range.trips);
  std::vector<int64_t> entered(execution.registers, execution.registers + registers_.size());
  if (work < kWorthwhileNs || HostThreads() < 2 || internal::InParts() ||
      !MayShare(loop, steps_, range, execution)) {
    // One tile for all iterations stays in the host's caches.
    if (loop.copies == 1) return OkStatus();
    NEURON_RETURN_IF_ERROR(RunIterations(loop, range, 0, range.trips, execution, &entered));
    std::copy(entered.begin(), entered.end(), execution.registers);
    execution.registers[range.counter] = range.begin + range.trips * range.step;
    *done = true;
    return OkStatus();
  }
  std::mutex mutex;
  Status failure;
  int64_t failed_at = range.trips;
  ParallelFor(range.trips, 1, work, [&](int64_t first, int64_t last) {
    std::vector<int64_t> registers = entered;
    Counters counters;
    Execution mine = execution;
    mine.counters = &counters;
    Status status = RunIterations(loop, range, first, last, mine, &registers);
    const std::lock_guard lock(mutex);
    execution.counters->Add(counters);
    if (last == range.trips) std::copy(registers.begin(), registers.end(), execution.registers);
    if (status.ok() || first > failed_at) return;
    failed_at = first;
    failure = std::move(status);
  });
  NEURON_RETURN_IF_ERROR(std::move(failure));
  execution.registers[range.counter] = range.begin + range.trips * range.step;
  *done = true;
  return OkStatus();
}

Status LoadedProgram::SetRegister(const Step& step, int64_t value,
                                  const Execution& execution) const {
  const isa::RegisterDecl& decl = program_.registers[step.control.reg];
  if (value < decl.min || value > decl.max)
    return OutOfRange(NameOf(step.operation), ": register r", step.control.reg, " would be ", value,
                      ", declared is [", decl.min, ", ", decl.max, "]");
  execution.registers[step.control.reg] = value;
  return OkStatus();
}

Status LoadedProgram::EnterLoop(const Step& step, const Execution& execution, bool* runs) const {
  const int64_t begin = step.control.a.Evaluate(execution.registers);
  const int64_t end = step.control.b.Evaluate(execution.registers);
  *runs = begin < end;
  if (!*runs) return OkStatus();
  const int64_t last = begin + (end - 1 - begin) / step.control.step * step.control.step;
  NEURON_RETURN_IF_ERROR(SetRegister(step, last, execution));
  NEURON_RETURN_IF_ERROR(SetRegister(step, begin, execution));
  execution.loop_ends[step.control.reg] = end;
  return OkStatus();
}

Status LoadedProgram::RunRegisterAlu(const Step& step, const Execution& execution) const {
  const StatusOr<int64_t> value = step.control.Compute(execution.registers);
  if (!value.ok()) return value.status().WithPrefix(StrCat(NameOf(step.operation), ": "));
  return SetRegister(step, *value, execution);
}

Status LoadedProgram::RunRegisterLoad(const Step& step, const Execution& execution) const {
  Tile tile;
  TileShape storage;
  NEURON_RETURN_IF_ERROR(
      execution.Resolve(step.operation, step.operation.tiles[0], &storage, &tile));
  const DType dtype = tile.shape->dtype;
  if (tile.shape->element_bytes == 8) {
    int64_t value = 0;
    std::memcpy(&value, tile.data, 8);
    return SetRegister(step, value, execution);
  }
  uint32_t word = 0;
  std::memcpy(&word, ReadRow(Kernels(), DomainOf(dtype), *tile.shape, tile.data, 0, 1, &word), 4);
  const bool extend = DomainOf(dtype) == Domain::kSigned;
  return SetRegister(step, extend ? int64_t{static_cast<int32_t>(word)} : int64_t{word}, execution);
}

}  // namespace neuron::emulator
