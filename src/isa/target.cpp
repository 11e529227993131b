#include "isa/target.h"

#include "base/status.h"

namespace neuron::isa {
namespace {

constexpr int64_t kKiB = 1024;
constexpr int64_t kGiB = 1024 * 1024 * kKiB;

// Grades: documented (AWS pages), measured (read off published traces and charts of the same
// generation), inferred (arithmetic on those, shown), assumed (named as such).
constexpr TargetRow kTargets[] = {
    {
        .target = Target::kTrn2,
        .name = "trn2",
        .alias = "gen3",
        .physical_cores = 8,                       // documented: Trainium2 architecture guide
        .hbm_bytes = 96 * kGiB,                    // documented: same
        .sbuf_bytes_per_partition = 224 * kKiB,    // documented: 28 MiB in 128 partitions
        .psum_bytes_per_partition = 16 * kKiB,     // documented: 2 MiB in 128 partitions
        .psum_bank_bytes = 2 * kKiB,               // documented: 8 banks
        .max_moving_free = 512,                    // documented: nki.isa.nc_matmul
        .tensor_clock_hz = 2.4e9,                  // documented: Trainium2 architecture guide
        .vector_clock_hz = 0.96e9,                 // documented: same
        .scalar_clock_hz = 1.2e9,                  // documented: same
        .gpsimd_clock_hz = 1.2e9,                  // documented: same
        .hbm_bytes_per_second_per_core = 362.5e9,  // documented: 2.9 TB/s for 8 cores
        .dma_engines_per_core = 16,                // documented: Trainium2 architecture guide
        .dma_bytes_per_second_per_engine = 24e9,   // inferred: 385 GB/s of one core's 16 engines in
                                                   // library figures (documented practical: 23)
        .dma_descriptor_ns = 9,                    // inferred: 512 B in 29.9 ns, 2 KiB in 92.5 ns
        .dma_issue_ns = 860,                       // inferred: bandwidth chart below 2 KiB per row
        .dma_start_ns = 1300,                      // documented: DMA bandwidth guide
        .dma_trigger_ns = 600,                     // documented: hardware descriptor generation
                                                   // (516 measured for prebuilt descriptors)
        .vector_fixed_cycles = 144,                // measured: 150-157 ns per instruction at 0.96
                                                   // GHz; N + 144 in the kernel library's model
        .scalar_latency_cycles = 348,              // measured: exp of N elements, N/1.2 + 290 ns
        .gpsimd_fixed_cycles = 150,                // documented: iota, affine_select: 150 + N
        .gpsimd_kernel_launch_ns = 1000,           // inferred: no figure is public; an order below
                                                   // the DMA round trip such a kernel starts with
        .memory_access_cycles = 60,                // documented: static latency per request
        .tensor_drain_cycles = 400,                // measured: 597 ns latency - 430 ns busy
        .activation_table_load_ns = 1280,          // measured: DMA overview trace
        .semaphore_ns = 300,                       // measured: last byte to the consumer's start
        .host_bytes_per_second = 32e9,             // assumed: no figure is public; PCIe 5.0 x8
        .host_start_ns = 1900,                     // inferred: a DMA's start and its trigger
    },
    {
        .target = Target::kTrn3,
        .name = "trn3",
        .alias = "gen4",
        .physical_cores = 8,                       // documented: Trainium3 architecture guide
        .hbm_bytes = 144 * kGiB,                   // documented: same
        .sbuf_bytes_per_partition = 256 * kKiB,    // documented: 32 MiB in 128 partitions
        .psum_bytes_per_partition = 16 * kKiB,     // documented: 2 MiB in 128 partitions
        .psum_bank_bytes = 2 * kKiB,               // documented: 8 banks
        .max_moving_free = 4096,                   // documented: a full PSUM of fp32
        .tensor_clock_hz = 2.4e9,                  // documented: Trainium3 architecture guide
        .vector_clock_hz = 1.2e9,                  // documented: same
        .scalar_clock_hz = 1.2e9,                  // documented: same
        .gpsimd_clock_hz = 1.2e9,                  // documented: same
        .hbm_bytes_per_second_per_core = 612.5e9,  // documented: 4.9 TB/s for 8 cores (the guide
                                                   // says 4.7)
        .dma_engines_per_core = 16,                // documented: Trainium3 architecture guide
        .dma_bytes_per_second_per_engine = 33e9,   // documented: practical rate, bandwidth guide
        .dma_descriptor_ns = 9,                    // inferred: as trn2, no figure is public
        .dma_issue_ns = 860,                       // inferred: as trn2
        .dma_start_ns = 1300,                      // documented: DMA bandwidth guide
        .dma_trigger_ns = 600,                     // inferred: as trn2
        .vector_fixed_cycles = 144,                // inferred: as trn2
        .scalar_latency_cycles = 348,              // inferred: as trn2
        .gpsimd_fixed_cycles = 150,                // inferred: as trn2
        .gpsimd_kernel_launch_ns = 1000,           // inferred: as trn2
        .memory_access_cycles = 60,                // inferred: as trn2
        .tensor_drain_cycles = 400,                // inferred: as trn2, same clock
        .activation_table_load_ns = 1280,          // inferred: as trn2
        .semaphore_ns = 300,                       // inferred: as trn2
        .host_bytes_per_second = 64e9,             // assumed: no figure is public; PCIe 6.0 x8
        .host_start_ns = 1900,                     // inferred: as trn2
    },
};

}  // namespace

std::span<const TargetRow> Targets() { return kTargets; }

const TargetRow& RowOf(Target target) {
  for (const TargetRow& row : kTargets)
    if (row.target == target) return row;
  NEURON_CHECK(false, "no target has number ", static_cast<int>(target));
}

std::optional<Target> TargetFromName(std::string_view name) {
  for (const TargetRow& row : kTargets)
    if (row.name == name || row.alias == name) return row.target;
  return std::nullopt;
}

}  // namespace neuron::isa
