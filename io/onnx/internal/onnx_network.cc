// A model's names become numbers of values, its nodes those of a network. Functions are written out
// where they are called, each time with values of their own; graphs within nodes become bodies,
// which see the numbers around them. All of this goes with a stack of its own, since files may nest
// as deeply as they like.

#include "firn/io/onnx/internal/onnx_network.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "firn/autograd/network/definition.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/onnx/internal/onnx_attributes.h"
#include "firn/io/onnx/internal/onnx_ops.h"
#include "firn/io/onnx/internal/onnx_parts.h"

namespace firn::io::internal {
namespace {

using autograd::kNoValue;
using autograd::NetworkBody;
using autograd::NetworkDefinition;
using autograd::NetworkNode;
using firn::inner::internal::JsonString;

constexpr int64_t kOldestOpset = 1, kNewestOpset = 28;

// Values by their names in a graph or function, and in those around it.
struct Scope {
  absl::flat_hash_map<std::string_view, int> names;
  std::shared_ptr<const Scope> around = nullptr;

  int Find(std::string_view name) const {
    for (const Scope* s = this; s != nullptr; s = s->around.get()) {
      const auto found = s->names.find(name);
      if (found != s->names.end()) return found->second;
    }
    return kNoValue;
  }
};

using Attributes = absl::flat_hash_map<std::string_view, const OnnxAttribute*>;
using Opsets = std::map<std::string_view, int64_t>;
using Graphs = std::vector<std::pair<std::shared_ptr<NetworkBody>, const OnnxGraph*>>;

// Nodes that are gone through: of a graph, or of a function that is called.
struct Frame {
  const std::vector<OnnxNode>* nodes;
  std::shared_ptr<Scope> scope;
  NetworkBody* body;                             // where nodes go
  std::shared_ptr<const Attributes> attributes;  // of the call, for references
  std::shared_ptr<const Opsets> opsets;
  std::string where, prefix;  // in messages, of names
  // At the end: a graph's outputs become the body's, a function's those of the call.
  const OnnxGraph* graph = nullptr;
  const OnnxFunction* function = nullptr;
  const OnnxNode* call = nullptr;
  std::shared_ptr<Scope> caller = nullptr;
  size_t next = 0;
};

class Builder {
 public:
  Builder(const OnnxModel& model, const OnnxImportOptions& options)
      : model_(model),
        options_(options),
        definition_(std::make_shared<NetworkDefinition>()),
        parts_(model, options, definition_.get()) {
    for (const OnnxFunction& f : model.functions) {
      functions_.emplace(std::tuple(std::string_view(f.domain), std::string_view(f.name),
                                    std::string_view(f.overload)),
                         &f);
    }
  }

  absl::StatusOr<OnnxImport> Build() {
    definition_->source = model_.file;
    definition_->max_nodes = options_.max_nodes;
    auto opsets = std::make_shared<Opsets>();
    for (const OnnxOpset& opset : model_.opsets) opsets->emplace(opset.domain, opset.version);
    CheckOpset(*opsets);
    const auto scope = std::make_shared<Scope>();
    AddInputs(scope.get());
    stack_.push_back({.nodes = &model_.graph.nodes,
                      .scope = scope,
                      .body = &definition_->body,
                      .attributes = std::make_shared<Attributes>(),
                      .opsets = opsets,
                      .where = "",
                      .prefix = "",
                      .graph = &model_.graph});
    while (!stack_.empty()) FIRN_RETURN_IF_ERROR(Advance());
    for (const OnnxValueInfo& output : model_.graph.outputs) {
      definition_->outputs.push_back(parts_.Port(output, "output"));
    }
    FIRN_RETURN_IF_ERROR(
        parts_.AddInitializers([&](const std::string& name) { return scope->Find(name); }));
    FIRN_RETURN_IF_ERROR(parts_.Unsupported());
    return Result();
  }

 private:
  void CheckOpset(const Opsets& opsets) {
    const auto own = opsets.find("");
    if (own == opsets.end() || (own->second >= kOldestOpset && own->second <= kNewestOpset)) return;
    parts_.NoteProblem("opset", absl::StrCat("opset ", own->second, " of ONNX's operators (",
                                             kOldestOpset, " to ", kNewestOpset, " are known)"));
  }

