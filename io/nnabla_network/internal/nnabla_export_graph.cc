// One pass over the operations, as they ran: each puts its functions behind those before it.
// Reasons against the export are collected, so that one error tells them all.
#include "firn/io/nnabla_network/internal/nnabla_export_graph.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/io/captured/captured_batch.h"
#include "firn/io/captured/captured_export.h"
#include "firn/io/hdf5/internal/h5_names.h"
#include "firn/io/nnabla_network/internal/nnabla_export_call.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/from.h"
#include "firn/tensor/op.h"

namespace firn::io::internal {
namespace {

using V = NnablaValue;

// In functions and variables.
void Rename(nnabla::Network* network, const std::map<std::string, std::string>& names) {
  const auto rename = [&](std::string& name) {
    if (const auto at = names.find(name); at != names.end()) name = at->second;
  };
  for (nnabla::Variable& variable : network->variables) rename(variable.name);
  for (nnabla::Function& function : network->functions) {
    for (auto* list : {&function.input, &function.output}) {
      for (std::string& name : *list) rename(name);
    }
  }
}

class Exporter {
 public:
  Exporter(const Graph& graph, const Graph& other, const NnablaExportOptions& options)
      : graph_(graph), options_(options), names_(options.names), n_(graph, other) {
    if (!options.dynamic_batch) return;
    const ValueId first = graph.inputs[0];
    n_.SetBatch(graph.value(first).spec.shape[0], other.value(first).spec.shape[0]);
  }

  absl::StatusOr<ExportedNnabla> Run();

 private:
  absl::Status Inputs();
  absl::Status States();
  absl::Status NameOutputs();
  absl::Status Operations();
  void Operation(const Instr& instr, const CapturedBatchNorm* norm);
  void BatchNorm(const CapturedBatchNorm& norm);
  void Outputs();
  void Output(const std::string& name, ValueId id);
  void DropUnused();
  void NameParameters();
  void Finish();

