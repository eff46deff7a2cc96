#ifndef FIRN_TESTS_IO_ONNX_ONNX_BUILDER_H_
#define FIRN_TESTS_IO_ONNX_ONNX_BUILDER_H_

// Models in memory, in few words.

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "firn/io/onnx/internal/onnx_check.h"
#include "firn/io/onnx/internal/onnx_model.h"
#include "firn/io/onnx/internal/onnx_network.h"
#include "firn/io/onnx/internal/onnx_tensor.h"
#include "firn/tensor/tensor.h"

namespace firn::io::internal {

inline OnnxAttribute Attribute(std::string name, OnnxAttributeType type,
                               decltype(OnnxAttribute::value) value) {
  OnnxAttribute a;
  a.name = std::move(name);
  a.type = type;
  a.value = std::move(value);
  return a;
}
inline OnnxAttribute Int(std::string name, int64_t value) {
  return Attribute(std::move(name), OnnxAttributeType::kInt, value);
}
inline OnnxAttribute Float(std::string name, float value) {
  return Attribute(std::move(name), OnnxAttributeType::kFloat, value);
}
inline OnnxAttribute Text(std::string name, std::string value) {
  return Attribute(std::move(name), OnnxAttributeType::kString, std::move(value));
}
inline OnnxAttribute Ints(std::string name, std::vector<int64_t> value) {
  return Attribute(std::move(name), OnnxAttributeType::kInts, std::move(value));
}
inline OnnxAttribute Value(std::string name, const Tensor& value) {
  return Attribute(std::move(name), OnnxAttributeType::kTensor,
                   std::vector<OnnxTensor>{OnnxTensorOf("", value)});
}
inline OnnxAttribute Body(std::string name, OnnxGraph graph) {
  return Attribute(std::move(name), OnnxAttributeType::kGraph,
                   std::vector<OnnxGraph>{std::move(graph)});
}
// The attribute of the caller of a function.
inline OnnxAttribute Reference(std::string name, std::string of, OnnxAttributeType type) {
  OnnxAttribute a;
  a.name = std::move(name);
  a.reference = std::move(of);
  a.type = type;
  return a;
}

inline OnnxNode Node(std::string op_type, std::vector<std::string> inputs,
                     std::vector<std::string> outputs, std::vector<OnnxAttribute> attributes = {},
                     std::string domain = "") {
  OnnxNode node;
  node.op_type = std::move(op_type);
  node.inputs = std::move(inputs);
  node.outputs = std::move(outputs);
  node.attributes = std::move(attributes);
  node.domain = std::move(domain);
  return node;
}

// Values of any type and shape, with these names.
inline std::vector<OnnxValueInfo> Values(const std::vector<std::string>& names) {
  std::vector<OnnxValueInfo> values(names.size());
  for (size_t i = 0; i < names.size(); ++i) values[i].name = names[i];
  return values;
}

inline OnnxGraph Graph(std::vector<OnnxNode> nodes, const std::vector<std::string>& inputs,
                       const std::vector<std::string>& outputs,
                       std::vector<std::pair<std::string, Tensor>> initializers = {}) {
  OnnxGraph graph;
  graph.nodes = std::move(nodes);
  graph.inputs = Values(inputs);
  graph.outputs = Values(outputs);
  for (const auto& [name, tensor] : initializers) {
    graph.initializers.push_back(OnnxTensorOf(name, tensor));
  }
  return graph;
}

inline OnnxModel Model(OnnxGraph graph, int64_t opset = 18) {
  OnnxModel model;
  model.file = "net.onnx";
  model.ir_version = 8;
  model.opsets = {{"", opset}};
  model.graph = std::move(graph);
  return model;
}

inline absl::StatusOr<OnnxImport> Import(OnnxModel model, const OnnxImportOptions& options = {}) {
  const absl::Status checked = CheckOnnxModel(&model);
  if (!checked.ok()) return checked;
  return OnnxNetwork(std::move(model), options);
}

}  // namespace firn::io::internal

#endif  // FIRN_TESTS_IO_ONNX_ONNX_BUILDER_H_
