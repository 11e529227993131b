// Protocol buffers' wire format: what HloModuleProto needs of it.
//
// A message is a sequence of (field number, value); a value is a varint, 4 or 8 bytes, or a length
// and bytes (strings, messages, packed lists). Fields of value zero are not written (proto3).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace neuron::hlo {

class WireWriter {
 public:
  void Int(uint32_t field, int64_t value);                     // omitted if 0
  void Text(uint32_t field, std::string_view value);           // omitted if empty; also messages
  void Message(uint32_t field, const WireWriter& value);       // written even if empty
  void Ints(uint32_t field, std::span<const int64_t> values);  // packed; omitted if empty
  void Float(uint32_t field, float value);                     // omitted if +0
  void Bytes(uint32_t field, std::string_view value) { Text(field, value); }

  const std::string& data() const { return data_; }
  std::string Take() && { return std::move(data_); }

 private:
  void Varint(uint64_t value);
  std::string data_;
};

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t varint = 0;     // kVarint
  std::string_view bytes;  // kBytes; the 4 or 8 bytes of a fixed value
};

// Walks the fields of one message; the bytes must outlive it.
//   WireReader reader(bytes);
//   for (WireField f; reader.Next(f);) ...
//   NEURON_RETURN_IF_ERROR(reader.status());
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}
  bool Next(WireField& field);  // false at the end and at the first malformed byte
  const Status& status() const { return status_; }

  // The value of `field` as this type. A field of another wire type is an error kept in status().
  int64_t Int(const WireField& field);
  float Float(const WireField& field);
  bool Bool(const WireField& field) { return Int(field) != 0; }
  std::string_view Bytes(const WireField& field);
  void AppendInts(const WireField& field, std::vector<int64_t>& values);  // packed or not

 private:
  bool ReadVarint(uint64_t& value);
  bool Fail(std::string_view what);
  std::string_view rest_;
  Status status_;
};

}  // namespace neuron::hlo
