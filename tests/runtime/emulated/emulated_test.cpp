// The runtime on the emulator with our compiler: HLO in, results out. Run twice, the second time
// with HBM unmapped for the host (TORCHNEURON_GUARD), a third time through a library that shows the
// public NRT functions only (NRT_UNDER_TEST), with the compiler as a command.
#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "beside.h"
#include "runtime/loaded_executable.h"
#include "runtime/modules.h"
#include "runtime/process.h"
#include "runtime/runtime.h"

namespace neuron::runtime {
namespace {

const bool kUsesEmulator = [] {
  const char* other = std::getenv("NRT_UNDER_TEST");
  setenv("TORCHNEURON_NRT_LIBRARY", other ? other : Beside(NRT_EMULATOR).c_str(), 1);
  setenv("TORCH_NEURONX_DISABLE_NEFF_CACHE", "1", 1);
  return true;
}();

bool PublicAbiOnly() { return std::getenv("NRT_UNDER_TEST") != nullptr; }

constexpr int64_t kCount = 3000;
constexpr int64_t kBytes = kCount * 4;

void MustBeOk(const Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }
void* MustAllocate(int device, int64_t bytes, StreamId stream = 0) {
  StatusOr<void*> pointer = Allocate(device, bytes, stream);
  EXPECT_TRUE(pointer.ok()) << pointer.status().ToString();
  return *pointer;
}
std::shared_ptr<Executable> Compiled(int device, const hlo::Module& module,
                                     const compiler::Options& options = {}) {
  auto executable = GetExecutable(device, module, options, "test");
  EXPECT_TRUE(executable.ok()) << executable.status().ToString();
  return *executable;
}
std::vector<float> Read(int device, StreamId stream, const void* from) {
  std::vector<float> host(kCount);
  MustBeOk(CopyToHost(device, stream, host.data(), from, kBytes, true));
  return host;
}
std::vector<float> Ramp(float first) {
  std::vector<float> values(kCount);
  std::iota(values.begin(), values.end(), first);
  return values;
}

TEST(Emulated, PropertiesComeFromBelow) {
  ASSERT_TRUE(kUsesEmulator);
  MustBeOk(Initialize());
  const bool guard = std::getenv("TORCHNEURON_GUARD") != nullptr;
  EXPECT_EQ(Properties(0).host_addressable, !guard && !PublicAbiOnly());
  EXPECT_EQ(Properties(0).emulated, !PublicAbiOnly());
  EXPECT_EQ(Properties(0).name, "trn2");
  EXPECT_EQ(DeviceCount(), 8);
  EXPECT_GT(Properties(0).total_memory, int64_t{1} << 33);
  EXPECT_NE(Describe().find("emulat"), std::string::npos) << Describe();
}

TEST(Emulated, OperandsInsideOneBlockAndAnotherSegment) {
  auto add = Compiled(0, AddTwo(kCount));
  char* block = static_cast<char*>(MustAllocate(0, 3 * kBytes));
  void* large = MustAllocate(0, 5 << 20);
  const std::vector<float> a = Ramp(1), b = Ramp(-500);
  MustBeOk(CopyToDevice(0, 0, block, a.data(), kBytes, true));
  MustBeOk(CopyToDevice(0, 0, block + kBytes, b.data(), kBytes, false));
  for (void* to : {static_cast<void*>(block + 2 * kBytes), large}) {
    MustBeOk(
        Enqueue(0, 0, {.executable = add, .buffers = {block, block + kBytes, to}, .op = "add"}));
    const std::vector<float> sum = Read(0, 0, to);
    for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(sum[i], a[i] + b[i]);
  }
  Free(block);
  Free(large);
}

TEST(Emulated, RunTimeScalarsShareOneProgram) {
  const CacheStatistics before = GetCacheStatistics();
  auto program = Compiled(0, ScaleAndShift(kCount, 1.0f), WithScalar());
  EXPECT_EQ(Compiled(0, ScaleAndShift(kCount, 1.0f), WithScalar()), program);
  EXPECT_EQ(GetCacheStatistics().compiled - before.compiled, 1);
  EXPECT_EQ(GetCacheStatistics().memory_hits - before.memory_hits, 1);
  void* x = MustAllocate(0, kBytes);
  void* y = MustAllocate(0, kBytes);
  const std::vector<float> a = Ramp(0);
  MustBeOk(CopyToDevice(0, 0, x, a.data(), kBytes, true));
  for (const float scale : {0.5f, -3.0f}) {
    MustBeOk(Enqueue(0, 0,
                     {.executable = program,
                      .buffers = {x, y},
                      .scalars = {std::bit_cast<int32_t>(scale)},
                      .op = "scale"}));
    const std::vector<float> result = Read(0, 0, y);
    for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(result[i], a[i] * scale + 1.0f);
  }
  Free(x);
  Free(y);
}

TEST(Emulated, EventsTellDeviceTime) {
  if (PublicAbiOnly()) GTEST_SKIP() << "NRT has no device time";
  auto add = Compiled(0, AddTwo(kCount));
  void* x = MustAllocate(0, kBytes);
  MustBeOk(Fill(0, 0, x, 0, kBytes));
  MustBeOk(SynchronizeDevice(0));
  const double before = ModelledDeviceSeconds(0);
  std::shared_ptr<Event> begin = RecordEvent(0, 0, true);
  int64_t observed_ps = 0;
  SetLaunchObserver([&](int, const char*, const Executable&, int64_t, int64_t duration_ps) {
    observed_ps += duration_ps;
  });
  for (int i = 0; i < 10; ++i)
    MustBeOk(Enqueue(0, 0, {.executable = add, .buffers = {x, x, x}, .op = "add"}));
  std::shared_ptr<Event> end = RecordEvent(0, 0, true);
  MustBeOk(SynchronizeDevice(0));
  SetLaunchObserver(nullptr);
  const double elapsed_ms = *ElapsedMilliseconds(*begin, *end);
  EXPECT_GT(add->modelled_seconds(), 0);
  EXPECT_NEAR(elapsed_ms, 10 * add->modelled_seconds() * 1e3, elapsed_ms * 0.01);
  EXPECT_NEAR(static_cast<double>(observed_ps) * 1e-9, elapsed_ms, elapsed_ms * 0.01);
  EXPECT_NEAR(ModelledDeviceSeconds(0) - before, elapsed_ms * 1e-3, 1e-9);
  Free(x);
}

// In modelled time: what runs on different hardware queues of a core overlaps, what one stream
// orders, one queue carries or the host waited for does not.
// Of an event that is done when a stream waits for it, and that the host has not asked about.
TEST(Emulated, AnEventThatIsDoneStillOrdersModelledTime) {
  if (PublicAbiOnly()) GTEST_SKIP() << "NRT has no device time";
  constexpr int64_t kCopied = 1 << 20;
  const StreamId side = *CreateStream(0, 0);
  void* to = MustAllocate(0, kCopied, side);
  std::vector<char> host(kCopied, 1);
  const auto elapsed = [&](int copies) {
    MustBeOk(SynchronizeDevice(0));
    std::shared_ptr<Event> begin = RecordEvent(0, 0, true);
    for (int i = 0; i < copies; ++i)
      MustBeOk(CopyToDevice(0, side, to, host.data(), kCopied, false));
    std::shared_ptr<Event> copied = RecordEvent(0, side, false);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    StreamWaitEvent(0, 0, copied);
    std::shared_ptr<Event> end = RecordEvent(0, 0, true);
    MustBeOk(SynchronizeDevice(0));
    return *ElapsedMilliseconds(*begin, *end);
  };
  const double one = elapsed(1);
  EXPECT_GT(one, 0);
  EXPECT_NEAR(elapsed(4), 4 * one, one * 0.01);
  Free(to);
}

TEST(Emulated, CopiesOverlapComputingInModelledTime) {
  if (PublicAbiOnly()) GTEST_SKIP() << "NRT has no device time";
  constexpr int kLaunches = 20;
  auto add = Compiled(0, AddTwo(kCount));
  const StreamId copies = *CreateStream(0, 0);
  void* x = MustAllocate(0, kBytes);
  MustBeOk(Fill(0, 0, x, 0, kBytes));
  // About as long as the launches.
  const double launches_ms = kLaunches * add->modelled_seconds() * 1e3;
  const auto bytes = static_cast<int64_t>(launches_ms * 1e-3 * 32e9);
  void* big = MustAllocate(0, bytes, copies);
  std::vector<char> host(static_cast<size_t>(bytes), 1);
  const auto launch = [&] {
    for (int i = 0; i < kLaunches; ++i)
      MustBeOk(Enqueue(0, 0, {.executable = add, .buffers = {x, x, x}, .op = "add"}));
  };
  const auto copy = [&](StreamId stream) {
    MustBeOk(CopyToDevice(0, stream, big, host.data(), bytes, false));
  };
  // Milliseconds from the streams' common begin to the later end of the two.
  const auto measure = [&](auto body) {
    MustBeOk(SynchronizeDevice(0));
    std::shared_ptr<Event> begin = RecordEvent(0, 0, true);
    StreamWaitEvent(0, copies, begin);
    body();
    StreamWaitEvent(0, 0, RecordEvent(0, copies, false));
    std::shared_ptr<Event> end = RecordEvent(0, 0, true);
    MustBeOk(SynchronizeDevice(0));
    return *ElapsedMilliseconds(*begin, *end);
  };
  const double computing = measure(launch);
  const double copying = measure([&] { copy(copies); });
  EXPECT_NEAR(computing, launches_ms, launches_ms * 0.01);
  EXPECT_NEAR(copying, launches_ms, launches_ms * 0.2);
  const double both = measure([&] {
    launch();
    copy(copies);
  });
  EXPECT_NEAR(both, std::max(computing, copying), both * 0.01);
  const double one_stream = measure([&] {
    launch();
    copy(0);
  });
  EXPECT_NEAR(one_stream, computing + copying, both * 0.01);
  const double waited = measure([&] {
    launch();
    MustBeOk(SynchronizeStream(0, 0));
    copy(copies);
  });
  EXPECT_NEAR(waited, computing + copying, both * 0.01);
  const double one_queue = measure([&] {
    copy(copies);
    copy(0);
  });
  EXPECT_NEAR(one_queue, 2 * copying, both * 0.01);
  Free(x);
  Free(big);
}

TEST(Emulated, ADisassemblyShowsInstructions) {
  const std::string text = Compiled(0, AddTwo(kCount))->Disassembly();
  EXPECT_NE(text.find("tensor_tensor"), std::string::npos) << text;
  EXPECT_NE(text.find("dma_copy"), std::string::npos);
}

TEST(Emulated, OutOfMemoryNamesTheLimitThatWasMet) {
  const int64_t total = Properties(0).total_memory;
  const StatusOr<void*> pointer = Allocate(0, total + (1 << 20), 0);
  ASSERT_TRUE(IsResourceExhausted(pointer.status()));
  EXPECT_NE(pointer.status().message().find("Limit met: nrt_tensor_allocate: NRT_RESOURCE (4)"),
            std::string::npos)
      << pointer.status().ToString();
  Free(MustAllocate(0, 64));
}

TEST(Emulated, LoadingDamagedContainersFails) {
  std::string container = static_cast<LoadedExecutable&>(*Compiled(0, AddTwo(kCount))).container();
  EXPECT_TRUE(LoadContainer(0, container).ok());
  container.back() = static_cast<char>(container.back() ^ 1);
  EXPECT_TRUE(IsDataLoss(LoadContainer(0, container).status()))
      << LoadContainer(0, container).status().ToString();
}

TEST(Emulated, ManyThreadsStreamsAndDevices) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      const int device = t % 2;
      const StreamId stream = *CreateStream(device, 0);
      auto add = Compiled(device, AddTwo(kCount));
      for (int round = 0; round < 50; ++round) {
        void* x = MustAllocate(device, kBytes, stream);
        void* y = MustAllocate(device, kBytes, stream);
        const std::vector<float> a = Ramp(static_cast<float>(round));
        MustBeOk(CopyToDevice(device, stream, x, a.data(), kBytes, false));
        MustBeOk(Enqueue(device, stream, {.executable = add, .buffers = {x, x, y}, .op = "add"}));
        MustBeOk(Enqueue(device, stream, {.executable = add, .buffers = {y, x, y}, .op = "add"}));
        Free(x);
        if (round % 5 == 0) {
          const std::vector<float> result = Read(device, stream, y);
          for (size_t i = 0; i < kCount; i += 97) EXPECT_EQ(result[i], 3 * a[i]);
        }
        Free(y);
      }
      MustBeOk(SynchronizeStream(device, stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace neuron::runtime
