#include <algorithm>
#include <cstring>

#include "hlo/proto_attributes.h"
#include "hlo/proto_fields.h"
#include "hlo/shape_rules.h"

namespace neuron::hlo {
namespace {

constexpr int kMaxTupleDepth = 32;

// Dimensions of `shape` from the outermost in memory to the innermost; empty: row major.
StatusOr<std::vector<int64_t>> ReadLayout(std::string_view bytes, const Shape& shape) {
  std::vector<int64_t> order;
  WireReader r(bytes);
  for (WireField f; r.Next(f);)
    if (f.number == proto::layout::kMinorToMajor) r.AppendInts(f, order);
  NEURON_RETURN_IF_ERROR(r.status());
  std::reverse(order.begin(), order.end());
  if (!order.empty() && (static_cast<int64_t>(order.size()) != shape.rank() ||
                         !AreDistinctDimensions(order, shape.rank())))
    return InvalidArgument("layout ", ListText(order), " is no order of the dimensions of ",
                           shape.ToString());
  return std::is_sorted(order.begin(), order.end()) ? std::vector<int64_t>() : order;
}

// Elements that lie in memory as `order` says, row major.
std::string RowMajor(const std::string& bytes, const Shape& shape,
                     const std::vector<int64_t>& order) {
  const auto size = static_cast<size_t>(ByteSize(shape.dtype));
  const size_t rank = order.size();
  std::vector<int64_t> steps(rank), index(rank);
  int64_t step = 1;
  for (size_t i = rank; i-- > 0;) {
    steps[static_cast<size_t>(order[i])] = step;
    step *= shape.dims[static_cast<size_t>(order[i])];
  }
  std::string out;
  out.reserve(bytes.size());
  for (int64_t n = shape.num_elements(); n > 0; --n) {
    int64_t at = 0;
    for (size_t d = 0; d < rank; ++d) at += index[d] * steps[d];
    out.append(bytes, static_cast<size_t>(at) * size, size);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < shape.dims[d]) break;
      index[d] = 0;
    }
  }
  return out;
}

// Element types of XLA that no engine has, and what to use.
struct ForeignDType {
  int64_t number;
  std::string_view name, instead;
};
constexpr ForeignDType kForeign[] = {
    {14, "opaque", "arrays"},
    {21, "s4", "s8"},
    {22, "u4", "u8"},
    {23, "f8e4m3b11fnuz", "f8e4m3"},
    {24, "f8e5m2fnuz", "f8e5m2"},
    {25, "f8e4m3fnuz", "f8e4m3"},
    {26, "s2", "s8"},
    {27, "u2", "u8"},
    {29, "f8e3m4", "f8e4m3"},
    {30, "s1", "s8"},
    {31, "u1", "u8"},
    {34, "buffer", "arrays"},
};

Status CheckArray(const Shape& shape) {
  for (const ForeignDType& row : kForeign)
    if (row.number == static_cast<int64_t>(shape.dtype))
      return Unimplemented("element type ", row.number, " of xla.PrimitiveType, ", row.name,
                           ", is none that a NeuronCore computes with; use ", row.instead);
  if (ByteSize(shape.dtype) == 0 || static_cast<int>(shape.dtype) >= 200)
    return Unimplemented("element type ", static_cast<int>(shape.dtype),
                         " of xla.PrimitiveType is not supported");
  const auto elements = CheckedElements(shape.dims);
  if (!elements || !CheckedMultiply(*elements, ByteSize(shape.dtype)))
    return InvalidArgument("extents ", ListText(shape.dims), " of ", DTypeName(shape.dtype),
                           " must not be negative nor exceed 64 bits of bytes");
  return OkStatus();
}

template <typename T>
std::string Narrow(const std::vector<int64_t>& values) {
  std::vector<T> narrow(values.begin(), values.end());
  std::string bytes(narrow.size() * sizeof(T), '\0');
  if (!narrow.empty()) std::memcpy(bytes.data(), narrow.data(), bytes.size());
  return bytes;
}

