// firn plot-series, firn plot-timer: pictures of what monitors wrote.

#include "firn/io/monitors/plot.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/io/monitors/series.h"
#include "tools/firn/command.h"

namespace firn::cli {
namespace {

struct Options {
  std::vector<std::string> files;
  std::string output;
  io::PlotOptions plot;
  std::string column = "total", unit = "s";
};

std::shared_ptr<Options> AddPlot(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("-o,--output", o->output, "the picture: .svg or .png")->required();
  app.add_option("--title", o->plot.title, "what stands above it");
  app.add_option("--x-label", o->plot.x_label, "what stands below the axis of indices");
  app.add_option("--y-label", o->plot.y_label, "what stands beside the axis of values");
  app.add_option("--width", o->plot.width, "pixels; 800");
  app.add_option("--height", o->plot.height, "pixels; 500");
  app.add_flag("--log-x", o->plot.log_x, "a logarithmic axis");
  app.add_flag("--log-y", o->plot.log_y, "a logarithmic axis");
  app.add_option("--smoothing", o->plot.smoothing, "0 to below 1: how much of the point before; 0");
  return o;
}

int Said(Terminal& terminal, const Options& o) {
  terminal.Print(absl::StrCat(o.output, "\n"), {{"output", o.output}});
  return 0;
}

// An empty picture looks like one that went wrong.
void WarnIfEmpty(const io::Series& s, const io::PlotOptions& plot, Terminal& terminal) {
  for (size_t i = 0; i < s.x.size(); ++i) {
    const bool shown = std::isfinite(s.x[i]) && std::isfinite(s.y[i]) &&
                       (!plot.log_x || s.x[i] > 0) && (!plot.log_y || s.y[i] > 0);
    if (shown) return;
  }
  terminal.Warn(
      "firn: " + s.name + " has no point to draw" +
      (s.x.empty() ? "" : ": all are NaN or infinite, or not positive on a logarithmic axis"));
}

}  // namespace

FIRN_COMMAND(plot_series, "Draws series of monitors as SVG or PNG") {
  auto o = AddPlot(app);
  app.add_option("FILE", o->files, "files of MonitorSeries: NAME.series.txt")->required();
  app.footer("Example: firn plot-series results/*.series.txt -o loss.svg --smoothing 0.9");
  return [o](Terminal& terminal) {
    std::vector<io::Series> all;
    for (const std::string& file : o->files) all.push_back(io::LoadSeries(file));
    io::TellApart(o->files, &all);
    for (const io::Series& s : all) WarnIfEmpty(s, o->plot, terminal);
    io::PlotSeries(o->output, all, o->plot);
    return Said(terminal, *o);
  };
}

FIRN_COMMAND(plot_timer, "Draws timers of monitors as SVG or PNG") {
  auto o = AddPlot(app);
  app.add_option("FILE", o->files, "files of MonitorTimeElapsed: NAME.timer.txt")->required();
  app.add_option("--column", o->column, "total, elapsed or per-step; total")
      ->check(CLI::IsMember({"total", "elapsed", "per-step"}));
  app.add_option("--unit", o->unit, "s, m, h or d; s")->check(CLI::IsMember({"s", "m", "h", "d"}));
  app.footer("Example: firn plot-timer results/*.timer.txt -o time.svg --unit m");
  return [o](Terminal& terminal) {
    const io::TimerColumn column = o->column == "total"     ? io::TimerColumn::kTotal
                                   : o->column == "elapsed" ? io::TimerColumn::kElapsed
                                                            : io::TimerColumn::kPerStep;
    io::PlotTimer(o->output, o->files, {.column = column, .unit = o->unit[0], .plot = o->plot});
    return Said(terminal, *o);
  };
}

}  // namespace firn::cli
