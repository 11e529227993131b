// philox_bits: Philox4x32-10 random bits (Salmon et al., "Parallel random numbers: as easy as 1, 2,
// 3", SC 2011). Block i of four words belongs to counter + i, so a result does not depend on how
// the work is split. Element order and the placing of 8, 16 and 64-bit elements are XLA's.
#include <cstring>

#include "emulator/wide/checks.h"
#include "isa/kernel_parameters.h"

namespace neuron::emulator::gpsimd_kernels {
namespace {

constexpr std::string_view kName = "philox_bits";
constexpr int kLanes = 16;  // counters computed together: lets the compiler use vectors

// words[w][lane] of counters (low + lane, high).
void Blocks(uint64_t key, uint64_t low, uint64_t high, uint32_t words[4][kLanes]) {
  uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const uint64_t at = low + static_cast<uint64_t>(lane);
    const uint64_t top = high + (at < low);
    c0[lane] = static_cast<uint32_t>(at);
    c1[lane] = static_cast<uint32_t>(at >> 32);
    c2[lane] = static_cast<uint32_t>(top);
    c3[lane] = static_cast<uint32_t>(top >> 32);
  }
  uint32_t k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const uint64_t p0 = uint64_t{0xD2511F53} * c0[lane];
      const uint64_t p1 = uint64_t{0xCD9E8D57} * c2[lane];
      c0[lane] = static_cast<uint32_t>(p1 >> 32) ^ c1[lane] ^ k0;
      c1[lane] = static_cast<uint32_t>(p1);
      c2[lane] = static_cast<uint32_t>(p0 >> 32) ^ c3[lane] ^ k1;
      c3[lane] = static_cast<uint32_t>(p0);
    }
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    words[0][lane] = c0[lane];
    words[1][lane] = c1[lane];
    words[2][lane] = c2[lane];
    words[3][lane] = c3[lane];
  }
}

}  // namespace

Status philox_bits(std::span<const KernelTensor> tiles, std::span<const int64_t> parameters) {
  NEURON_ASSIGN_OR_RETURN(const auto p, isa::Unpack<isa::PhiloxBitsParameters>(kName, parameters));
  NEURON_RETURN_IF_ERROR(wide::ExpectTiles(kName, tiles, 3));
  NEURON_RETURN_IF_ERROR(wide::ExpectRange(kName, "state_words", p.state_words, 2, 3));
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 0, p.state_words));
  NEURON_RETURN_IF_ERROR(wide::ExpectElements(kName, tiles, 2, p.state_words));
  const KernelTensor& bits = tiles[1];
  if (!IsInteger(bits.dtype))
    return InvalidArgument("gpsimd_kernel philox_bits: bits are ", DTypeName(bits.dtype),
                           ", expected an integer dtype");
  uint64_t state[3];
  std::memcpy(state, tiles[2].data, static_cast<size_t>(p.state_words) * 8);
  const uint64_t key = state[0];
  uint64_t low = state[1];
  uint64_t high = p.state_words == 3 ? state[2] : key;  // XLA: the key pads a short state

  const int64_t width = ByteSize(bits.dtype);
  const int64_t words_per_element = width == 8 ? 2 : 1;
  const int64_t total = bits.elements * words_per_element;
  constexpr int kWords = 4 * kLanes;  // of one draw
  uint32_t words[4][kLanes];
  for (int64_t word = 0; word < total; word += kWords) {
    Blocks(key, low, high, words);
    uint32_t flat[kWords];
    for (int lane = 0; lane < kLanes; ++lane)
      for (int w = 0; w < 4; ++w) flat[4 * lane + w] = words[w][lane];
    const int64_t n = std::min<int64_t>(kWords, total - word);
    if (width >= 4) {
      std::memcpy(bits.data + word * 4, flat, static_cast<size_t>(n) * 4);
    } else {
      for (int64_t i = 0; i < n; ++i)  // the low bits of a word each
        std::memcpy(bits.data + (word + i) * width, &flat[i], static_cast<size_t>(width));
    }
    const uint64_t next = low + kLanes;
    high += next < low;
    low = next;
  }
  // The new state: as many counters on as were drawn.
  const uint64_t drawn = static_cast<uint64_t>((total + 3) / 4);
  const uint64_t advanced = state[1] + drawn;
  if (p.state_words == 3) state[2] += advanced < state[1];
  state[1] = advanced;
  std::memcpy(tiles[0].data, state, static_cast<size_t>(p.state_words) * 8);
  return OkStatus();
}

}  // namespace neuron::emulator::gpsimd_kernels
