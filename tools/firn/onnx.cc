// firn onnx info, firn onnx check: describe and test files of ONNX.
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/device/text_table.h"
#include "firn/io/onnx/onnx_info.h"
#include "tools/firn/command.h"

namespace firn::cli {
namespace {

using inner::internal::AlignedText;
using inner::internal::BytesText;
using inner::internal::GroupedDigits;

nlohmann::json Json(const std::vector<io::OnnxInfo::Value>& values) {
  nlohmann::json all = nlohmann::json::array();
  for (const auto& [name, type] : values) all.push_back({{"name", name}, {"type", type}});
  return all;
}

nlohmann::json Json(const io::OnnxInfo& info) {
  nlohmann::json opsets = nlohmann::json::object(), metadata = nlohmann::json::object();
  for (const auto& [domain, version] : info.opsets) opsets[domain] = version;
  for (const auto& [key, value] : info.metadata) metadata[key] = value;
  return {{"ir_version", info.ir_version},
          {"producer", info.producer},
          {"opsets", opsets},
          {"inputs", Json(info.inputs)},
          {"outputs", Json(info.outputs)},
          {"operators", info.operators},
          {"functions", info.functions},
          {"parameters", info.parameters},
          {"metadata", metadata},
          {"parameter_bytes", info.parameter_bytes}};
}

std::string Text(const io::OnnxInfo& info) {
  std::vector<std::vector<std::string>> lines;
  std::string opsets;
  for (const auto& [domain, version] : info.opsets) {
    absl::StrAppend(&opsets, opsets.empty() ? "" : ", ", domain, " ", version);
  }
  lines.push_back({"format", absl::StrCat("IR ", info.ir_version, ", opsets ", opsets)});
  lines.push_back({"producer", info.producer.empty() ? "not said" : info.producer});
  lines.push_back({"parameters", absl::StrCat(GroupedDigits(info.parameters), " elements, ",
                                              BytesText(info.parameter_bytes))});
  for (const auto& [name, type] : info.inputs) lines.push_back({"input " + name, type});
  for (const auto& [name, type] : info.outputs) lines.push_back({"output " + name, type});
  for (const std::string& name : info.functions) lines.push_back({"function", name});
  for (const auto& [key, value] : info.metadata) lines.push_back({"metadata " + key, value});
  std::string text = AlignedText(lines, 2);
  lines.clear();
  for (const auto& [name, count] : info.operators) {
    lines.push_back({name, absl::StrCat(count)});
  }
  absl::StrAppend(&text, "\n", AlignedText(lines, 1));
  return text;
}

}  // namespace

FIRN_COMMAND_GROUP(onnx, "Inspects ONNX files and tests their import");

FIRN_SUBCOMMAND(onnx, info, "Lists the inputs, outputs, operators and versions of an ONNX file") {
  auto path = std::make_shared<std::string>();
  app.add_option("MODEL", *path, "an ONNX file")->required();
  app.footer("It does not run the network. Example: firn onnx info net.onnx");
  return [path](Terminal& terminal) {
    const io::OnnxInfo info = io::ReadOnnxInfo(*path);
    terminal.Print(Text(info), Json(info));
    return 0;
  };
}

}  // namespace firn::cli