std::string BytesOfIntegers(DType dtype, const std::vector<int64_t>& values) {
  switch (dtype) {
    case DType::kS32:
      return Narrow<int32_t>(values);
    case DType::kU32:
      return Narrow<uint32_t>(values);
    default:
      return Narrow<int64_t>(values);
  }
}

}  // namespace

StatusOr<Shape> ReadShape(std::string_view bytes, std::vector<int64_t>* order, int depth) {
  namespace n = proto::shape;
  if (depth > kMaxTupleDepth) return InvalidArgument("a shape nests tuples deeper than ", depth);
  Shape shape;
  int64_t element_type = 0;
  std::string_view layout;
  std::vector<int64_t> dynamic;
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    switch (f.number) {
      case n::kElementType:
        element_type = r.Int(f);
        break;
      case n::kDimensions:
        r.AppendInts(f, shape.dims);
        break;
      case n::kLayout:
        layout = r.Bytes(f);
        break;
      case n::kIsDynamic:
        r.AppendInts(f, dynamic);
        break;
      case n::kTupleShapes: {
        NEURON_ASSIGN_OR_RETURN(Shape element, ReadShape(r.Bytes(f), nullptr, depth + 1));
        shape.elements.push_back(std::move(element));
        break;
      }
      default:
        break;
    }
  }
  NEURON_RETURN_IF_ERROR(r.status());
  if (element_type == n::kTuple) return Shape::Tuple(std::move(shape.elements));
  if (element_type == n::kToken) return Shape::Token();
  if (element_type < 0 || element_type > 255)
    return InvalidArgument("element type ", element_type, " is no xla.PrimitiveType");
  shape.dtype = static_cast<DType>(element_type);
  shape.elements.clear();
  NEURON_RETURN_IF_ERROR(CheckArray(shape));
  if (order != nullptr) {
    NEURON_ASSIGN_OR_RETURN(*order, ReadLayout(layout, shape));
  }
  for (const int64_t d : dynamic)
    if (d != 0) shape.dynamic.assign(dynamic.begin(), dynamic.end());
  if (!shape.dynamic.empty() && shape.dynamic.size() != shape.dims.size())
    return InvalidArgument(dynamic.size(), " dynamic flags for a shape of rank ", shape.rank());
  return shape;
}

StatusOr<Literal> ReadLiteral(std::string_view bytes) {
  namespace n = proto::literal;
  Shape shape;
  std::vector<int64_t> order;
  WireReader shapes(bytes);
  for (WireField f; shapes.Next(f);) {
    if (f.number != n::kShape) continue;
    NEURON_ASSIGN_OR_RETURN(shape, ReadShape(shapes.Bytes(f), &order));
  }
  NEURON_RETURN_IF_ERROR(shapes.status());
  if (!shape.is_array()) return Unimplemented("a constant of ", shape.ToString());
  const n::Elements elements = n::ElementsOf(shape.dtype);
  if (elements.field == 0) return Unimplemented("a constant of ", shape.ToString());

  std::string data;
  std::vector<int64_t> integers;
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    if (f.number != elements.field) continue;
    if (elements.storage == n::Storage::kVarints)
      r.AppendInts(f, integers);
    else if (f.type == WireType::kVarint)
      data.push_back(static_cast<char>(f.varint));  // an unpacked bool
    else
      data.append(f.bytes);  // a list may come in pieces
  }
  NEURON_RETURN_IF_ERROR(r.status());
  if (elements.storage == n::Storage::kVarints) data = BytesOfIntegers(shape.dtype, integers);
  if (static_cast<int64_t>(data.size()) != shape.num_bytes())
    return InvalidArgument("a constant of ", shape.ToString(), " needs ", shape.num_bytes(),
                           " bytes, has ", data.size());
  if (!order.empty()) data = RowMajor(data, shape, order);
  if (shape.dtype == DType::kPred)
    for (char& c : data) c = c != 0 ? 1 : 0;
  return Literal(std::move(shape), std::move(data));
}

}  // namespace neuron::hlo
