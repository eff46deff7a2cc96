// firn inspect: what is in a file.

#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "autograd/graph/visit.h"
#include "device/text_table.h"
#include "tools/firn/command.h"
#include "tools/firn/files.h"
#include "tools/firn/statistics.h"

namespace firn::cli {
namespace {

nlohmann::json JsonOf(const std::string& name, const Tensor& t, const Statistics& s) {
  const absl::Span<const int64_t> sizes = t.shape().span();
  nlohmann::json j = {{"name", name},
                      {"dtype", DTypeName(t.dtype())},
                      {"shape", std::vector<int64_t>(sizes.begin(), sizes.end())}};
  s.AddTo(&j);
  return j;
}

std::vector<std::string> LineOf(const std::string& name, const Tensor& t, const Statistics& s) {
  std::vector<std::string> line = {name, DTypeName(t.dtype()), t.shape().ToString()};
  s.AddTo(&line);
  return line;
}

nlohmann::json ValueJson(const Graph& graph, ValueId id) {
  const TensorSpec& spec = graph.value(id).spec;
  const absl::Span<const int64_t> sizes = spec.shape.span();
  return {{"dtype", DTypeName(spec.dtype)},
          {"shape", std::vector<int64_t>(sizes.begin(), sizes.end())}};
}

// Inputs, results and how many of which operation a graph has.
std::string DescribeGraph(const Graph& graph, nlohmann::json* value) {
  std::string text;
  for (const auto* list : {&graph.inputs, &graph.outputs}) {
    const char* const what = list == &graph.inputs ? "input" : "output";
    nlohmann::json& all = (*value)[absl::StrCat(what, "s")] = nlohmann::json::array();
    for (const ValueId id : *list) {
      all.push_back(ValueJson(graph, id));
      absl::StrAppend(&text, what, " ", graph.value(id).spec.ToString(), "\n");
    }
  }
  std::map<std::string, int64_t> counts;
  VisitOperations(graph, [&](const OpView& op) { ++counts[std::string(op.name)]; });
  (*value)["operations"] = counts;
  for (const auto& [name, count] : counts) absl::StrAppend(&text, count, " ", name, "\n");
  return text;
}

}  // namespace

FIRN_COMMAND(inspect,
             "Lists the tensors of a file, with statistics; of a graph, what it computes") {
  auto path = std::make_shared<std::string>();
  app.add_option("FILE", *path, "a file that Firn reads: HDF5, a saved graph")->required();
  app.footer(
      "Nothing of the file is run. Examples:\n  firn inspect net.h5\n"
      "  firn inspect --json net.firn");
  return [path](Terminal& terminal) {
    const FileContents file = ReadFile(*path);
    nlohmann::json value = {{"format", file.format}, {"tensors", nlohmann::json::array()}};
    std::string text = absl::StrCat(file.format, "\n");
    if (file.graph) absl::StrAppend(&text, DescribeGraph(*file.graph, &value));
    std::vector<std::vector<std::string>> lines = {
        {"name", "dtype", "shape", "min", "max", "mean", "std", ""}};
    int64_t elements = 0, bytes = 0;
    for (const auto& [name, t] : file.tensors) {
      Statistics s;
      s.Add(t);
      value["tensors"].push_back(JsonOf(name, t, s));
      lines.push_back(LineOf(name, t, s));
      elements += t.num_elements();
      bytes += t.num_elements() * SizeOf(t.dtype());
    }
    value.update({{"elements", elements}, {"bytes", bytes}});
    namespace table = inner::internal;
    if (lines.size() > 1) absl::StrAppend(&text, table::AlignedText(lines, 3));
    absl::StrAppend(&text, file.tensors.size(), " tensors, ", table::GroupedDigits(elements),
                    " elements, ", table::BytesText(bytes), "\n");
    terminal.Print(text, value);
    return 0;
  };
}

}  // namespace firn::cli
