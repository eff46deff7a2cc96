// One pass over the operations, as they ran: each puts its nodes behind those before it. Reasons
// against the export are collected, so that one error tells them all.
#include "firn/io/onnx/internal/onnx_export_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/captured/captured_batch.h"
#include "firn/io/captured/captured_export.h"
#include "firn/io/exchange/names.h"
#include "firn/io/onnx/internal/onnx_check.h"
#include "firn/io/onnx/internal/onnx_elements.h"
#include "firn/io/onnx/internal/onnx_export_call.h"
#include "firn/io/onnx/internal/onnx_qdq.h"
#include "firn/tensor/from.h"
#include "firn/tensor/op.h"

namespace firn::io::internal {
namespace {

constexpr int kOldest = 13, kNewest = 28;

int64_t IrVersion(int opset) {
  constexpr int kVersions[] = {7, 7, 8, 8, 8, 8, 9, 9, 10, 10, 11, 12, 13, 13, 13, 14};
  return kVersions[opset - kOldest];
}

// The name of the function in ONNX.
std::string NameElsewhere(std::string_view function) {
  for (const FunctionNames& names : AllFunctionNames()) {
    if (names.function == function && !names.elsewhere.onnx.empty()) {
      return std::string(names.elsewhere.onnx.front());
    }
  }
  return "";
}

class Exporter {
 public:
  Exporter(const Graph& graph, const Graph& other, const OnnxExportOptions& options)
      : graph_(graph), options_(options), names_(options.names), n_(graph, other, options.opset) {
    if (!options.dynamic_batch) return;
    const ValueId first = graph.inputs[0];
    n_.SetBatch(graph.value(first).spec.shape[0], other.value(first).spec.shape[0]);
  }

  absl::StatusOr<ExportedModel> Run();

 private:
  absl::Status Inputs();
  absl::Status States();
  absl::Status Operations();
  void Operation(const Instr& instr, const CapturedBatchNorm* norm);
  void BatchNorm(const CapturedBatchNorm& norm);
  absl::Status NameOutputs();
  void Outputs();
  void Output(const std::string& name, ValueId id);

