// NNabla's model files: a ZIP whose first file is the text or the version beside it, or the text
// alone, which the name tells.
#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/autograd/graph/graph.h"
#include "firn/device/escape.h"
#include "firn/device/status_macros.h"
#include "firn/io/formats/formats.h"
#include "firn/io/graph/graph_info_text.h"
#include "firn/io/graph/save.h"
#include "firn/io/nnabla_model/nnabla_file.h"
#include "firn/io/nnabla_network/nnabla_export.h"
#include "firn/io/nnabla_network/nnabla_network.h"
#include "firn/tensor/error.h"

namespace firn::io {
namespace {

StateDict Parameters(const std::string& path, const LoadOptions& options) {
  return LoadNnabla(path, options).parameters;
}

// Without a network, which NNabla loads, too.
void SaveParameters(const std::string& path, const StateDict& state) {
  nnabla::Model model;
  model.parameters = state;
  SaveNnabla(path, model);
}

// Executors tell how a file is to be used; files without executors have networks only.
Network NetworkOf(const std::string& path, const ReadNetworkOptions& options) {
  static_assert(kAnyBatch == nnabla::kOpenBatch);
  const NnablaImport model =
      ImportNnabla(path, {.limits = options.limits, .batch_size = options.batch});
  std::vector<std::string> names;
  for (const auto* parts : {&model.executors, &model.networks}) {
    for (const NnablaPart& part : *parts) {
      if (options.name.empty() || options.name == part.name) return part.network;
      names.push_back(inner::internal::JsonString(part.name));
    }
  }
  RaiseStatus(NotFound(path, ": expected an executor or a network called ",
                       inner::internal::JsonString(options.name), ", got ",
                       names.empty() ? "none" : absl::StrJoin(names, ", ")),
              "read_network");
}

bool IsModel(const FileHead& head) {
  const std::string_view first = head.FirstZipMember();
  return first == "nnp_version.txt" || first.ends_with(".nntxt") || first.ends_with(".prototxt");
}

// These files cannot keep the meaning of a graph's numbers.
void WarnOfInfo(const GraphInfo& info, std::vector<std::string>* warnings) {
  const std::vector<std::string> fields = GraphInfoFields(info);
  if (fields.empty()) return;
  warnings->push_back(absl::StrCat("NNabla's files do not say what numbers mean, and leave out ",
                                   absl::StrJoin(fields, ", "), " (an .onnx or a .firn keeps it)"));
}

std::vector<std::string> Write(const std::string& path, const inner::Graph& graph,
                               const SaveOptions& options) {
  std::vector<std::string> warnings =
      ExportNnabla(path, graph, {.dynamic_batch = options.any_batch, .names = options.names})
          .warnings;
  WarnOfInfo(options.info, &warnings);
  const bool has_states =
      std::any_of(graph.buffers.begin(), graph.buffers.end(),
                  [](const inner::Buffer& b) { return b.kind == inner::Buffer::Kind::kState; });
  if (absl::EndsWithIgnoreCase(path, ".nntxt") && has_states) {
    warnings.push_back("an .nntxt has no parameters; an .nnp has");
  }
  return warnings;
}

}  // namespace

FIRN_FILE_FORMAT(nnabla_model) {
  return {.name = "NNabla model",
          .holds = FileHolds::kGraph,
          .suffixes = {".nnp"},
          .read_suffixes = {".nntxt", ".prototxt"},
          .recognises = IsModel,
          .read_tensors = Parameters,
          .write_tensors = SaveParameters,
          .read_network = NetworkOf,
          .graph_suffixes = {".nnp", ".nntxt"},
          .any_batch = true,
          .write_graph = Write};
}

FIRN_FILE_FORMAT(nnabla_parameters) {
  return {.name = "NNabla parameters",
          .suffixes = {".protobuf"},
          .read_tensors = Parameters,
          .write_tensors = SaveParameters,
          .widened = {DType::kF16, DType::kBF16}};
}

// //io/formats:foreign also recognises this suffix, and says what to do with such a file.
FIRN_FILE_FORMAT(nnb) {
  return {
      .name = "NNB", .holds = FileHolds::kGraph, .graph_suffixes = {".nnb"}, .write_graph = Write};
}

}  // namespace firn::io
