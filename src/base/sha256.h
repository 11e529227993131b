// SHA-256 (FIPS 180-4): names of cache entries, checksums of files.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace neuron {

using Sha256Digest = std::array<uint8_t, 32>;

class Sha256 {
 public:
  Sha256& Update(std::string_view bytes);
  Sha256Digest Finish();  // once

 private:
  void Block(const uint8_t* block);
  std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<uint8_t, 64> pending_{};
  size_t pending_size_ = 0;
  uint64_t bytes_ = 0;
};

inline Sha256Digest Sha256Of(std::string_view bytes) { return Sha256().Update(bytes).Finish(); }
std::string ToHex(const Sha256Digest& digest);

}  // namespace neuron