  int NewValue() { return definition_->num_values++; }

  void AddInputs(Scope* scope) {
    absl::flat_hash_set<std::string_view> given;
    for (const OnnxTensor& t : model_.graph.initializers) given.insert(t.name);
    for (const OnnxSparseTensor& t : model_.graph.sparse_initializers) {
      given.insert(t.values.name);
      parts_.NoteProblem("sparse initializer",
                         absl::StrCat("sparse initializer ", JsonString(t.values.name)));
    }
    for (const OnnxValueInfo& input : model_.graph.inputs) {
      if (given.contains(input.name)) continue;
      definition_->inputs.push_back(parts_.Port(input, "input"));
      const int id = NewValue();
      definition_->body.inputs.push_back(id);
      scope->names.emplace(input.name, id);
    }
    for (const std::string_view name : given) scope->names.emplace(name, NewValue());
  }

  absl::Status Advance() {
    Frame& frame = stack_.back();
    if (frame.next < frame.nodes->size()) {
      const OnnxNode& node = (*frame.nodes)[frame.next++];
      const auto called =
          functions_.find(std::tuple(std::string_view(node.domain), std::string_view(node.op_type),
                                     std::string_view(node.overload)));
      if (called != functions_.end() && !node.domain.empty()) {
        return CallFunction(node, *called->second);
      }
      return AddNode(node);
    }
    if (frame.function != nullptr) {
      for (size_t i = 0; i < frame.call->outputs.size(); ++i) {
        const std::string& name = frame.call->outputs[i];
        if (name.empty() || i >= frame.function->outputs.size()) continue;
        frame.caller->names.insert_or_assign(name, frame.scope->Find(frame.function->outputs[i]));
      }
    } else {
      for (const OnnxValueInfo& output : frame.graph->outputs) {
        frame.body->outputs.push_back(frame.scope->Find(output.name));
      }
    }
    stack_.pop_back();
    return absl::OkStatus();
  }

  // 'node 3 "conv1" (Conv, opset 11)'
  static std::string What(const Frame& frame, const OnnxNode& node, int64_t opset) {
    std::string what =
        absl::StrCat(frame.where, "node ", frame.next - 1, " ", JsonString(node.name), " (");
    if (!node.domain.empty()) absl::StrAppend(&what, node.domain, ".");
    absl::StrAppend(&what, node.op_type);
    if (opset != 0) absl::StrAppend(&what, ", opset ", opset);
    return what + ")";
  }

  static int64_t OpsetOf(const Frame& frame, const OnnxNode& node) {
    const auto found = frame.opsets->find(node.domain);
    return found == frame.opsets->end() ? 0 : found->second;
  }

  static std::string NameOf(const Frame& frame, const OnnxNode& node) {
    if (!node.name.empty()) return frame.prefix + node.name;
    return absl::StrCat(frame.prefix, node.op_type, "_", frame.next - 1);
  }

  // The node's attributes, with references to attributes of its caller resolved.
  static std::vector<const OnnxAttribute*> AttributesOf(const Frame& frame, const OnnxNode& node,
                                                        std::vector<OnnxAttribute>* renamed) {
    std::vector<const OnnxAttribute*> all;
    renamed->reserve(node.attributes.size());
    for (const OnnxAttribute& a : node.attributes) {
      if (a.reference.empty()) {
        all.push_back(&a);
        continue;
      }
      const auto given = frame.attributes->find(a.reference);
      if (given == frame.attributes->end()) continue;
      renamed->push_back(*given->second);
      renamed->back().name = a.name;
      all.push_back(&renamed->back());
    }
    return all;
  }

  absl::Status Count() {
    FIRN_RETURN_IF(++nodes_ > options_.max_nodes,
                   ResourceExhausted(model_.file, ": expected at most ", options_.max_nodes,
                                     " nodes (max_nodes), its functions written out"));
    return absl::OkStatus();
  }

