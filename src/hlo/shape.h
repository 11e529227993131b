// Shapes in XLA's terms: an array of a dtype, a tuple, or a token.
//
// A dimension may be bounded dynamic (`f32[<=1024,64]`): its extent is known at run time and never
// above the bound; plans use that to serve many lengths with one executable. Layout is always
// descending (row major): strides are expressed by slice, reshape, transpose and broadcast.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/status.h"

namespace neuron::hlo {

struct Shape {
  enum class Kind : uint8_t { kArray, kTuple, kToken };
  Kind kind = Kind::kArray;
  DType dtype = DType::kInvalid;
  std::vector<int64_t> dims;
  std::vector<bool> dynamic;    // empty: all static; else one per dimension
  std::vector<Shape> elements;  // of a tuple

  static Shape Array(DType dtype, std::vector<int64_t> dims);
  static Shape Tuple(std::vector<Shape> elements);
  static Shape Token();

  bool is_array() const { return kind == Kind::kArray; }
  bool is_tuple() const { return kind == Kind::kTuple; }
  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  bool is_scalar() const { return is_array() && dims.empty(); }
  bool is_dynamic() const;
  int64_t num_elements() const;  // of an array; 1 for a scalar
  int64_t num_bytes() const;     // of an array or the sum over a tuple
  std::string ToString() const;  // "f32[2,3]", "(f32[], s32[4])"
  bool operator==(const Shape&) const = default;
};

}  // namespace neuron::hlo
