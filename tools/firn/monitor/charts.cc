// Series whose names have the same words but for the part of the data are candidates for one chart.
// They share one if one of them has such a part: "a-b" and "a b" alone are two names of two things.
#include "tools/firn/monitor/charts.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/io/monitors/series_names.h"

namespace firn::cli {
namespace {

using io::DataPart;
using io::PartsOf;

// kOther stands before kTime on the page.
int OrderOf(ChartKind kind) {
  return kind == ChartKind::kTime ? 4 : kind == ChartKind::kOther ? 3 : static_cast<int>(kind);
}

// One group, or one for each name.
void AddGroups(const std::vector<SeriesKey>& keys, const std::string& base,
               const std::vector<size_t>& members, std::vector<ChartGroup>* groups) {
  std::map<std::string, std::vector<size_t>> named;
  bool parted = false;
  std::string plain;  // a name without a part, which then is the chart's
  for (const size_t i : members) {
    named[keys[i].name].push_back(i);
    const bool has_part = PartsOf(keys[i].name).part != DataPart::kNone;
    parted |= has_part;
    if (!has_part && plain.empty()) plain = keys[i].name;
  }
  if (parted && named.size() > 1) {
    groups->push_back({plain.empty() ? base : plain, members});
    return;
  }
  for (auto& [name, own] : named) groups->push_back({name, std::move(own)});
}

}  // namespace

ChartKind KindOf(std::string_view name) {
  std::string plain;  // words with blanks between them
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    plain += std::isalnum(byte) ? static_cast<char>(std::tolower(byte)) : ' ';
  }
  const std::string words = absl::StrCat(" ", plain, " ");
  const auto has = [&](std::string_view part) { return words.find(part) != std::string::npos; };
  if (name.ends_with(": seconds in total") || name.ends_with(": seconds a step")) {
    return ChartKind::kTime;
  }
  if (has(" lr ") || has("learning rate") || has("learningrate")) return ChartKind::kLearningRate;
  if (has("loss") || has("error") || has("cost") || has("perplexity")) return ChartKind::kLoss;
  return ChartKind::kOther;
}

std::vector<ChartGroup> GroupsOf(const std::vector<SeriesKey>& keys) {
  std::map<std::pair<bool, std::string>, std::vector<size_t>> alike;
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::string base = PartsOf(keys[i].name).base;
    // A name without letters shares no chart with another one.
    alike[{keys[i].by_epoch, base.empty() ? keys[i].name : base}].push_back(i);
  }
  std::vector<ChartGroup> by_step, groups;
  for (const auto& [key, members] : alike) {
    AddGroups(keys, key.second, members, key.first ? &groups : &by_step);
  }
  std::set<std::string> names;
  for (const ChartGroup& group : by_step) names.insert(group.name);
  for (ChartGroup& group : groups) {
    if (names.contains(group.name)) group.name += " by epoch";
  }
  std::move(by_step.begin(), by_step.end(), std::back_inserter(groups));
  std::stable_sort(groups.begin(), groups.end(),
                   [](const ChartGroup& a, const ChartGroup& b) { return a.name < b.name; });
  return groups;
}

std::vector<Chart> ChartsOf(std::vector<Curve> curves) {
  const auto order_of = [](const Curve& curve) {
    return std::tuple(curve.run, PartsOf(curve.name).part, curve.name);
  };
  std::stable_sort(curves.begin(), curves.end(),
                   [&](const Curve& a, const Curve& b) { return order_of(a) < order_of(b); });
  std::vector<SeriesKey> keys;
  for (const Curve& curve : curves) keys.push_back({curve.name, curve.by_epoch});
  std::vector<Chart> charts;
  for (const ChartGroup& group : GroupsOf(keys)) {
    Chart& chart = charts.emplace_back(Chart{.name = group.name, .kind = KindOf(group.name)});
    for (const size_t i : group.members) chart.curves.push_back(std::move(curves[i]));
  }
  std::stable_sort(charts.begin(), charts.end(), [](const Chart& a, const Chart& b) {
    return OrderOf(a.kind) < OrderOf(b.kind);
  });
  return charts;
}

std::vector<std::string> LabelsOf(const Chart& chart) {
  std::set<std::string> names, runs;
  for (const Curve& curve : chart.curves) {
    names.insert(curve.name);
    runs.insert(curve.run);
  }
  const bool no_runs = runs.size() == 1 && runs.contains("");
  std::vector<std::string> labels;
  for (const Curve& curve : chart.curves) {
    if (names.size() > 1) {
      labels.push_back(curve.run.empty() ? curve.name : absl::StrCat(curve.run, "/", curve.name));
    } else {
      labels.push_back(no_runs ? "" : curve.run.empty() ? "." : curve.run);
    }
  }
  return labels;
}

}  // namespace firn::cli
