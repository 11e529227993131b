// The one thing that writing JSON by hand gets wrong: strings.
#pragma once

#include <string>
#include <string_view>

namespace neuron {

// In quotes; control characters are left out.
inline std::string JsonQuoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

}  // namespace neuron