  absl::Status CallFunction(const OnnxNode& node, const OnnxFunction& function) {
    FIRN_RETURN_IF_ERROR(Count());
    const Frame& frame = stack_.back();
    const std::string what = What(frame, node, 0);
    FIRN_RETURN_IF(node.inputs.size() > function.inputs.size(),
                   DataLoss(model_.file, ": ", what, ": expected at most ", function.inputs.size(),
                            " inputs, got ", node.inputs.size()));
    FIRN_RETURN_IF(node.outputs.size() > function.outputs.size(),
                   DataLoss(model_.file, ": ", what, ": expected at most ", function.outputs.size(),
                            " outputs, got ", node.outputs.size()));
    auto scope = std::make_shared<Scope>();
    for (size_t i = 0; i < function.inputs.size(); ++i) {
      const bool has = i < node.inputs.size() && !node.inputs[i].empty();
      scope->names.emplace(function.inputs[i], has ? frame.scope->Find(node.inputs[i]) : kNoValue);
    }
    auto attributes = std::make_shared<Attributes>();
    for (const OnnxAttribute& a : function.defaults) attributes->emplace(a.name, &a);
    auto* const renamed = kept_.emplace_back(std::make_unique<std::vector<OnnxAttribute>>()).get();
    for (const OnnxAttribute* a : AttributesOf(frame, node, renamed)) {
      attributes->insert_or_assign(a->name, a);
    }
    auto opsets = std::make_shared<Opsets>(*frame.opsets);
    for (const OnnxOpset& opset : function.opsets) {
      opsets->insert_or_assign(opset.domain, opset.version);
    }
    stack_.push_back({.nodes = &function.nodes,
                      .scope = std::move(scope),
                      .body = frame.body,
                      .attributes = std::move(attributes),
                      .opsets = std::move(opsets),
                      .where = what + ", ",
                      .prefix = NameOf(frame, node) + "/",
                      .function = &function,
                      .call = &node,
                      .caller = frame.scope});
    return absl::OkStatus();
  }

  void NoteNode(const OnnxNode& node, int64_t opset, const std::string& what,
                const std::string& why) {
    parts_.NoteProblem(absl::StrCat(node.domain, ".", node.op_type, " ", opset, " ", why),
                       absl::StrCat(what, why.empty() ? "" : ": ", why));
  }

  absl::Status AddNode(const OnnxNode& node) {
    FIRN_RETURN_IF_ERROR(Count());
    const Frame& frame = stack_.back();
    const int64_t opset = OpsetOf(frame, node);
    NetworkNode made;
    made.name = NameOf(frame, node);
    made.what = What(frame, node, opset);
    ++operators_[absl::StrCat(node.domain, node.domain.empty() ? "" : ".", node.op_type)];
    const OnnxOp* const op = FindOnnxOp(node.domain, node.op_type, opset);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int id = node.inputs[i].empty() ? kNoValue : frame.scope->Find(node.inputs[i]);
      made.inputs.push_back(id);
      if (id != kNoValue) parts_.NoteUse(id, op, i);
    }
    for (const std::string& output : node.outputs) {
      made.outputs.push_back(output.empty() ? kNoValue : NewValue());
      if (!output.empty()) frame.scope->names.insert_or_assign(output, made.outputs.back());
    }
    auto info = std::make_shared<OnnxNodeInfo>();
    info->opset = opset;
    auto* const renamed = kept_.emplace_back(std::make_unique<std::vector<OnnxAttribute>>()).get();
    Graphs graphs;
    for (const OnnxAttribute* a : AttributesOf(frame, node, renamed)) {
      FIRN_RETURN_IF(
          op != nullptr && node.domain.empty() && !HasOnnxAttribute(node.op_type, opset, a->name),
          DataLoss(model_.file, ": ", made.what, ": attribute ", JsonString(a->name),
                   ": expected one that the operator has (", OnnxAttributesOf(node.op_type, opset),
                   ")"));
      FIRN_RETURN_IF_ERROR(AddAttribute(*a, made.what, info.get(), &graphs));
    }
    for (const OnnxAttribute& a : *renamed) {
      if (std::holds_alternative<std::vector<OnnxGraph>>(a.value)) {
        NoteNode(node, opset, made.what, "a graph that the caller of a function gives");
      }
    }
    for (const auto& [body, graph] : graphs) made.bodies.push_back(body);
    if (const auto why = RefusalOf(op, *info)) NoteNode(node, opset, made.what, *why);
    if (op != nullptr) {
      made.draws = op->options.draws;
      made.lower = LoweringOf(*op, std::move(info));
    }
    // Frames move in memory when others are pushed.
    const Frame inside{.nodes = nullptr,
                       .scope = frame.scope,
                       .body = nullptr,
                       .attributes = frame.attributes,
                       .opsets = frame.opsets,
                       .where = made.what + ", ",
                       .prefix = made.name + "/"};
    frame.body->nodes.push_back(std::move(made));
    for (const auto& [body, graph] : graphs) {
      FIRN_RETURN_IF_ERROR(AddBody(*graph, body.get(), inside));
    }
    return absl::OkStatus();
  }

