// Files of tensors that say more: checkpoints, graphs, safetensors.
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/io/checkpoints/checkpoint.h"
#include "firn/io/graph/graph_file_status.h"
#include "firn/io/hdf5/hdf5_status.h"
#include "firn/io/safetensors/safetensors.h"
#include "firn/io/value_or_raise.h"
#include "firn/tensor/error.h"
#include "tools/firn/files.h"

namespace firn::cli {
namespace {

using io::ValueOrRaise;

// The meaning of a graph's numbers, as far as its file gives it.
void DescribeInfo(const io::GraphInfo& info, FileContents* contents) {
  const auto add = [&](const char* name, const nlohmann::json& value) {
    contents->facts.emplace_back(name, value);
  };
  if (info.pixel_scale.has_value()) add("pixel scale", *info.pixel_scale);
  if (info.scale != 1) add("scale", info.scale);
  if (!info.mean.empty()) add("mean", info.mean);
  if (!info.stddev.empty()) add("deviation", info.stddev);
  nlohmann::json columns = nlohmann::json::array();
  for (const io::GraphColumn& c : info.columns) {
    columns.push_back(c.name.empty() ? nlohmann::json(c.place) : nlohmann::json(c.name));
  }
  if (!columns.empty()) add("columns", columns);
  if (!info.classes.empty()) add("classes", info.classes);
}

// A checkpoint's description of itself, in place of the tensors that hold it.
void DescribeCheckpoint(const std::string& path, const io::LoadLimits& limits,
                        FileContents* contents) {
  const io::CheckpointInfo info = io::ReadCheckpointInfo(path, {.limits = limits});
  contents->format = "Firn checkpoint";
  contents->facts = {{"step", info.step}, {"parts", info.parts}};
  if (info.metric.has_value()) contents->facts.emplace_back("metric", *info.metric);
  for (const auto& [key, value] : info.metadata) contents->facts.emplace_back(key, value);
  for (const char* name : {"version", "step", "header"}) {
    contents->tensors.Erase(absl::StrCat("firn_checkpoint.", name));
  }
}

}  // namespace

FIRN_FILE_CONTENTS(hdf5, "HDF5") {
  return [](const std::string& path, const io::LoadLimits& limits) {
    FileContents contents;
    contents.tensors = ValueOrRaise(io::TryLoadHdf5(path, {.limits = limits}), "file");
    if (contents.tensors.Contains("firn_checkpoint.header")) {
      DescribeCheckpoint(path, limits, &contents);
    }
    return contents;
  };
}

FIRN_FILE_CONTENTS(graph, "Firn graph") {
  return [](const std::string& path, const io::LoadLimits& limits) {
    io::GraphFile file = ValueOrRaise(io::TryReadGraph(path, {.limits = limits}), "graph");
    FileContents contents;
    contents.tensors = std::move(file.states);
    contents.graph = std::move(file.graph);
    DescribeInfo(file.info, &contents);
    return contents;
  };
}

FIRN_FILE_CONTENTS(safetensors, "safetensors") {
  return [](const std::string& path, const io::LoadLimits& limits) {
    FileContents contents;
    contents.tensors = io::LoadSafetensors(path, {.load = {.limits = limits}, .map = false});
    for (const auto& [key, word] : io::LoadSafetensorsMetadata(path, limits)) {
      contents.facts.emplace_back(key, word);
    }
    return contents;
  };
}

}  // namespace firn::cli
