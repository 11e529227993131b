#include "hlo/wire.h"

#include <bit>

namespace neuron::hlo {

void WireWriter::Varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) data_.push_back(static_cast<char>(value | 0x80));
  data_.push_back(static_cast<char>(value));
}

void WireWriter::Int(uint32_t field, int64_t value) {
  if (value == 0) return;
  Varint(uint64_t{field} << 3);
  Varint(static_cast<uint64_t>(value));
}

void WireWriter::Float(uint32_t field, float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (bits == 0) return;
  Varint(uint64_t{field} << 3 | static_cast<uint64_t>(WireType::kFixed32));
  for (int byte = 0; byte < 4; ++byte) data_.push_back(static_cast<char>(bits >> (8 * byte)));
}

void WireWriter::Text(uint32_t field, std::string_view value) {
  if (value.empty()) return;
  Varint(uint64_t{field} << 3 | static_cast<uint64_t>(WireType::kBytes));
  Varint(value.size());
  data_.append(value);
}

void WireWriter::Message(uint32_t field, const WireWriter& value) {
  Varint(uint64_t{field} << 3 | static_cast<uint64_t>(WireType::kBytes));
  Varint(value.data_.size());
  data_.append(value.data_);
}

void WireWriter::Ints(uint32_t field, std::span<const int64_t> values) {
  WireWriter packed;
  for (const int64_t value : values) packed.Varint(static_cast<uint64_t>(value));
  Text(field, packed.data_);
}

bool WireReader::Fail(std::string_view what) {
  if (status_.ok())
    status_ = DataLoss("protobuf: ", what, ", ", rest_.size(), " bytes before the end");
  return false;
}

bool WireReader::ReadVarint(uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (rest_.empty()) return Fail("a number is cut off");
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    if (shift == 63 && byte > 1) break;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return Fail("a number has more than 64 bits");
}

bool WireReader::Next(WireField& field) {
  if (rest_.empty() || !status_.ok()) return false;
  uint64_t tag;
  if (!ReadVarint(tag)) return false;
  field = {static_cast<uint32_t>(tag >> 3), static_cast<WireType>(tag & 7), 0, {}};
  if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return Fail("no such field number");
  uint64_t size = 0;
  switch (field.type) {
    case WireType::kVarint:
      return ReadVarint(field.varint);
    case WireType::kFixed64:
      size = 8;
      break;
    case WireType::kFixed32:
      size = 4;
      break;
    case WireType::kBytes:
      if (!ReadVarint(size)) return false;
      break;
    default:
      return Fail("unknown wire type");
  }
  if (size > rest_.size()) return Fail("a field is longer than its message");
  field.bytes = rest_.substr(0, size);
  rest_.remove_prefix(size);
  return true;
}

int64_t WireReader::Int(const WireField& field) {
  if (field.type != WireType::kVarint) Fail(StrCat("field ", field.number, " is no number"));
  return static_cast<int64_t>(field.varint);
}

std::string_view WireReader::Bytes(const WireField& field) {
  if (field.type == WireType::kBytes) return field.bytes;
  Fail(StrCat("field ", field.number, " is no text or message"));
  return {};
}

float WireReader::Float(const WireField& field) {
  if (field.type != WireType::kFixed32) {
    Fail(StrCat("field ", field.number, " is no float"));
    return 0;
  }
  uint32_t bits = 0;
  for (size_t byte = 4; byte-- > 0;) bits = bits << 8 | static_cast<uint8_t>(field.bytes[byte]);
  return std::bit_cast<float>(bits);
}

void WireReader::AppendInts(const WireField& field, std::vector<int64_t>& values) {
  if (field.type == WireType::kVarint) {
    values.push_back(static_cast<int64_t>(field.varint));
    return;
  }
  WireReader packed(Bytes(field));
  uint64_t value;
  while (!packed.rest_.empty() && packed.ReadVarint(value))
    values.push_back(static_cast<int64_t>(value));
  if (!packed.status_.ok() && status_.ok()) status_ = packed.status_;
}

}  // namespace neuron::hlo
