// firn inspect: prints the contents of a file.

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "firn/autograd/graph/visit.h"
#include "firn/device/text_table.h"
#include "tools/firn/command.h"
#include "tools/firn/files.h"
#include "tools/firn/statistics.h"

namespace firn::cli {
namespace {

using Lines = std::vector<std::vector<std::string>>;

void AddLine(std::vector<std::string> line, const Statistics& s, Lines* lines) {
  s.AddTo(&line);
  lines->push_back(std::move(line));
}

// A table of the tensors and their totals; "" if there are none.
std::string DescribeTensors(const StateDict& tensors, nlohmann::json* value) {
  namespace table = inner::internal;
  Lines lines = {{"name", "dtype", "shape", "min", "max", "mean", "std", ""}};
  int64_t elements = 0, bytes = 0;
  nlohmann::json& all = (*value)["tensors"] = nlohmann::json::array();
  for (const auto& [name, t] : tensors) {
    Statistics s;
    s.Add(t);
    const absl::Span<const int64_t> sizes = t.shape().span();
    all.push_back({{"name", name},
                   {"dtype", DTypeName(t.dtype())},
                   {"shape", std::vector<int64_t>(sizes.begin(), sizes.end())}});
    s.AddTo(&all.back());
    AddLine({name, DTypeName(t.dtype()), t.shape().ToString()}, s, &lines);
    elements += t.num_elements();
    bytes += t.num_elements() * SizeOf(t.dtype());
  }
  value->update({{"elements", elements}, {"bytes", bytes}});
  return absl::StrCat(lines.size() > 1 ? table::AlignedText(lines, 3) : "", tensors.size(),
                      " tensors, ", table::GroupedDigits(elements), " elements, ",
                      table::BytesText(bytes), "\n");
}

std::string DescribeColumns(const std::vector<Column>& columns, nlohmann::json* value) {
  Lines lines = {{"name", "numbers", "others", "min", "max", "mean", "std", ""}};
  nlohmann::json& all = (*value)["columns"] = nlohmann::json::array();
  for (const Column& c : columns) {
    const Statistics& s = c.statistics;
    all.push_back({{"name", c.name}, {"numbers", s.count()}, {"others", c.others}});
    s.AddTo(&all.back());
    AddLine({c.name, absl::StrCat(s.count()), absl::StrCat(c.others)}, s, &lines);
  }
  return inner::internal::AlignedText(lines, 1);
}

nlohmann::json ValueJson(const Graph& graph, ValueId id) {
  const TensorSpec& spec = graph.value(id).spec;
  const absl::Span<const int64_t> sizes = spec.shape.span();
  return {{"dtype", DTypeName(spec.dtype)},
          {"shape", std::vector<int64_t>(sizes.begin(), sizes.end())}};
}

// Inputs and results of a graph, and how often it has each operation.
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

// Names in a file need not be UTF-8, which a strict dump throws at.
std::string TextOf(const nlohmann::json& fact) {
  if (fact.is_string()) return fact.get<std::string>();
  return fact.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

FIRN_COMMAND(inspect, "Shows what is in a file: tensors with statistics, tables, graphs") {
  struct Options {
    std::string path;
    double gib = 16;
  };
  auto o = std::make_shared<Options>();
  app.add_option("FILE", o->path, "a file that Firn reads")->required();
  app.add_option("--max-gib", o->gib,
                 "the most GiB that all tensors together may take (default: 16)")
      ->check(AtLeast(1e-9));
  app.footer(absl::StrCat(
      "The first bytes of a file tell its format; for text, the end of its name does: ",
      absl::StrJoin(FormatNames(), ", "),
      ".\n"
      "Inspecting runs nothing of the file. Text and events are read a record at a time. "
      "Examples:\n"
      "  firn inspect net.h5\n"
      "  firn inspect --json net.firn\n"
      "  firn inspect images.npz"));
  return [o](Terminal& terminal) {
    constexpr double kGib = 1 << 30;
    io::LoadLimits limits;
    limits.max_total_bytes =
        static_cast<int64_t>(std::min(o->gib * kGib, static_cast<double>(limits.max_total_bytes)));
    const FileContents file = ReadFile(o->path, limits);
    nlohmann::json value = {{"format", file.format}};
    std::string text = absl::StrCat(file.format, "\n");
    for (const auto& [name, fact] : file.facts) {
      value["facts"][name] = fact;
      absl::StrAppend(&text, name, ": ", TextOf(fact), "\n");
    }
    if (file.graph) absl::StrAppend(&text, DescribeGraph(*file.graph, &value));
    if (!file.columns.empty()) {
      absl::StrAppend(&text, DescribeColumns(file.columns, &value));
    } else if (!file.tensors.empty() || file.facts.empty()) {
      absl::StrAppend(&text, DescribeTensors(file.tensors, &value));
    }
    terminal.Print(text, value);
    return 0;
  };
}

}  // namespace firn::cli