  const Graph& graph_;
  const NnablaExportOptions& options_;
  const CapturedNames names_;
  NnablaExportCall n_;
  ExportedNnabla out_;
  std::vector<std::string> refused_, output_names_;
  std::vector<std::pair<std::string, ValueId>> states_;  // that are written
  std::map<std::string, std::string> renamed_;
};

absl::Status Exporter::Inputs() {
  FIRN_ASSIGN_OR_RETURN(out_.report.inputs,
                        NamesOfAll("input", graph_.inputs.size(), options_.inputs,
                                   [this](const std::string& name) { return n_.Unique(name); }));
  for (size_t i = 0; i < graph_.inputs.size(); ++i) {
    const ValueId id = graph_.inputs[i];
    const std::string& name = out_.report.inputs[i];
    nnabla::Variable variable;
    variable.name = name;
    variable.type = "Buffer";
    variable.shape = n_.DimsOf(n_.SizesOf(id));
    n_.network().variables.push_back(std::move(variable));
    V value;
    value.name = name;
    value.sizes = n_.SizesOf(id);
    value.nodes = &n_;
    n_.Bind(id, value);
  }
  return absl::OkStatus();
}

absl::Status Exporter::States() {
  FIRN_ASSIGN_OR_RETURN(const std::vector<CapturedState> states, StatesOf(graph_, names_));
  std::map<std::string, ValueId> by_name;
  for (const auto& [id, state, own_name, written] : states) {
    const Value& value = graph_.value(id);
    std::string name = own_name;
    if (written) states_.emplace_back(name, id);
    std::replace(name.begin(), name.end(), '.', '/');
    // Views of one memory, and states without names, may wish for one name.
    const std::string wish = name;
    for (int k = 1; state; ++k) {
      const auto [there, added] = by_name.try_emplace(name, id);
      const Value& other = graph_.value(there->second);
      if (added || (other.buffer == value.buffer && other.offset == value.offset &&
                    firn::inner::SameSpec(other.spec, value.spec))) {
        break;
      }
      name = absl::StrCat(wish, "_", k);
    }
    n_.Bind(id, state ? n_.Parameter(name, value.bound, value.bound.requires_grad())
                      : n_.Constant(value.bound));
    if (n_.wanted(id) && !n_.refused().empty()) {
      refused_.push_back(absl::StrCat(name, ": ", n_.refused()));
    }
    n_.refused().clear();
  }
  return absl::OkStatus();
}

// Done before values of functions get names, which must differ from these.
absl::Status Exporter::NameOutputs() {
  FIRN_ASSIGN_OR_RETURN(output_names_,
                        NamesOfAll("output", graph_.outputs.size(), options_.outputs,
                                   [this](const std::string& name) { return n_.Unique(name); }));
  return absl::OkStatus();
}

// One function in the place of channel_affine; those that made scale and shift go if nobody else
// reads them.
void Exporter::BatchNorm(const CapturedBatchNorm& norm) {
  const int64_t channels = n_.size(1, 0);
  std::vector<int64_t> sizes(static_cast<size_t>(n_.rank(0)), 1);
  sizes[1] = channels;
  const auto input = [&](ValueId id, double otherwise) {
    const std::vector<double> all(static_cast<size_t>(channels), otherwise);
    return n_.Reshape(id != kNoValue ? n_.Current(id) : n_.Constant(FromVector(all)), sizes);
  };
  n_.Out(0, n_.Node("BatchNormalization",
                    {n_.in(0), input(norm.bias, 0), input(norm.weight, 1), input(norm.mean, 0),
                     input(norm.variance, 1)},
                    {{"axes", std::vector<int64_t>{1}},
                     {"decay_rate", 0.9},
                     {"eps", norm.eps},
                     {"batch_stat", false}}));
}

void Exporter::Operation(const Instr& instr, const CapturedBatchNorm* norm) {
  n_.Take(instr);
  const NnablaExportRule* rule = FindNnablaExport(instr.op->name);
  const auto is_empty = [&](ValueId id) {
    return id != kNoValue && n_.wanted(id) && graph_.value(id).spec.shape.num_elements() == 0;
  };
  if (std::any_of(instr.out.begin(), instr.out.end(), is_empty)) {
    n_.Refuse("has a result without elements, which NNabla has not");
  } else if (instr.op->name != "concat" &&
             std::any_of(instr.in.begin(), instr.in.end(), is_empty)) {
    n_.Refuse("takes a tensor without elements, which NNabla has not");
  } else if (norm != nullptr) {
    BatchNorm(*norm);
  } else if (rule == nullptr) {
    n_.Refuse("nothing says what it is in NNabla");
  } else if (rule->write != nullptr) {
    rule->write(n_);
  } else if (!rule->why_not.empty()) {
    n_.Refuse(std::string(rule->why_not));
  } else {
    NnablaNodes::Inputs inputs;
    for (size_t i = 0; i < n_.count(); ++i) inputs.push_back(n_.in(i));
    n_.Out(0, n_.Node(rule->same_as, inputs));
  }
  if (n_.refused().empty()) {
    for (const ValueId id : instr.out) {
      if (n_.wanted(id) && !n_.bound(id)) n_.Refuse("has a result too many");
    }
  }
  std::optional<std::string> refusal = n_.TakeRefusal();
  if (!refusal) return;
  refused_.push_back(*std::move(refusal));
  for (const ValueId id : instr.out) {
    V unknown;
    unknown.name = "?";
    unknown.sizes = n_.SizesOf(id);
    unknown.nodes = &n_;
    n_.Bind(id, unknown);
  }
}

absl::Status Exporter::Operations() {
  return WriteAll(
      graph_, "NNabla",
      [this](const Instr& instr, const CapturedBatchNorm* norm) { Operation(instr, norm); },
      refused_);
}

// A function's result gets the output's name, unless it has an output's name already.
void Exporter::Output(const std::string& name, ValueId id) {
  n_.Begin("", "output");
  V value = n_.Current(id);
  const auto made = [&](const nnabla::Function& function) {
    return std::find(function.output.begin(), function.output.end(), value.name) !=
           function.output.end();
  };
  const auto& functions = n_.network().functions;
  if (std::none_of(functions.begin(), functions.end(), made) || renamed_.contains(value.name)) {
    value = n_.Node("Identity", {value});
  }
  renamed_[value.name] = name;
  out_.report.outputs.push_back(name);
}

void Exporter::Outputs() {
  for (size_t i = 0; i < graph_.outputs.size(); ++i) Output(output_names_[i], graph_.outputs[i]);
  for (const auto& [name, id] : states_) {
    Output(n_.Unique(absl::StrCat(name, ".next")), id);
    out_.report.warnings.push_back(absl::StrCat(
        "the run changes ", name, ", whose new value is output ", out_.report.outputs.back()));
  }
  Rename(&n_.network(), renamed_);
}

// Drops functions without a result that is read, and variables that nothing names.
void Exporter::DropUnused() {
  nnabla::Network& network = n_.network();
  std::set<std::string> read(out_.report.outputs.begin(), out_.report.outputs.end());
  std::set<std::string> named(out_.report.inputs.begin(), out_.report.inputs.end());
  std::vector<nnabla::Function> kept;
  for (size_t i = network.functions.size(); i-- > 0;) {
    nnabla::Function& function = network.functions[i];
    const auto is_read = [&](const std::string& name) { return read.contains(name); };
    if (std::none_of(function.output.begin(), function.output.end(), is_read)) continue;
    read.insert(function.input.begin(), function.input.end());
    named.insert(function.input.begin(), function.input.end());
    named.insert(function.output.begin(), function.output.end());
    kept.push_back(std::move(function));
  }
  std::reverse(kept.begin(), kept.end());
  network.functions = std::move(kept);
  std::erase_if(network.variables,
                [&](const nnabla::Variable& variable) { return !named.contains(variable.name); });
}

// If only dropped functions took a parameter's first form, a kept form gets its name. Names are
// paths in a file, so all of them together decide where slashes may stand.
void Exporter::NameParameters() {
  std::set<std::string> parameters;
  for (const nnabla::Variable& variable : n_.network().variables) {
    if (variable.type == "Parameter") parameters.insert(variable.name);
  }
  StateDict& kept = out_.model.parameters;
  std::map<std::string, std::string> renamed;
  for (const nnabla::Variable& variable : n_.network().variables) {
    if (variable.type != "Parameter") continue;
    std::string name = variable.name;
    const auto first = n_.first_names().find(name);
    if (first != n_.first_names().end() && parameters.insert(first->second).second) {
      name = first->second;
    }
    kept.Insert(nnabla::ParameterName(name), n_.parameters()[nnabla::ParameterName(variable.name)]);
    renamed[variable.name] = name;
  }
  for (auto& [from, name] : renamed) name = H5Path(kept, nnabla::ParameterName(name));
  Rename(&n_.network(), renamed);
}

void Exporter::Finish() {
  nnabla::Network& network = n_.network();
  network.name = options_.network;
  network.batch_size = 1;
  if (!graph_.inputs.empty() && graph_.value(graph_.inputs[0]).spec.shape.rank() > 0) {
    network.batch_size = graph_.value(graph_.inputs[0]).spec.shape[0];
  }
  nnabla::Executor executor;
  executor.name = options_.executor;
  executor.network_name = network.name;
  for (const std::string& name : out_.report.inputs) executor.data_variable.push_back({name, name});
  for (const std::string& name : out_.report.outputs) {
    nnabla::OutputVariable output;
    output.variable_name = output.data_name = name;
    executor.output_variable.push_back(std::move(output));
  }
  for (const nnabla::Variable& variable : network.variables) {
    if (variable.type != "Parameter") continue;
    nnabla::ParameterVariable parameter;
    parameter.variable_name = variable.name;
    executor.parameter_variable.push_back(std::move(parameter));
  }
  out_.report.functions = static_cast<int64_t>(network.functions.size());
  out_.model.version = "1.39.0";
  out_.model.networks.push_back(std::move(network));
  out_.model.executors.push_back(std::move(executor));
}

absl::StatusOr<ExportedNnabla> Exporter::Run() {
  FIRN_RETURN_IF_ERROR(Inputs());
  FIRN_RETURN_IF_ERROR(States());
  FIRN_RETURN_IF_ERROR(NameOutputs());
  FIRN_RETURN_IF_ERROR(Operations());
  Outputs();
  for (std::string& warning : n_.warnings()) out_.report.warnings.push_back(std::move(warning));
  DropUnused();
  NameParameters();
  Finish();
  return std::move(out_);
}

}  // namespace

absl::StatusOr<ExportedNnabla> NnablaModelOf(const Graph& graph,
                                             const NnablaExportOptions& options) {
  const NoGradScope no_grad;
  for (const GradientEffect& effect : graph.gradients) {
    FIRN_RETURN_IF(effect.value != kNoValue,
                   Unimplemented("expected a graph that leaves no gradients, which NNabla computes "
                                 "by itself; export the forward run"));
  }
  if (!options.dynamic_batch) return Exporter(graph, graph, options).Run();
  FIRN_ASSIGN_OR_RETURN(const Graph other, WithAnotherBatch(graph));
  Exporter exporter(graph, other, options);
  return exporter.Run();
}

}  // namespace firn::io::internal
