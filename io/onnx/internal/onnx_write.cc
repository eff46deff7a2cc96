// One function a message, one line a field, as in the readers. Numbers are packed or not as in the
// format's schema.
#include "firn/io/onnx/internal/onnx_write.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_tensor.h"
#include "firn/io/wire/internal/wire.h"

namespace firn::io::internal {
namespace {

constexpr size_t kMost = (size_t{1} << 31) - 1;  // bytes of a message in all libraries

class Writer {
 public:
  explicit Writer(const OnnxModel& model) : elements_(model.file, model.folder) {}

  absl::StatusOr<std::string> Take() && {
    FIRN_RETURN_IF_ERROR(status_);
    return std::move(wire_).Take();
  }

  void Fields(const OnnxModel& model) {
    size_t elements = 0;
    for (const OnnxTensor& tensor : model.graph.initializers) elements += tensor.bytes.size();
    wire_.Reserve(std::min(elements + elements / 64, kMost));
    wire_.Integer(1, model.ir_version);
    Text(2, model.producer);
    Text(3, model.producer_version);
    Text(4, model.domain);
    if (model.model_version != 0) wire_.Integer(5, model.model_version);
    Text(6, model.doc);
    Message(7, model.graph);
    Messages(8, model.opsets);
    Entries(14, model.metadata);
    Messages(20, model.training);
    Messages(25, model.functions);
  }

 private:
  void Fields(const OnnxOpset& opset) { wire_.Bytes(1, opset.domain).Integer(2, opset.version); }

  void Fields(const OnnxGraph& graph) {
    Messages(1, graph.nodes);
    Text(2, graph.name);
    Messages(5, graph.initializers);
    Text(10, graph.doc);
    Messages(11, graph.inputs);
    Messages(12, graph.outputs);
    Messages(13, graph.values);
    Messages(14, graph.quantization);
    Messages(15, graph.sparse_initializers);
    Entries(16, graph.metadata);
  }

  void Fields(const OnnxAnnotation& annotation) {
    Text(1, annotation.tensor);
    Entries(2, annotation.parameters);
  }

  void Fields(const OnnxNode& node) {
    Texts(1, node.inputs);
    Texts(2, node.outputs);
    Text(3, node.name);
    Text(4, node.op_type);
    Messages(5, node.attributes);
    Text(6, node.doc);
    Text(7, node.domain);
    Text(8, node.overload);
    Entries(9, node.metadata);
  }

  void Fields(const OnnxFunction& function) {
    Text(1, function.name);
    Texts(4, function.inputs);
    Texts(5, function.outputs);
    Texts(6, function.attributes);
    Messages(7, function.nodes);
    Text(8, function.doc);
    Messages(9, function.opsets);
    Text(10, function.domain);
    Messages(11, function.defaults);
    Messages(12, function.values);
    Text(13, function.overload);
    Entries(14, function.metadata);
  }

  void Fields(const OnnxTraining& training) {
    if (training.initialization) Message(1, *training.initialization);
    if (training.algorithm) Message(2, *training.algorithm);
    Entries(3, training.initialization_binding);
    Entries(4, training.update_binding);
  }

  void Fields(const OnnxValueInfo& value) {
    Text(1, value.name);
    if (value.type.kind != OnnxType::Kind::kNone) Message(2, value.type);
    Text(3, value.doc);
    Entries(4, value.metadata);
  }

  void Fields(const OnnxType& type) {
    using Kind = OnnxType::Kind;
    // By Kind.
    constexpr int kFields[] = {0, 1, 8, 4, 5, 9, 7};
    if (type.kind != Kind::kNone) {
      const size_t begun = wire_.Begin(kFields[static_cast<int>(type.kind)]);
      if (type.kind == Kind::kOpaque) {
        Text(1, type.domain);
        Text(2, type.name);
      } else if (type.kind == Kind::kSequence || type.kind == Kind::kOptional) {
        Messages(1, type.of);
      } else {
        wire_.Integer(1, type.element);
        Messages(2, type.of);
        if (type.shape) ShapeOf(*type.shape);
      }
      wire_.End(begun);
    }
    Text(6, type.denotation);
  }

  void ShapeOf(const std::vector<OnnxDim>& dims) {
    const size_t begun = wire_.Begin(2);
    Messages(1, dims);
    wire_.End(begun);
  }

  void Fields(const OnnxDim& dim) {
    if (dim.value) wire_.Integer(1, *dim.value);
    Text(2, dim.name);
    Text(3, dim.denotation);
  }

  void Fields(const OnnxAttribute& attribute) {
    Text(1, attribute.name);
    if (attribute.reference.empty()) {
      std::visit([&](const auto& value) { Value(attribute.type, value); }, attribute.value);
    }
    Text(13, attribute.doc);
    wire_.Integer(20, static_cast<int>(attribute.type));
    Text(21, attribute.reference);
  }

