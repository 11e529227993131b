/* An NRT client that knows nothing but the published interface: it opens a library by name,
 * declares what it calls itself, and includes no header of ours.
 *
 *   abi_client LIBRARY PROGRAMS LOG
 *
 * PROGRAMS is a directory that write_programs has filled. Each case runs in a process of its own,
 * which opens the library anew. LOG gets a line "function status" for each call that was checked
 * (void functions: "function -"); run.sh compares it with what the library exports.
 * Which status a call must answer where documents say only that it fails is ours to choose; such
 * lines are kept in the cases named own_*. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

typedef int Status;
typedef struct Model Model;
typedef struct Tensor Tensor;
typedef void Set;
typedef struct {
  uint64_t major, minor, patch, maintenance;
  char detail[128], git_hash[64];
} Version;
typedef struct {
  uint32_t family, size;
  char arch_name[16], device_revision[8];
} Instance;
typedef struct {
  size_t used, limit;
} MemoryStats;
typedef struct {
  uint64_t offset, size;
  void* buffer;
} BatchOp;
typedef struct {
  const Tensor* tensor;
  const BatchOp* ops;
  uint32_t count;
} Batch;
typedef struct {
  uint64_t address;
  size_t size;
  int hbm;
} Allocation;
typedef struct {
  char name[256];
  int usage;
  size_t size;
  int dtype;
  uint32_t* shape;
  uint32_t ndim;
} TensorInfo;
typedef struct {
  uint64_t count;
  TensorInfo tensors[];
} TensorInfoArray;
typedef struct {
  uint32_t vnc;
} ModelInfo;
typedef void (*ExecCallback)(void*, uint32_t, uint32_t, uint64_t, Status);

_Static_assert(sizeof(Version) == 224, "nrt_version_t");
_Static_assert(sizeof(TensorInfo) == 296, "nrt_tensor_info_t");
_Static_assert(offsetof(TensorInfoArray, tensors) == 8, "nrt_tensor_info_array_t");

enum {
  SUCCESS = 0,
  FAILURE = 1,
  INVALID = 2,
  INVALID_HANDLE = 3,
  RESOURCE = 4,
  TIMEOUT = 5,
  QUEUE_FULL = 7,
  UNSUPPORTED_NEFF_VERSION = 10,
  UNINITIALIZED = 13,
  CLOSED = 14,
  UNRECOVERABLE = 101,
  BAD_INPUT = 1002,
  NUMERICAL = 1003,
  BUSY = 1005,
  OUT_OF_BOUNDS = 1006
};
enum { DEVICE = 0, HOST = 1, VIRTUAL = 2 };
enum { NO_FRAMEWORK = 1 };
enum { TENSOR_OP = 0, COMPUTE = 1, COLLECTIVES = 2 };

/* result, name, parameters */
#define FUNCTIONS(X)                                                                              \
  X(Status, nrt_init, (int, const char*, const char*))                                            \
  X(void, nrt_close, (void))                                                                      \
  X(Status, nrt_get_version, (Version*, size_t))                                                  \
  X(Status, nrt_get_instance_info, (Instance*, size_t))                                           \
  X(Status, nrt_get_total_nc_count, (uint32_t*))                                                  \
  X(Status, nrt_get_visible_nc_count, (uint32_t*))                                                \
  X(Status, nrt_get_total_vnc_count, (uint32_t*))                                                 \
  X(Status, nrt_get_visible_vnc_count, (uint32_t*))                                               \
  X(Status, nrt_get_vnc_memory_stats, (uint32_t, MemoryStats*, size_t, size_t*))                  \
  X(const char*, nrt_get_status_as_str, (Status))                                                 \
  X(Status, nrt_load, (const void*, size_t, int32_t, int32_t, Model**))                           \
  X(Status, nrt_unload, (Model*))                                                                 \
  X(Status, nrt_get_model_nc_count, (const Model*, uint32_t*))                                    \
  X(Status, nrt_get_model_vnc_count, (const Model*, uint32_t*))                                   \
  X(Status, nrt_get_model_instance_count, (Model*, uint32_t*))                                    \
  X(Status, nrt_get_model_info, (const Model*, ModelInfo*, size_t, size_t*))                      \
  X(Status, nrt_get_model_tensor_info, (Model*, TensorInfoArray**))                               \
  X(Status, nrt_free_model_tensor_info, (TensorInfoArray*))                                       \
  X(Status, nrt_allocate_tensor_set, (Set**))                                                     \
  X(void, nrt_destroy_tensor_set, (Set**))                                                        \
  X(Status, nrt_add_tensor_to_tensor_set, (Set*, const char*, Tensor*))                           \
  X(Status, nrt_get_tensor_from_tensor_set, (Set*, const char*, Tensor**))                        \
  X(Status, nrt_execute, (Model*, const Set*, Set*))                                              \
  X(Status, nrt_execute_repeat, (Model*, const Set*, Set*, int))                                  \
  X(Status, nrt_tensor_allocate, (int, int, size_t, const char*, Tensor**))                       \
  X(Status, nrt_tensor_allocate_empty, (const char*, Tensor**))                                   \
  X(Status, nrt_tensor_attach_buffer, (Tensor*, void*, size_t))                                   \
  X(Status, nrt_tensor_allocate_slice, (const Tensor*, size_t, size_t, const char*, Tensor**))    \
  X(void, nrt_tensor_free, (Tensor**))                                                            \
  X(size_t, nrt_tensor_get_size, (const Tensor*))                                                 \
  X(void*, nrt_tensor_get_va, (const Tensor*))                                                    \
  X(Status, nrt_tensor_read, (const Tensor*, void*, size_t, size_t))                              \
  X(Status, nrt_tensor_write, (Tensor*, const void*, size_t, size_t))                             \
  X(Status, nrt_tensor_read_batch, (const Batch*, uint64_t, bool))                                \
  X(Status, nrt_tensor_write_batch, (const Batch*, uint64_t, bool))                               \
  X(Status, nrt_tensor_memset, (Tensor*, uint64_t, int, size_t))                                  \
  X(Status, nrt_tensor_copy, (const Tensor*, size_t, Tensor*, size_t, size_t))                    \
  X(Status, nrt_tensor_get_device_allocation_info, (const Tensor*, Allocation*))                  \
  X(Status, nrt_tensor_check_output_completion, (const Tensor*, int64_t, uint64_t))               \
  X(Status, nrt_tensor_reset_output_completion, (Tensor*))                                        \
  X(Status, nrt_memcpy_to_device, (void*, const void*, size_t))                                   \
  X(Status, nrt_profile_start, (Model*, const char*))                                             \
  X(Status, nrt_profile_stop, (const char*))                                                      \
  X(Status, nrt_register_async_exec_callback, (ExecCallback, void*))                              \
  X(Status, nrt_async_drain_queued_execs, (int32_t))                                              \
  X(Status, nrta_execute_schedule, (Model*, const Set*, Set*, int, Status*, uint64_t*))           \
  X(Status, nrta_tensor_write,                                                                    \
    (Tensor*, const void*, uint64_t, uint64_t, int, int, Status*, uint64_t*))                     \
  X(Status, nrta_tensor_read, (void*, Tensor*, uint64_t, uint64_t, int, int, Status*, uint64_t*)) \
  X(Status, nrta_tensor_copy,                                                                     \
    (Tensor*, uint64_t, Tensor*, uint64_t, uint64_t, int, int, Status*, uint64_t*))               \
  X(Status, nrta_is_completed, (uint64_t, bool*))                                                 \
  X(Status, nrta_get_sequence, (uint32_t, int, int, uint64_t*))                                   \
  X(Status, nrta_event_register_seq_id_completion, (uint64_t, int))                               \
  X(Status, nrta_event_register_xu_completion, (int, int, int, int))

