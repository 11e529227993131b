// The runtime's surface for src/torch and tools: devices, memory, streams, events, executables.
//
// Reaches a machine only through the NRT C ABI (src/nrt): the emulator or AWS's libnrt. Owns no
// numerics. Thread safe. Device addresses are what data_ptr returns; an interval look-up finds the
// NRT tensor (one per allocator segment) and the offset behind an address.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "compiler/compiler.h"
#include "hlo/module.h"

namespace neuron::runtime {

// ---- Devices
struct DeviceProperties {
  std::string name;          // "trn2"
  std::string device_name;   // "AWS Trainium2 NeuronCore (emulated)": contains "neuron"
  int64_t total_memory = 0;  // HBM bytes of one logical core
  int logical_nc_config = 1;
  bool emulated = false;
  bool host_addressable = false;  // HBM may be dereferenced by the host
};
Status Initialize();  // loads NRT, reads the environment; idempotent
bool IsInitialized();
int DeviceCount();  // callable before Initialize; 0 if there is no machine
const DeviceProperties& Properties(int device);
std::string Describe();  // which NRT library serves, versions, target: one paragraph

// ---- Memory (caching allocator, one pool per device)
struct MemoryStatistics {
  int64_t allocated_bytes = 0, peak_allocated_bytes = 0;
  int64_t reserved_bytes = 0, peak_reserved_bytes = 0;
  int64_t active_blocks = 0, allocations = 0, frees = 0, segments = 0;
  int64_t out_of_memory = 0, retries = 0;
};
using StreamId = int64_t;  // 0 is a device's default stream
// 64-byte aligned. ResourceExhausted carries requested, free, total, reserved and the limit met.
StatusOr<void*> Allocate(int device, int64_t bytes, StreamId stream);
void Free(void* pointer);  // the block returns to its stream's pool, in stream order
void RecordStream(void* pointer, StreamId stream);
int DeviceOf(const void* pointer);  // -1: not device memory
MemoryStatistics Statistics(int device);
void ResetPeakStatistics(int device);
void EmptyCache(int device);
int64_t FreeBytes(int device);  // HBM that nothing has reserved, as NRT reports it
std::string MemorySnapshotJson(int device);

// ---- Streams and events
StatusOr<StreamId> CreateStream(int device, int priority);
bool QueryStream(int device, StreamId stream);  // true: nothing pending
// Waits for everything queued. Returns the first data error of the stream once (OutOfRange for an
// index, with op, operand and index in the message), or the first fault of a launch.
Status SynchronizeStream(int device, StreamId stream);
Status SynchronizeDevice(int device);
class Event;  // a point in a stream
std::shared_ptr<Event> RecordEvent(int device, StreamId stream, bool timing);
bool QueryEvent(const Event& event);
Status SynchronizeEvent(const Event& event);
void AwaitEvent(const Event& event);  // the same where nothing may interrupt it
void StreamWaitEvent(int device, StreamId stream, std::shared_ptr<Event> event);
StatusOr<double> ElapsedMilliseconds(const Event& begin, const Event& end);  // device time

// ---- Waiting
// Waits of this header (Synchronize*, blocking copies, a launch while the queue is full) ask this
// about every 50 ms, on the thread that waits and with no lock held. What it returns if not OK is
// what the wait returns: the device goes on with what was queued before, and stays usable.
using InterruptCheck = Status (*)();
void SetInterruptCheck(InterruptCheck check);

// ---- Copies (ordered with the stream)
Status CopyToDevice(int device, StreamId stream, void* device_to, const void* host_from,
                    int64_t bytes, bool blocking);
Status CopyToHost(int device, StreamId stream, void* host_to, const void* device_from,
                  int64_t bytes, bool blocking);
Status CopyOnDevice(int device, StreamId stream, void* to, const void* from, int64_t bytes);
Status Fill(int device, StreamId stream, void* to, uint8_t byte, int64_t bytes);

// ---- Executables
// A loaded program with its signature; shared, immutable.
class Executable {
 public:
  virtual ~Executable() = default;
  virtual const compiler::Signature& signature() const = 0;
  virtual double modelled_seconds() const = 0;  // one cold execution alone; 0 if unknown
  virtual std::string Disassembly() const = 0;
  // The last launch on the modelled time line: a JSON list of {mnemonic, engine, start_ps, end_ps,
  // source, ...}, times from the launch's begin. "[]" where the machine keeps no such record.
  virtual std::string TimelineJson() const = 0;
};
// Through the executable cache: memory, disk, then the compiler. `op` is for messages.
StatusOr<std::shared_ptr<Executable>> GetExecutable(int device, const hlo::Module& module,
                                                    const compiler::Options& options,
                                                    const std::string& op);
// A program made elsewhere (NKI).
StatusOr<std::shared_ptr<Executable>> LoadContainer(int device, std::string_view container);
// The same for a container that carries no signature of its own.
StatusOr<std::shared_ptr<Executable>> LoadContainer(int device, std::string_view container,
                                                    compiler::Signature signature);

struct Launch {
  std::shared_ptr<Executable> executable = {};
  std::vector<void*> buffers = {};    // device addresses in signature().buffers order
  std::vector<int64_t> scalars = {};  // slots from first_scalar_slot on (bits, see compiler.h)
  void* error_record = nullptr;       // device address of the s32[7] result, or none
  const char* op = "";                // static storage: names the op in errors and profiles
  // Released on the thread that ran the launch, when it has run.
  std::vector<std::shared_ptr<void>> keep_alive = {};
};
// Returns at once, unless the queue is full; runs inline if the stream is idle and the program is
// tiny.
Status Enqueue(int device, StreamId stream, Launch launch);

struct CacheStatistics {
  int64_t memory_hits = 0, disk_hits = 0, compiled = 0, corrupt = 0;
  double compile_seconds = 0;
};
CacheStatistics GetCacheStatistics();
double ModelledDeviceSeconds(int device);  // virtual clock: sum of modelled time of what has run

// Names the op numbers of data-error records (contracts.md): the rows of the lowering table, which
// this layer does not know. "" for a number that has no name. Set once, before the first launch.
using OpNamer = std::string_view (*)(int32_t op);
void SetOpNamer(OpNamer namer);

// Called for each launch when set: op, modelled start and duration in picoseconds on the time line
// of the device's streams. Profilers use it.
using LaunchObserver = std::function<void(int device, const char* op, const Executable&,
                                          int64_t start_ps, int64_t duration_ps)>;
void SetLaunchObserver(LaunchObserver observer);

}  // namespace neuron::runtime
