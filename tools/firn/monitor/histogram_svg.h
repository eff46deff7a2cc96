#ifndef FIRN_TOOLS_FIRN_MONITOR_HISTOGRAM_SVG_H_
#define FIRN_TOOLS_FIRN_MONITOR_HISTOGRAM_SVG_H_

#include <string>

#include "tools/firn/monitor/run_contents.h"

namespace firn::cli {

// How a histogram changes: a hill for each step, the last one in front, all on one axis of values.
// A hill's height is the density, on the same scale for all. An SVG element with the classes
// `hill`, `frame`, `grid`; "" if there are no finite numbers to draw.
std::string DrawHistograms(const HistogramRow& row);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_MONITOR_HISTOGRAM_SVG_H_
