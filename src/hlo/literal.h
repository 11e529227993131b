// A constant's value: dense row-major bytes of an array shape. Cheap to copy (shared bytes).
#pragma once

#include <complex>
#include <memory>
#include <optional>
#include <string>

#include "hlo/shape.h"

namespace neuron::hlo {

class Literal {
 public:
  Literal() = default;
  Literal(Shape shape, std::string bytes);  // requires bytes.size() == shape.num_bytes()
  // A scalar of `dtype` holding `value` converted once (round to nearest even, integers truncate).
  static Literal Scalar(DType dtype, double value);
  static Literal Scalar(DType dtype, int64_t value);
  static Literal ScalarComplex(DType dtype, std::complex<double> value);
  static Literal S64Vector(const std::vector<int64_t>& values);

  const Shape& shape() const { return shape_; }
  const std::string& bytes() const;  // empty if default constructed
  // Element `index` (row major) as a double or int64; for complex the real part.
  double AsDouble(int64_t index = 0) const;
  int64_t AsInt64(int64_t index = 0) const;
  bool IsSplat() const;  // all elements have the same bytes
  // The one number that all elements are, if a double says it exactly: no imaginary part, no
  // integer that a double would round.
  std::optional<double> SplatNumber() const;
  bool operator==(const Literal& other) const;

 private:
  Shape shape_;
  std::shared_ptr<const std::string> bytes_;
};

}  // namespace neuron::hlo
