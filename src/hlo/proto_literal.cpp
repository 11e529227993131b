#include <cstring>

#include "hlo/proto_attributes.h"
#include "hlo/proto_fields.h"
#include "hlo/shape_rules.h"

namespace neuron::hlo {
namespace {

constexpr int kMaxTupleDepth = 32;

Status CheckLayout(std::string_view bytes, const Shape& shape) {
  std::vector<int64_t> minor_to_major;
  WireReader r(bytes);
  for (WireField f; r.Next(f);)
    if (f.number == proto::layout::kMinorToMajor) r.AppendInts(f, minor_to_major);
  NEURON_RETURN_IF_ERROR(r.status());
  for (size_t i = 0; i < minor_to_major.size(); ++i)
    if (minor_to_major[i] != shape.rank() - 1 - static_cast<int64_t>(i))
      return Unimplemented("layout ", ListText(minor_to_major), " of ", shape.ToString(),
                           ": arrays are row major; transpose explicitly");
  return OkStatus();
}

Status CheckArray(const Shape& shape) {
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

StatusOr<Shape> ReadShape(std::string_view bytes, Layout layout_rule, int depth) {
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
        NEURON_ASSIGN_OR_RETURN(Shape element, ReadShape(r.Bytes(f), layout_rule, depth + 1));
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
  if (layout_rule == Layout::kRowMajor) NEURON_RETURN_IF_ERROR(CheckLayout(layout, shape));
  for (const int64_t d : dynamic)
    if (d != 0) shape.dynamic.assign(dynamic.begin(), dynamic.end());
  if (!shape.dynamic.empty() && shape.dynamic.size() != shape.dims.size())
    return InvalidArgument(dynamic.size(), " dynamic flags for a shape of rank ", shape.rank());
  return shape;
}

StatusOr<Literal> ReadLiteral(std::string_view bytes) {
  namespace n = proto::literal;
  Shape shape;
  WireReader shapes(bytes);
  for (WireField f; shapes.Next(f);) {
    if (f.number != n::kShape) continue;
    NEURON_ASSIGN_OR_RETURN(shape, ReadShape(shapes.Bytes(f), Layout::kRowMajor));
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
  if (shape.dtype == DType::kPred)
    for (char& c : data) c = c != 0 ? 1 : 0;
  return Literal(std::move(shape), std::move(data));
}

}  // namespace neuron::hlo
