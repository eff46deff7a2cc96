#ifndef FIRN_TOOLS_FIRN_PLOT_FILES_H_
#define FIRN_TOOLS_FIRN_PLOT_FILES_H_

#include <string>
#include <vector>

#include "firn/io/monitors/series.h"

namespace firn::cli {

// The series of some files that one picture shows.
struct PlotChoice {
  std::vector<io::Series> series;    // with names that tell them apart
  std::string x;                     // what all of them call their x; "" where they do not
  std::vector<std::string> shown;    // charts, by what their curves have in common
  std::vector<std::string> others;   // charts that are left out
  std::vector<std::string> damaged;  // errors of files of folders that are left out
};

// Reads series of files: monitors' series, tables (.csv, .jsonl) and event files, and folders of
// these. Without `charts` it chooses series that belong together: all monitors' series, and others
// that share a chart with one of them (training and validation loss, say); without monitors'
// series, one chart, a loss if there is one. If a file of a folder cannot be read, the others are
// still read. Throws firn::Error: errors of the readers of these files; NotFound if there is no
// series, or none of `charts`, naming the existing ones.
PlotChoice ChooseSeries(const std::vector<std::string>& files,
                        const std::vector<std::string>& charts);

// "loss, lr and 3 more": names for messages.
std::string ListOf(const std::vector<std::string>& names);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_PLOT_FILES_H_