  absl::Status AddAttribute(const OnnxAttribute& a, const std::string& what, OnnxNodeInfo* info,
                            Graphs* graphs) {
    if (const auto* inside = std::get_if<std::vector<OnnxGraph>>(&a.value)) {
      for (const OnnxGraph& graph : *inside) {
        graphs->emplace_back(std::make_shared<NetworkBody>(), &graph);
        info->graphs.push_back(a.name);
      }
      return absl::OkStatus();
    }
    if (a.type == OnnxAttributeType::kTensor) {
      const auto* tensors = std::get_if<std::vector<OnnxTensor>>(&a.value);
      FIRN_RETURN_IF(tensors == nullptr || tensors->size() != 1,
                     DataLoss(model_.file, ": ", what, ": attribute ", JsonString(a.name),
                              " is expected to be a tensor"));
      FIRN_ASSIGN_OR_RETURN(
          Tensor read,
          parts_.Read((*tensors)[0], absl::StrCat(what, ", attribute ", JsonString(a.name))));
      info->tensors.push_back(std::move(read));
    }
    info->attributes.push_back(a);
    return absl::OkStatus();
  }

  // A graph within a node. `frame` says what it sees.
  absl::Status AddBody(const OnnxGraph& graph, NetworkBody* body, Frame frame) {
    auto scope = std::make_shared<Scope>();
    for (const OnnxTensor& t : graph.initializers) {
      const int id = NewValue();
      FIRN_ASSIGN_OR_RETURN(Tensor read, parts_.Read(t, absl::StrCat(frame.where, "initializer ",
                                                                     JsonString(t.name))));
      definition_->constants.emplace_back(id, std::move(read));
      scope->names.emplace(t.name, id);
    }
    for (const OnnxValueInfo& input : graph.inputs) {
      const int id = NewValue();
      body->inputs.push_back(id);
      scope->names.insert_or_assign(input.name, id);
    }
    scope->around = std::move(frame.scope);
    frame.scope = std::move(scope);
    frame.nodes = &graph.nodes;
    frame.graph = &graph;
    frame.body = body;
    stack_.push_back(std::move(frame));
    return absl::OkStatus();
  }

  OnnxImport Result() {
    OnnxReport report;
    report.producer = model_.producer;
    report.ir_version = model_.ir_version;
    if (!model_.producer_version.empty()) report.producer += " " + model_.producer_version;
    for (const OnnxOpset& opset : model_.opsets) {
      report.opsets.emplace_back(opset.domain, opset.version);
    }
    report.operators.assign(operators_.begin(), operators_.end());
    report.metadata = model_.metadata;
    return {.network = Network(definition_, parts_.state()),
            .state = parts_.state(),
            .report = std::move(report)};
  }

  const OnnxModel& model_;
  const OnnxImportOptions& options_;
  const std::shared_ptr<NetworkDefinition> definition_;
  OnnxParts parts_;
  absl::flat_hash_map<std::tuple<std::string_view, std::string_view, std::string_view>,
                      const OnnxFunction*>
      functions_;
  std::vector<Frame> stack_;
  std::map<std::string, int64_t> operators_;
  std::vector<std::unique_ptr<std::vector<OnnxAttribute>>> kept_;  // that frames point to
  int64_t nodes_ = 0;
};

}  // namespace

absl::StatusOr<OnnxImport> OnnxNetwork(OnnxModel model, const OnnxImportOptions& options) {
  return Builder(model, options).Build();
}

}  // namespace firn::io::internal
