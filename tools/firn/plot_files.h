#ifndef FIRN_TOOLS_FIRN_PLOT_FILES_H_
#define FIRN_TOOLS_FIRN_PLOT_FILES_H_

#include <string>
#include <vector>

#include "firn/io/monitors/series.h"

namespace firn::cli {

// What one picture shows of some files.
struct PlotChoice {
  std::vector<io::Series> series;    // with names that tell them apart
  std::string x;                     // what all of them call their x; "" where they do not
  std::vector<std::string> shown;    // charts, by what their curves have in common
  std::vector<std::string> others;   // those that are left out
  std::vector<std::string> damaged;  // what is wrong with files of folders that are left out
};

// Reads series of files: monitors' series, tables (.csv, .jsonl) and event files, and folders of
// these. Without `charts` it chooses what belongs together: all monitors' series, and of the others
// what shares a chart with one of them (training and validation loss, say); where there is no
// monitor's series, one chart, a loss if there is one. A file of a folder that cannot be read
// leaves the others; throws firn::Error: what the readers of these files throw; NotFound where
// there is no series, or none of `charts`, naming those that there are.
PlotChoice ChooseSeries(const std::vector<std::string>& files,
                        const std::vector<std::string>& charts);

// "loss, lr and 3 more": names for messages.
std::string ListOf(const std::vector<std::string>& names);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_PLOT_FILES_H_