  void Value(OnnxAttributeType, std::monostate) {}
  void Value(OnnxAttributeType, float value) { wire_.Float(2, value); }
  void Value(OnnxAttributeType, int64_t value) { wire_.Integer(3, value); }
  void Value(OnnxAttributeType, const std::string& value) { wire_.Bytes(4, value); }
  void Value(OnnxAttributeType, const std::vector<float>& values) {
    for (const float value : values) wire_.Float(7, value);
  }
  void Value(OnnxAttributeType, const std::vector<int64_t>& values) { Integers(8, values); }
  void Value(OnnxAttributeType, const std::vector<std::string>& values) { Texts(9, values); }
  void Value(OnnxAttributeType type, const std::vector<OnnxTensor>& values) {
    Messages(type == OnnxAttributeType::kTensor ? 5 : 10, values);
  }
  void Value(OnnxAttributeType type, const std::vector<OnnxGraph>& values) {
    Messages(type == OnnxAttributeType::kGraph ? 6 : 11, values);
  }
  void Value(OnnxAttributeType type, const std::vector<OnnxType>& values) {
    Messages(type == OnnxAttributeType::kType ? 14 : 15, values);
  }
  void Value(OnnxAttributeType type, const std::vector<OnnxSparseTensor>& values) {
    Messages(type == OnnxAttributeType::kSparseTensor ? 22 : 23, values);
  }

  void Fields(const OnnxSparseTensor& tensor) {
    Message(1, tensor.values);
    Message(2, tensor.indices);
    Integers(3, tensor.dims);
  }

  void Fields(const OnnxTensor& tensor) {
    Integers(1, tensor.dims);
    wire_.Integer(2, tensor.type);
    for (const std::string& word : tensor.words) wire_.Bytes(6, word);
    Text(8, tensor.name);
    if (tensor.place == OnnxTensor::Place::kRaw) {
      Raw(tensor, tensor.bytes);
    } else if (tensor.place == OnnxTensor::Place::kTyped) {
      const absl::StatusOr<std::string> bytes = elements_.Bytes(tensor);
      bytes.ok() ? Raw(tensor, *bytes) : Fail(bytes.status());
    }
    Text(12, tensor.doc);
    if (tensor.place == OnnxTensor::Place::kExternal) External(*tensor.external);
    Entries(16, tensor.metadata);
  }

  void Raw(const OnnxTensor& tensor, std::string_view bytes) {
    const OnnxElement* element = FindOnnxElement(tensor.type);
    const auto n = element != nullptr ? OnnxCount(*element, tensor.dims) : std::nullopt;
    if (!n || OnnxBytes(*element, *n) != static_cast<int64_t>(bytes.size())) {
      return Fail(InvalidArgument("tensor ", tensor.name, ": expected the elements of its sizes, ",
                                  "got ", bytes.size(), " bytes"));
    }
    if (bytes.size() > kMost - std::min(kMost, wire_.bytes().size())) return TooLarge();
    if (!bytes.empty()) wire_.Bytes(9, bytes);
  }

  void External(const OnnxExternal& external) {
    OnnxEntries entries = {{"location", external.location}};
    if (external.offset) entries.emplace_back("offset", absl::StrCat(*external.offset));
    if (external.length) entries.emplace_back("length", absl::StrCat(*external.length));
    if (!external.checksum.empty()) entries.emplace_back("checksum", external.checksum);
    if (!external.basepath.empty()) entries.emplace_back("basepath", external.basepath);
    Entries(13, entries);
    wire_.Integer(14, 1);
  }

  // Empty fields are left out.
  void Text(int field, const std::string& text) {
    if (!text.empty()) wire_.Bytes(field, text);
  }
  void Texts(int field, const std::vector<std::string>& texts) {
    for (const std::string& text : texts) wire_.Bytes(field, text);
  }
  void Integers(int field, const std::vector<int64_t>& values) {
    for (const int64_t value : values) wire_.Integer(field, value);
  }
  void Entries(int field, const OnnxEntries& entries) {
    for (const auto& [key, value] : entries) {
      wire_.Message(field, WireWriter().Bytes(1, key).Bytes(2, value));
    }
  }
  template <class T>
  void Message(int field, const T& message) {
    if (!status_.ok()) return;
    const size_t begun = wire_.Begin(field);
    Fields(message);
    wire_.End(begun);
    if (wire_.bytes().size() > kMost) TooLarge();
  }
  template <class T>
  void Messages(int field, const std::vector<T>& messages) {
    for (const T& message : messages) Message(field, message);
  }

  void TooLarge() {
    Fail(Unimplemented("a model of more than ", kMost,
                       " bytes, which is the format's limit: its elements have to be in a file "
                       "beside it"));
  }
  void Fail(const absl::Status& status) {
    if (status_.ok()) status_ = status;
  }

  WireWriter wire_;
  OnnxElements elements_;
  absl::Status status_;
};

}  // namespace

absl::StatusOr<std::string> FormatOnnxModel(const OnnxModel& model) {
  Writer writer(model);
  writer.Fields(model);
  return std::move(writer).Take();
}

absl::Status WriteOnnxModel(const std::string& path, const OnnxModel& model) {
  FIRN_ASSIGN_OR_RETURN(const std::string bytes, FormatOnnxModel(model));
  return firn::inner::internal::ReplaceFile(path, bytes);
}

}  // namespace firn::io::internal