  const Graph& graph_;
  const OnnxExportOptions& options_;
  const CapturedNames names_;
  OnnxExportCall n_;
  ExportedModel out_;
  std::vector<std::string> refused_, output_names_;
  std::vector<std::pair<std::string, ValueId>> states_;  // that are written
};

absl::Status Exporter::Inputs() {
  FIRN_ASSIGN_OR_RETURN(out_.report.inputs,
                        NamesOfAll("input", graph_.inputs.size(), options_.inputs,
                                   [this](const std::string& name) { return n_.Unique(name); }));
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const ValueId id = graph_.inputs[i];
    const std::string& name = out_.report.inputs[i];
    OnnxValueInfo info;
    info.name = name;
    info.type.kind = OnnxType::Kind::kTensor;
    info.type.element = OnnxElementOf(graph_.value(id).spec.dtype);
    info.type.shape = n_.DimsOf(id);
    n_.graph().inputs.push_back(std::move(info));
    const OnnxValue value{name, graph_.value(id).spec.dtype, &n_};
    if (i == 0) n_.BindBatch(value);
    n_.Bind(id, value);
  }
  return absl::OkStatus();
}

absl::Status Exporter::States() {
  FIRN_ASSIGN_OR_RETURN(const std::vector<CapturedState> states, StatesOf(graph_, names_));
  for (const CapturedState& state : states) {
    n_.BindState(state.id, n_.Initializer(state.is_state ? state.name : "constant",
                                          graph_.value(state.id).bound));
    if (state.written) states_.emplace_back(state.name, state.id);
  }
  return absl::OkStatus();
}

// Done before values of nodes get names, which must differ from these.
absl::Status Exporter::NameOutputs() {
  FIRN_ASSIGN_OR_RETURN(output_names_,
                        NamesOfAll("output", graph_.outputs.size(), options_.outputs,
                                   [this](const std::string& name) { return n_.Unique(name); }));
  return absl::OkStatus();
}

// One node in the place of channel_affine; those that made scale and shift go if nobody else reads
// them.
void Exporter::BatchNorm(const CapturedBatchNorm& norm) {
  const int64_t channels = n_.size(1, 0);
  const auto input = [&](ValueId id, double otherwise) {
    if (id != kNoValue) return n_.Current(id);
    const std::vector<double> all(static_cast<size_t>(channels), otherwise);
    return n_.Constant(FromVector(all).To(n_.dtype(0)));
  };
  n_.Out(0, n_.Node("BatchNormalization",
                    {n_.in(0), input(norm.weight, 1), input(norm.bias, 0), n_.Current(norm.mean),
                     n_.Current(norm.variance)},
                    {{"epsilon", norm.eps}}));
}

void Exporter::Operation(const Instr& instr, const CapturedBatchNorm* norm) {
  n_.Take(instr);
  const OnnxExportRule* rule = FindOnnxExport(instr.op->name);
  if (norm != nullptr) {
    BatchNorm(*norm);
  } else if (rule == nullptr) {
    n_.Refuse("nothing says what it is in ONNX");
  } else if (rule->write != nullptr) {
    rule->write(n_);
  } else if (!rule->why_not.empty()) {
    n_.Refuse(std::string(rule->why_not));
  } else {
    OnnxNodes::Inputs inputs;
    for (size_t i = 0; i < n_.count(); ++i) inputs.push_back(n_.in(i));
    n_.Out(0, n_.Node(NameElsewhere(rule->same_as).c_str(), inputs, {}, n_.out_dtype(0)));
  }
  if (n_.refused().empty()) {
    for (size_t i = 0; i < instr.out.size(); ++i) {
      if (n_.wants(i) && n_.Current(instr.out[i]).name.empty()) n_.Refuse("has a result too many");
    }
  }
  std::optional<std::string> refusal = n_.TakeRefusal();
  if (!refusal) return;
  refused_.push_back(*std::move(refusal));
  for (const ValueId id : instr.out) n_.Bind(id, {"?", graph_.value(id).spec.dtype, &n_});
}

absl::Status Exporter::Operations() {
  return WriteAll(
      graph_, absl::StrCat("opset ", options_.opset),
      [this](const Instr& instr, const CapturedBatchNorm* norm) { Operation(instr, norm); },
      refused_);
}

void Exporter::Output(const std::string& name, ValueId id) {
  n_.Begin("", "output");
  const OnnxValue value = n_.Node("Identity", {n_.Current(id)});
  n_.graph().nodes.back().outputs = {name};
  OnnxValueInfo info;
  info.name = name;
  info.type.kind = OnnxType::Kind::kTensor;
  info.type.element = OnnxElementOf(value.dtype);
  info.type.shape = n_.DimsOf(id);
  n_.graph().outputs.push_back(std::move(info));
  out_.report.outputs.push_back(name);
}

void Exporter::Outputs() {
  for (size_t i = 0; i < graph_.outputs.size(); ++i) Output(output_names_[i], graph_.outputs[i]);
  for (const GradientEffect& effect : graph_.gradients) {
    if (effect.value == kNoValue) continue;
    std::string name = names_.NameOf(effect.leaf);
    if (name.empty()) name = "leaf";
    Output(n_.Unique(absl::StrCat(name, ".grad")), effect.value);
    out_.report.warnings.push_back(
        absl::StrCat("the gradient of ", name, " is output ", out_.report.outputs.back()));
  }
  for (const auto& [name, id] : states_) {
    Output(n_.Unique(absl::StrCat(name, ".next")), id);
    out_.report.warnings.push_back(absl::StrCat(
        "the run changes ", name, ", whose new value is output ", out_.report.outputs.back()));
  }
}

// Where a node's only reader is an output's Identity, the node makes the output.
void MergeOutputs(OnnxGraph* graph) {
  std::map<std::string, std::string> renamed;
  std::set<std::string> made;
  for (const OnnxNode& node : graph->nodes) {
    if (node.op_type != "Identity") made.insert(node.outputs.begin(), node.outputs.end());
  }
  std::set<std::string> outputs;
  for (const OnnxValueInfo& info : graph->outputs) outputs.insert(info.name);
  std::erase_if(graph->nodes, [&](const OnnxNode& node) {
    return node.op_type == "Identity" && outputs.contains(node.outputs[0]) &&
           made.contains(node.inputs[0]) && renamed.emplace(node.inputs[0], node.outputs[0]).second;
  });
  for (OnnxNode& node : graph->nodes) {
    for (auto* names : {&node.inputs, &node.outputs}) {
      for (std::string& name : *names) {
        if (const auto at = renamed.find(name); at != renamed.end()) name = at->second;
      }
    }
  }
}

absl::StatusOr<ExportedModel> Exporter::Run() {
  FIRN_RETURN_IF_ERROR(Inputs());
  FIRN_RETURN_IF_ERROR(States());
  FIRN_RETURN_IF_ERROR(NameOutputs());
  FIRN_RETURN_IF_ERROR(Operations());
  Outputs();
  MergeQdqBiases(&n_);
  for (std::string& warning : n_.warnings()) out_.report.warnings.push_back(std::move(warning));
  OnnxModel& model = out_.model;
  model.graph = std::move(n_.graph());
  model.graph.name = "firn";
  MergeOutputs(&model.graph);
  DropUnused(&model.graph);
  model.ir_version = IrVersion(options_.opset);
  model.opsets = {{"", options_.opset}};
  model.producer = "firn";
  for (const auto& [key, value] : options_.metadata) model.metadata.emplace_back(key, value);
  out_.report.nodes = static_cast<int64_t>(model.graph.nodes.size());
  FIRN_RETURN_IF_ERROR(CheckOnnxModel(&model));
  return std::move(out_);
}

// Results that a node must name even if nothing reads them.
size_t NamedResults(const OnnxNode& node) {
  static const std::set<std::string_view> kNone = {"GRU", "LSTM", "RNN"};
  return node.op_type == "TopK" ? 2 : kNone.contains(node.op_type) ? 0 : 1;
}

}  // namespace

