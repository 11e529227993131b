#include "hlo/shape.h"

#include <utility>

namespace neuron::hlo {

Shape Shape::Array(DType dtype, std::vector<int64_t> dims) {
  Shape shape;
  shape.dtype = dtype;
  shape.dims = std::move(dims);
  return shape;
}

Shape Shape::Tuple(std::vector<Shape> elements) {
  Shape shape;
  shape.kind = Kind::kTuple;
  shape.elements = std::move(elements);
  return shape;
}

Shape Shape::Token() {
  Shape shape;
  shape.kind = Kind::kToken;
  return shape;
}

bool Shape::is_dynamic() const {
  for (const bool d : dynamic)
    if (d) return true;
  for (const Shape& element : elements)
    if (element.is_dynamic()) return true;
  return false;
}

int64_t Shape::num_elements() const {
  int64_t count = 1;
  for (const int64_t d : dims) count *= d;
  return count;
}

int64_t Shape::num_bytes() const {
  if (is_array()) return num_elements() * ByteSize(dtype);
  int64_t bytes = 0;
  for (const Shape& element : elements) bytes += element.num_bytes();
  return bytes;
}

std::string Shape::ToString() const {
  if (kind == Kind::kToken) return "token[]";
  std::string text;
  if (is_tuple()) {
    text = "(";
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i != 0) text += ", ";
      text += elements[i].ToString();
    }
    text += ")";
    return text;
  }
  text = DTypeName(dtype);
  text += "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i != 0) text += ",";
    if (!dynamic.empty() && dynamic[i]) text += "<=";
    text += std::to_string(dims[i]);
  }
  text += "]";
  return text;
}

}  // namespace neuron::hlo
