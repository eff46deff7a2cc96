// An attribute's type tells which one of its fields has the value. Writers of proto3 leave out
// zeros and empty values.
#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_message.h"

namespace firn::io::internal {
namespace {

struct Known {
  const char* type;  // the format's word
  int field;
  const char* name;
};

// By OnnxAttributeType.
constexpr Known kKnown[] = {
    {"UNDEFINED", 0, ""},
    {"FLOAT", 2, "f"},
    {"INT", 3, "i"},
    {"STRING", 4, "s"},
    {"TENSOR", 5, "t"},
    {"GRAPH", 6, "g"},
    {"FLOATS", 7, "floats"},
    {"INTS", 8, "ints"},
    {"STRINGS", 9, "strings"},
    {"TENSORS", 10, "tensors"},
    {"GRAPHS", 11, "graphs"},
    {"SPARSE_TENSOR", 22, "sparse_tensor"},
    {"SPARSE_TENSORS", 23, "sparse_tensors"},
    {"TYPE_PROTO", 14, "tp"},
    {"TYPE_PROTOS", 15, "type_protos"},
};
constexpr int kTypes = static_cast<int>(std::size(kKnown));

const char* NameOf(int number) {
  for (const Known& known : kKnown) {
    if (known.field == number) return known.name;
  }
  return "";
}

// The value if the file has no field for the type: zero, or an empty list.
bool MakeDefault(OnnxAttribute* attribute) {
  switch (attribute->type) {
    case OnnxAttributeType::kFloat:
      attribute->value = 0.0f;
      return true;
    case OnnxAttributeType::kInt:
      attribute->value = int64_t{0};
      return true;
    case OnnxAttributeType::kString:
      attribute->value = std::string();
      return true;
    case OnnxAttributeType::kFloats:
      attribute->value = std::vector<float>();
      return true;
    case OnnxAttributeType::kInts:
      attribute->value = std::vector<int64_t>();
      return true;
    case OnnxAttributeType::kStrings:
      attribute->value = std::vector<std::string>();
      return true;
    case OnnxAttributeType::kTensors:
      attribute->value = std::vector<OnnxTensor>();
      return true;
    case OnnxAttributeType::kGraphs:
      attribute->value = std::vector<OnnxGraph>();
      return true;
    case OnnxAttributeType::kSparseTensors:
      attribute->value = std::vector<OnnxSparseTensor>();
      return true;
    case OnnxAttributeType::kTypes:
      attribute->value = std::vector<OnnxType>();
      return true;
    default:
      return false;
  }
}

// The fields for values; an attribute has one of them, with the number `present`.
class Value {
 public:
  explicit Value(OnnxAttribute* attribute) : value_(&attribute->value) {}

  int present() const { return present_; }

  absl::Status Read(OnnxField& field) {
    const char* name = NameOf(field.number());
    FIRN_RETURN_IF(
        present_ != 0 && present_ != field.number(),
        field.Fail(name, "expected one value, got a second one beside ", NameOf(present_)));
    present_ = field.number();
    switch (field.number()) {
      case 2:
        return field.Float(name, As<float>());
      case 3:
        return field.Integer(name, As<int64_t>());
      case 4: {
        std::string_view bytes;
        absl::Status status = field.Bytes(name, &bytes);
        *As<std::string>() = bytes;
        return status;
      }
      case 5:
        return Single(field, name, As<std::vector<OnnxTensor>>());
      case 6:
        return Single(field, name, As<std::vector<OnnxGraph>>());
      case 7:
        return field.Floats(name, As<std::vector<float>>());
      case 8:
        return field.Integers(name, As<std::vector<int64_t>>());
      case 9:
        return field.Strings(name, As<std::vector<std::string>>());
      case 10:
        return field.Messages(name, As<std::vector<OnnxTensor>>());
      case 11:
        return field.Messages(name, As<std::vector<OnnxGraph>>());
      case 14:
        return Single(field, name, As<std::vector<OnnxType>>());
      case 15:
        return field.Messages(name, As<std::vector<OnnxType>>());
      case 22:
        return Single(field, name, As<std::vector<OnnxSparseTensor>>());
      case 23:
        return field.Messages(name, As<std::vector<OnnxSparseTensor>>());
    }
    return field.Unknown();
  }

 private:
  template <class T>
  T* As() {
    if (!std::holds_alternative<T>(*value_)) value_->emplace<T>();
    return &std::get<T>(*value_);
  }

  template <class T>
  absl::Status Single(OnnxField& field, const char* name, std::vector<T>* out) {
    FIRN_RETURN_IF(!out->empty(), field.Fail(name, "expected one, got two"));
    return field.Message(name, &out->emplace_back());
  }

  decltype(OnnxAttribute::value)* value_;
  int present_ = 0;
};

absl::Status Check(const OnnxSource& source, const OnnxPlace& place, std::string_view bytes,
                   int present, OnnxAttribute* out) {
  const auto fault = [&](const auto&... parts) {
    return OnnxFault(source, place, bytes, absl::StrCat(parts...));
  };
  FIRN_RETURN_IF(out->name.empty(), fault("expected a field name, got none"));
  FIRN_RETURN_IF(out->type == OnnxAttributeType::kUndefined,
                 fault("expected a field type, got none"));
  const Known& known = kKnown[static_cast<int>(out->type)];
  if (!out->reference.empty()) {
    FIRN_RETURN_IF(present != 0, fault("expected no value beside ref_attr_name, got one of field ",
                                       NameOf(present)));
    return absl::OkStatus();
  }
  FIRN_RETURN_IF(
      present == 0 && !MakeDefault(out),
      fault("expected a field ", known.name, ", as its type ", known.type, " has, got none"));
  FIRN_RETURN_IF(present != 0 && present != known.field,
                 fault("expected a field ", known.name, ", as its type ", known.type, " has, got ",
                       NameOf(present)));
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadOnnx(OnnxSource* source, const OnnxPlace& place, std::string_view bytes,
                      OnnxAttribute* out) {
  Value value(out);
  FIRN_RETURN_IF_ERROR(ForEachOnnxField(source, place, bytes, [&](OnnxField& field) {
    switch (field.number()) {
      case 1:
        return field.Name("name", &out->name);
      case 13:
        return field.Text("doc_string", &out->doc);
      case 20: {
        int64_t type = 0;
        absl::Status status = field.Integer("type", &type);
        FIRN_RETURN_IF(
            status.ok() && (type < 0 || type >= kTypes),
            field.Fail("type", "expected a number of 0 to ", kTypes - 1, ", got ", type));
        out->type = static_cast<OnnxAttributeType>(type);
        return status;
      }
      case 21:
        return field.Name("ref_attr_name", &out->reference);
    }
    return value.Read(field);
  }));
  return Check(*source, place, bytes, value.present(), out);
}

}  // namespace firn::io::internal
