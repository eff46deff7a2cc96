// firn plot-series, firn plot-timer: draw the files of monitors.

#include "firn/io/monitors/plot.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/io/monitors/series.h"
#include "tools/firn/command.h"
#include "tools/firn/plot_files.h"

namespace firn::cli {
namespace {

struct Options {
  std::vector<std::string> files, charts;
  std::string output;
  io::PlotOptions plot;
  std::string column = "total", unit = "s";
};

std::shared_ptr<Options> AddPlot(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("-o,--output", o->output, "the picture: .svg or .png")->required();
  app.add_option("--title", o->plot.title, "the title above the picture");
  app.add_option("--x-label", o->plot.x_label, "the label of the horizontal axis");
  app.add_option("--y-label", o->plot.y_label, "the label of the vertical axis");
  app.add_option("--width", o->plot.width, "the width in pixels (default: 800)");
  app.add_option("--height", o->plot.height, "the height in pixels (default: 500)");
  app.add_flag("--log-x", o->plot.log_x, "makes the horizontal axis logarithmic");
  app.add_flag("--log-y", o->plot.log_y, "makes the vertical axis logarithmic");
  app.add_option("--smoothing", o->plot.smoothing,
                 "the share of the previous point in each point, from 0 to below 1 (default: 0)");
  return o;
}

// Refused, since an empty picture looks like an error.
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

FIRN_COMMAND(plot_series, "Plots series of monitors, tables and event files as SVG or PNG") {
  auto o = AddPlot(app);
  app.add_option("FILE", o->files,
                 "NAME.series.txt, .csv, .jsonl, event files, or a folder of these")
      ->required();
  app.add_option(
         "--chart", o->charts,
         "the chart to draw: the name of a column, or what the names of its columns have in common")
      ->allow_extra_args(false);
  app.footer(
      "Training and validation share a picture. Without --chart, tables, event files and folders\n"
      "give the picture of the loss. Validation is dashed, test is dotted. Examples:\n"
      "  firn plot-series results/*.series.txt -o loss.svg --smoothing 0.9\n"
      "  firn plot-series run/epochs.csv -o loss.svg\n"
      "  firn plot-series first second -o rates.png --chart lr");
  return [o](Terminal& terminal) {
    const PlotChoice choice = ChooseSeries(o->files, o->charts);
    for (const std::string& what : choice.damaged) {
      terminal.Warn("firn: a file is left out: " + what);
    }
    if (!choice.others.empty() && o->charts.empty()) {
      terminal.Warn(absl::StrCat("firn: drawn is ", ListOf(choice.shown), "; --chart draws ",
                                 ListOf(choice.others)));
    }
    if (o->plot.x_label.empty()) o->plot.x_label = choice.x;
    for (const io::Series& s : choice.series) WarnIfEmpty(s, o->plot, terminal);
    io::PlotSeries(o->output, choice.series, o->plot);
    nlohmann::json names = nlohmann::json::array();
    for (const io::Series& s : choice.series) names.push_back(s.name);
    terminal.Print(absl::StrCat(o->output, "\n"), {{"output", o->output},
                                                   {"charts", choice.shown},
                                                   {"series", names},
                                                   {"others", choice.others}});
    return 0;
  };
}

FIRN_COMMAND(plot_timer, "Plots timers of monitors as SVG or PNG") {
  auto o = AddPlot(app);
  app.add_option("FILE", o->files, "files of MonitorTimeElapsed: NAME.timer.txt")->required();
  app.add_option("--column", o->column,
                 "the times to draw: total, elapsed or per-step (default: total)")
      ->check(CLI::IsMember({"total", "elapsed", "per-step"}));
  app.add_option("--unit", o->unit, "the unit of the times: s, m, h or d (default: s)")
      ->check(CLI::IsMember({"s", "m", "h", "d"}));
  app.footer("Example: firn plot-timer results/*.timer.txt -o time.svg --unit m");
  return [o](Terminal& terminal) {
    const io::TimerColumn column = o->column == "total"     ? io::TimerColumn::kTotal
                                   : o->column == "elapsed" ? io::TimerColumn::kElapsed
                                                            : io::TimerColumn::kPerStep;
    io::PlotTimer(o->output, o->files, {.column = column, .unit = o->unit[0], .plot = o->plot});
    terminal.Print(absl::StrCat(o->output, "\n"), {{"output", o->output}});
    return 0;
  };
}

}  // namespace firn::cli
