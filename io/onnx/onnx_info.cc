// A walk over the messages of a model. Graphs are in attributes, as deep as the reader allows.
#include "firn/io/onnx/onnx_info.h"

#include <variant>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "firn/io/onnx/internal/onnx_elements.h"
#include "firn/io/onnx/internal/onnx_read.h"
#include "firn/io/value_or_raise.h"

namespace firn::io {
namespace {

using internal::OnnxType;

std::string ElementWord(int id) {
  const internal::OnnxElement* const element = internal::FindOnnxElement(id);
  return element == nullptr ? absl::StrCat("type ", id) : element->word;
}

std::string TensorText(const OnnxType& type) {
  std::string text = ElementWord(type.element);
  if (!type.shape.has_value()) return text + " of any rank";
  absl::StrAppend(&text, " [");
  const char* comma = "";
  for (const internal::OnnxDim& dim : *type.shape) {
    absl::StrAppend(&text, comma);
    if (dim.value.has_value()) {
      absl::StrAppend(&text, *dim.value);
    } else {
      absl::StrAppend(&text, dim.name.empty() ? "?" : dim.name);
    }
    comma = ", ";
  }
  return text + "]";
}

std::string TypeText(const OnnxType& type) {
  const std::string inner = type.of.empty() ? "anything" : TypeText(type.of[0]);
  switch (type.kind) {
    case OnnxType::Kind::kTensor:
      return TensorText(type);
    case OnnxType::Kind::kSparseTensor:
      return "sparse " + TensorText(type);
    case OnnxType::Kind::kSequence:
      return "sequence of " + inner;
    case OnnxType::Kind::kMap:
      return absl::StrCat("map of ", ElementWord(type.element), " to ", inner);
    case OnnxType::Kind::kOptional:
      return "optional " + inner;
    case OnnxType::Kind::kOpaque:
      return absl::StrCat("opaque ", type.domain, ".", type.name);
    case OnnxType::Kind::kNone:
      break;
  }
  return "no type";
}

void CountNodes(const std::vector<internal::OnnxNode>& nodes, OnnxInfo* info) {
  for (const internal::OnnxNode& node : nodes) {
    const std::string domain = node.domain.empty() ? "" : node.domain + ".";
    ++info->operators[domain + node.op_type];
    for (const internal::OnnxAttribute& attribute : node.attributes) {
      const auto* const graphs = std::get_if<std::vector<internal::OnnxGraph>>(&attribute.value);
      if (graphs == nullptr) continue;
      for (const internal::OnnxGraph& graph : *graphs) CountNodes(graph.nodes, info);
    }
  }
}

void CountParameters(const internal::OnnxGraph& graph, OnnxInfo* info) {
  for (const internal::OnnxTensor& tensor : graph.initializers) {
    const internal::OnnxElement* const element = internal::FindOnnxElement(tensor.type);
    const auto n = element == nullptr ? 0 : internal::OnnxCount(*element, tensor.dims).value_or(0);
    info->parameters += n;
    if (n > 0) info->parameter_bytes += internal::OnnxBytes(*element, n);
  }
}

}  // namespace

OnnxInfo ReadOnnxInfo(const std::string& path, const LoadLimits& limits) {
  const internal::OnnxModel model =
      ValueOrRaise(internal::ReadOnnxModel(path, limits), "read_onnx_info");
  OnnxInfo info;
  info.ir_version = model.ir_version;
  info.producer = model.producer;
  if (!model.producer_version.empty()) absl::StrAppend(&info.producer, " ", model.producer_version);
  for (const auto& [domain, version] : model.opsets) {
    info.opsets.emplace_back(domain.empty() ? "ai.onnx" : domain, version);
  }
  absl::flat_hash_set<std::string> stored;
  for (const auto& tensor : model.graph.initializers) stored.insert(tensor.name);
  for (const auto& value : model.graph.inputs) {
    if (!stored.contains(value.name)) info.inputs.push_back({value.name, TypeText(value.type)});
  }
  for (const auto& value : model.graph.outputs) {
    info.outputs.push_back({value.name, TypeText(value.type)});
  }
  CountNodes(model.graph.nodes, &info);
  CountParameters(model.graph, &info);
  for (const auto& function : model.functions) {
    info.functions.push_back(absl::StrCat(function.domain, ".", function.name));
    CountNodes(function.nodes, &info);
  }
  info.metadata = model.metadata;
  return info;
}

}  // namespace firn::io
