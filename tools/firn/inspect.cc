// firn inspect: what is in a file.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "autograd/graph/visit.h"
#include "device/text_table.h"
#include "tools/firn/command.h"
#include "tools/firn/files.h"

namespace firn::cli {
namespace {

struct Statistics {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  double mean = 0, deviation = 0;  // of the finite ones
  int64_t finite = 0, nan = 0, infinite = 0;
};

Statistics StatisticsOf(const Tensor& t) {
  Statistics s;
  double squares = 0;
  for (const double v : t.ToVector<double>()) {
    if (std::isnan(v) || std::isinf(v)) {
      ++(std::isnan(v) ? s.nan : s.infinite);
      continue;
    }
    s.least = std::min(s.least, v);
    s.most = std::max(s.most, v);
    // Welford's: differences of large sums would lose the deviation.
    const double step = v - s.mean;
    s.mean += step / static_cast<double>(++s.finite);
    squares += step * (v - s.mean);
  }
  if (s.finite > 0) s.deviation = std::sqrt(squares / static_cast<double>(s.finite));
  return s;
}

nlohmann::json JsonOf(const std::string& name, const Tensor& t, const Statistics& s) {
  const absl::Span<const int64_t> sizes = t.shape().span();
  nlohmann::json j = {{"name", name},
                      {"dtype", DTypeName(t.dtype())},
                      {"shape", std::vector<int64_t>(sizes.begin(), sizes.end())},
                      {"nan", s.nan},
                      {"infinite", s.infinite}};
  if (s.finite > 0) {
    j.update({{"min", s.least}, {"max", s.most}, {"mean", s.mean}, {"std", s.deviation}});
  }
  return j;
}

std::vector<std::string> LineOf(const std::string& name, const Tensor& t, const Statistics& s) {
  const auto number = [&](double v) { return s.finite > 0 ? absl::StrFormat("%.4g", v) : "-"; };
  std::string odd;
  if (s.nan > 0) odd = absl::StrCat(s.nan, " NaN");
  if (s.infinite > 0) absl::StrAppend(&odd, odd.empty() ? "" : ", ", s.infinite, " infinite");
  return {name,           DTypeName(t.dtype()), t.shape().ToString(), number(s.least),
          number(s.most), number(s.mean),       number(s.deviation),  odd};
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
      const Statistics s = StatisticsOf(t);
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
