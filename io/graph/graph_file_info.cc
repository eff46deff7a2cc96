// The conditions under which info fits its graph. Info comes from programs and from files, and its
// users (firn forward) rely on all of them.
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "firn/device/status_macros.h"
#include "firn/io/graph/internal/graph_file_format.h"

namespace firn::io {
namespace {

// Users of the info normalise in f32.
bool FitsF32(double x) { return std::abs(x) <= std::numeric_limits<float>::max(); }
bool IsScale(double x) { return FitsF32(x) && static_cast<float>(x) != 0; }

// The size of dimension 1 of a value, -1 where it has none.
int64_t SecondSize(const Graph& graph, const std::vector<ValueId>& values) {
  if (values.empty()) return -1;
  const Shape& shape = graph.value(values.front()).spec.shape;
  return shape.rank() < 2 ? -1 : shape[1];
}
std::string SpecOf(const Graph& graph, const std::vector<ValueId>& values) {
  return values.empty() ? "none" : graph.value(values.front()).spec.ToString();
}

absl::Status CheckNormalization(const GraphInfo& info, int64_t channels, const std::string& input) {
  const auto scale_fits = [](double scale, const char* name) {
    FIRN_RETURN_IF(!IsScale(scale), InvalidArgument("GraphInfo::", name, " is ", scale,
                                                    " (want a number beside 0 that f32 can hold)"));
    return absl::OkStatus();
  };
  FIRN_RETURN_IF_ERROR(scale_fits(info.scale, "scale"));
  if (info.pixel_scale.has_value()) {
    FIRN_RETURN_IF_ERROR(scale_fits(*info.pixel_scale, "pixel_scale"));
  }
  const size_t n = info.mean.size();
  FIRN_RETURN_IF(n != info.stddev.size(),
                 InvalidArgument("GraphInfo has ", n, " means and ", info.stddev.size(),
                                 " deviations (want as many)"));
  FIRN_RETURN_IF(n > 1 && static_cast<int64_t>(n) != channels,
                 InvalidArgument("GraphInfo has ", n, " means and deviations (want one for each ",
                                 "channel, or one), the graph's first input is ", input));
  for (size_t i = 0; i < n; ++i) {
    FIRN_RETURN_IF(!FitsF32(info.mean[i]),
                   InvalidArgument("GraphInfo::mean[", i, "] is ", info.mean[i],
                                   " (want a number that f32 can hold)"));
    FIRN_RETURN_IF(!IsScale(info.stddev[i]) || info.stddev[i] < 0,
                   InvalidArgument("GraphInfo::stddev[", i, "] is ", info.stddev[i],
                                   " (want a number above 0 that f32 can hold)"));
  }
  return absl::OkStatus();
}

absl::Status CheckColumns(const GraphInfo& info, int64_t features, const std::string& input) {
  if (info.columns.empty()) {
    FIRN_RETURN_IF(info.target.has_value() || info.missing.has_value(),
                   InvalidArgument("GraphInfo::target and ::missing are of tables (want columns)"));
    return absl::OkStatus();
  }
  int64_t made = 0;
  for (const GraphColumn& c : info.columns) {
    FIRN_RETURN_IF(c.place < 0, InvalidArgument("GraphInfo has column ", c.place));
    made += c.words.empty() ? 1 : static_cast<int64_t>(c.words.size());
  }
  FIRN_RETURN_IF(made != features,
                 InvalidArgument("the columns of GraphInfo make ", made,
                                 " features, the graph's first input is ", input));
  FIRN_RETURN_IF(info.target.has_value() && info.target->place < 0,
                 InvalidArgument("GraphInfo has column ", info.target->place, " as target"));
  FIRN_RETURN_IF(
      info.missing.has_value() && std::isinf(*info.missing),
      InvalidArgument("GraphInfo::missing is ", *info.missing, " (want a number, or NaN)"));
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckInfo(const GraphInfo& info, const Graph& graph) {
  const std::string input = SpecOf(graph, graph.inputs);
  FIRN_RETURN_IF_ERROR(CheckNormalization(info, SecondSize(graph, graph.inputs), input));
  FIRN_RETURN_IF_ERROR(CheckColumns(info, SecondSize(graph, graph.inputs), input));
  if (info.classes.empty()) {
    FIRN_RETURN_IF(info.probabilities,
                   InvalidArgument("GraphInfo::probabilities are of classes, and it names none"));
    return absl::OkStatus();
  }
  FIRN_RETURN_IF(
      SecondSize(graph, graph.outputs) != static_cast<int64_t>(info.classes.size()),
      InvalidArgument("GraphInfo names ", info.classes.size(), " classes, the graph's first result",
                      " is ", SpecOf(graph, graph.outputs), " (want [batch, classes, ...])"));
  std::set<std::string_view> names;
  for (const std::string& name : info.classes) {
    FIRN_RETURN_IF(!names.insert(name).second,
                   InvalidArgument("GraphInfo::classes has '", name, "' twice"));
  }
  return absl::OkStatus();
}

}  // namespace firn::io
