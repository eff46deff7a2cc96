// firn monitor: a page to look at a run while it trains.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/atomic_file.h"
#include "firn/tensor/error.h"
#include "tools/firn/command.h"
#include "tools/firn/monitor/collector.h"
#include "tools/firn/monitor/page.h"

namespace firn::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string folder, output;
  bool follow = false, log_y = false;
  double interval = 5, until_idle = 0, smoothing = 0;
  MonitorLimits limits;
  int64_t embedded_mib = 16;
};

std::string TitleOf(const std::string& folder) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(folder, error).lexically_normal();
  const std::string name = path.filename().string();
  return name.empty() ? path.parent_path().filename().string() : name;
}

std::string TimeNow() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[40];
  std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S UTC", &utc);
  return text;
}

void WritePage(const RunContents& contents, const Options& o, bool refresh) {
  PageOptions page;
  page.title = TitleOf(o.folder);
  page.written = TimeNow();
  page.refresh_seconds = refresh ? std::max<int64_t>(1, std::llround(o.interval)) : 0;
  page.smoothing = o.smoothing;
  page.log_y = o.log_y;
  RaiseIfError(inner::internal::ReplaceFile(o.output, RenderPage(contents, page)), "monitor");
}

// Looks again and again, until nothing has changed for long enough.
RunContents Follow(Collector* collector, const Options& o, Terminal& terminal) {
  RunContents contents;
  auto last_change = Clock::now();
  for (bool first = true;; first = false) {
    const absl::StatusOr<bool> changed = collector->Update();
    // The folder may not exist yet: the run may make it later.
    if (!absl::IsNotFound(changed.status())) RaiseIfError(changed.status(), "monitor");
    if (first || (changed.ok() && *changed)) {
      contents = collector->Contents();
      WritePage(contents, o, true);
      terminal.Warn(absl::StrCat(o.output, ": ", CountsOf(contents)));
      last_change = Clock::now();
    }
    const std::chrono::duration<double> idle = Clock::now() - last_change;
    if (o.until_idle > 0 && idle.count() >= o.until_idle) return contents;
    std::this_thread::sleep_for(std::chrono::duration<double>(o.interval));
  }
}

RunContents Once(Collector* collector) {
  RaiseIfError(collector->Update().status(), "monitor");
  return collector->Contents();
}

nlohmann::json Summary(const RunContents& contents, const Options& o) {
  size_t curves = 0, pictures = 0;
  nlohmann::json charts = nlohmann::json::array(), problems = nlohmann::json::array();
  for (const Chart& chart : contents.charts) {
    curves += chart.curves.size();
    charts.push_back(chart.name);
  }
  for (const PictureGroup& group : contents.pictures) pictures += group.pictures.size();
  for (const Problem& p : contents.problems)
    problems.push_back({{"file", p.file}, {"what", p.what}});
  return {{"output", o.output},
          {"files", contents.files},
          {"charts", charts},
          {"curves", curves},
          {"pictures", pictures},
          {"histograms", contents.histograms.size()},
          {"texts", contents.texts.size()},
          {"graphs", contents.graphs.size()},
          {"beyond_limits", contents.beyond_limits},
          {"passed_over", contents.passed_over},
          {"problems", problems}};
}

int Monitor(Options o, Terminal& terminal) {
  if (o.output.empty()) o.output = o.folder + "/monitor.html";
  o.limits.embedded_bytes = o.embedded_mib << 20;
  Collector collector(o.folder, o.limits, [&](const std::string& line) { terminal.Warn(line); });
  const RunContents contents = o.follow ? Follow(&collector, o, terminal) : Once(&collector);
  WritePage(contents, o, false);
  for (const Problem& p : contents.problems) {
    terminal.Warn(absl::StrCat("firn: ", p.what));
  }
  if (contents.files == 0) terminal.Warn(absl::StrCat("firn: nothing of a run in ", o.folder));
  terminal.Print(absl::StrCat(o.output, ": ", CountsOf(contents), "\n"), Summary(contents, o));
  return contents.problems.empty() && contents.files > 0 ? 0 : 1;
}

}  // namespace

FIRN_COMMAND(monitor, "Makes a page of a run's curves, pictures, histograms and graph") {
  auto o = std::make_shared<Options>();
  app.add_option("DIR", o->folder,
                 "the folder that a run writes to, or a folder of several such folders")
      ->required();
  app.add_option("-o,--output", o->output, "the page to write (default: DIR/monitor.html)");
  app.add_flag("-f,--follow", o->follow,
               "writes the page again whenever something has changed; the page reloads itself");
  app.add_option("--interval", o->interval,
                 "the seconds between two looks at the folder (default: 5)")
      ->check(CLI::Range(0.01, 86400.0));
  app.add_option("--until-idle", o->until_idle,
                 "stops following after this many seconds without a change (default: 0, never)")
      ->check(AtLeast(0));
  app.add_option("--smoothing", o->smoothing,
                 "smooths curves: from 0 (not at all) to below 1 (default: 0)")
      ->check(CLI::Range(0.0, 0.9999));
  app.add_flag("--log-y", o->log_y, "draws losses on a logarithmic axis");
  app.add_option("--pictures", o->limits.max_pictures,
                 "the most pictures of one name, of which the newest are shown (default: 16)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--picture-mib", o->embedded_mib,
                 "the most MiB that all pictures on the page may take (default: 16)")
      ->check(CLI::Range(0, 1024));
  app.footer(
      "It shows what io/monitors writes (series, timers, CSV, JSON lines, event files), pictures\n"
      "and saved graphs, from the folder and its subfolders. The page is one file without scripts\n"
      "and loads nothing from a network. If a file cannot be read to its end, the page is still\n"
      "written and names it, and the exit status is 1. Examples:\n"
      "  firn monitor results\n"
      "  firn monitor results --follow --interval 2 -o /tmp/run.html");
  return [o](Terminal& terminal) { return Monitor(*o, terminal); };
}

}  // namespace firn::cli
