// The container's layout, shared by encoder.cpp and decoder.cpp.
//
// A 1,024-byte header whose fields stand where a NEFF has its own, so that tools which print
// headers can print ours, then sections back to back. All numbers are little endian.
//
//      0  u64   magic (a NEFF has its package version, a small number, there)
//      8  u64   header size, 1,024
//     16  u64   data size: bytes after the header
//     24  u64   format version
//     32  u64   0
//     40  c128  target name
//    168  u32   1 (cores)
//    172  u64   checksum of header (these 8 bytes as 0) and data
//    180  u64   instruction table hash
//    220  c256  program name
//    556  u32   number of sections, then for each: u32 id, u64 offset from the header's end, u64
//    size
//
// Sections hold varints (LEB128), zigzag where negative numbers are usual, and counted bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/status.h"

namespace neuron::isa::container {

inline constexpr uint64_t kMagic = 0x314e52554e544f54u;
inline constexpr uint64_t kFormatVersion = 2;
inline constexpr size_t kHeaderBytes = 1024;
inline constexpr size_t kHeaderSizeAt = 8;
inline constexpr size_t kDataSizeAt = 16;
inline constexpr size_t kVersionAt = 24;
inline constexpr size_t kTargetAt = 40;
inline constexpr size_t kTargetBytes = 128;
inline constexpr size_t kCoresAt = 168;
inline constexpr size_t kChecksumAt = 172;
inline constexpr size_t kTableHashAt = 180;
inline constexpr size_t kNameAt = 220;
inline constexpr size_t kNameBytes = 256;
inline constexpr size_t kSectionsAt = 556;
inline constexpr size_t kSectionEntryBytes = 20;

enum class Section : uint32_t {
  kName = 1,
  kTensors = 2,
  kRegisters = 3,
  kConstants = 4,
  kInstructions = 5,
  kSources = 6,
  kMetadata = 7,
};
inline constexpr uint32_t kNumSections = 7;

enum class OperandTag : uint8_t {
  kNone,
  kTile,
  kNumber,
  kInteger,
  kRegister,
  kAffine,
  kAlu,
  kActivation,
  kText,
  kIntegers,
};

template <typename T>
void Put(std::string& bytes, size_t at, T value) {
  for (size_t i = 0; i < sizeof(T); ++i)
    bytes[at + i] = static_cast<char>(static_cast<uint64_t>(value) >> (8 * i));
}
template <typename T>
T Get(std::string_view bytes, size_t at) {
  uint64_t value = 0;
  for (size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  return static_cast<T>(value);
}

// Of `bytes`, a whole container, with the checksum field taken as 0. Finds damage, not malice.
uint64_t Checksum(std::string_view bytes);

class Writer {
 public:
  void Unsigned(uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<char>(value));
  }
  void Signed(int64_t value) {
    Unsigned((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  void Bytes(std::string_view bytes) {
    Unsigned(bytes.size());
    bytes_.append(bytes);
  }
  std::string Take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what Writer wrote. After the first number that runs past the end or out of its type, every
// read gives 0 and ok() is false: callers may check once, after a loop.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}
  bool ok() const { return ok_; }
  bool AtEnd() const { return ok_ && at_ == bytes_.size(); }
  size_t remaining() const { return bytes_.size() - at_; }
  void Fail() { ok_ = false; }

  uint64_t Unsigned() {
    uint64_t value = 0;
    for (int shift = 0; ok_; shift += 7) {
      if (at_ == bytes_.size() || shift > 63) {
        Fail();
        break;
      }
      const uint8_t byte = static_cast<uint8_t>(bytes_[at_++]);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return 0;
  }
  int64_t Signed() {
    const uint64_t value = Unsigned();
    return static_cast<int64_t>((value >> 1) ^ (0 - (value & 1)));
  }
  // In [least, most], or failure.
  template <typename T>
  T Bounded(uint64_t most) {
    const uint64_t value = Unsigned();
    if (value > most) Fail();
    return static_cast<T>(ok_ ? value : 0);
  }
  std::string_view Bytes() {
    const uint64_t size = Unsigned();
    if (!ok_ || size > remaining()) {
      Fail();
      return {};
    }
    const std::string_view bytes = bytes_.substr(at_, size);
    at_ += size;
    return bytes;
  }
  // A count of items of at least one byte each: never more than there are bytes left, so that
  // reserving for it is safe.
  size_t Count() {
    const uint64_t count = Unsigned();
    if (count > remaining()) Fail();
    return ok_ ? count : 0;
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace neuron::isa::container
