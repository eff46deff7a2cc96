#ifndef FIRN_IO_MONITORS_SERIES_H_
#define FIRN_IO_MONITORS_SERIES_H_

// Series of numbers, as monitors and record writers leave them in files.

#include <cstdint>
#include <string>
#include <vector>

#include "firn/io/load_limits.h"

namespace firn::io {

// Points of a curve; x and y are equally many.
struct Series {
  std::string name = {};
  std::vector<double> x = {}, y = {};
};

// The points of a monitor's <name>.series.txt; the series has the name of the file without its
// suffix. A partial last line, which a killed writer leaves behind, is left out. Throws
// firn::Error: DataLoss names file and line, what was expected and what came; ResourceExhausted
// beyond the limits; NotFound and the like for the path.
Series LoadSeries(const std::string& path, const LoadLimits& limits = {});

// The times in a monitor's <name>.timer.txt, x being the index.
enum class TimerColumn {
  kTotal,    // seconds since the monitor was made
  kElapsed,  // seconds from one line to the next
  kPerStep,  // the same for one index
};

// Throws as LoadSeries.
Series LoadTimer(const std::string& path, TimerColumn column = TimerColumn::kTotal,
                 const LoadLimits& limits = {});

// Gives different names to series with equal names; `paths` are the files that they were read from.
// The folders in which the paths differ, as few as needed, are put before the names ("first/loss",
// "second/loss"), and a number behind the second and later ones of one folder ("loss (2)").
void TellApart(const std::vector<std::string>& paths, std::vector<Series>* series);

}  // namespace firn::io

#endif  // FIRN_IO_MONITORS_SERIES_H_