#define DECLARE(result, name, parameters) static result(*name) parameters;
FUNCTIONS(DECLARE)

static const char* directory;
static FILE* log_file;
static int failures;

static void Fail(int line, const char* what, int want, int got) {
  fprintf(stderr, "abi_client.c:%d: %s: %d expected, got %d\n", line, what, want, got);
  ++failures;
}
static void Note(const char* name, int status) { fprintf(log_file, "%s %d\n", name, status); }
static void CheckStatus(int line, const char* name, int want, int got) {
  Note(name, got);
  if (want != got) Fail(line, name, want, got);
}
/* The call answers this status. */
#define S(want, name, ...) CheckStatus(__LINE__, #name, want, name(__VA_ARGS__))
/* A function without a status was called and its effect is checked beside. */
#define V(name) fprintf(log_file, #name " -\n")
#define TRUE(condition)                                                  \
  do {                                                                   \
    if (!(condition)) Fail(__LINE__, "the condition " #condition, 1, 0); \
  } while (0)

static void Open(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
#define RESOLVE(result, name, parameters)             \
  *(void**)&name = dlsym(library, #name);             \
  if (name == NULL) {                                 \
    fprintf(stderr, "the library lacks " #name "\n"); \
    exit(2);                                          \
  }
  FUNCTIONS(RESOLVE)
}

/* ---- What cases share */

typedef struct {
  char* bytes;
  size_t size;
} File;

static File Program(const char* name) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE* file = fopen(path, "rb");
  File out = {malloc(1 << 20), 0};
  if (file == NULL) {
    perror(path);
    exit(2);
  }
  out.size = fread(out.bytes, 1, 1 << 20, file);
  fclose(file);
  return out;
}

static void Init(void) { S(SUCCESS, nrt_init, NO_FRAMEWORK, "", ""); }

static Model* Load(const char* name, int vnc) {
  Model* model = NULL;
  const File file = Program(name);
  S(SUCCESS, nrt_load, file.bytes, file.size, vnc, 1, &model);
  free(file.bytes);
  TRUE(model != NULL);
  return model;
}

static Tensor* Device(int vnc, size_t size) {
  Tensor* tensor = NULL;
  S(SUCCESS, nrt_tensor_allocate, DEVICE, vnc, size, "t", &tensor);
  return tensor;
}

static Set* NewSet(void) {
  Set* set = NULL;
  S(SUCCESS, nrt_allocate_tensor_set, &set);
  return set;
}

enum { COUNT = 128 * 16, BYTES = COUNT * 4 };

/* A program that adds, with its tensors filled and bound. */
typedef struct {
  Model* model;
  Tensor *a, *b, *sum;
  Set *in, *out;
} Adder;

static Adder NewAdder(void) {
  Adder adder = {Load("add", 0),   Device(0, BYTES), Device(0, BYTES),
                 Device(0, BYTES), NewSet(),         NewSet()};
  float values[COUNT];
  for (int i = 0; i < COUNT; ++i) values[i] = (float)i;
  S(SUCCESS, nrt_tensor_write, adder.a, values, 0, BYTES);
  for (int i = 0; i < COUNT; ++i) values[i] = 0.5f;
  S(SUCCESS, nrt_tensor_write, adder.b, values, 0, BYTES);
  S(SUCCESS, nrt_add_tensor_to_tensor_set, adder.in, "input0", adder.a);
  S(SUCCESS, nrt_add_tensor_to_tensor_set, adder.in, "input1", adder.b);
  S(SUCCESS, nrt_add_tensor_to_tensor_set, adder.out, "output0", adder.sum);
  return adder;
}

static void CheckSum(const Adder* adder) {
  float values[COUNT];
  S(SUCCESS, nrt_tensor_read, adder->sum, values, 0, BYTES);
  for (int i = 0; i < COUNT; ++i)
    if (values[i] != (float)i + 0.5f) {
      Fail(__LINE__, "element of the sum", i, (int)values[i]);
      return;
    }
}

static int64_t Now(void) { /* milliseconds */
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static void WaitFor(uint64_t seq) {
  bool done = false;
  for (int64_t end = Now() + 20000; !done && Now() < end; usleep(200))
    if (nrta_is_completed(seq, &done) != SUCCESS) break;
  S(SUCCESS, nrta_is_completed, seq, &done);
  TRUE(done);
}

static uint64_t EventCount(int fd, int wait_ms) { /* 0: not signalled */
  struct pollfd poller = {fd, POLLIN, 0};
  uint64_t count = 0;
  if (poll(&poller, 1, wait_ms) == 1 && read(fd, &count, sizeof count) != sizeof count) count = 0;
  return count;
}

/* ---- Cases */

/* The whole life of an execution, in the order of the published sample. */
static void usual_life(void) {
  Init();
  Adder adder = NewAdder();
  TensorInfoArray* info = NULL;
  S(SUCCESS, nrt_get_model_tensor_info, adder.model, &info);
  TRUE(info->count == 3);
  int inputs = 0, outputs = 0;
  for (uint64_t i = 0; i < info->count; ++i) {
    TRUE(info->tensors[i].size == BYTES);
    inputs += info->tensors[i].usage == 0;
    outputs += info->tensors[i].usage == 1 && strcmp(info->tensors[i].name, "output0") == 0;
  }
  TRUE(inputs == 2 && outputs == 1);
  S(SUCCESS, nrt_free_model_tensor_info, info);
  S(SUCCESS, nrt_execute, adder.model, adder.in, adder.out);
  CheckSum(&adder);
  S(SUCCESS, nrt_unload, adder.model);
  nrt_tensor_free(&adder.a);
  nrt_tensor_free(&adder.b);
  nrt_tensor_free(&adder.sum);
  V(nrt_tensor_free);
  TRUE(adder.a == NULL);
  nrt_destroy_tensor_set(&adder.in);
  nrt_destroy_tensor_set(&adder.out);
  V(nrt_destroy_tensor_set);
  TRUE(adder.in == NULL);
  nrt_close();
  V(nrt_close);
}

static void before_init(void) {
  Version version;
  memset(&version, 0xff, sizeof version);
  S(SUCCESS, nrt_get_version, &version, sizeof version);
  TRUE(version.major == 2 && memchr(version.detail, 0, sizeof version.detail) != NULL);
  uint32_t total = 0, visible = 0, count = 0;
  S(SUCCESS, nrt_get_total_nc_count, &total);
  S(SUCCESS, nrt_get_visible_nc_count, &visible);
  TRUE(total >= 1 && visible >= 1 && visible <= total);
  S(SUCCESS, nrt_get_total_vnc_count, &count);
  TRUE(count == total);
  S(SUCCESS, nrt_get_visible_vnc_count, &count);
  TRUE(count == visible);
  TRUE(strcmp(nrt_get_status_as_str(RESOURCE), "NRT_RESOURCE") == 0);
  V(nrt_get_status_as_str);

  Tensor* tensor = NULL;
  Model* model = NULL;
  MemoryStats stats;
  size_t size;
  bool done;
  uint64_t seq;
  const File file = Program("add");
  S(UNINITIALIZED, nrt_tensor_allocate, DEVICE, 0, 64, "t", &tensor);
  S(UNINITIALIZED, nrt_load, file.bytes, file.size, 0, 1, &model);
  S(UNINITIALIZED, nrt_get_vnc_memory_stats, 0, &stats, sizeof stats, &size);
  S(UNINITIALIZED, nrta_is_completed, 1, &done);
  S(UNINITIALIZED, nrta_get_sequence, 0, COMPUTE, 0, &seq);
  S(UNINITIALIZED, nrta_event_register_seq_id_completion, 1, -1);
  S(UNINITIALIZED, nrta_event_register_xu_completion, 0, COMPUTE, 0, -1);
  S(UNINITIALIZED, nrt_async_drain_queued_execs, 0);
  S(UNINITIALIZED, nrt_register_async_exec_callback, NULL, NULL);
  S(UNINITIALIZED, nrt_memcpy_to_device, &stats, &stats, 1);
  TRUE(tensor == NULL && model == NULL);
  nrt_close(); /* harmless */
  S(UNINITIALIZED, nrt_tensor_allocate, DEVICE, 0, 64, "t", &tensor);
}

static void after_close(void) {
  Init();
  nrt_close();
  Tensor* tensor = NULL;
  Model* model = NULL;
  bool done;
  uint64_t seq;
  const File file = Program("add");
  S(CLOSED, nrt_tensor_allocate, DEVICE, 0, 64, "t", &tensor);
  S(CLOSED, nrt_load, file.bytes, file.size, 0, 1, &model);
  S(CLOSED, nrta_is_completed, 1, &done);
  S(CLOSED, nrta_get_sequence, 0, COMPUTE, 0, &seq);
  S(CLOSED, nrt_async_drain_queued_execs, 0);
}

/* Structs that carry their size: an older and shorter caller, a newer and longer one. */
static void sized_structs(void) {
  Init();
  Instance instance;
  memset(&instance, 0x55, sizeof instance);
  S(SUCCESS, nrt_get_instance_info, &instance, 8);
  TRUE(instance.family == 5 && instance.arch_name[0] == 0x55);
  S(SUCCESS, nrt_get_instance_info, &instance, sizeof instance);
  TRUE(memchr(instance.arch_name, 0, sizeof instance.arch_name) != NULL);
  struct {
    MemoryStats stats;
    uint64_t more;
  } memory = {{0, 0}, 77};
  size_t size = 0;
  S(SUCCESS, nrt_get_vnc_memory_stats, 0, &memory.stats, sizeof memory, &size);
  TRUE(size == sizeof(MemoryStats) && memory.more == 77 && memory.stats.limit > 0);
  const size_t limit = memory.stats.limit;
  memory.stats.limit = 1;
  S(SUCCESS, nrt_get_vnc_memory_stats, 0, &memory.stats, sizeof(size_t), &size);
  TRUE(size == sizeof(size_t) && memory.stats.limit == 1);
  Tensor* tensor = Device(0, 1 << 20);
  S(SUCCESS, nrt_get_vnc_memory_stats, 0, &memory.stats, sizeof(MemoryStats), &size);
  TRUE(memory.stats.used >= 1 << 20 && memory.stats.limit == limit);
  S(INVALID, nrt_get_vnc_memory_stats, 4711, &memory.stats, sizeof(MemoryStats), &size);
  nrt_tensor_free(&tensor);
  Version version;
  memset(&version, 0x55, sizeof version);
  S(SUCCESS, nrt_get_version, &version, 32);
  TRUE(version.detail[0] == 0x55);
  Model* model = Load("add", 0);
  struct {
    ModelInfo info;
    uint32_t more;
  } info = {{9}, 77};
  S(SUCCESS, nrt_get_model_info, model, &info.info, sizeof info, &size);
  TRUE(size == sizeof(ModelInfo) && info.info.vnc == 0 && info.more == 77);
}

static void loading(void) {
  Init();
  File file = Program("add");
  Model* model = NULL;
  /* Whatever it is, it is no NEFF. */
  S(INVALID, nrt_load, "no program at all", 17, 0, 1, &model);
  S(INVALID, nrt_load, file.bytes, file.size / 2, 0, 1, &model);
  file.bytes[file.size / 2] ^= 1;
  S(INVALID, nrt_load, file.bytes, file.size, 0, 1, &model);
  file.bytes[file.size / 2] ^= 1;
  S(INVALID, nrt_load, file.bytes, file.size, 4711, 1, &model);
  /* A NEFF of AWS's: version 2.0, 1024 bytes of header, then data. */
  uint64_t neff[256] = {2, 1024, 1024, 2, 0};
  S(UNSUPPORTED_NEFF_VERSION, nrt_load, neff, sizeof neff, 0, 1, &model);
  TRUE(model == NULL);
  /* -1: the first free core. */
  S(SUCCESS, nrt_load, file.bytes, file.size, -1, 1, &model);
  uint32_t count = 0;
  S(SUCCESS, nrt_get_model_nc_count, model, &count);
  TRUE(count == 1);
  S(SUCCESS, nrt_get_model_vnc_count, model, &count);
  TRUE(count == 1);
  S(SUCCESS, nrt_get_model_instance_count, model, &count);
  TRUE(count >= 1);
  S(SUCCESS, nrt_unload, model);
  uint32_t cores = 0;
  S(SUCCESS, nrt_get_visible_nc_count, &cores);
  ModelInfo info;
  size_t size;
  model = Load("add", (int)cores - 1);
  S(SUCCESS, nrt_get_model_info, model, &info, sizeof info, &size);
  TRUE(info.vnc == cores - 1);
}

static void device_memory_runs_out(void) {
  setenv("TORCHNEURON_HBM_BYTES", "16777216", 1);
  Init();
  Tensor* tensor = NULL;
  S(RESOURCE, nrt_tensor_allocate, DEVICE, 0, 17 << 20, "huge", &tensor);
  TRUE(tensor == NULL);
  Model* model = NULL;
  const File file = Program("large");
  S(RESOURCE, nrt_load, file.bytes, file.size, 0, 1, &model);
  TRUE(model == NULL);
  tensor = Device(0, 12 << 20); /* what remains is whole */
  nrt_tensor_free(&tensor);
}

static void tensors(void) {
  Init();
  Tensor *tensor = NULL, *other = NULL;
  S(INVALID, nrt_tensor_allocate, DEVICE, 0, 0, "empty", &tensor);
  S(INVALID, nrt_tensor_allocate, DEVICE, 4711, 64, "t", &tensor);
  S(INVALID, nrt_tensor_allocate, VIRTUAL, 0, 64, "t", &tensor); /* gone since 2.32 */
  S(INVALID, nrt_tensor_allocate, 77, 0, 64, "t", &tensor);
  TRUE(tensor == NULL);
  S(SUCCESS, nrt_tensor_allocate, DEVICE, 0, 1000, NULL, &tensor);
  TRUE(nrt_tensor_get_size(tensor) == 1000);
  V(nrt_tensor_get_size);
  TRUE(nrt_tensor_get_va(tensor) != NULL && nrt_tensor_get_va(NULL) == NULL);
  V(nrt_tensor_get_va);
  char bytes[1000], read[1000];
  for (int i = 0; i < 1000; ++i) bytes[i] = (char)i;
  S(SUCCESS, nrt_tensor_write, tensor, bytes, 0, 1000);
  S(SUCCESS, nrt_tensor_read, tensor, read, 100, 900);
  TRUE(memcmp(read, bytes + 100, 900) == 0);
  S(INVALID, nrt_tensor_write, tensor, bytes, 1, 1000);
  S(INVALID, nrt_tensor_read, tensor, read, 1001, 0);
  S(INVALID, nrt_tensor_read, tensor, read, SIZE_MAX, 2);
  S(SUCCESS, nrt_tensor_memset, tensor, 10, 0x1ff, 20); /* a byte */
  S(INVALID, nrt_tensor_memset, tensor, 990, 0, 11);
  S(SUCCESS, nrt_tensor_read, tensor, read, 0, 1000);
  TRUE(read[9] == 9 && (unsigned char)read[10] == 0xff && read[30] == 30);
  S(SUCCESS, nrt_tensor_allocate, DEVICE, 0, 500, "other", &other);
  S(SUCCESS, nrt_tensor_copy, tensor, 500, other, 0, 500);
  S(SUCCESS, nrt_tensor_copy, other, 0, other, 100, 400); /* overlapping */
  S(SUCCESS, nrt_tensor_read, other, read, 0, 500);
  TRUE(memcmp(read + 100, bytes + 500, 400) == 0);
  S(INVALID, nrt_tensor_copy, tensor, 501, other, 0, 500);
  S(INVALID, nrt_tensor_copy, tensor, 0, other, 1, 500);
  S(SUCCESS, nrt_memcpy_to_device, (char*)nrt_tensor_get_va(other) + 8, "direct", 6);
  S(SUCCESS, nrt_tensor_read, other, read, 8, 6);
  TRUE(memcmp(read, "direct", 6) == 0);
  S(INVALID, nrt_memcpy_to_device, bytes, "direct", 6); /* host memory */
  Allocation where;
  S(SUCCESS, nrt_tensor_get_device_allocation_info, other, &where);
  TRUE(where.size >= 500 && where.hbm >= 0);

  /* Slices share storage, which outlives the tensor that it came from. */
  Tensor* slice = NULL;
  S(INVALID, nrt_tensor_allocate_slice, tensor, 900, 101, "s", &slice);
  S(INVALID, nrt_tensor_allocate_slice, tensor, SIZE_MAX, 2, "s", &slice);
  TRUE(slice == NULL);
  S(SUCCESS, nrt_tensor_allocate_slice, tensor, 100, 50, "s", &slice);
  TRUE((char*)nrt_tensor_get_va(slice) == (char*)nrt_tensor_get_va(tensor) + 100);
  S(SUCCESS, nrt_tensor_memset, tensor, 0, 7, 1000);
  nrt_tensor_free(&tensor);
  S(SUCCESS, nrt_tensor_read, slice, read, 0, 50);
  TRUE(read[0] == 7 && read[49] == 7);
  S(INVALID, nrt_tensor_read, slice, read, 1, 50);
  nrt_tensor_free(&slice);

  /* Host placement, and memory of the caller's. */
  S(SUCCESS, nrt_tensor_allocate, HOST, -1, 64, "host", &tensor);
  S(SUCCESS, nrt_tensor_write, tensor, bytes, 0, 64);
  S(SUCCESS, nrt_tensor_copy, tensor, 0, other, 0, 64);
  S(INVALID, nrt_tensor_get_device_allocation_info, tensor, &where);
  nrt_tensor_free(&tensor);
  S(SUCCESS, nrt_tensor_allocate_empty, "mine", &tensor);
  S(INVALID, nrt_tensor_read, tensor, read, 0, 1);
  S(SUCCESS, nrt_tensor_attach_buffer, tensor, bytes, sizeof bytes);
  TRUE(nrt_tensor_get_size(tensor) == sizeof bytes && nrt_tensor_get_va(tensor) == bytes);
  S(SUCCESS, nrt_tensor_memset, tensor, 0, 3, 1);
  TRUE(bytes[0] == 3);
  nrt_tensor_free(&tensor);
}

static void batches(void) {
  Init();
  Tensor *a = Device(0, 64), *b = Device(0, 64);
  char x[8] = "batches", y[8] = "written", z[8] = "", w[8] = "";
  const BatchOp of_a[] = {{0, 8, x}, {8, 8, y}}, of_b[] = {{56, 8, y}};
  const Batch writes[] = {{a, of_a, 2}, {b, of_b, 1}};
  S(SUCCESS, nrt_tensor_write_batch, writes, 2, false);
  const BatchOp from_a[] = {{8, 8, z}}, from_b[] = {{56, 8, w}};
  const Batch reads[] = {{a, from_a, 1}, {b, from_b, 1}};
  S(SUCCESS, nrt_tensor_read_batch, reads, 2, true);
  TRUE(strcmp(z, "written") == 0 && strcmp(w, "written") == 0);
  const BatchOp beyond[] = {{0, 8, z}, {57, 8, z}};
  const Batch bad[] = {{b, beyond, 2}};
  memset(z, 9, 8);
  S(INVALID, nrt_tensor_read_batch, bad, 1, false);
  S(INVALID, nrt_tensor_write_batch, bad, 1, false);
  S(SUCCESS, nrt_tensor_read, b, w, 0, 1);
  TRUE(w[0] != 9); /* none of a batch that is not legal as a whole */
}

static void copies_stay_inside_an_hbm(void) {
  Init();
  Tensor *first = Device(0, 64), *second = Device(1, 64);
  S(INVALID, nrt_tensor_copy, first, 0, second, 0, 64);
  Status ret;
  uint64_t seq;
  S(INVALID, nrta_tensor_copy, first, 0, second, 0, 64, 0, 0, &ret, &seq);
}

static void sets(void) {
  Init();
  Set* set = NewSet();
  Tensor *a = Device(0, 64), *b = Device(0, 64), *found = a;
  S(FAILURE, nrt_get_tensor_from_tensor_set, set, "x", &found);
  TRUE(found == a); /* untouched */
  S(SUCCESS, nrt_add_tensor_to_tensor_set, set, "x", b);
  S(SUCCESS, nrt_get_tensor_from_tensor_set, set, "x", &found);
  TRUE(found == b);
  S(SUCCESS, nrt_add_tensor_to_tensor_set, set, "x", a); /* replaces */
  S(SUCCESS, nrt_get_tensor_from_tensor_set, set, "x", &found);
  TRUE(found == a);
  nrt_destroy_tensor_set(&set);
  S(SUCCESS, nrt_tensor_memset, a, 0, 1, 64); /* sets own nothing */
}

static void execution_refuses_bad_inputs(void) {
  Init();
  Adder adder = NewAdder();
  Set* in = NewSet();
  S(SUCCESS, nrt_add_tensor_to_tensor_set, in, "input0", adder.a);
  S(BAD_INPUT, nrt_execute, adder.model, in, adder.out); /* input1 is missing */
  Tensor* small = Device(0, BYTES - 1);
  S(SUCCESS, nrt_add_tensor_to_tensor_set, in, "input1", small);
  S(BAD_INPUT, nrt_execute, adder.model, in, adder.out);
  Tensor* elsewhere = Device(1, BYTES);
  S(SUCCESS, nrt_add_tensor_to_tensor_set, in, "input1", elsewhere);
  S(BAD_INPUT, nrt_execute, adder.model, in, adder.out);
  S(SUCCESS, nrt_add_tensor_to_tensor_set, in, "input1", adder.b);
  S(SUCCESS, nrt_execute, adder.model, in, adder.out);
  CheckSum(&adder);
}

static void indirect_access_out_of_bounds(void) {
  Init();
  Model* model = Load("indirect", 0);
  Set *in = NewSet(), *out = NewSet();
  Tensor *x = Device(0, 2 * BYTES), *scalars = Device(0, 8);
  S(SUCCESS, nrt_tensor_memset, x, 0, 0, 2 * BYTES);
  S(SUCCESS, nrt_add_tensor_to_tensor_set, in, "input0", x);
  S(SUCCESS, nrt_add_tensor_to_tensor_set, in, "scalars", scalars);
  int64_t offset = BYTES;
  S(SUCCESS, nrt_tensor_write, scalars, &offset, 0, 8);
  S(SUCCESS, nrt_execute, model, in, out);
  offset = BYTES + 4;
  S(SUCCESS, nrt_tensor_write, scalars, &offset, 0, 8);
  S(OUT_OF_BOUNDS, nrt_execute, model, in, out);
  offset = 0; /* the core goes on */
  S(SUCCESS, nrt_tensor_write, scalars, &offset, 0, 8);
  S(SUCCESS, nrt_execute, model, in, out);
}

static void in_place_and_repeated(void) {
  Init();
  Model* model = Load("twice", 0);
  Set *in = NewSet(), *out = NewSet();
  Tensor *state = Device(0, BYTES), *other = Device(0, BYTES);
  float values[COUNT];
  for (int i = 0; i < COUNT; ++i) values[i] = 1;
  S(SUCCESS, nrt_tensor_write, state, values, 0, BYTES);
  S(SUCCESS, nrt_add_tensor_to_tensor_set, in, "state", state);
  S(SUCCESS, nrt_add_tensor_to_tensor_set, out, "state", state);
  S(SUCCESS, nrt_execute_repeat, model, in, out, 3);
  S(SUCCESS, nrt_tensor_read, state, values, 0, BYTES);
  TRUE(values[0] == 8 && values[COUNT - 1] == 8);
  S(SUCCESS, nrt_add_tensor_to_tensor_set, out, "state", other);
  S(BAD_INPUT, nrt_execute, model, in, out); /* must be one tensor */
  S(BAD_INPUT, nrt_execute_repeat, model, in, out, 2);
}

static void output_completion(void) {
  Init();
  Adder adder = NewAdder();
  S(INVALID, nrt_tensor_check_output_completion, NULL, 0, 1);
  S(INVALID, nrt_tensor_reset_output_completion, NULL);
  S(SUCCESS, nrt_tensor_check_output_completion, adder.sum, 0, 0);
  const int64_t start = Now();
  S(TIMEOUT, nrt_tensor_check_output_completion, adder.sum, 30000, 1);
  TRUE(Now() - start >= 29);
  S(SUCCESS, nrt_execute, adder.model, adder.in, adder.out);
  S(SUCCESS, nrt_execute, adder.model, adder.in, adder.out);
  S(SUCCESS, nrt_tensor_check_output_completion, adder.sum, -1, 2);
  S(SUCCESS, nrt_tensor_reset_output_completion, adder.sum);
  S(TIMEOUT, nrt_tensor_check_output_completion, adder.sum, 0, 1);
}

/* What hardware may answer: the library is told to. */
static void statuses_of_hardware(void) {
  static const int kStatuses[] = {5,    6,    101,  1003, 1004, 1005, 1200,
                                  1201, 1202, 1203, 1204, 1205, 1206};
  for (size_t i = 0; i < sizeof kStatuses / sizeof *kStatuses; ++i) {
    fflush(log_file);
    const pid_t child = fork();
    if (child == 0) {
      char fault[32];
      snprintf(fault, sizeof fault, "%d@2", kStatuses[i]);
      setenv("TORCHNEURON_FAIL_EXECUTION", fault, 1);
      Init();
      Adder adder = NewAdder();
      S(SUCCESS, nrt_execute, adder.model, adder.in, adder.out);
      S(kStatuses[i], nrt_execute, adder.model, adder.in, adder.out);
      S(SUCCESS, nrt_execute, adder.model, adder.in, adder.out);
      CheckSum(&adder);
      fclose(log_file);
      _exit(failures != 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) Fail(__LINE__, "status of hardware", kStatuses[i], status);
  }
}

static void wrong_environment(void) {
  setenv("NEURON_RT_VISIBLE_CORES", "3,5", 1); /* not contiguous */
  S(INVALID, nrt_init, NO_FRAMEWORK, "", "");
  setenv("NEURON_RT_VISIBLE_CORES", "4711", 1);
  S(INVALID, nrt_init, NO_FRAMEWORK, "", "");
  unsetenv("NEURON_RT_VISIBLE_CORES");
  setenv("NEURON_RT_NUM_CORES", "4711", 1);
  S(INVALID, nrt_init, NO_FRAMEWORK, "", "");
  setenv("NEURON_RT_NUM_CORES", "2", 1);
  setenv("TORCHNEURON_FAIL_EXECUTION", "4711", 1);
  S(INVALID, nrt_init, NO_FRAMEWORK, "", "");
  unsetenv("TORCHNEURON_FAIL_EXECUTION");
  Init();
  uint32_t visible = 0;
  S(SUCCESS, nrt_get_visible_nc_count, &visible);
  TRUE(visible == 2);
  Tensor* tensor = NULL;
  S(INVALID, nrt_tensor_allocate, DEVICE, 2, 64, "t", &tensor);
  Init(); /* again: nothing to do */
  nrt_close();
}

/* A core that another process uses. */
static void cores_are_exclusive(void) {
  char machine[64];
  snprintf(machine, sizeof machine, "abi-client-%d", (int)getpid());
  setenv("TORCHNEURON_MACHINE", machine, 1);
  int ready[2], done[2];
  if (pipe(ready) != 0 || pipe(done) != 0) exit(2);
  fflush(log_file);
  const pid_t child = fork();
  char byte = 0;
  if (child == 0) {
    close(done[1]);
    Init();
    Tensor* tensor = Device(0, 64);
    if (write(ready[1], "x", 1) != 1) _exit(2);
    (void)!read(done[0], &byte, 1); /* until the other end is closed */
    nrt_tensor_free(&tensor);
    fclose(log_file);
    _exit(failures != 0);
  }
  TRUE(read(ready[0], &byte, 1) == 1);
  Init();
  Tensor* tensor = NULL;
  Model* model = NULL;
  const File file = Program("add");
  S(BUSY, nrt_tensor_allocate, DEVICE, 0, 64, "t", &tensor);
  S(BUSY, nrt_load, file.bytes, file.size, 0, 1, &model);
  TRUE(tensor == NULL && model == NULL);
  tensor = Device(1, 64);
  close(done[1]);
  int status = 0;
  waitpid(child, &status, 0);
  TRUE(status == 0);
  Tensor* now = Device(0, 64); /* its process has ended */
  nrt_tensor_free(&now);
  nrt_tensor_free(&tensor);
  nrt_close();
}

static void profiling(void) {
  Init();
  Adder adder = NewAdder();
  char path[4096];
  snprintf(path, sizeof path, "%s/profile-%d", directory, (int)getpid());
  FILE* old = fopen(path, "w");
  for (int i = 0; i < 1000; ++i) fputs("what was there before", old);
  fclose(old);
  S(SUCCESS, nrt_profile_start, adder.model, path);
  old = fopen(path, "r");
  TRUE(fgetc(old) == EOF); /* truncated */
  fclose(old);
  S(SUCCESS, nrt_execute, adder.model, adder.in, adder.out);
  S(INVALID, nrt_profile_stop, "another name");
  S(SUCCESS, nrt_profile_stop, path);
  char text[65536] = "";
  FILE* profile = fopen(path, "r");
  const size_t size = fread(text, 1, sizeof text - 1, profile);
  fclose(profile);
  unlink(path);
  TRUE(size > 0 && strstr(text, "\"is_simulation\": true") && strstr(text, "tensor_tensor"));
  S(INVALID, nrt_profile_stop, path);
  S(FAILURE, nrt_profile_start, adder.model, "/nonexistent/profile");
  S(INVALID_HANDLE, nrt_profile_start, NULL, path);
}

static void implicit_async_is_gone(void) {
  Init();
  S(SUCCESS, nrt_register_async_exec_callback, NULL, NULL);
  S(SUCCESS, nrt_async_drain_queued_execs, 0);
  S(INVALID, nrt_async_drain_queued_execs, 4711);
}

/* ---- Explicit asynchronous calls */

static void async_executes_in_order(void) {
  setenv("TORCHNEURON_LAUNCH_DELAY_US", "30000", 1);
  Init();
  Adder adder = NewAdder();
  enum { REQUESTS = 5 };
  Status ret[REQUESTS];
  uint64_t seq[REQUESTS], last = 0;
  S(SUCCESS, nrta_get_sequence, 0, COMPUTE, 0, &last);
  const int64_t start = Now();
  for (int i = 0; i < REQUESTS; ++i) {
    ret[i] = -1;
    S(SUCCESS, nrta_execute_schedule, adder.model, adder.in, adder.out, 0, &ret[i], &seq[i]);
    TRUE(i == 0 ? seq[0] == last + 1 : seq[i] == seq[i - 1] + 1);
  }
  TRUE(Now() - start < 100); /* 150 of work */
  bool done = true;
  S(SUCCESS, nrta_is_completed, seq[REQUESTS - 1], &done);
  TRUE(!done && ret[REQUESTS - 1] == -1);
  WaitFor(seq[1]);
  S(SUCCESS, nrta_get_sequence, 0, COMPUTE, 0, &last);
  TRUE(last >= seq[1] && ret[0] == SUCCESS && ret[1] == SUCCESS);
  WaitFor(seq[REQUESTS - 1]);
  TRUE(Now() - start >= 149);
  for (int i = 0; i < REQUESTS; ++i) TRUE(ret[i] == SUCCESS);
  S(SUCCESS, nrta_get_sequence, 0, COMPUTE, 0, &last);
  TRUE(last == seq[REQUESTS - 1]);
  CheckSum(&adder);
}

static void async_events(void) {
  setenv("TORCHNEURON_LAUNCH_DELAY_US", "30000", 1);
  Init();
  Adder adder = NewAdder();
  const int one = eventfd(0, 0), every = eventfd(0, 0), taken_back = eventfd(0, 0);
  Status ret[3];
  uint64_t seq[3];
  S(SUCCESS, nrta_event_register_xu_completion, 0, COMPUTE, 0, every);
  for (int i = 0; i < 3; ++i)
    S(SUCCESS, nrta_execute_schedule, adder.model, adder.in, adder.out, 0, &ret[i], &seq[i]);
  S(SUCCESS, nrta_event_register_seq_id_completion, seq[1], one);
  S(SUCCESS, nrta_event_register_seq_id_completion, seq[2], taken_back);
  S(SUCCESS, nrta_event_register_seq_id_completion, seq[2], -1);
  TRUE(EventCount(one, 0) == 0);
  TRUE(EventCount(one, 10000) == 1);
  bool done = false;
  S(SUCCESS, nrta_is_completed, seq[1], &done);
  TRUE(done && ret[1] == SUCCESS);
  WaitFor(seq[2]);
  TRUE(EventCount(every, 10000) == 3);
  TRUE(EventCount(taken_back, 20) == 0 && EventCount(one, 0) == 0);
  /* Completed already: at once. */
  S(SUCCESS, nrta_event_register_seq_id_completion, seq[0], one);
  TRUE(EventCount(one, 0) == 1);
  S(SUCCESS, nrta_event_register_xu_completion, 0, COMPUTE, 0, -1);
  S(SUCCESS, nrta_execute_schedule, adder.model, adder.in, adder.out, 0, &ret[0], &seq[0]);
  WaitFor(seq[0]);
  TRUE(EventCount(every, 20) == 0);
}

static void async_full_queue(void) {
  setenv("TORCHNEURON_LAUNCH_DELAY_US", "20000", 1);
  Init();
  Adder adder = NewAdder();
  enum { MOST = 100000 };
  static Status ret[MOST];
  uint64_t seq = 0, last = 0;
  int count = 0, answer = SUCCESS;
  while (count < MOST && answer == SUCCESS) {
    last = seq;
    ret[count] = -1;
    answer = nrta_execute_schedule(adder.model, adder.in, adder.out, 0, &ret[count], &seq);
    count += answer == SUCCESS;
  }
  CheckStatus(__LINE__, "nrta_execute_schedule", QUEUE_FULL, answer);
  TRUE(count >= 3 && seq == last + 0 && ret[count] == -1); /* nothing changed */
  const uint64_t newest = seq;
  WaitFor(newest - (uint64_t)count + 1);
  for (int64_t end = Now() + 10000; answer == QUEUE_FULL && Now() < end; usleep(1000))
    answer = nrta_execute_schedule(adder.model, adder.in, adder.out, 0, &ret[count], &seq);
  CheckStatus(__LINE__, "nrta_execute_schedule", SUCCESS, answer);
  TRUE(seq == newest + 1);
  WaitFor(seq);
  for (int i = 0; i <= count; ++i) TRUE(ret[i] == SUCCESS);
}

static void async_failures(void) {
  setenv("TORCHNEURON_FAIL_EXECUTION", "1003@2", 1);
  Init();
  Adder adder = NewAdder();
  Set* empty = NewSet();
  Status ret[4];
  uint64_t seq[4];
  S(SUCCESS, nrta_execute_schedule, adder.model, empty, adder.out, 0, &ret[0], &seq[0]);
  S(SUCCESS, nrta_execute_schedule, adder.model, adder.in, adder.out, 0, &ret[1], &seq[1]);
  S(SUCCESS, nrta_execute_schedule, adder.model, adder.in, adder.out, 0, &ret[2], &seq[2]);
  WaitFor(seq[2]);
  /* The request's own, and the unit goes on. */
  TRUE(ret[0] == BAD_INPUT && ret[1] == NUMERICAL && ret[2] == SUCCESS);
  Note("nrta_execute_schedule", ret[0]);
  Note("nrta_execute_schedule", ret[1]);
  CheckSum(&adder);
}

static void async_unit_is_lost(void) {
  setenv("TORCHNEURON_FAIL_EXECUTION", "5@2", 1);
  setenv("TORCHNEURON_LAUNCH_DELAY_US", "20000", 1);
  Init();
  Adder adder = NewAdder();
  Status ret[4];
  uint64_t seq[4];
  for (int i = 0; i < 4; ++i)
    S(SUCCESS, nrta_execute_schedule, adder.model, adder.in, adder.out, 0, &ret[i], &seq[i]);
  WaitFor(seq[3]);
  TRUE(ret[0] == SUCCESS && ret[1] == TIMEOUT);
  TRUE(ret[2] == UNRECOVERABLE && ret[3] == UNRECOVERABLE);
  S(UNRECOVERABLE, nrta_execute_schedule, adder.model, adder.in, adder.out, 0, &ret[0], &seq[0]);
  /* Other units go on. */
  char byte = 1;
  S(SUCCESS, nrta_tensor_write, adder.a, &byte, 0, 1, 0, 0, &ret[0], &seq[0]);
  WaitFor(seq[0]);
  TRUE(ret[0] == SUCCESS);
}

static void async_tensor_operations(void) {
  setenv("TORCHNEURON_COPY_DELAY_US", "50000", 1);
  Init();
  Tensor *a = Device(0, 64), *b = Device(0, 64);
  char out[8] = "copied!", in[8] = "", unseen[8] = "";
  Status ret[4];
  uint64_t seq[4];
  const int64_t start = Now();
  S(SUCCESS, nrta_tensor_write, a, out, 8, 8, 0, 0, &ret[0], &seq[0]);
  S(SUCCESS, nrta_tensor_copy, a, 8, b, 16, 8, 0, 0, &ret[1], &seq[1]); /* behind the write */
  S(SUCCESS, nrta_tensor_read, in, b, 16, 8, 0, 0, &ret[2], &seq[2]);
  S(SUCCESS, nrta_tensor_read, unseen, b, 40, 8, 0, 1, &ret[3], &seq[3]); /* the other queue */
  TRUE(Now() - start < 40);
  WaitFor(seq[2]);
  WaitFor(seq[3]);
  TRUE(Now() - start >= 99);
  TRUE(strcmp(in, "copied!") == 0);
  TRUE(seq[3] >> 48 != seq[0] >> 48 && seq[2] >> 48 == seq[0] >> 48);
  for (int i = 0; i < 4; ++i) TRUE(ret[i] == SUCCESS);
  S(INVALID, nrta_tensor_write, a, out, 57, 8, 0, 0, &ret[0], &seq[0]);
  S(INVALID, nrta_tensor_read, in, a, 57, 8, 0, 0, &ret[0], &seq[0]);
  S(INVALID, nrta_tensor_copy, a, 0, b, 57, 8, 0, 0, &ret[0], &seq[0]);
  S(INVALID, nrta_tensor_write, a, out, 0, 8, 0, 2, &ret[0], &seq[0]); /* two queues */
  S(INVALID, nrta_tensor_write, a, out, 0, 8, 4711, 0, &ret[0], &seq[0]);
}

static void async_wrong_names(void) {
  Init();
  Adder adder = NewAdder();
  Status ret;
  uint64_t seq = 0, last;
  bool done;
  S(INVALID, nrta_execute_schedule, adder.model, adder.in, adder.out, 1, &ret, &seq);
  S(INVALID, nrta_is_completed, 0, &done);
  S(INVALID, nrta_is_completed, UINT64_MAX, &done);
  S(SUCCESS, nrta_execute_schedule, adder.model, adder.in, adder.out, 0, &ret, &seq);
  WaitFor(seq);
  S(INVALID, nrta_is_completed, seq + 1, &done); /* not scheduled yet */
  S(INVALID, nrta_event_register_seq_id_completion, seq + 1, 0);
  S(INVALID, nrta_event_register_seq_id_completion, seq, 4711);
  S(INVALID, nrta_get_sequence, 4711, COMPUTE, 0, &last);
  S(INVALID, nrta_get_sequence, 0, 3, 0, &last);
  S(INVALID, nrta_get_sequence, 0, COMPUTE, 1, &last);
  S(SUCCESS, nrta_get_sequence, 0, TENSOR_OP, 1, &last);
  S(SUCCESS, nrta_get_sequence, 0, COLLECTIVES, 2, &last);
  S(INVALID, nrta_get_sequence, 0, COLLECTIVES, 3, &last);
  S(INVALID, nrta_event_register_xu_completion, -1, COMPUTE, 0, -1);
  S(INVALID, nrta_event_register_xu_completion, 0, COMPUTE, 0, 4711);
}

static void async_close_ends_requests(void) {
  setenv("TORCHNEURON_LAUNCH_DELAY_US", "50000", 1);
  Init();
  Adder adder = NewAdder();
  Status ret[3] = {-1, -1, -1};
  uint64_t seq[3];
  for (int i = 0; i < 3; ++i)
    S(SUCCESS, nrta_execute_schedule, adder.model, adder.in, adder.out, 0, &ret[i], &seq[i]);
  usleep(10000);
  nrt_close();
  TRUE(ret[0] == SUCCESS && ret[1] == CLOSED && ret[2] == CLOSED);
}

/* Documents say only that such calls fail. */
static void own_null_arguments(void) {
  Init();
  S(INVALID_HANDLE, nrt_unload, NULL);
  S(INVALID_HANDLE, nrt_execute, NULL, NULL, NULL);
  S(INVALID_HANDLE, nrt_execute_repeat, NULL, NULL, NULL, 1);
  S(INVALID_HANDLE, nrt_get_model_nc_count, NULL, NULL);
  S(INVALID_HANDLE, nrt_get_model_vnc_count, NULL, NULL);
  S(INVALID_HANDLE, nrt_get_model_instance_count, NULL, NULL);
  S(INVALID_HANDLE, nrt_get_model_info, NULL, NULL, 0, NULL);
  S(INVALID_HANDLE, nrt_get_model_tensor_info, NULL, NULL);
  S(INVALID, nrt_free_model_tensor_info, NULL);
  S(INVALID, nrt_load, NULL, 0, 0, 1, NULL);
  S(INVALID, nrt_allocate_tensor_set, NULL);
  S(INVALID_HANDLE, nrt_add_tensor_to_tensor_set, NULL, "x", NULL);
  S(INVALID_HANDLE, nrt_get_tensor_from_tensor_set, NULL, "x", NULL);
  S(INVALID, nrt_get_total_nc_count, NULL);
  S(INVALID, nrt_get_visible_nc_count, NULL);
  S(INVALID, nrt_get_total_vnc_count, NULL);
  S(INVALID, nrt_get_visible_vnc_count, NULL);
  S(INVALID, nrt_get_version, NULL, 0);
  S(INVALID, nrt_get_instance_info, NULL, 0);
  S(INVALID, nrt_get_vnc_memory_stats, 0, NULL, 0, NULL);
  S(INVALID, nrt_tensor_allocate, DEVICE, 0, 64, "t", NULL);
  S(INVALID, nrt_tensor_allocate_empty, "t", NULL);
  S(INVALID_HANDLE, nrt_tensor_attach_buffer, NULL, NULL, 0);
  S(INVALID_HANDLE, nrt_tensor_read, NULL, NULL, 0, 0);
  S(INVALID_HANDLE, nrt_tensor_write, NULL, NULL, 0, 0);
  S(INVALID_HANDLE, nrt_tensor_memset, NULL, 0, 0, 0);
  S(INVALID_HANDLE, nrt_tensor_copy, NULL, 0, NULL, 0, 0);
  S(INVALID, nrt_tensor_read_batch, NULL, 1, false);
  S(INVALID, nrt_tensor_write_batch, NULL, 1, false);
  S(INVALID_HANDLE, nrt_tensor_get_device_allocation_info, NULL, NULL);
  S(INVALID, nrt_tensor_allocate_slice, NULL, 0, 0, "s", NULL);
  S(INVALID, nrt_memcpy_to_device, NULL, NULL, 1);
  S(INVALID, nrt_profile_stop, NULL);
  S(INVALID_HANDLE, nrta_execute_schedule, NULL, NULL, NULL, 0, NULL, NULL);
  S(INVALID_HANDLE, nrta_tensor_write, NULL, NULL, 0, 0, 0, 0, NULL, NULL);
  S(INVALID_HANDLE, nrta_tensor_read, NULL, NULL, 0, 0, 0, 0, NULL, NULL);
  S(INVALID_HANDLE, nrta_tensor_copy, NULL, 0, NULL, 0, 0, 0, 0, NULL, NULL);
  S(INVALID, nrta_is_completed, 1, NULL);
  S(INVALID, nrta_get_sequence, 0, COMPUTE, 0, NULL);
  Tensor* tensor = Device(0, 64);
  char byte = 0;
  S(INVALID, nrt_tensor_read, tensor, NULL, 0, 1);
  S(INVALID, nrt_tensor_write, tensor, NULL, 0, 1);
  S(INVALID, nrta_tensor_write, tensor, &byte, 0, 1, 0, 0, NULL, NULL);
  nrt_tensor_free(NULL);
  nrt_destroy_tensor_set(NULL);
  Tensor* none = NULL;
  nrt_tensor_free(&none);
}

#define CASES(X)                   \
  X(usual_life)                    \
  X(before_init)                   \
  X(after_close)                   \
  X(sized_structs)                 \
  X(loading)                       \
  X(device_memory_runs_out)        \
  X(tensors)                       \
  X(batches)                       \
  X(copies_stay_inside_an_hbm)     \
  X(sets)                          \
  X(execution_refuses_bad_inputs)  \
  X(indirect_access_out_of_bounds) \
  X(in_place_and_repeated)         \
  X(output_completion)             \
  X(statuses_of_hardware)          \
  X(wrong_environment)             \
  X(cores_are_exclusive)           \
  X(profiling)                     \
  X(implicit_async_is_gone)        \
  X(async_executes_in_order)       \
  X(async_events)                  \
  X(async_full_queue)              \
  X(async_failures)                \
  X(async_unit_is_lost)            \
  X(async_tensor_operations)       \
  X(async_wrong_names)             \
  X(async_close_ends_requests)     \
  X(own_null_arguments)

int main(int count, char** words) {
  if (count != 4) {
    fprintf(stderr, "usage: abi_client LIBRARY PROGRAMS LOG\n");
    return 2;
  }
  directory = words[2];
  int failed = 0;
#define RUN(name)                                            \
  {                                                          \
    const pid_t child = fork();                              \
    if (child == 0) {                                        \
      log_file = fopen(words[3], "a");                       \
      if (log_file == NULL) _exit(2);                        \
      Open(words[1]);                                        \
      name();                                                \
      fclose(log_file);                                      \
      _exit(failures != 0);                                  \
    }                                                        \
    int status = 0;                                          \
    waitpid(child, &status, 0);                              \
    printf("%s %s\n", status == 0 ? "ok" : "FAILED", #name); \
    failed += status != 0;                                   \
  }
  CASES(RUN)
  return failed != 0;
}