void DropUnused(OnnxGraph* graph) {
  std::set<std::string> read;
  for (const OnnxValueInfo& info : graph->outputs) read.insert(info.name);
  std::vector<OnnxNode> kept;
  for (size_t i = graph->nodes.size(); i-- > 0;) {
    OnnxNode& node = graph->nodes[i];
    std::vector<std::string>& results = node.outputs;
    const auto is_read = [&](const std::string& name) { return read.contains(name); };
    if (std::none_of(results.begin(), results.end(), is_read)) continue;
    for (size_t k = NamedResults(node); k < results.size(); ++k) {
      if (!is_read(results[k])) results[k].clear();
    }
    while (results.back().empty()) results.pop_back();
    read.insert(node.inputs.begin(), node.inputs.end());
    kept.push_back(std::move(node));
  }
  std::reverse(kept.begin(), kept.end());
  graph->nodes = std::move(kept);
  std::erase_if(graph->initializers, [&](const OnnxTensor& t) { return !read.contains(t.name); });
}

absl::StatusOr<ExportedModel> OnnxModelOf(const Graph& graph, const OnnxExportOptions& options) {
  FIRN_RETURN_IF(
      options.opset < kOldest || options.opset > kNewest,
      InvalidArgument("opset must be ", kOldest, " to ", kNewest, ", got ", options.opset));
  if (!options.dynamic_batch) return Exporter(graph, graph, options).Run();
  FIRN_ASSIGN_OR_RETURN(const Graph other, WithAnotherBatch(graph));
  Exporter exporter(graph, other, options);
  return exporter.Run();
}

}  // namespace firn::io::internal
