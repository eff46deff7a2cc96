#ifndef FIRN_BENCHMARKS_VERSUS_REPORT_H_
#define FIRN_BENCHMARKS_VERSUS_REPORT_H_

// What static_vs_dynamic found, for a terminal, a program and a page.

#include <string>

#include "absl/types/span.h"
#include "benchmarks/versus_machine.h"
#include "benchmarks/versus_run.h"

namespace firn::benchmarks {

// How the numbers came about.
struct VersusContext {
  MachineFacts machine;
  std::string command;
  int threads = 0;
  std::string device = "cpu";      // where it ran, not what was asked for
  std::string precision = "f32";   // PrecisionName
  std::string arithmetic = "f32";  // DescribePrecision
};

// One line: where, under which precision and by which clock the numbers were taken.
std::string TableTitle(const VersusContext& context);
// Column heads, and the line of one result, each with a line end. Times are medians with the
// interquartile range of blocks, the ratio has its 95 % interval.
std::string TableHead();
std::string TableLine(const VersusResult& result);

// {"machine": ..., "command": ..., "rows": [...], "comparisons": [...]}: one row a mode, of the
// form that compare.py writes, and one comparison a configuration with what concerns both modes.
std::string VersusJson(absl::Span<const VersusResult> results, const VersusContext& context);

// An SVG picture: two bars a configuration with their milliseconds. Bars of one configuration are
// to scale.
std::string VersusPlot(absl::Span<const VersusResult> results, const VersusContext& context);

}  // namespace firn::benchmarks

#endif  // FIRN_BENCHMARKS_VERSUS_REPORT_H_
