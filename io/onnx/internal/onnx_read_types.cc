// Types of values.
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_elements.h"
#include "firn/io/onnx/internal/onnx_message.h"

namespace firn::io::internal {
namespace {

using Kind = OnnxType::Kind;

// Reads each kind of type from the bytes of its own message.
struct Inner {
  OnnxType* type;
};

// A shape is a message, too.
struct Shape {
  std::vector<OnnxDim>* dims;
};

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      Shape* out) {
  return ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    return field.number() == 1 ? field.Messages("dim", out->dims) : field.Unknown();
  });
}

absl::Status ReadElement(OnnxField& field, const char* name, int* element) {
  FIRN_RETURN_IF_ERROR(field.Integer32(name, element));
  FIRN_RETURN_IF(*element != 0 && FindOnnxElement(*element) == nullptr,
                 field.Fail(name, "expected a type of the format, 0 to 28, got ", *element));
  return absl::OkStatus();
}

absl::Status ReadInnerField(OnnxField& field, OnnxType* type) {
  const bool is_tensor = type->kind == Kind::kTensor || type->kind == Kind::kSparseTensor;
  const int number = field.number();
  if (type->kind == Kind::kOpaque) {
    if (number == 1) return field.Name("domain", &type->domain);
    if (number == 2) return field.Name("name", &type->name);
  } else if (is_tensor) {
    if (number == 1) return ReadElement(field, "elem_type", &type->element);
    if (number == 2) {
      Shape shape = {&type->shape.emplace()};
      return field.Message("shape", &shape);
    }
  } else if (type->kind == Kind::kMap) {
    if (number == 1) return ReadElement(field, "key_type", &type->element);
    if (number == 2) return field.Message("value_type", &type->of.emplace_back());
  } else if (number == 1) {
    return field.Message("elem_type", &type->of.emplace_back());
  }
  return field.Unknown();
}

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      Inner* out) {
  return ForEachOnnxField(source, place, bytes,
                          [&](OnnxField& field) { return ReadInnerField(field, out->type); });
}

absl::Status ReadKind(OnnxField& field, const char* name, Kind kind, OnnxType* out) {
  FIRN_RETURN_IF(out->kind != Kind::kNone, field.Fail(name, "expected one type, got two"));
  out->kind = kind;
  Inner inner = {out};
  return field.Message(name, &inner);
}

}  // namespace

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxType* out) {
  return ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    switch (field.number()) {
      case 1:
        return ReadKind(field, "tensor_type", Kind::kTensor, out);
      case 4:
        return ReadKind(field, "sequence_type", Kind::kSequence, out);
      case 5:
        return ReadKind(field, "map_type", Kind::kMap, out);
      case 6:
        return field.Name("denotation", &out->denotation);
      case 7:
        return ReadKind(field, "opaque_type", Kind::kOpaque, out);
      case 8:
        return ReadKind(field, "sparse_tensor_type", Kind::kSparseTensor, out);
      case 9:
        return ReadKind(field, "optional_type", Kind::kOptional, out);
    }
    return field.Unknown();
  });
}

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxDim* out) {
  return ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    switch (field.number()) {
      case 1:
        FIRN_RETURN_IF(!out->name.empty(),
                       field.Fail("dim_value", "expected none beside dim_param, got one"));
        return field.Integer("dim_value", &out->value.emplace());
      case 2:
        FIRN_RETURN_IF(out->value.has_value(),
                       field.Fail("dim_param", "expected none beside dim_value, got one"));
        return field.Name("dim_param", &out->name);
      case 3:
        return field.Name("denotation", &out->denotation);
    }
    return field.Unknown();
  });
}

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxValueInfo* out) {
  return ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    switch (field.number()) {
      case 1:
        return field.Name("name", &out->name);
      case 2:
        return field.Message("type", &out->type);
      case 3:
        return field.Text("doc_string", &out->doc);
      case 4:
        return field.Entry("metadata_props", &out->metadata);
    }
    return field.Unknown();
  });
}

}  // namespace firn::io::internal
