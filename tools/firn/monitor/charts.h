#ifndef FIRN_TOOLS_FIRN_MONITOR_CHARTS_H_
#define FIRN_TOOLS_FIRN_MONITOR_CHARTS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/firn/monitor/run_contents.h"

namespace firn::cli {

// The kind of a curve, by its name.
ChartKind KindOf(std::string_view name);

// A series among others, as far as it matters for which of them one chart shows.
struct SeriesKey {
  std::string name;
  bool by_epoch = false;
};
struct ChartGroup {
  std::string name;             // "loss" for "training loss" and "validation loss"
  std::vector<size_t> members;  // places of the keys, in their order
};
// Which series share a chart: those of one name, and those whose names differ only in a word for
// the part of the data. Epochs and steps never share an axis. Groups come by name.
std::vector<ChartGroup> GroupsOf(const std::vector<SeriesKey>& keys);

// The charts of curves: losses first, then rates, others, times; by name within these.
std::vector<Chart> ChartsOf(std::vector<Curve> curves);

// Labels that tell a chart's curves apart, in their order: the run, the name, or both. "" for a
// single curve without a run.
std::vector<std::string> LabelsOf(const Chart& chart);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_MONITOR_CHARTS_H_
