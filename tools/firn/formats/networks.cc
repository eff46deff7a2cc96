// Networks of other frameworks: their weights, inputs and outputs.
#include <map>
#include <string>

#include "firn/io/formats/formats.h"
#include "firn/io/nnabla_model/nnabla_file.h"
#include "firn/io/onnx/onnx_info.h"
#include "tools/firn/files.h"

namespace firn::cli {

FIRN_FILE_CONTENTS(onnx, "ONNX") {
  return [](const std::string& path, const io::LoadLimits& limits) {
    const io::OnnxInfo info = io::ReadOnnxInfo(path, limits);
    FileContents contents;
    contents.tensors = io::FindFormat("ONNX")->read_tensors(path, {.limits = limits});
    if (!info.producer.empty()) contents.facts.emplace_back("producer", info.producer);
    for (const auto& [domain, version] : info.opsets) {
      contents.facts.emplace_back("opset " + domain, version);
    }
    for (const auto& [name, type] : info.inputs) contents.facts.emplace_back("input " + name, type);
    for (const auto& [name, type] : info.outputs) {
      contents.facts.emplace_back("output " + name, type);
    }
    for (const auto& [name, count] : info.operators) contents.facts.emplace_back(name, count);
    return contents;
  };
}

FIRN_FILE_CONTENTS(nnabla_model, "NNabla model") {
  return [](const std::string& path, const io::LoadLimits& limits) {
    io::nnabla::Model model = io::LoadNnabla(path, {.limits = limits});
    FileContents contents;
    contents.tensors = std::move(model.parameters);
    std::map<std::string, int64_t> counts;
    for (const io::nnabla::Network& network : model.networks) {
      contents.facts.emplace_back("network", network.name);
      for (const io::nnabla::Function& f : network.functions) ++counts[f.type];
    }
    for (const auto& executor : model.executors) {
      contents.facts.emplace_back("executor", executor.name);
    }
    for (const auto& [type, count] : counts) contents.facts.emplace_back(type, count);
    return contents;
  };
}

}  // namespace firn::cli
