#include <bit>
#include <numeric>

#include "runtime/support.h"

namespace neuron::runtime {
namespace {

constexpr int64_t kCount = 1000;
constexpr int64_t kBytes = kCount * 4;

std::shared_ptr<LoadedExecutable> Add(int device = 0) {
  return MakeExecutable(device, {{"input0", kBytes}, {"input1", kBytes}, {"output0", kBytes}}, 0,
                        StrCat("add output0 input0 input1 ", kCount, "\n"));
}

std::vector<float> Read(int device, const void* from, size_t count = kCount) {
  std::vector<float> host(count);
  MustBeOk(CopyToHost(device, 0, host.data(), from, static_cast<int64_t>(count) * 4, true));
  return host;
}

TEST(Launch, OperandsAreFoundByAddressAndOffset) {
  // Two tensors in one block: the launch gets addresses inside it.
  char* block = static_cast<char*>(MustAllocate(0, 2 * kBytes + 128));
  void* sum = MustAllocate(0, kBytes);
  std::vector<float> a(kCount), b(kCount);
  std::iota(a.begin(), a.end(), 1.0f);
  std::iota(b.begin(), b.end(), 1000.0f);
  MustBeOk(CopyToDevice(0, 0, block + 64, a.data(), kBytes, true));
  MustBeOk(CopyToDevice(0, 0, block + 64 + kBytes, b.data(), kBytes, false));
  MustBeOk(Enqueue(
      0, 0, {.executable = Add(), .buffers = {block + 64, block + 64 + kBytes, sum}, .op = "add"}));
  const std::vector<float> result = Read(0, sum);
  for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(result[i], a[i] + b[i]);
  Free(block);
  Free(sum);
}

TEST(Launch, ScalarsReachTheProgram) {
  auto program = MakeExecutable(0, {{"input0", kBytes}, {"output0", kBytes}}, 1,
                                StrCat("add_scalar output0 input0 ", kCount, " 2\n"));
  void* x = MustAllocate(0, kBytes);
  void* y = MustAllocate(0, kBytes);
  MustBeOk(Fill(0, 0, x, 0, kBytes));
  for (const float scalar : {0.3f, -7.0f}) {
    MustBeOk(Enqueue(0, 0,
                     {.executable = program,
                      .buffers = {x, y},
                      .scalars = {std::bit_cast<int32_t>(scalar)},
                      .op = "add"}));
    EXPECT_EQ(Read(0, y)[17], scalar);
  }
  Free(x);
  Free(y);
}

TEST(Launch, TensorSetsAreBuiltOncePerSegments) {
  auto program = Add();
  void* pointers[3];
  for (void*& pointer : pointers) pointer = MustAllocate(0, kBytes);
  for (int i = 0; i < 10; ++i)
    MustBeOk(Enqueue(0, 0,
                     {.executable = program,
                      .buffers = {pointers[i % 3], pointers[(i + 1) % 3], pointers[2]},
                      .op = "add"}));
  MustBeOk(SynchronizeDevice(0));
  EXPECT_EQ(program->bindings().size(), 1u);
  ClearCalls();
  MustBeOk(Enqueue(
      0, 0,
      {.executable = program, .buffers = {pointers[0], pointers[1], pointers[2]}, .op = "add"}));
  MustBeOk(SynchronizeDevice(0));
  // What reaches the library: the scalar block and the execution, nothing else.
  EXPECT_EQ(CountCalls("nrt_tensor_write"), 1) << Calls();
  EXPECT_EQ(CountCalls("nrt_execute"), 1);
  EXPECT_EQ(CountCalls("nrt_"), 2) << Calls();
  for (void* pointer : pointers) Free(pointer);
  EmptyCache(0);
  EXPECT_EQ(program->bindings().size(), 0u);
}

TEST(Launch, ABufferWithoutOffsetSlotIsBoundAsASlice) {
  compiler::Signature signature;
  signature.buffers = {{.name = "input0", .bytes = 16, .parameter = 0},
                       {.name = "output0", .bytes = 16, .output = 0}};
  auto program =
      LoadedExecutable::Load(**GetDevice(0), "recording\ncopy output0 input0 16\n", signature);
  ASSERT_TRUE(program.ok());
  char* x = static_cast<char*>(MustAllocate(0, 256));
  MustBeOk(Fill(0, 0, x, 0, 256));
  const float data[] = {1, 2, 3, 4};
  MustBeOk(CopyToDevice(0, 0, x + 64, data, 16, true));
  for (const int to : {128, 192})
    MustBeOk(Enqueue(0, 0, {.executable = *program, .buffers = {x + 64, x + to}, .op = "copy"}));
  EXPECT_EQ(Read(0, x + 192, 4), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(Read(0, x + 128, 4), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ((*program)->bindings().size(), 2u);
  Free(x);
}

TEST(Launch, WrongArgumentsAreRefusedWithBothSides) {
  auto program = Add();
  void* x = MustAllocate(0, kBytes);
  const Status few = Enqueue(0, 0, {.executable = program, .buffers = {x}, .op = "aten::add"});
  EXPECT_TRUE(IsInvalidArgument(few));
  EXPECT_EQ(few.message(), "aten::add: the program has 3 buffers, got 1");
  const Status elsewhere =
      Enqueue(1, 0, {.executable = program, .buffers = {x, x, x}, .op = "aten::add"});
  EXPECT_NE(elsewhere.message().find("loaded on neuron:0"), std::string::npos);
  int host = 0;
  MustBeOk(Enqueue(0, 0, {.executable = program, .buffers = {x, &host, x}, .op = "aten::add"}));
  const Status stray = SynchronizeStream(0, 0);
  EXPECT_NE(stray.message().find("aten::add: input1: address"), std::string::npos)
      << stray.ToString();
  MustBeOk(SynchronizeStream(0, 0));
  Free(x);
}

TEST(Launch, DataErrorsAppearAtTheNextSynchronisationFirstOneOnly) {
  auto bad = MakeExecutable(0, {{"output0", 28}}, 0, "words output0 1 0 1 12 0 0 9\n");
  auto worse = MakeExecutable(0, {{"output0", 28}}, 0, "words output0 2 0 0 5 0 0 0\n");
  auto fine = MakeExecutable(0, {{"output0", 28}}, 0, "words output0 0 0 0 0 0 0 0\n");
  void* record = MustAllocate(0, 28);
  for (const auto& [program, op] : {std::pair(fine, "aten::index"),
                                    {bad, "aten::embedding"},
                                    {worse, "aten::floor_divide"},
                                    {fine, "aten::gather"}})
    MustBeOk(Enqueue(
        0, 0, {.executable = program, .buffers = {record}, .error_record = record, .op = op}));
  const Status status = SynchronizeDevice(0);
  EXPECT_TRUE(IsOutOfRange(status));
  EXPECT_EQ(status.message(),
            "aten::embedding: index 12 is out of bounds for dimension 0 with size 9, in operand 1");
  MustBeOk(SynchronizeDevice(0));
  MustBeOk(Enqueue(
      0, 0,
      {.executable = fine, .buffers = {record}, .error_record = record, .op = "aten::index"}));
  MustBeOk(SynchronizeDevice(0));  // the device goes on
  Free(record);
}

TEST(Launch, ABlockingReadIsASynchronisation) {
  auto bad = MakeExecutable(0, {{"output0", 28}}, 0, "words output0 1 0 0 3 0 0 2\n");
  void* record = MustAllocate(0, 28);
  MustBeOk(Enqueue(
      0, 0,
      {.executable = bad, .buffers = {record}, .error_record = record, .op = "aten::gather"}));
  int32_t host[7];
  EXPECT_TRUE(IsOutOfRange(CopyToHost(0, 0, host, record, 28, true)));
  EXPECT_EQ(host[3], 3);
  Free(record);
}

TEST(Launch, AFailedExecutionNamesOpCallAndStatus) {
  auto program = MakeExecutable(0, {}, 0, "fail 1006\n");
  MustBeOk(Enqueue(0, 0, {.executable = program, .op = "aten::scatter"}));
  const Status status = SynchronizeStream(0, 0);
  EXPECT_NE(status.message().find("aten::scatter: nrt_execute: NRT_EXEC_OOB (1006)"),
            std::string::npos)
      << status.ToString();
}

TEST(Launch, LoadingAForeignProgramSaysSo) {
  const auto loaded = LoadedExecutable::Load(**GetDevice(0), "NEFF", {});
  EXPECT_TRUE(IsUnimplemented(loaded.status()));
  EXPECT_NE(loaded.status().message().find("nrt_load"), std::string::npos);
}

// The life of a program as the recording library saw it. What it refuses to see at all (before
// nrt_init, after the end of a handle) is checked behind every test (support.h).
TEST(Launch, TheLibrarySeesTheDocumentedOrder) {
  ClearCalls();
  {
    void* large = MustAllocate(0, 48 << 20);  // a segment of its own
    auto program = MakeExecutable(0, {{"output0", 4000}}, 0, "iota output0 1000\n");
    MustBeOk(Enqueue(0, 0, {.executable = program, .buffers = {large}, .op = "iota"}));
    int32_t read[4] = {};
    MustBeOk(CopyToHost(0, 0, read, large, 16, true));
    EXPECT_EQ(read[3], 3);
    Free(large);
  }
  EmptyCache(0);
  const std::string calls = Calls();
  size_t at = 0;
  for (const char* call :
       {"nrt_tensor_allocate ", "nrt_load ", "nrt_allocate_tensor_set\n", "nrt_execute ",
        "nrt_tensor_read 16\n", "nrt_unload ", "nrt_destroy_tensor_set\n", "nrt_tensor_free "}) {
    const size_t found = calls.find(call, at);
    ASSERT_NE(found, std::string::npos) << call << " is not behind the one before in\n" << calls;
    at = found + 1;
  }
}

TEST(Launch, UnloadingFollowsTheLastReference) {
  ClearCalls();
  {
    auto program = Add();
  }
  EXPECT_EQ(CountCalls("nrt_unload"), 1);
}

}  // namespace
}  // namespace neuron::runtime
