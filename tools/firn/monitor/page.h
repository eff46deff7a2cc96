#ifndef FIRN_TOOLS_FIRN_MONITOR_PAGE_H_
#define FIRN_TOOLS_FIRN_MONITOR_PAGE_H_

#include <cstdint>
#include <string>

#include "tools/firn/monitor/run_contents.h"

namespace firn::cli {

struct PageOptions {
  std::string title = {};       // from strangers
  std::string written = {};     // when, for people
  int64_t refresh_seconds = 0;  // the page loads itself again after that many; 0: it does not
  double smoothing = 0;         // as io::PlotOptions has it, of all but rates and times
  bool log_y = false;           // of losses
};

// An HTML page of what was found. It has no script and asks nothing of a network: pictures are part
// of it, and its policy (Content-Security-Policy) forbids all else but its own style. It is
// well-formed XML, too.
std::string RenderPage(const RunContents& contents, const PageOptions& options);

// How many curves of how many charts and so on, in words.
std::string CountsOf(const RunContents& contents);

}  // namespace firn::cli

#endif  // FIRN_TOOLS_FIRN_MONITOR_PAGE_H_
